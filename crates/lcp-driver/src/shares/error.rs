//! What does not fit.

use std::fmt;

/// Why tokens were not consumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// The whole budget has not so many left.
    #[error("{tokens} tokens do not fit: {used} of the budget of {total} are used")]
    Total {
        /// Tokens that were to be consumed.
        tokens: u32,
        /// Tokens that were used before.
        used: u64,
        /// The budget.
        total: u32,
    },
    /// The share of the category has not so many left.
    #[error("{tokens} tokens do not fit in `{category}`: {used} of its {limit} are used")]
    Category {
        /// The category.
        category: String,
        /// Tokens that were to be consumed.
        tokens: u32,
        /// Tokens of the share that were used before.
        used: u32,
        /// Tokens of the share.
        limit: u32,
    },
    /// There is no share for the category.
    #[error("there is no share for the category `{category}`")]
    UnknownCategory {
        /// The category.
        category: String,
    },
}

impl BudgetError {
    /// A stable code, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Total { .. } => "LCP-BUD-001",
            Self::Category { .. } => "LCP-BUD-002",
            Self::UnknownCategory { .. } => "unknown_category",
        }
    }
}

/// What was changed about the sizes of shares so that they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharesNote {
    /// The ratios were scaled down.
    RatiosScaled {
        /// Tokens that they ask for, rounded up.
        wanted: u64,
        /// Tokens that there are for them, less fixed numbers.
        left: u32,
    },
    /// Fixed numbers were scaled down; ratios beside them got nothing.
    FixedScaled {
        /// Tokens that they ask for.
        wanted: u64,
        /// Tokens that there are.
        available: u32,
    },
}

impl fmt::Display for SharesNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RatiosScaled { wanted, left } => write!(
                f,
                "the ratios of the shares ask for {wanted} tokens, they were scaled down to the \
                 {left} that there are for them"
            ),
            Self::FixedScaled { wanted, available } => write!(
                f,
                "the fixed shares ask for {wanted} tokens, they were scaled down to the \
                 {available} that there are"
            ),
        }
    }
}
