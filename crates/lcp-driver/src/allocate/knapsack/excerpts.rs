//! Excerpts by value, paid from the tokens that whole levels leave (RFC 0005 §3, step 6).

use lcp_types::Priority;

use super::classes::{Classes, MinimumChoice};
use super::{Bounds, KnapsackPlan, Method, Task, excerpt_value, solver};
use crate::allocate::ledger::{EXCERPT_MIN, excerpt_step};
use crate::allocate::tiers::{EXCERPT_FIRST, allocate_tiers};
use crate::allocate::{
    Allocation, BudgetLedger, Candidate, Eligibility, ExcerptKey, Excerpter, Outcome, Selection,
    fixed_tokens,
};

/// The divisor of the acceptable gap: a plan is good enough if it is within a thousandth of its
/// bound.
const NEAR: u64 = 1_000;

/// The minimum tokens of an excerpt; its marker alone has more.
const PART_MIN: u64 = 8;

impl Task<'_> {
    /// Returns an excerpt of the candidate that is served first if none of its levels fits.
    pub(super) fn newest_turn_excerpt(
        &self,
        base: u64,
        excerpter: &mut dyn Excerpter,
    ) -> Option<(usize, Selection)> {
        let input = self.input;
        let first = input.first.filter(|_| input.excerpts && input.shares.is_empty())?;
        let candidate = &input.candidates[first];
        let left = input.budget.checked_sub(base + input.line)?;
        let with_content = candidate.ceiling..candidate.content_levels.max(candidate.ceiling);
        let cheapest = candidate.costs[with_content].iter().min();
        if !may_be_cut(candidate, false)
            || candidate.group.is_some()
            || cheapest.is_some_and(|cost| *cost <= left)
        {
            return None;
        }
        let most = EXCERPT_FIRST.max(left / 2).min(left).min(candidate.costs[0].saturating_sub(1));
        let most = excerpt_step(most)?;
        let cost = excerpter.excerpt_cost(first, most)?;
        Some((first, Selection::Excerpt { key: ExcerptKey::Size(most), cost }))
    }

    /// Returns the best of several plans, each with its leftover tokens spent on excerpts.
    pub(super) fn with_excerpts(
        &self,
        base: u64,
        plan: KnapsackPlan,
        excerpter: &mut dyn Excerpter,
    ) -> (Allocation, Bounds) {
        let bounds = self.relaxed_bounds(false);
        let mut best = self.fill_with_excerpts(plan, excerpter);
        let mut value = self.value(&best.chosen);
        // If the gap is large, an excerpt may be worth more than the levels that displaced it.
        if bounds.bound.saturating_sub(value) <= bounds.bound / NEAR {
            return (best, bounds);
        }
        let mut others = Vec::new();
        for floor in [MinimumChoice::Line, MinimumChoice::Nothing] {
            for method in [Method::Exact, Method::Greedy] {
                let plan = self.case(base, floor, false, method);
                others.extend(plan.map(|plan| self.fill_with_excerpts(plan, excerpter)));
            }
        }
        others.push(allocate_tiers(self.input, excerpter));
        for other in others.into_iter().filter(|other| other.outcome == Outcome::Fits) {
            let other_value = self.value(&other.chosen);
            let (first, other_first) = (self.tokens_of_first(&best), self.tokens_of_first(&other));
            if (other_first, other_value) > (first, value) {
                (best, value) = (other, other_value);
            }
        }
        (best, bounds)
    }

    /// Returns the tokens of the part that shows content of the first candidate.
    fn tokens_of_first(&self, allocation: &Allocation) -> u64 {
        self.input.first.map_or(0, |first| {
            let candidate = &self.input.candidates[first];
            let shown =
                allocation.chosen[first].filter(|selection| selection.has_content(candidate));
            shown.map_or(0, |selection| selection.cost(candidate))
        })
    }

    /// Returns a bound for plans with excerpts. The value of an excerpt is below the line from
    /// nothing to the full content.
    pub(super) fn relaxed_bounds(&self, all: bool) -> Bounds {
        let base = self.input.envelope + fixed_tokens(self.input.candidates);
        let capacity = self.input.budget.saturating_sub(base);
        let classes = Classes::relaxed(self, all);
        // Either every candidate has its own part, or the roll-up line is paid for.
        let mentioned = || self.input.candidates.iter().filter(|one| one.needs_mention());
        let parts: u64 = mentioned().map(|one| one.costs[one.lowest()].min(PART_MIN)).sum();
        let is_excluded = |one: &Candidate| one.eligibility == Eligibility::Excluded;
        let needs_line = parts > capacity || mentioned().any(is_excluded);
        let line = if needs_line { self.input.line } else { 0 };
        let solution = solver::solve_greedily(classes.problem(), capacity.saturating_sub(line));
        let lp_bound = solution.map_or(0, |solution| solution.lp_bound);
        Bounds { bound: lp_bound, lp_bound }
    }

    /// Spends the leftover tokens of a plan on excerpts, in order of the density of the full
    /// content.
    fn fill_with_excerpts(&self, plan: KnapsackPlan, excerpter: &mut dyn Excerpter) -> Allocation {
        let Self { input, values, .. } = *self;
        let candidates = input.candidates;
        let at_ceiling = self.is_at_ceiling(&plan.chosen);
        let mut ledger =
            BudgetLedger::new(candidates, input.shares, input.groups, plan.chosen, plan.left);
        // A candidate that cannot pay for the smallest excerpt need not be sorted.
        let can_pay = |i: usize| ledger.affordable(i) >= EXCERPT_MIN;
        let cut = |&i: &usize| may_be_cut(&candidates[i], at_ceiling) && can_pay(i);
        let cut: Vec<_> = (0..candidates.len()).filter(cut).collect();
        let mut full = solver::Problem::with_capacity(cut.len(), 2 * cut.len());
        for &i in &cut {
            full.push([(0, 0), (candidates[i].costs[0], values[i][0])]);
        }
        for (class, _) in solver::upgrades_by_density(&full) {
            let i = cut[class];
            let (cost, value) = (candidates[i].costs[0], values[i][0]);
            let has = match ledger.chosen(i) {
                Some(Selection::Level(level)) => values[i][level],
                Some(Selection::Excerpt { cost, .. }) => {
                    excerpt_value(&candidates[i], &values[i], cost)
                }
                None => 0,
            };
            // The excerpt must be worth more than the form that it replaces, so this is its minimum
            // size.
            let least = u128::from(has) * u128::from(cost) / u128::from(value.max(1));
            ledger.excerpt(i, u64::try_from(least).unwrap_or(u64::MAX), u64::MAX, excerpter);
        }
        let (chosen, left) = ledger.into_parts();
        let at_ceiling = at_ceiling && self.is_at_ceiling(&chosen);
        Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }
    }
}

fn may_be_cut(candidate: &Candidate, at_ceiling: bool) -> bool {
    candidate.eligibility == Eligibility::Competes
        && candidate.priority != Priority::Critical
        && candidate.may_be_cut
        && (candidate.ceiling == 0 || at_ceiling && candidate.may_grow)
}
