//! What was dropped, and whether it can still be read.

use std::fmt::Write;

use lcp_dedup::{DedupLevel, Options, detect};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, Replacements};

use super::check::Checked;
use crate::error::Error;
use crate::table::{Better, Row, Wanted};

/// What was dropped of a pack.
pub(super) struct Dropped {
    pub(super) duplicates: Replacements,
    /// What was found to be near and stays.
    pub(super) alike: Vec<(usize, usize)>,
    pub(super) checked: Checked,
}

impl Dropped {
    pub(super) fn measure(blocks: &[Block<'static>], level: DedupLevel) -> Result<Self, Error> {
        let estimator = Tiktoken::new(Encoding::O200kBase);
        let found = detect(blocks, &Options::new(level), &estimator)?;
        let result = found.apply(blocks, &estimator);
        let after = result.blocks_with_stubs(blocks.to_vec());
        let checked = Checked::new(blocks, &after, &result.duplicates);
        Ok(Self { duplicates: result.duplicates, alike: found.alike, checked })
    }

    /// How many of the blocks that are not shown as they were cannot be read
    /// any more.
    #[expect(clippy::cast_precision_loss, reason = "a million blocks")]
    pub(super) fn row(&self, what: &str) -> Row {
        let mut note = self.checked.summary();
        for (index, why) in self.checked.wrong.iter().take(3) {
            let _ = write!(note, "; block {index}: {why}");
        }
        Row::named(format!("{what}, false drops"), Better::Lower, "blocks")
            .figures(self.checked.wrong.len() as f64, "all drops", self.checked.all() as f64)
            .wants(Wanted::OwnAtMost(0.0))
            .notes(Some(note))
    }
}
