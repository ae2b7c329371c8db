//! Plans, until the messages fit.

use std::collections::BTreeSet;

use lcp_convert::Exported;
use lcp_driver::{
    BlockTexts, DefaultDriver, DriverConfig, DriverError, Overflow, Plan, RenderDecision, RolledUp,
};
use lcp_tokens::TokenEstimator;
use lcp_types::Block;

use super::{Candidates, count};

/// How often it is planned anew, with the excess taken off.
const PLANS_MAX: u32 = 8;

/// Messages within a budget, and how they came about.
pub struct Fitted {
    /// The messages.
    pub exported: Exported,
    /// Their tokens.
    pub tokens: u64,
    /// What was decided over the blocks, and what became of those that no message shows:
    /// they are rolled up.
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
/// up. Where that takes off far too much, as what messages have beside their texts can, a
/// budget between is tried; where it does not end, the oldest messages give way.
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
    let maker = Maker { candidates, driver, estimator, blocks: &blocks };
    let mut own = config.clone();
    let mut plans = 0;
    // The most that fits, the budget that it was planned for, and one that was too much.
    let (mut best, mut enough, mut too_much) = (None::<Made>, 0, u32::MAX);
    loop {
        let made = maker.make(driver.plan(&blocks, &own)?, &BTreeSet::new())?;
        plans += 1;
        let Some(budget) = config.token_budget else { return Ok(made.fitted(plans)) };
        let planned = own.token_budget.unwrap_or(budget);
        let excess = made.tokens.saturating_sub(budget.into());
        if excess > 0 {
            too_much = planned.min(made.plan.used_tokens).max(enough);
        } else if plans == 1 || made.tokens >= u64::from(budget) / 8 * 7 {
            return Ok(made.fitted(plans));
        } else {
            enough = planned;
        }
        let made = match best.take() {
            Some(best) if excess > 0 || best.tokens >= made.tokens => best,
            _ => made,
        };
        let is_fit = made.tokens <= u64::from(budget);
        let next = if is_fit {
            enough + (too_much - enough) / 2
        } else {
            u32::try_from(u64::from(too_much).saturating_sub(excess)).unwrap_or(u32::MAX)
        };
        if plans == PLANS_MAX || next == planned || is_fit && next == enough {
            return if is_fit { Ok(made.fitted(plans)) } else { maker.last(made, config, plans) };
        }
        best = is_fit.then_some(made);
        own.token_budget = Some(next);
        // What exceeds a budget that was lowered may fit the one that was given.
        own.overflow = Overflow::Allow;
    }
}

/// What messages are made with.
struct Maker<'m, 'b> {
    candidates: &'m Candidates<'b>,
    driver: &'m DefaultDriver,
    estimator: &'m dyn TokenEstimator,
    /// As they are planned.
    blocks: &'m [Block<'b>],
}

/// The messages of a plan.
struct Made {
    exported: Exported,
    tokens: u64,
    plan: Plan,
    texts: BlockTexts,
    dropped: usize,
}

impl Made {
    fn fitted(self, plans: u32) -> Fitted {
        let Self { exported, tokens, plan, dropped, .. } = self;
        Fitted { exported, tokens, plan, plans, dropped }
    }
}

impl Maker<'_, '_> {
    /// The messages of a plan without the blocks in `dropped`. The line that says what is
    /// not shown counts those, and what went with them: a result without its call.
    fn make(&self, mut plan: Plan, dropped: &BTreeSet<usize>) -> Result<Made, DriverError> {
        let mut texts = self.driver.block_texts(self.blocks, &plan)?;
        let mut exported = self.candidates.export(&plan, &texts, dropped);
        let unseen = self.candidates.unseen(&plan, &exported);
        if unseen.len() != plan.rolled_up.map_or(0, |of| of.count) {
            let tokens = unseen.iter().map(|at| u64::from(plan.items[*at].content_tokens)).sum();
            for at in &unseen {
                plan.items[*at].decision = RenderDecision::RolledUp;
            }
            let rolled_up = RolledUp { count: unseen.len(), tokens };
            plan.rolled_up = (rolled_up.count > 0).then_some(rolled_up);
            texts = self.driver.block_texts(self.blocks, &plan)?;
            exported = self.candidates.export(&plan, &texts, dropped);
        }
        Ok(self.counted(exported, plan, texts, 0))
    }

    fn counted(&self, exported: Exported, plan: Plan, texts: BlockTexts, dropped: usize) -> Made {
        let tokens = count(&exported, self.estimator);
        Made { exported, tokens, plan, texts, dropped }
    }

    /// What is left where no plan fits.
    fn last(&self, made: Made, config: &DriverConfig, plans: u32) -> Result<Fitted, DriverError> {
        let budget = config.token_budget.unwrap_or(u32::MAX);
        let fitted = self.without_oldest(budget, made)?.fitted(plans);
        let needed = fitted.tokens;
        if needed > u64::from(budget) && config.overflow == Overflow::Deny {
            let excess = needed - u64::from(budget);
            return Err(DriverError::OverBudget { needed, budget, excess });
        }
        Ok(fitted)
    }

    /// Drops as few of the oldest messages as it takes; those of the system stay, and the
    /// newest of the user goes last.
    fn without_oldest(&self, budget: u32, made: Made) -> Result<Made, DriverError> {
        let Made { exported, plan, texts, .. } = made;
        let is_fixed = |at: &usize| plan.items[*at].reason.is_fixed();
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
            let made = self.make(plan.clone(), &dropped.collect())?;
            Ok(Made { dropped: count_of, ..made })
        };
        let (mut too_few, mut enough) = (0, order.len());
        while too_few + 1 < enough {
            let middle = too_few + (enough - too_few) / 2;
            if without(middle)?.tokens <= u64::from(budget) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        let fitted = without(enough)?;
        if fitted.tokens <= u64::from(budget) {
            return Ok(fitted);
        }
        // Not even the line that says what is not shown.
        let shown = texts.shown.iter().filter(|text| is_fixed(&text.index));
        let texts = BlockTexts { shown: shown.cloned().collect(), roll_up: None };
        let exported = self.candidates.export(&plan, &texts, &BTreeSet::new());
        let mut bare = plan.clone();
        for at in self.candidates.unseen(&plan, &exported) {
            bare.items[at].decision = RenderDecision::Omit;
        }
        bare.rolled_up = None;
        Ok(self.counted(exported, bare, texts, order.len()))
    }
}
