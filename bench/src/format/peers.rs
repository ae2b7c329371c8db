//! The peers, each in the fastest of its ways that checks what it reads.

mod borrowing;
mod owning;
mod prost;

use super::serde_model::{Block, Borrowed};
use super::{Format, Owned};

/// Everyone, those that borrow first.
pub(super) fn all() -> Vec<Box<dyn Format>> {
    vec![
        Box::new(borrowing::Postcard),
        Box::new(borrowing::Bincode),
        Box::new(borrowing::Wincode),
        Box::new(owning::Bitcode),
        Box::new(owning::Rkyv),
        Box::new(prost::Prost),
        Box::new(owning::SerdeJson),
    ]
}

impl Owned for Vec<Block> {
    fn show(&self, see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        for block in self {
            see(&block.view());
        }
        Ok(())
    }
}

/// What went wrong, in words.
fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}
