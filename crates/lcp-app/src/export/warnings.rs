//! What is said of messages and the budget that was asked for.

use lcp_driver::{DriverError, RenderDecision, Warning, WarningCode};
use lcp_types::Priority;

use super::Candidates;
use super::fit::Made;

/// Why there are no messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] DriverError),
    /// No messages are small enough.
    #[error("{}", over(*needed, *budget, *beside))]
    OverBudget {
        /// Tokens of the smallest request.
        needed: u64,
        /// Tokens of it that stand beside the messages.
        beside: u64,
        /// The budget.
        budget: u32,
        /// Whether Critical and pinned blocks may not exceed it; else there are none.
        is_denied: bool,
    },
}

impl Unfit {
    /// A stable code, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan(error) => error.code(),
            Self::OverBudget { .. } => "LCP-BUD-001",
        }
    }
}

fn over(tokens: u64, budget: u32, beside: u64) -> String {
    let excess = tokens.saturating_sub(budget.into());
    let beside = match beside {
        0 => String::new(),
        beside => format!(" ({beside} of them for what the request has beside them)"),
    };
    format!("the messages need {tokens} tokens{beside}, {excess} over the budget of {budget}")
}

/// The warnings of a plan for this budget, with those that are of its text replaced by those
/// of the messages. `beside` are the tokens of what stands beside these.
pub(super) fn of(
    mut of_plan: Vec<Warning>,
    made: &Made,
    candidates: &Candidates<'_>,
    (budget, beside): (u32, u64),
) -> Vec<Warning> {
    of_plan.retain(|warning| {
        !matches!(
            warning.code,
            WarningCode::OverBudget
                | WarningCode::BelowFloor
                | WarningCode::EmptyResult
                | WarningCode::BudgetIgnored
        )
    });
    let mut warn = |code, message| of_plan.push(Warning::new(code, None, message));
    // Of Background blocks no line says anything.
    let is_untold = |at: &usize| {
        let item = &made.plan.items[*at];
        item.decision == RenderDecision::Omit && item.priority != Priority::Background
    };
    if made.tokens > u64::from(budget) {
        let of_request = if beside > 0 { "the request's tools, " } else { "" };
        let message = format!(
            "{}: {of_request}Critical and pinned blocks alone",
            over(made.tokens, budget, beside)
        );
        warn(WarningCode::OverBudget, message);
    } else if candidates.planned.iter().any(is_untold) {
        let message = format!("within a budget of {budget} no line says what is not shown");
        warn(WarningCode::BelowFloor, message);
    }
    let mut seen = made.exported.messages.iter().flat_map(|message| &message.blocks);
    let tells =
        |at: &usize| !matches!(made.plan.items[*at].decision, RenderDecision::Placeholder { .. });
    if !seen.any(tells) && !candidates.planned.is_empty() {
        let blocks = candidates.planned.len();
        let message = format!(
            "within a budget of {budget} nothing of the content of {blocks} blocks is shown"
        );
        warn(WarningCode::EmptyResult, message);
    }
    of_plan
}
