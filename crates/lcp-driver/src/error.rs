//! The errors of rendering.

use crate::fmt::{group_thousands, plural};

/// The error of rendering a pack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The text must exceed the budget, and the configuration denies that
    /// ([`Overflow::Deny`](crate::Overflow::Deny)).
    #[error(
        "the text needs {}, {} over the budget of {}",
        plural(*needed, "token"),
        group_thousands(*excess),
        group_thousands((*budget).into())
    )]
    OverBudget {
        /// Tokens of the smallest text that the configuration allows.
        needed: u64,
        /// The budget.
        budget: u32,
        /// Tokens over the budget.
        excess: u64,
    },
    /// The Critical and pinned blocks of a share exceed its hard cap, and the configuration denies
    /// that.
    #[error(
        "critical and pinned blocks of share {share:?} need {}, {} over its cap of {}",
        plural(*needed, "token"),
        group_thousands(*excess),
        group_thousands((*cap).into())
    )]
    OverShareCap {
        /// The name of the share.
        share: String,
        /// Tokens of the Critical and pinned blocks of the share.
        needed: u64,
        /// The cap.
        cap: u32,
        /// Tokens over the cap.
        excess: u64,
    },
    /// The plan was made for other blocks.
    #[error(
        "the plan does not match the pack: it has {}, the pack has {found}",
        plural(*planned as u64, "block")
    )]
    WrongPlan {
        /// The number of blocks of the plan.
        planned: usize,
        /// The number of blocks that were passed.
        found: usize,
    },
}

impl DriverError {
    /// Returns a stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OverBudget { .. } => "LCP-BUD-001",
            Self::OverShareCap { .. } => "LCP-BUD-002",
            Self::WrongPlan { .. } => "wrong_plan",
        }
    }
}
