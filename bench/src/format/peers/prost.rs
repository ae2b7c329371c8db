//! Protocol Buffers by prost: messages of its own, texts owned.

use prost::Message;

use super::failed;
use crate::format::corpus::Data;
use crate::format::prost_model::Pack;
use crate::format::serde_model::{Borrowed, Digest};
use crate::format::{Format, Owned};

pub(super) struct Prost;

const NO_BLOCK: &str = "a message that is no block";

fn read(bytes: &[u8]) -> Result<Pack, String> {
    Pack::decode(bytes).map_err(failed)
}

impl Owned for Pack {
    fn show(&self, see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        for block in &self.blocks {
            see(&block.view().ok_or(NO_BLOCK)?);
        }
        Ok(())
    }
}

impl Format for Prost {
    fn name(&self) -> &'static str {
        "prost"
    }

    fn borrows(&self) -> bool {
        false
    }

    fn encode(&self, data: &Data) -> Result<Vec<u8>, String> {
        Ok(data.prost.encode_to_vec())
    }

    fn walk(&self, bytes: &[u8]) -> Result<Digest, String> {
        let mut digest = Digest::default();
        for block in &read(bytes)?.blocks {
            digest.add(&block.view().ok_or(NO_BLOCK)?);
        }
        Ok(digest)
    }

    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String> {
        Ok(Box::new(read(bytes)?))
    }

    fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> {
        read(bytes)?.show(see)
    }
}
