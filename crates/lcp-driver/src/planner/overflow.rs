//! Texts that exceed their budget or show too little: errors and warnings.

use crate::allocate::{Allocation, Candidate, Outcome};
use crate::config::Overflow;
use crate::error::DriverError;
use crate::fmt::{group_thousands, plural};
use crate::warning::{Warning, WarningCode};

/// Returns an error if the text needs more than the budget and the configuration denies that.
pub(super) fn check_allowed(
    overflow: Overflow,
    needed: u64,
    budget: u32,
) -> Result<(), DriverError> {
    match overflow {
        Overflow::Allow => Ok(()),
        Overflow::Deny => {
            let excess = needed - u64::from(budget);
            Err(DriverError::OverBudget { needed, budget, excess })
        }
    }
}

/// Warns if a text of `used` tokens exceeds the budget or shows too little; fails if the
/// configuration denies the excess. `blocks` is the number of blocks that could have been shown.
pub(crate) fn warn_of_overflow(
    overflow: Overflow,
    candidates: &[Candidate],
    blocks: usize,
    allocation: &Allocation,
    budget: u32,
    used: u32,
    warnings: &mut Vec<Warning>,
) -> Result<(), DriverError> {
    if used > budget {
        check_allowed(overflow, u64::from(used), budget)?;
        let message = format!(
            "critical and pinned blocks alone need {}, {} over the budget of {}",
            plural(used, "token"),
            group_thousands((used - budget).into()),
            group_thousands(budget.into()),
        );
        warnings.push(Warning::new(WarningCode::OverBudget, None, message));
    } else if allocation.outcome != Outcome::Fits && candidates.iter().any(Candidate::needs_mention)
    {
        let tokens = plural(budget, "token");
        let message = format!("a budget of {tokens} is too small to list omitted content");
        warnings.push(Warning::new(WarningCode::BelowFloor, None, message));
    }
    if allocation.shown_tokens(candidates) == 0 && blocks > 0 {
        let message = format!(
            "the text shows no content of {} within the budget of {}",
            plural(blocks as u64, "block"),
            plural(budget, "token"),
        );
        warnings.push(Warning::new(WarningCode::EmptyResult, None, message));
    }
    Ok(())
}
