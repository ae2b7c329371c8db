//! The search for a plan whose messages fit the budget and use most of it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lcp_driver::{DriverError, Planner, RenderDecision, Warning};

use super::{Candidate, MessageBuilder};
use crate::export::Companions;

/// The maximum number of plans, each with the excess of the one before subtracted.
const PLANS_MAX: u32 = 8;

/// The least part of the budget by which the next plan is smaller: 1 / 256.
const STEP_MIN: u32 = 256;

/// The number of plans after which the search drops no more messages.
const ALL_PLANS_MAX: u32 = 4 * PLANS_MAX;

/// The best result of several plans: within the budget, or as close to it as possible.
pub(super) struct SearchResult {
    pub(super) best: Candidate,
    pub(super) plans: u32,
    /// The warnings of the plan for the requested budget.
    pub(super) warnings: Vec<Warning>,
}

impl MessageBuilder<'_, '_> {
    /// Tries to show more without the messages that have the longest thinking. A plan does not know the
    /// cost of the thinking that is shown with a message, which can be most of the budget.
    pub(super) fn without_thinking(
        &self,
        plan: &mut Planner<'_>,
        planned: Option<u32>,
        budget: u32,
        mut found: SearchResult,
    ) -> Result<SearchResult, DriverError> {
        let items = &found.best.plan.items;
        let is_fixed = |at: &usize| items[*at].reason.is_fixed();
        let mut thinking: Vec<_> = self.candidates.thinking().collect();
        // The newest message stays.
        thinking.pop();
        thinking.retain(|of| !of.blocks.iter().chain(&of.rest).any(is_fixed));
        let tokens = |at: &usize| u64::from(items[*at].content_tokens);
        thinking.sort_by_key(|of| Reverse(of.blocks.iter().map(tokens).sum::<u64>()));
        let mut dropped = BTreeSet::new();
        for Companions { blocks, .. } in thinking {
            if found.plans > ALL_PLANS_MAX
                || is_filled(&found.best, budget)
                || found.best.plan.rolled_up.is_none()
            {
                break;
            }
            dropped.extend(blocks);
            let other = self.search(plan, planned, Some(budget), &dropped)?;
            let plans = found.plans + other.plans;
            if self.value(&other.best, budget) > self.value(&found.best, budget) {
                found = SearchResult { warnings: found.warnings, ..other };
            }
            found.plans = plans;
        }
        Ok(found)
    }

    /// Returns whether the messages fit, and the tokens of their blocks that are shown in full, without
    /// thinking.
    fn value(&self, made: &Candidate, budget: u32) -> (bool, u64) {
        let blocks = self.candidates.planned.iter().filter(|at| !self.candidates.is_thought(**at));
        let full = blocks
            .map(|at| &made.plan.items[*at])
            .filter(|item| item.decision == RenderDecision::Full);
        let tokens = full.map(|item| u64::from(item.content_tokens)).sum();
        (made.tokens <= u64::from(budget), tokens)
    }

    /// Plans with different budgets until the messages fit, without the blocks in `dropped`.
    pub(super) fn search(
        &self,
        plan: &mut Planner<'_>,
        planned: Option<u32>,
        budget: Option<u32>,
        dropped: &BTreeSet<usize>,
    ) -> Result<SearchResult, DriverError> {
        let overhead_tokens = u32::try_from(self.overhead_tokens).unwrap_or(u32::MAX);
        let mut own_budget = planned.map(|budget| budget.saturating_sub(overhead_tokens));
        let mut plans = 0;
        let mut warnings = Vec::new();
        // The largest result that fits, its planned budget, and a budget that was too large.
        let (mut best, mut enough, mut too_much) = (None::<Candidate>, 0, u32::MAX);
        loop {
            let made = self.make(plan(own_budget)?, dropped)?;
            plans += 1;
            if plans == 1 {
                warnings.clone_from(&made.plan.warnings);
            }
            let Some(budget) = budget else {
                return Ok(SearchResult { best: made, plans, warnings });
            };
            let planned = own_budget.unwrap_or(budget);
            let excess = made.tokens.saturating_sub(budget.into());
            if excess > 0 {
                too_much = planned.min(made.plan.used_tokens).max(enough);
            } else if plans == 1 || is_filled(&made, budget) {
                return Ok(SearchResult { best: made, plans, warnings });
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
                // Less content has more placeholders, so a small excess comes back.
                let step = excess.max(u64::from(budget / STEP_MIN));
                u32::try_from(u64::from(too_much).saturating_sub(step)).unwrap_or(u32::MAX)
            };
            if plans == PLANS_MAX || next == planned || is_fit && next == enough {
                return Ok(SearchResult { best: made, plans, warnings });
            }
            best = is_fit.then_some(made);
            own_budget = Some(next);
        }
    }
}

/// Returns whether messages fit and use most of the budget.
fn is_filled(made: &Candidate, budget: u32) -> bool {
    let budget = u64::from(budget);
    made.tokens <= budget && made.tokens >= budget / 8 * 7
}
