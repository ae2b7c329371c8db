//! Texts of packs of which not all blocks are read (RFC 0003 §7).

use lcp_types::{SourceError, SourceErrorKind};

use crate::error::DriverError;
use crate::plan::RollUp;
use crate::warning::Warning;

/// The text of a pack, and what there is to know of it without a plan of every
/// block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedRender {
    /// The text.
    pub text: String,
    /// Its tokens.
    pub used_tokens: u32,
    /// What the roll-up line stands for, if there is one.
    pub rolled_up: Option<RollUp>,
    /// Blocks of the pack, annotations included.
    pub blocks: usize,
    /// Blocks that have a part of the text of their own.
    pub shown: usize,
    /// What a reader of the text should know. Of blocks that were not read
    /// there are none.
    pub warnings: Vec<Warning>,
    /// What was planned by.
    pub planned: PlanSource,
}

/// What a text was planned by: the text is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSource {
    /// The index. Only what is shown was read, and what speaks of it.
    Index {
        /// Blocks that were read.
        read: usize,
        /// Blocks that could not have been shown, and were only counted.
        passed_over: usize,
    },
    /// All blocks, which were read.
    AllBlocks(FullReadReason),
}

/// Why all blocks were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FullReadReason {
    /// Nothing is known of the blocks without reading them.
    NoIndex,
    /// What was asked for takes more than costs:
    /// [`DriverConfig::is_planned_by_costs`](crate::DriverConfig::is_planned_by_costs).
    Asked,
    /// The index has no costs of this encoding, this mode and this revision, or
    /// the encoding's counts do not add up.
    NoCosts,
    /// The index is wrong; the warning `bad_index` says how.
    BadIndex,
    /// The text must exceed its budget: that is not believed of an index alone.
    OverBudget,
}

impl FullReadReason {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoIndex => "no_index",
            Self::Asked => "asked",
            Self::NoCosts => "no_costs",
            Self::BadIndex => "bad_index",
            Self::OverBudget => "over_budget",
        }
    }
}

/// Why there is no text of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceRenderError {
    /// The blocks are not rendered.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The blocks could not be had.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl SourceRenderError {
    /// The kind of failure of the source, if it is one.
    #[must_use]
    pub const fn source_kind(&self) -> Option<SourceErrorKind> {
        match self {
            Self::Driver(_) => None,
            Self::Source(error) => Some(error.kind),
        }
    }
}
