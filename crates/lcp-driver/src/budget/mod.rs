//! The budget engine (SPEC_08, RFC 0002): scan every block for what each of
//! its details costs, then allocate the budget.
//!
//! [`allocate_budget`] is the whole of it in one call. A
//! [`Plan`](crate::Plan) has the same decisions with their reasons and costs.

pub(crate) mod cost;
pub(crate) mod value;
pub(crate) mod walk;

use lcp_types::{Block, BlockType};

pub use lcp_tokens::{CodeAwareEstimator, HeuristicEstimator, TokenEstimator};

pub use crate::meta::resolve_priorities;

use crate::config::{DriverConfig, OutputMode};
use crate::engine;

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
    /// Not in the text at all: a Background block over the budget, or any
    /// block of a budget too small for even the roll-up line.
    Omit,
    /// Not for the text: an annotation, or an extension of LCP's own.
    Metadata,
    /// Left out by [`DriverConfig::types`].
    Filtered,
    /// Left out because another block covers it ([`DriverConfig::duplicates`]).
    Duplicate {
        /// The index of the block that covers it.
        by: usize,
    },
}

/// Which part of a content an excerpt shows, and what its marker says (RFC
/// 0004 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Bytes from the beginning of the content that are shown.
    pub head_bytes: usize,
    /// Bytes from its end that are shown.
    pub tail_bytes: usize,
    /// Lines of which something is missing.
    pub omitted_lines: usize,
    /// Tokens that are missing, about.
    pub omitted_tokens: u32,
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
        self.shows_content() || matches!(self, Self::Placeholder { .. })
    }

    /// Whether something of the block's content is shown: not a mere line that
    /// says what is omitted.
    #[must_use]
    pub const fn shows_content(&self) -> bool {
        matches!(self, Self::Full | Self::Detailed | Self::Summary | Self::Tags | Self::Excerpt(_))
    }
}

/// Chooses what becomes of each block, in the order of the pack (SPEC_08 §3).
///
/// The same as a plan with [`DriverConfig::default`], this budget and this
/// mode: adaptive, with SPEC_08's ceilings, Critical blocks in full even where
/// they exceed the budget.
///
/// ```
/// use lcp_driver::budget::{HeuristicEstimator, RenderDecision, allocate_budget};
/// use lcp_driver::OutputMode;
/// use lcp_types::{Block, Lang};
///
/// let code = "let x = 1;\n".repeat(100);
/// let blocks = [Block::code(Lang::Rust, "a.rs", code.as_str()).with_summary("a hundred lets")];
/// let decide = |budget| allocate_budget(&blocks, budget, &HeuristicEstimator, OutputMode::Xml);
/// assert_eq!(decide(1_000), [RenderDecision::Full]);
/// assert_eq!(decide(100), [RenderDecision::Summary]);
/// ```
#[must_use]
pub fn allocate_budget(
    blocks: &[Block<'_>],
    budget: u32,
    estimator: &dyn TokenEstimator,
    mode: OutputMode,
) -> Vec<RenderDecision> {
    let config = DriverConfig { token_budget: Some(budget), mode, ..DriverConfig::default() };
    match engine::plan(blocks, &config, estimator) {
        Ok(plan) => plan.items.into_iter().map(|item| item.decision).collect(),
        // Overflow is allowed by default, and nothing else is denied.
        Err(_) => vec![RenderDecision::Omit; blocks.len()],
    }
}
