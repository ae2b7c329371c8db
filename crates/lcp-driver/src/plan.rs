//! The plan: what each block becomes, why, and what it costs. Plain data.

use std::sync::Arc;

use lcp_types::{BlockType, DuplicateKind, Priority, Replacements};

use crate::detail::{DetailLevel, Excerpt, OutputMode, ShownDetail, Verbosity};
use crate::objective::Objective;
use crate::prompt_cache::StableOutcome;
use crate::warning::Warning;

/// What becomes of one block (SPEC_08 §3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderDecision {
    /// The full content.
    Full,
    /// A level below the full content that the pack carries (RFC 0004 §6).
    Detailed,
    /// The summary only.
    Summary,
    /// A few words that the pack carries in place of the summary.
    Tags,
    /// A part of the content, and a line that says what is missing.
    Excerpt(Excerpt),
    /// One line that says what is omitted.
    Placeholder {
        /// The block's type.
        block_type: BlockType,
        /// What the line calls it: a path, a title, a role.
        description: String,
        /// Tokens of the content that is not shown, its final newline included.
        omitted_tokens: u32,
    },
    /// No line of its own: counted in the roll-up line that stands for many.
    RolledUp,
    /// Not in the text at all: a Background block over the budget, or any block of a budget too
    /// small for even the roll-up line.
    Omit,
    /// Not for the text: an annotation, or an extension of LCP's own.
    Metadata,
    /// Left out by [`DriverConfig::types`](crate::DriverConfig::types).
    Filtered,
    /// Left out because another block covers it ([`DriverConfig::duplicates`](crate::DriverConfig::duplicates)).
    Duplicate {
        /// The index of the block that covers it.
        by: usize,
    },
}

impl RenderDecision {
    /// The name in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Detailed => "detailed",
            Self::Summary => "summary",
            Self::Tags => "tags",
            Self::Excerpt(_) => "excerpt",
            Self::Placeholder { .. } => "placeholder",
            Self::RolledUp => "rolled_up",
            Self::Omit => "omit",
            Self::Metadata => "metadata",
            Self::Filtered => "filtered",
            Self::Duplicate { .. } => "duplicate",
        }
    }

    /// Whether the block has a part of the text of its own.
    #[must_use]
    pub const fn is_shown(&self) -> bool {
        self.has_content() || matches!(self, Self::Placeholder { .. })
    }

    /// Whether something of the block's content is shown: not a mere line that says what is
    /// omitted.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        matches!(self, Self::Full | Self::Detailed | Self::Summary | Self::Tags | Self::Excerpt(_))
    }
}

/// What a text will be, block by block, before it is rendered.
///
/// Renderers print it, reports explain it, nothing else decides. A plan is made by
/// [`DefaultDriver::plan`](crate::DefaultDriver::plan).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The format of the text.
    pub mode: OutputMode,
    /// How much of each block was asked for.
    pub verbosity: Verbosity,
    /// How blocks competed.
    pub objective: Objective,
    /// How good the plan is, where the objective is value and a budget had to be kept; none where
    /// old parts were kept (RFC 0005 §4).
    pub optimality: Option<OptimalityBound>,
    /// What was kept of the previous text, and what the next plan needs to keep this one, where
    /// plans are stable (RFC 0005 §6).
    pub stable: Option<StableOutcome>,
    /// Tokens that the text may have; `None` for any number.
    pub budget: Option<u32>,
    /// The name of the estimator that counted.
    pub encoding: String,
    /// Whether its counts are exact.
    pub exact: bool,
    /// One for each block of the pack, in its order.
    pub items: Vec<PlanItem>,
    /// Which blocks others cover: what the configuration says, where the covering block is in the
    /// pack, asked for, and not removed itself.
    pub duplicates: Option<Replacements>,
    /// What the roll-up line stands for, if there is one.
    pub rolled_up: Option<RollUp>,
    /// Tokens of the whole text as it will be written.
    pub used_tokens: u32,
    /// Tokens that belong to no block: the envelope and the roll-up line. The tokens of all items
    /// and these add up to the used ones.
    pub overhead_tokens: u32,
    /// The shares of the budget and what became of them, in their order, then what belongs to none;
    /// empty without shares (RFC 0004 §5).
    pub shares: Vec<ShareUsage>,
    /// The smallest budget in which every block has all that it may have, under the caps of shares:
    /// given where this one left blocks with less, or none of them for a cap alone. None where a
    /// stable text was appended to: no budget would change it. Counts of parts that do not add up,
    /// and blocks that do not fill a cap, make it an estimate.
    pub wanted_budget: Option<u64>,
    /// What a reader of the text should know.
    pub warnings: Vec<Warning>,
}

/// How good a plan by value is (RFC 0005 §4).
///
/// Values are those of [`ValueModel`](crate::ValueModel), added up over all blocks that are neither
/// Critical nor pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptimalityBound {
    /// What the plan is worth.
    pub value: u64,
    /// What no plan within the budget can exceed that serves the newest user turn as well.
    pub bound: u64,
    /// The bound of the linear relaxation; never below `bound`.
    pub lp_bound: u64,
}

impl OptimalityBound {
    /// Returns the same bounds for a plan of this value.
    pub(crate) fn with_value(self, value: u64) -> Self {
        let bound = self.bound.max(value);
        Self { value, bound, lp_bound: self.lp_bound.max(bound) }
    }

    /// How far the best plan can be above this one, as a part of `bound`: from 0, where it is
    /// proven best, to 1.
    ///
    /// ```
    /// use lcp_driver::OptimalityBound;
    ///
    /// let optimality = OptimalityBound { value: 995, bound: 1000, lp_bound: 1001 };
    /// assert_eq!(optimality.relative_gap(), 0.005);
    /// assert!(!optimality.is_optimal());
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a part, for people")]
    pub fn relative_gap(&self) -> f64 {
        if self.bound == 0 {
            return 0.0;
        }
        self.bound.saturating_sub(self.value) as f64 / self.bound as f64
    }

    /// Whether no plan is worth more.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.value >= self.bound
    }
}

/// What became of one share of the budget (RFC 0004 §5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareUsage {
    /// Its name: a category. Empty for the blocks whose category has no share.
    pub name: String,
    /// Tokens that are its own.
    pub tokens: u32,
    /// Tokens that it can never exceed, where it has such a cap.
    pub cap: Option<u32>,
    /// Tokens that its blocks would have with all that they may have.
    pub wanted: u64,
    /// Tokens that its blocks have. What exceeds its own is borrowed from shares that did not need
    /// theirs.
    pub used: u32,
    /// Its blocks, those that are not shown included.
    pub blocks: usize,
}

impl ShareUsage {
    /// Tokens that it has from other shares: with a cap, at most what the cap allows beyond its
    /// own. What Critical blocks exceed a cap by is not lent.
    #[must_use]
    pub fn borrowed(&self) -> u32 {
        self.cap.map_or(self.used, |cap| cap.min(self.used)).saturating_sub(self.tokens)
    }
}

/// What becomes of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// The block's type.
    pub block_type: BlockType,
    /// What reports call it: its path, title, name or role.
    pub label: Arc<str>,
    /// Its priority.
    pub priority: Priority,
    /// Its category: that of its tag, else that of its type.
    pub category: Arc<str>,
    /// What is shown of it.
    pub decision: RenderDecision,
    /// Why.
    pub reason: DecisionReason,
    /// Tokens of what is shown, tags and all.
    pub tokens: u32,
    /// Tokens that it would have in full.
    pub full_tokens: u32,
    /// Tokens of its content alone, the final newline included; the figure that placeholders and
    /// the roll-up line give.
    pub content_tokens: u32,
}

/// What the roll-up line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollUp {
    /// Blocks that have no line of their own.
    pub count: usize,
    /// Tokens of their contents.
    pub tokens: u64,
}

/// Why a block got its detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionReason {
    /// There is no budget, or the verbosity ignores it.
    NoBudget,
    /// The verbosity asks for summaries.
    Verbosity,
    /// The block is Critical, or belongs to a tool call of which a part is.
    Critical,
    /// The block is pinned, or belongs to a tool call of which a part is.
    Pinned,
    /// It stands as in the previous text, whatever the pack says of it by now (RFC 0005 §6).
    Unchanged,
    /// The previous text had no part of it; it waits for the next repack.
    Deferred,
    /// It fits.
    Fits,
    /// More of it than its priority allows is not shown (SPEC_08's ceilings).
    Ceiling,
    /// More of it does not fit.
    OverBudget,
    /// More of it would exceed the hard cap of its share.
    ShareCap,
    /// It is Background, and others lack something: it waits for them.
    Background,
    /// It says something of other blocks.
    Metadata,
    /// Its type was not asked for.
    Filtered,
    /// Another block, to which it stands like this, covers it (RFC 0006 §3).
    Duplicate(DuplicateKind),
}

impl DecisionReason {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoBudget => "no_budget",
            Self::Verbosity => "verbosity",
            Self::Critical => "critical",
            Self::Pinned => "pinned",
            Self::Unchanged => "kept",
            Self::Deferred => "waits",
            Self::Fits => "fits",
            Self::Ceiling => "ceiling",
            Self::OverBudget => "over_budget",
            Self::ShareCap => "share_cap",
            Self::Background => "background",
            Self::Metadata => "metadata",
            Self::Filtered => "filtered",
            Self::Duplicate(relation) => relation.name(),
        }
    }
}

impl DecisionReason {
    /// Whether the block is shown whatever the budget is.
    #[must_use]
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Critical | Self::Pinned)
    }
}

impl Plan {
    /// Tokens over the budget, which only Critical blocks or a verbosity that ignores the budget
    /// can cause.
    #[must_use]
    pub fn overflow_tokens(&self) -> u32 {
        self.budget.map_or(0, |budget| self.used_tokens.saturating_sub(budget))
    }

    /// Tokens of the budget that are left; 0 without a budget.
    #[must_use]
    pub fn remaining_tokens(&self) -> u32 {
        self.budget.map_or(0, |budget| budget.saturating_sub(self.used_tokens))
    }
}

impl ShownDetail {
    /// Returns the level or excerpt that a decision shows.
    pub(crate) fn from_decision(decision: &RenderDecision) -> Option<Self> {
        Some(Self::Level(match decision {
            RenderDecision::Full => DetailLevel::Full,
            RenderDecision::Detailed => DetailLevel::Detailed,
            RenderDecision::Summary => DetailLevel::Summary,
            RenderDecision::Tags => DetailLevel::Tags,
            RenderDecision::Placeholder { .. } => DetailLevel::Placeholder,
            RenderDecision::Excerpt(excerpt) => return Some(Self::Excerpt(*excerpt)),
            _ => return None,
        }))
    }
}
