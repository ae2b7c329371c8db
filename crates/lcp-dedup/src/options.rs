//! What is looked for, and which of two stays.

use std::collections::BTreeMap;

use lcp_types::BlockType;

use crate::error::DedupError;

/// What is looked for; each includes the ones before (RFC 0006 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Equal contents.
    Exact,
    /// And chunks of one path that share lines or touch, and what a newer read
    /// or result supersedes.
    Overlap,
    /// And texts that share nearly all of their lines.
    Near,
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Overlap, Self::Near];

    /// The name in flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Overlap => "overlap",
            Self::Near => "near",
        }
    }
}

/// Which of two blocks stays (RFC 0006 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The highest ranked: by rank, then priority, then position. The newest of
    /// two versions.
    #[default]
    Best,
    /// The earlier one, as it is: what becomes of a block depends on the blocks
    /// before it alone, so a prompt cache keeps the text before.
    First,
}

impl Keep {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::Best, Self::First];

    /// The name in flags and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::First => "first",
        }
    }
}

/// How a pack is deduplicated.
///
/// ```
/// use lcp_dedup::{Level, Options};
///
/// let options = Options { overlap_threshold: 0.5, ..Options::new(Level::Overlap) };
/// assert!(options.merge_overlapping);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What is looked for.
    pub level: Level,
    /// Which of two stays; the best by default.
    pub keep: Keep,
    /// Whether chunks of one path that overlap or touch become one, which loses
    /// nothing; so by default.
    pub merge_overlapping: bool,
    /// Without merging: the part of the smaller chunk's lines, from 0 to 1, from
    /// which on the lower ranked of two gives up the common ones; 0.8 by default
    /// (Task 016.c).
    pub overlap_threshold: f64,
    /// Bytes that a chunk may have by merging; 16 KiB by default.
    pub merged_bytes: usize,
    /// How alike two texts are, from 0.5 to 1, to be near: the lines that both
    /// have by the lines that any has; 0.8 by default.
    pub near_threshold: f64,
    /// Only blocks of these types; `None` for all. The others neither cover
    /// nor are covered.
    pub types: Option<Vec<BlockType>>,
    /// Blocks that stand in a text already, which must not change: in full or
    /// not. They are never covered; those that are not there in full cover
    /// nothing either, as nobody could read there what they cover. Empty by
    /// default.
    pub in_text: BTreeMap<usize, bool>,
}

impl Options {
    /// The defaults for this level.
    #[must_use]
    pub const fn new(level: Level) -> Self {
        Self {
            level,
            keep: Keep::Best,
            merge_overlapping: true,
            overlap_threshold: 0.8,
            merged_bytes: 16 << 10,
            near_threshold: 0.8,
            types: None,
            in_text: BTreeMap::new(),
        }
    }

    /// The same for a text of that many tokens: a chunk grows by merging to a
    /// quarter of them at most (of four bytes), so that a budget never has all of a
    /// file to give or nothing.
    #[must_use]
    pub fn within(mut self, tokens: u32) -> Self {
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
