//! The input of an allocation: segments, options, focus.

use crate::fixed_point::{BILLION, billionths};

lcp_types::named_enum! {
    /// A compression level of a segment, the fullest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum CompressionLevel {
        /// Every word.
        Full = "full",
        /// A detailed summary.
        Detailed = "detailed",
        /// A short summary.
        Brief = "brief",
        /// A few words.
        Tags = "tags",
    }
}

/// The cost of each form of a segment, in tokens of the text that is shown; `None` if there is no
/// such form.
///
/// A form that costs no less than a fuller one is not used; the fuller one replaces it. If it costs
/// more, the allocation has a warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCosts {
    /// Tokens of the segment itself.
    pub full: u32,
    /// Tokens of its detailed summary.
    pub detailed: Option<u32>,
    /// Tokens of its short summary.
    pub brief: Option<u32>,
    /// Tokens of its few words.
    pub tags: Option<u32>,
}

impl LevelCosts {
    /// Creates the costs of a segment with `tokens` tokens and no other form.
    #[must_use]
    pub const fn full(tokens: u32) -> Self {
        Self { full: tokens, detailed: None, brief: None, tags: None }
    }

    /// Returns the cost of the form of a level.
    #[must_use]
    pub const fn cost(self, level: CompressionLevel) -> Option<u32> {
        match level {
            CompressionLevel::Full => Some(self.full),
            CompressionLevel::Detailed => self.detailed,
            CompressionLevel::Brief => self.brief,
            CompressionLevel::Tags => self.tags,
        }
    }
}

/// A part of a conversation that is compressed as a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Its unique id.
    pub id: String,
    /// The costs of its forms.
    pub costs: LevelCosts,
    /// The importance of each of its anchors, in any unit: 0 or more, and finite. Anchors are facts
    /// that should survive compression: decisions, commitments, open questions.
    pub anchors: Vec<f64>,
    /// Its topics, in names of the caller's choice.
    pub topics: Vec<String>,
}

impl Segment {
    /// Creates a segment without anchors and topics.
    #[must_use]
    pub fn new(id: impl Into<String>, costs: LevelCosts) -> Self {
        Self { id: id.into(), costs, ..Self::default() }
    }
}

/// The current topics and expanded segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreferredSegments {
    /// The current topics: segments with exactly one of these names are preferred.
    pub topics: Vec<String>,
    /// The ids of the segments that a user or an agent wants to see in full.
    pub expanded: Vec<String>,
}

lcp_types::named_enum! {
    /// The reason for the phase of a segment: the first one that applies, in the order Expanded,
    /// Recent, `ContainsAnchors`, `TopicRelevant`, Baseline.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AllocationReason {
        /// It is one of the last two: second, in full if that fits.
        Recent = "recent",
        /// It has anchors: in detail or fuller, the most important first.
        ContainsAnchors = "contains_anchors",
        /// It has a topic of the focus: in detail, after those with anchors.
        TopicRelevant = "topic_relevant",
        /// It is expanded: first, in full.
        Expanded = "expanded",
        /// No other reason applies: in brief, the newest first.
        Baseline = "baseline",
    }
}

/// Options of [`allocate`](super::allocate).
///
/// The two budgets only choose forms: they never cut one, and they do not limit the sum. Neither
/// limits a recent segment that fits in full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetAllocationOptions {
    /// Tokens for the last two segments, half for each, if they do not fit in full: one that does
    /// not begins with the fullest form that costs no more than its half, else with its shortest.
    /// It gets a fuller one only from tokens that all others leave. Default: 2,000.
    pub recent_messages_full_budget: u32,
    /// Tokens for up to three segments with more than two anchors, a third for each, before other
    /// segments: one that costs more in detail waits for its later phase. Default: 1,000.
    pub anchor_budget: u32,
    /// The fraction of the remaining tokens that is not spent on upgrades to full, except for the
    /// last two segments: from 0 (all is spent) to 1 (nothing is spent). Default: 0.5.
    pub compression_aggressiveness: f64,
    /// The number of newest baseline segments that get their brief form before later segments get
    /// a detailed one. Default: 3.
    pub min_segments_at_brief: usize,
}

impl Default for BudgetAllocationOptions {
    fn default() -> Self {
        Self {
            recent_messages_full_budget: 2_000,
            anchor_budget: 1_000,
            compression_aggressiveness: 0.5,
            min_segments_at_brief: 3,
        }
    }
}

impl BudgetAllocationOptions {
    /// The maximum initial cost of each of the last two segments that does not fit in full.
    pub(super) fn recent_cap(&self) -> u32 {
        self.recent_messages_full_budget / 2
    }

    /// The maximum initial cost of a segment with many anchors.
    pub(super) fn anchor_cap(&self) -> u32 {
        self.anchor_budget / 3
    }

    /// Returns the fraction of the remaining tokens that upgrades segments, in billionths.
    pub(super) fn upgrade_fraction(&self) -> Option<u64> {
        let aggressiveness = self.compression_aggressiveness;
        let valid = (0.0..=1.0).contains(&aggressiveness);
        valid.then(|| BILLION - billionths(aggressiveness))
    }
}

/// The error of [`allocate`](super::allocate): invalid segments or options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentsError {
    /// [`compression_aggressiveness`] is not from 0 to 1.
    ///
    /// [`compression_aggressiveness`]: crate::segments::BudgetAllocationOptions::compression_aggressiveness
    #[error("compression aggressiveness must be from 0 to 1, got {value}")]
    Aggressiveness {
        /// Its value.
        value: f64,
    },
    /// The importance of an anchor is negative, infinite or not a number.
    #[error(
        "the importance of an anchor must be a finite number of at least 0, got {value} in segment {id:?}"
    )]
    Importance {
        /// The segment.
        id: String,
        /// The importance.
        value: f64,
    },
    /// Two segments have the same id.
    #[error("duplicate segment ID {id:?}")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The focus expands a segment that does not exist.
    #[error("cannot expand segment {id:?}: it does not exist")]
    UnknownExpanded {
        /// The id.
        id: String,
    },
}

impl SegmentsError {
    /// Returns a stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Aggressiveness { .. } => "bad_aggressiveness",
            Self::Importance { .. } => "bad_importance",
            Self::DuplicateId { .. } => "duplicate_segment",
            Self::UnknownExpanded { .. } => "unknown_segment",
        }
    }
}
