//! The plan as plain data: the decision for each block, its reason and its tokens.

use std::ops::Range;
use std::sync::Arc;

use lcp_types::{BlockType, DuplicateKind, Priority, Replacements};

use crate::detail::{DetailLevel, Excerpt, OutputMode, ShownDetail, Verbosity};
use crate::objective::Objective;
use crate::prompt_cache::StableOutcome;
use crate::segments::segment::{AllocationReason, CompressionLevel};
use crate::warning::Warning;

/// The way in which a text shows one block, or the way in which it omits it (SPEC_08 §3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderDecision {
    /// The full content.
    Full,
    /// A detailed level that the pack carries, shorter than the full content (RFC 0004 §6).
    Detailed,
    /// The summary only.
    Summary,
    /// A few words that the pack carries as a level below the summary.
    Tags,
    /// A part of the content, with a line that counts the omitted rest.
    Excerpt(Box<Excerpt>),
    /// One line that names the block and counts its tokens in place of its content.
    Placeholder {
        /// The block's type.
        block_type: BlockType,
        /// The name of the block in the line: a path, a title or a role.
        description: String,
        /// Tokens of the omitted content, including its final newline.
        omitted_tokens: u32,
    },
    /// No line of its own: the roll-up line counts it.
    RolledUp,
    /// Not in the text and not counted there: a Background block that does not fit, or any block if
    /// the budget is too small even for the roll-up line.
    Omit,
    /// Never text: an annotation, or an extension block of LCP itself.
    Metadata,
    /// Left out by [`DriverConfig::types`](crate::DriverConfig::types).
    Filtered,
    /// Left out because another block covers it ([`DriverConfig::duplicates`](crate::DriverConfig::duplicates)).
    Duplicate {
        /// The index of the covering block.
        by: usize,
    },
}

impl RenderDecision {
    /// Returns the name of the decision in reports.
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

    /// Returns whether the block has its own part of the text: content or a placeholder.
    #[must_use]
    pub const fn is_shown(&self) -> bool {
        self.has_content() || matches!(self, Self::Placeholder { .. })
    }

    /// Returns whether the text shows some of the block's content, not only a placeholder.
    #[must_use]
    pub const fn has_content(&self) -> bool {
        matches!(self, Self::Full | Self::Detailed | Self::Summary | Self::Tags | Self::Excerpt(_))
    }
}

/// The decisions for all blocks of a pack, made before the text is rendered.
///
/// Renderers print a plan and reports explain it; neither decides anything.
/// [`DefaultDriver::plan`](crate::DefaultDriver::plan) makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The format of the text.
    pub mode: OutputMode,
    /// `true` if the lines of code and documents have numbers.
    pub line_numbers: bool,
    /// The verbosity of the configuration.
    pub verbosity: Verbosity,
    /// The objective by which blocks competed.
    pub objective: Objective,
    /// The quality of the plan. `None` unless the objective is value and there is a budget, and
    /// `None` if parts of a previous text were kept (RFC 0005 §4).
    pub optimality: Option<OptimalityBound>,
    /// The reuse of the previous text, and the data that the next turn needs to keep this one.
    /// `None` if stable plans are off (RFC 0005 §6).
    pub stable: Option<StableOutcome>,
    /// The maximum tokens of the text; `None` means no limit.
    pub budget: Option<u32>,
    /// The name of the estimator that counted the tokens.
    pub encoding: String,
    /// `true` if the counts of this estimator are exact.
    pub exact: bool,
    /// One item for each block of the pack, in pack order.
    pub items: Vec<PlanItem>,
    /// The duplicates of the configuration whose covering block is in the pack, has a requested
    /// type and is not removed itself.
    pub duplicates: Option<Replacements>,
    /// The blocks that the roll-up line counts, if the text has that line.
    pub rolled_up: Option<RollUp>,
    /// Tokens of the whole text.
    pub used_tokens: u32,
    /// Tokens that belong to no block: the envelope and the roll-up line. These and the tokens of
    /// all items add up to `used_tokens`.
    pub overhead_tokens: u32,
    /// The use of each share of the budget in configured order, then that of blocks without a
    /// share. Empty if the configuration has no shares (RFC 0004 §5).
    pub shares: Vec<ShareUsage>,
    /// The segments of the configuration that have blocks to show, oldest first. Empty if segments
    /// do not decide the levels, or if none fits.
    pub segments: Vec<PlanSegment>,
    /// The smallest budget with which every block gets all that its priority and the caps of shares
    /// allow. `None` in these cases:
    ///
    /// - No block lacks detail for want of budget; a cap alone does not count.
    /// - The plan has no budget.
    /// - The text continues a previous one, which no budget would change.
    ///
    /// The value is an estimate if the token counts of parts do not add up, or if the blocks of a
    /// share do not use its whole cap.
    pub wanted_budget: Option<u64>,
    /// Warnings about the blocks and the text.
    pub warnings: Vec<Warning>,
}

/// The quality of a plan by value (RFC 0005 §4).
///
/// Values come from [`ValueModel`](crate::ValueModel) and are summed over all blocks that are
/// neither Critical nor pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptimalityBound {
    /// The value of the plan.
    pub value: u64,
    /// An upper bound on the value of any plan within the budget that serves the newest user turn
    /// as well as this one.
    pub bound: u64,
    /// The upper bound of the linear relaxation, at least `bound`.
    pub lp_bound: u64,
}

impl OptimalityBound {
    /// Returns the same bounds for a plan of this value.
    pub(crate) fn with_value(self, value: u64) -> Self {
        let bound = self.bound.max(value);
        Self { value, bound, lp_bound: self.lp_bound.max(bound) }
    }

    /// Returns the largest possible gap to the best plan, as a fraction of `bound` from 0 (proven
    /// best) to 1.
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

    /// Returns whether the plan is proven to have the highest possible value.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.value >= self.bound
    }
}

/// The use of one share of the budget (RFC 0004 §5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareUsage {
    /// The category of the share. Empty for the blocks whose category has no share.
    pub name: String,
    /// Tokens that belong to the share.
    pub tokens: u32,
    /// The hard cap of the share in tokens, if it has one.
    pub cap: Option<u32>,
    /// Tokens that the blocks of the share would need for all that they may have.
    pub wanted: u64,
    /// Tokens that the blocks of the share use. Any excess over `tokens` is borrowed from shares
    /// that did not need all of theirs.
    pub used: u32,
    /// The number of blocks of the share, including those that are not shown.
    pub blocks: usize,
}

impl ShareUsage {
    /// Returns the tokens that the share uses from other shares. With a cap this is at most the cap
    /// minus `tokens`: the excess of Critical blocks over a cap does not count as borrowed.
    #[must_use]
    pub fn borrowed(&self) -> u32 {
        self.cap.map_or(self.used, |cap| cap.min(self.used)).saturating_sub(self.tokens)
    }
}

/// The decision for one segment of the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSegment {
    /// The id of the segment.
    pub id: String,
    /// The indices of its blocks.
    pub blocks: Range<usize>,
    /// The level at which they are shown; `None` if none fits.
    pub level: Option<CompressionLevel>,
    /// Tokens of the blocks at that level, before the whole text is counted.
    pub tokens: u32,
    /// The reason for its phase; `None` if it is not shown.
    pub reason: Option<AllocationReason>,
}

/// The decision for one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanItem {
    /// The block's type.
    pub block_type: BlockType,
    /// The name of the block in reports: its path, title, name or role.
    pub label: Arc<str>,
    /// The priority of the block.
    pub priority: Priority,
    /// The category of the block: from its tag, otherwise from its type.
    pub category: Arc<str>,
    /// The decision.
    pub decision: RenderDecision,
    /// The reason for the decision.
    pub reason: DecisionReason,
    /// The reasons for the rank of the block, best first (RFC 0014). Empty if no question ranked it.
    pub why: Arc<[Arc<str>]>,
    /// Tokens of the block's part of the text, including tags.
    pub tokens: u32,
    /// Tokens of that part if the block were shown in full.
    pub full_tokens: u32,
    /// Tokens of the content alone, including its final newline. Placeholders and the roll-up line
    /// show this number.
    pub content_tokens: u32,
}

/// The blocks that the roll-up line counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollUp {
    /// The number of blocks without their own line.
    pub count: usize,
    /// Tokens of their contents.
    pub tokens: u64,
}

/// The reason why a block is shown at its level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionReason {
    /// There is no budget, or the verbosity ignores it.
    NoBudget,
    /// The verbosity asks for summaries.
    Verbosity,
    /// The block is Critical, or another block of its tool call is.
    Critical,
    /// The block is pinned, or another block of its tool call is.
    Pinned,
    /// The block is shown exactly as in the previous text, even if the pack describes it
    /// differently now (RFC 0005 §6).
    Unchanged,
    /// The previous text did not show the block; the block waits for the next repack.
    Deferred,
    /// The block fits at the most detail that it may have.
    Fits,
    /// The priority of the block allows no more detail (SPEC_08's ceilings).
    Ceiling,
    /// More detail does not fit into the budget.
    OverBudget,
    /// More detail would exceed the hard cap of the block's share.
    ShareCap,
    /// The block is Background, and waits until all other blocks have all that they may have.
    Background,
    /// The block describes other blocks and is not text.
    Metadata,
    /// The configuration does not ask for the block's type.
    Filtered,
    /// Another block covers this one, by this relation (RFC 0006 §3).
    Duplicate(DuplicateKind),
}

impl DecisionReason {
    /// Returns the name of the reason in reports.
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
    /// Returns whether the budget gives the block less detail than it may have.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::OverBudget | Self::ShareCap | Self::Deferred | Self::Background)
    }

    /// Returns whether the block is shown regardless of the budget.
    #[must_use]
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Critical | Self::Pinned)
    }
}

impl Plan {
    /// Returns the tokens over the budget. Only Critical and pinned blocks, or a verbosity that
    /// ignores the budget, can cause an excess.
    #[must_use]
    pub fn overflow_tokens(&self) -> u32 {
        self.budget.map_or(0, |budget| self.used_tokens.saturating_sub(budget))
    }

    /// Returns whether the budget gives a block less detail than it may have.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.items.iter().any(|item| item.reason.is_cut())
    }

    /// Returns the unused tokens of the budget; 0 without a budget.
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
            RenderDecision::Excerpt(excerpt) => {
                return Some(Self::Excerpt(excerpt.as_ref().clone()));
            }
            _ => return None,
        }))
    }
}
