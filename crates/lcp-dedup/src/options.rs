//! Options of deduplication, and the error of invalid ones.

use std::collections::BTreeMap;

use lcp_types::BlockType;

lcp_types::named_enum! {
    /// The extent of the search; each level includes the previous ones (RFC 0006 §3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum DedupLevel {
        /// Equal contents.
        Exact = "exact",
        /// Chunks of one path that overlap or touch, and content that a newer read or result
        /// supersedes. With [`Survivor::First`], superseded content remains.
        Overlap = "overlap",
        /// Texts that share nearly all of their lines.
        Near = "near",
    }
}

lcp_types::named_enum! {
    /// The rule that decides which of two blocks survives (RFC 0006 §3).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Survivor {
        /// The block with the highest rank, then the highest priority, then the lowest position.
        /// For two versions of one content, the newest.
        #[default]
        Best = "best",
        /// The earlier block, unchanged. The outcome of a block depends only on earlier blocks, so
        /// a prompt cache can reuse the previous text.
        First = "first",
    }
}

/// The options of [`dedup`](crate::dedup) and [`detect`](crate::detect()).
///
/// ```
/// use lcp_dedup::{DedupLevel, Options};
///
/// let options = Options { overlap_threshold: 0.5, ..Options::new(DedupLevel::Overlap) };
/// assert!(options.merge_overlapping);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The extent of the search.
    pub level: DedupLevel,
    /// The rule that decides which block survives. Default: [`Survivor::Best`].
    pub survivor: Survivor,
    /// `true` to merge chunks of one path that overlap or touch, without loss. Default: `true`.
    pub merge_overlapping: bool,
    /// The minimum overlap at which the lower ranked chunk loses the common lines, as a fraction of
    /// the smaller chunk's lines from 0 to 1 (Task 016.c). It applies only without merging.
    /// Default: 0.8.
    pub overlap_threshold: f64,
    /// The maximum size of a merged chunk in bytes. Default: 16 KiB.
    pub merged_bytes: usize,
    /// The minimum similarity of near texts, from 0.5 to 1: the number of common lines divided by
    /// the number of all lines. Default: 0.8.
    pub near_threshold: f64,
    /// The block types to compare; `None` for all. Blocks of other types neither cover other blocks
    /// nor are covered.
    pub types: Option<Vec<BlockType>>,
    /// The blocks of a previous text, and whether each is shown in full. They must not change, so
    /// they are never covered. A block that is not shown in full covers nothing. Empty by default.
    pub previous_blocks: BTreeMap<usize, bool>,
}

impl Options {
    /// Creates the default options for a level.
    #[must_use]
    pub const fn new(level: DedupLevel) -> Self {
        Self {
            level,
            survivor: Survivor::Best,
            merge_overlapping: true,
            overlap_threshold: 0.8,
            merged_bytes: 16 << 10,
            near_threshold: 0.8,
            types: None,
            previous_blocks: BTreeMap::new(),
        }
    }

    /// Limits merged chunks to a quarter of a budget of `tokens` (of four bytes each), so that a
    /// budget is never spent on a single block.
    #[must_use]
    pub fn with_token_budget(mut self, tokens: u32) -> Self {
        let quarter = usize::try_from(tokens).unwrap_or(usize::MAX);
        self.merged_bytes = self.merged_bytes.min(quarter);
        self
    }

    pub(crate) fn check(&self) -> Result<(), DedupError> {
        let thresholds = [
            ("overlap_threshold", self.overlap_threshold, 0.0),
            ("near_threshold", self.near_threshold, 0.5),
        ];
        for (name, value, min) in thresholds {
            if !(min..=1.0).contains(&value) {
                return Err(DedupError::Threshold { name, value, min });
            }
        }
        Ok(())
    }
}

/// An error in the options of deduplication.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DedupError {
    /// A threshold is out of range.
    #[error("{name} must be from {min} to 1, got {value}")]
    Threshold {
        /// The option.
        name: &'static str,
        /// The value of the option.
        value: f64,
        /// The minimum value.
        min: f64,
    },
}

impl DedupError {
    /// Returns the stable code of the error (Task 016.c).
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "LCP-BUD-004"
    }
}
