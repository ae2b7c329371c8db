//! The error of messages that cannot fit.

use lcp_driver::{DriverError, group_thousands};

/// The error if no messages fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Planning failed.
    #[error(transparent)]
    Plan(#[from] DriverError),
    /// The smallest messages exceed the budget.
    #[error("{}", over(*needed, *budget, *image_tokens, *overhead_tokens))]
    OverBudget {
        /// Tokens of the smallest request.
        needed: u64,
        /// Tokens of the images in this request.
        image_tokens: u64,
        /// Tokens of this request other than messages.
        overhead_tokens: u64,
        /// The budget.
        budget: u32,
        /// `true` if the configuration denies the overflow; otherwise no message is left.
        is_denied: bool,
    },
}

impl FitError {
    /// Returns the stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan(error) => error.code(),
            Self::OverBudget { .. } => "LCP-BUD-001",
        }
    }
}

/// Describes messages that exceed the budget.
pub(super) fn over(tokens: u64, budget: u32, image_tokens: u64, overhead_tokens: u64) -> String {
    let excess = tokens.saturating_sub(budget.into());
    let part = |tokens: u64, place: &str| match tokens {
        0 => String::new(),
        tokens => format!(" ({} of them {place})", group_thousands(tokens)),
    };
    let images = part(image_tokens, "for images");
    let overhead = part(overhead_tokens, "outside the messages, such as tools");
    let (excess, budget) = (group_thousands(excess), group_thousands(budget.into()));
    let tokens = lcp_driver::plural(tokens, "token");
    format!("the messages need {tokens}{images}{overhead}, {excess} over the budget of {budget}")
}
