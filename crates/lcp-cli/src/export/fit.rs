//! Plans, until the messages fit.

use std::collections::BTreeSet;

use lcp_convert::Exported;
use lcp_driver::{BlockTexts, DefaultDriver, DriverConfig, DriverError, Overflow, Plan};
use lcp_tokens::TokenEstimator;

use super::{Candidates, count};

/// How often it is planned anew, with the excess taken off.
const PLANS_MAX: u32 = 8;

/// Messages within a budget, and how they came about.
pub struct Fitted {
    /// The messages.
    pub exported: Exported,
    /// Their tokens.
    pub tokens: u64,
    /// What was decided over the blocks.
    pub plan: Plan,
    /// How many plans were made.
    pub plans: u32,
    /// Messages that were dropped, the oldest first, since no plan fitted.
    pub dropped: usize,
}

/// The messages of a pack within the budget of `config`. Only Critical and pinned blocks
/// can exceed it.
///
/// A message costs other tokens than the part of a text that the plan counts: so it is
/// planned again with the excess taken off, as RFC 0002 does for counts that do not add
/// up; where that does not end, the oldest messages give way.
///
/// # Errors
///
/// [`DriverError::OverBudget`] where the messages must exceed the budget, and the
/// configuration denies it.
pub fn fit(
    candidates: &Candidates<'_>,
    driver: &DefaultDriver,
    estimator: &dyn TokenEstimator,
    config: &DriverConfig,
) -> Result<Fitted, DriverError> {
    let blocks = candidates.to_plan();
    let mut own = config.clone();
    let mut plans = 0;
    loop {
        let plan = driver.plan(&blocks, &own)?;
        plans += 1;
        let texts = driver.block_texts(&blocks, &plan)?;
        let exported = candidates.export(&plan, &texts, &BTreeSet::new());
        let tokens = count(&exported, estimator);
        let Some(budget) = config.token_budget else {
            return Ok(Fitted { exported, tokens, plan, plans, dropped: 0 });
        };
        let excess = tokens.saturating_sub(budget.into());
        if excess == 0 {
            return Ok(Fitted { exported, tokens, plan, plans, dropped: 0 });
        }
        let spent = own.token_budget.unwrap_or(budget).min(plan.used_tokens);
        let next = u64::from(spent).saturating_sub(excess);
        let next = u32::try_from(next).unwrap_or(u32::MAX);
        if plans == PLANS_MAX || own.token_budget == Some(next) {
            let made = Made { candidates, estimator, texts: &texts, plan: &plan };
            let (exported, tokens, dropped) = made.without_oldest(budget, &exported);
            let needed = tokens;
            if needed > u64::from(budget) && config.overflow == Overflow::Deny {
                let excess = needed - u64::from(budget);
                return Err(DriverError::OverBudget { needed, budget, excess });
            }
            return Ok(Fitted { exported, tokens, plan, plans, dropped });
        }
        own.token_budget = Some(next);
        // What exceeds a budget that was lowered may fit the one that was given.
        own.overflow = Overflow::Allow;
    }
}

/// Messages that are still too many.
struct Made<'m, 'b> {
    candidates: &'m Candidates<'b>,
    estimator: &'m dyn TokenEstimator,
    texts: &'m BlockTexts,
    plan: &'m Plan,
}

impl Made<'_, '_> {
    /// Drops as few of the oldest messages as it takes; those of the system stay, and the
    /// newest of the user goes last.
    fn without_oldest(&self, budget: u32, exported: &Exported) -> (Exported, u64, usize) {
        let is_fixed = |at: &usize| self.plan.items[*at].reason.is_fixed();
        let mut order: Vec<&[usize]> = Vec::new();
        for message in &exported.messages {
            let is_system = matches!(message.role, "system" | "developer");
            if !is_system && !message.blocks.is_empty() && !message.blocks.iter().any(is_fixed) {
                order.push(&message.blocks);
            }
        }
        let newest = exported.messages.iter().rfind(|message| message.role == "user");
        if let Some(newest) = newest
            && let Some(at) = order.iter().rposition(|blocks| *blocks == newest.blocks)
        {
            let last = order.remove(at);
            order.push(last);
        }
        let without = |count_of: usize| {
            let dropped = order[..count_of].iter().flat_map(|blocks| blocks.iter().copied());
            let exported = self.candidates.export(self.plan, self.texts, &dropped.collect());
            let tokens = count(&exported, self.estimator);
            (exported, tokens, count_of)
        };
        let (mut too_few, mut enough) = (0, order.len());
        while too_few + 1 < enough {
            let middle = too_few + (enough - too_few) / 2;
            if without(middle).1 <= u64::from(budget) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        let fitted = without(enough);
        if fitted.1 <= u64::from(budget) {
            return fitted;
        }
        // Not even the line that says what is not shown.
        let shown = self.texts.shown.iter().filter(|text| is_fixed(&text.index));
        let texts = BlockTexts { shown: shown.cloned().collect(), roll_up: None };
        let exported = self.candidates.export(self.plan, &texts, &BTreeSet::new());
        let tokens = count(&exported, self.estimator);
        (exported, tokens, order.len())
    }
}
