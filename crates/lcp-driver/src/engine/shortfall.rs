//! What a text within a budget falls short of, as warnings or as an error.

use crate::budget::walk::{Allocation, Item, Outcome};
use crate::config::Overflow;
use crate::error::DriverError;
use crate::warning::{Warning, WarningCode};

/// Who says what a text falls short of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortfall<'i> {
    /// Whether a text may exceed its budget.
    pub(super) overflow: Overflow,
    /// What was walked.
    pub(super) items: &'i [Item],
    /// How many blocks can be shown.
    pub(super) blocks: usize,
}

impl Shortfall<'_> {
    /// Refuses a text that needs more than the budget, where that is denied.
    pub(super) fn allow(self, needed: u64, budget: u32) -> Result<(), DriverError> {
        match self.overflow {
            Overflow::Allow => Ok(()),
            Overflow::Deny => {
                let excess = needed - u64::from(budget);
                Err(DriverError::OverBudget { needed, budget, excess })
            }
        }
    }

    /// Tells what a text of `used` tokens lacks.
    pub(super) fn warn_of(
        self,
        allocation: &Allocation,
        budget: u32,
        used: u32,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), DriverError> {
        if used > budget {
            self.allow(u64::from(used), budget)?;
            let message = format!(
                "the critical and pinned blocks alone have {used} tokens, {} over the budget of {budget}",
                used - budget,
            );
            warnings.push(Warning::new(WarningCode::OverBudget, None, message));
        } else if allocation.outcome != Outcome::Fits && self.items.iter().any(Item::is_rest) {
            let message = format!(
                "a budget of {budget} is too small for even a line that says what is omitted"
            );
            warnings.push(Warning::new(WarningCode::BelowFloor, None, message));
        }
        if allocation.told(self.items) == 0 && self.blocks > 0 {
            let message = format!(
                "within a budget of {budget} nothing of the content of {} blocks is shown",
                self.blocks,
            );
            warnings.push(Warning::new(WarningCode::EmptyResult, None, message));
        }
        Ok(())
    }
}
