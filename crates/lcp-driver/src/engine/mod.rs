//! From blocks to a plan: resolve, scan, walk, render once, and check.
//!
//! `scan.rs` finds what each block is and could cost, `sharing.rs` which share
//! of the budget pays for it; the walk (`budget/walk.rs`) allocates; `decide.rs`
//! says what that means for each block and why, `finish.rs` makes the plan.

mod decide;
mod finish;
mod scan;
mod sharing;

use lcp_types::{Block, Priority};

use crate::budget::TokenEstimator;
use crate::budget::walk::{Allocation, Choice, Outcome, Terms, walk};
use crate::config::{DriverConfig, Overflow, Verbosity};
use crate::error::DriverError;
use crate::meta::resolve;
use crate::plan::{Plan, RolledUp};
use crate::text;
use crate::warning::{Warning, WarningCode};
use decide::Decided;
use scan::{Cutter, Scan, is_rest};
use sharing::Sharing;

/// How often a plan is made anew where counts of parts do not add up.
const ATTEMPTS_MAX: u32 = 8;

/// Plans `blocks`; the text is rendered once, to count it.
pub(crate) fn plan(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<Plan, DriverError> {
    planned_text(blocks, config, estimator).map(|(plan, _)| plan)
}

/// Plans `blocks`, and gives the text that the plan makes.
pub(crate) fn planned_text(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<(Plan, String), DriverError> {
    let mut warnings = Vec::new();
    let metas = resolve(blocks, &mut warnings);
    let scan = Scan::new(blocks, &metas, config, estimator, &mut warnings);
    scan.run(config.token_budget, warnings)
}

/// Plans `blocks` for each of these budgets; they are scanned once.
pub(crate) fn replay(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    budgets: &[u32],
    estimator: &dyn TokenEstimator,
) -> Result<Vec<Plan>, DriverError> {
    let mut warnings = Vec::new();
    let metas = resolve(blocks, &mut warnings);
    let scan = Scan::new(blocks, &metas, config, estimator, &mut warnings);
    let run = |budget: &u32| scan.run(Some(*budget), warnings.clone()).map(|(plan, _)| plan);
    budgets.iter().map(run).collect()
}

/// What was decided for each block, the text of that, and its tokens.
type Settled = (Vec<Decided>, String, u32);

impl Scan<'_, '_> {
    fn run(
        &self,
        budget: Option<u32>,
        mut warnings: Vec<Warning>,
    ) -> Result<(Plan, String), DriverError> {
        let (settled, sharing) = match (budget, self.config.verbosity) {
            (Some(budget), Verbosity::Adaptive) => {
                let mut sharing = Sharing::new(self, budget, &mut warnings);
                let settled = self.adaptive(budget, &mut sharing, &mut warnings)?;
                (settled, sharing)
            }
            _ => (self.everything(budget, &mut warnings)?, Sharing::default()),
        };
        let (decided, text, used) = settled;
        Ok((self.plan(budget, &sharing, decided, used, warnings)?, text))
    }

    /// The second pass: within the budget.
    fn adaptive(
        &self,
        budget: u32,
        sharing: &mut Sharing,
        warnings: &mut Vec<Warning>,
    ) -> Result<Settled, DriverError> {
        let mut cutter = Cutter::new(self);
        let attempt = |allocation: &Allocation, sharing: &Sharing, cutter: &Cutter<'_, '_, '_>| {
            let decided = self.decide(allocation, sharing, cutter);
            let text = self.text(&decided);
            // The figure that counts: never from a cache.
            let used = self.estimator.recount(&text);
            (decided, text, used)
        };
        let line = self.roll_up_bound();
        let mut available = u64::from(budget);
        // Where the counts of parts add up, the first plan is the last. Where
        // they do not, the excess is taken off and the plan made again.
        for _ in 0..ATTEMPTS_MAX {
            let terms = Terms {
                budget: available,
                envelope: self.envelope,
                line,
                fill: self.config.fill,
                shares: &sharing.terms,
                excerpts: self.config.excerpts(),
            };
            let allocation = walk(&self.items, terms, &mut cutter);
            let settled = attempt(&allocation, sharing, &cutter);
            let used = settled.2;
            let fits = allocation.outcome == Outcome::Fits;
            let over_caps = self.over_caps(sharing, &settled);
            if fits && used <= budget && over_caps.iter().any(|over| *over > 0) {
                sharing.lower_caps(&over_caps);
                continue;
            }
            if (fits && used <= budget) || (!fits && available == u64::from(budget)) {
                self.warn_of(&allocation, budget, used, warnings)?;
                return Ok(settled);
            }
            if !fits {
                break;
            }
            // What the plan left is no part of the excess.
            let spent = available.saturating_sub(allocation.left);
            available = spent.saturating_sub(u64::from(used - budget));
        }
        // Critical blocks and the roll-up line, else Critical blocks alone.
        let counted = self.smallest(Outcome::Fits);
        let settled = attempt(&counted, sharing, &cutter);
        if settled.2 <= budget {
            self.warn_of(&counted, budget, settled.2, warnings)?;
            return Ok(settled);
        }
        let alone = self.smallest(Outcome::BelowFloor);
        let settled = attempt(&alone, sharing, &cutter);
        self.warn_of(&alone, budget, settled.2, warnings)?;
        Ok(settled)
    }

    /// What each share exceeds its cap by, by the count of the final text.
    fn over_caps(&self, sharing: &Sharing, (decided, _, used): &Settled) -> Vec<u64> {
        if sharing.terms.is_empty() || self.estimator.is_additive() {
            return Vec::new();
        }
        sharing.excess(&self.items, &self.shared_out(decided, *used))
    }

    /// What the roll-up line can cost at most.
    fn roll_up_bound(&self) -> u64 {
        let rest = || self.items.iter().zip(&self.shown).filter(|(item, _)| is_rest(item));
        let tokens = rest().map(|(_, (_, costs))| u64::from(costs.content)).sum();
        // More blocks and more tokens only add digits, so this is a bound.
        let all = RolledUp { count: rest().count(), tokens };
        u64::from(self.estimator.estimate(&text::roll_up_line(all, self.config.mode)))
    }

    fn allow(&self, needed: u64, budget: u32) -> Result<(), DriverError> {
        match self.config.overflow {
            Overflow::Allow => Ok(()),
            Overflow::Deny => {
                let excess = needed - u64::from(budget);
                Err(DriverError::OverBudget { needed, budget, excess })
            }
        }
    }

    fn warn_of(
        &self,
        allocation: &Allocation,
        budget: u32,
        used: u32,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), DriverError> {
        if used > budget {
            self.allow(u64::from(used), budget)?;
            let message = format!(
                "the critical blocks alone have {used} tokens, {} over the budget of {budget}",
                used - budget,
            );
            warnings.push(Warning::new(WarningCode::OverBudget, None, message));
        } else if allocation.outcome != Outcome::Fits && self.items.iter().any(is_rest) {
            let message = format!(
                "a budget of {budget} is too small for even a line that says what is omitted"
            );
            warnings.push(Warning::new(WarningCode::BelowFloor, None, message));
        }
        if allocation.told(&self.items) == 0 && !self.items.is_empty() {
            let message = format!(
                "within a budget of {budget} nothing of the content of {} blocks is shown",
                self.items.len(),
            );
            warnings.push(Warning::new(WarningCode::EmptyResult, None, message));
        }
        Ok(())
    }

    /// Critical blocks alone: what is left where nothing else helps.
    fn smallest(&self, outcome: Outcome) -> Allocation {
        let critical = |priority| (priority == Priority::Critical).then_some(Choice::Detail(0));
        let chosen = self.items.iter().map(|item| critical(item.priority)).collect();
        Allocation { chosen, outcome, at_ceiling: false, left: 0 }
    }
}
