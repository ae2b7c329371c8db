//! Why a pack is not rendered.

/// Why a pack is not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The text must be larger than the budget, and that was denied
    /// ([`Overflow::Deny`](crate::Overflow::Deny)).
    #[error("the text needs {needed} tokens, {excess} over the budget of {budget}")]
    OverBudget {
        /// Tokens of the smallest text that the configuration allows.
        needed: u64,
        /// The budget.
        budget: u32,
        /// How many tokens are missing.
        excess: u64,
    },
    /// The Critical and pinned blocks of a share exceed its hard cap, and that was denied.
    #[error(
        "the critical and pinned blocks of share {share:?} need {needed} tokens, {excess} over its cap of {cap}"
    )]
    OverShareCap {
        /// The share.
        share: String,
        /// Tokens of its Critical and pinned blocks.
        needed: u64,
        /// The cap.
        cap: u32,
        /// How many tokens are missing.
        excess: u64,
    },
    /// A plan was made for other blocks than these.
    #[error("the plan is for other blocks: it has {planned}, the pack has {found}")]
    WrongPlan {
        /// Blocks of the plan.
        planned: usize,
        /// Blocks that were given.
        found: usize,
    },
}

impl DriverError {
    /// A stable code, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OverBudget { .. } => "LCP-BUD-001",
            Self::OverShareCap { .. } => "LCP-BUD-002",
            Self::WrongPlan { .. } => "wrong_plan",
        }
    }
}
