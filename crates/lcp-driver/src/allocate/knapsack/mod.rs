//! Allocation by value: a plan of high value within the budget, and a bound on its distance from
//! the optimum (RFC 0005 §3 and §4).
//!
//! `solver` solves a multiple-choice knapsack. `classes.rs` converts candidates to its classes.
//! `shares.rs` handles shares, and `excerpts.rs` shows parts of blocks. This file handles the
//! roll-up line, the candidate that is served first, and lifted ceilings.

mod classes;
mod excerpts;
mod shares;
mod solver;
#[cfg(test)]
mod tests;

use super::tiers::{ServeFirst, allocate_with};
use super::{
    Allocation, AllocationInput, Candidate, Eligibility, Excerpter, Outcome, PerLevel, Selection,
    fixed_tokens,
};
use classes::{Classes, MinimumChoice};

/// The value of an allocation and its upper bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueBounds {
    pub(crate) value: u64,
    /// At least `value`.
    pub(crate) bound: u64,
    /// The bound of the linear relaxation, at least `bound`.
    pub(crate) lp_bound: u64,
}

/// Allocates the budget by value. `values` has the values of each candidate's levels.
pub(crate) fn allocate_by_value(
    input: AllocationInput<'_>,
    values: &[PerLevel],
    excerpter: &mut dyn Excerpter,
) -> (Allocation, ValueBounds) {
    let candidates = input.candidates;
    let task = Task { input, values, newest_excerpt: None };
    let (mut allocation, mut bounds) = task.allocate(excerpter);
    let is_fit = allocation.outcome == Outcome::Fits;
    if input.excerpts && is_fit && allocation.shown_tokens(candidates) == 0 {
        let order = input.service_order();
        let resort = allocate_with(input, &order, excerpter, ServeFirst::Content);
        if resort.shown_tokens(candidates) > 0 {
            allocation = resort;
            // This allocation ignores ceilings, so its bound must do so too.
            bounds = task.relaxed_bounds(true);
        }
    }
    let value = task.value(&allocation.chosen);
    let bound = bounds.bound.max(value);
    (allocation, ValueBounds { value, bound, lp_bound: bounds.lp_bound.max(bound) })
}

/// Returns the value of an excerpt: the fraction of the full value that its cost is of the full
/// cost.
fn excerpt_value(candidate: &Candidate, values: &[u64], cost: u64) -> u64 {
    let part = u128::from(values[0]) * u128::from(cost) / u128::from(candidate.costs[0].max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    bound: u64,
    lp_bound: u64,
}

/// The candidates that compete, and the values of their levels.
#[derive(Clone, Copy)]
struct Task<'a> {
    input: AllocationInput<'a>,
    values: &'a [PerLevel],
    /// The candidate that is served first and its excerpt, if that excerpt is shown in any case.
    newest_excerpt: Option<(usize, Selection)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Solve as well as possible.
    Exact,
    /// Stop at the first upgrade that does not fit; the rest is for excerpts.
    Greedy,
}

/// A plan without excerpts, except for that of the newest turn.
struct KnapsackPlan {
    chosen: Vec<Option<Selection>>,
    left: u64,
    value: u64,
    bounds: Bounds,
    /// The level of the candidate that is served first.
    first: Option<usize>,
}

impl Task<'_> {
    /// Returns the value of the selections, without the fixed candidates.
    fn value(&self, chosen: &[Option<Selection>]) -> u64 {
        let value = |((candidate, values), selection): ((&Candidate, &PerLevel), _)| match selection
        {
            _ if candidate.is_fixed() => 0,
            None => 0,
            Some(Selection::Level(level)) => values[level],
            Some(Selection::Excerpt { cost, .. }) => excerpt_value(candidate, values, cost),
        };
        let chosen = chosen.iter().copied();
        self.input.candidates.iter().zip(self.values).zip(chosen).map(value).sum()
    }

    fn allocate(&self, excerpter: &mut dyn Excerpter) -> (Allocation, Bounds) {
        let input = self.input;
        let fixed = fixed_tokens(input.candidates);
        let base = input.envelope + fixed;
        let mentioned = || input.candidates.iter().filter(|candidate| candidate.needs_mention());
        let fixed_only =
            |outcome| (input.fixed_only(outcome, mentioned().next().is_none()), Bounds::default());
        if fixed > 0 && base > input.budget {
            return fixed_only(Outcome::CriticalExceeds { needed: base });
        }
        let newest_excerpt = self.newest_turn_excerpt(base, excerpter);
        let task = Task { newest_excerpt, ..*self };
        let Some(mut best) = task.choose(base, false) else {
            return fixed_only(Outcome::BelowFloor);
        };
        if task.is_at_ceiling(&best.chosen) && mentioned().any(|candidate| candidate.may_grow) {
            best = task.choose(base, true).unwrap_or(best);
        }
        if input.excerpts {
            return task.with_excerpts(base, best, excerpter);
        }
        let KnapsackPlan { chosen, left, bounds, .. } = best;
        let at_ceiling = task.is_at_ceiling(&chosen);
        (Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }, bounds)
    }

    fn is_at_ceiling(&self, chosen: &[Option<Selection>]) -> bool {
        self.input.candidates.iter().zip(chosen).all(|(candidate, chosen)| {
            !candidate.needs_mention()
                || chosen.is_some_and(|selection| selection.is_at_ceiling(candidate))
        })
    }

    /// Returns the better of two plans: one with the roll-up line, and one in which every block has
    /// a line.
    fn choose(&self, base: u64, grown: bool) -> Option<KnapsackPlan> {
        let with_lines = self.case(base, MinimumChoice::Line, grown, Method::Exact);
        match (with_lines, self.case(base, MinimumChoice::Nothing, grown, Method::Exact)) {
            (Some(with_lines), Some(with_roll_up)) => Some(with_lines.or_better(with_roll_up)),
            (with_lines, with_roll_up) => with_lines.or(with_roll_up),
        }
    }

    fn case(
        &self,
        base: u64,
        floor: MinimumChoice,
        grown: bool,
        method: Method,
    ) -> Option<KnapsackPlan> {
        let mut line = self.input.line;
        if floor == MinimumChoice::Line {
            let mentioned = || self.input.candidates.iter().filter(|one| one.needs_mention());
            let lines: u64 = mentioned().map(|one| one.costs[one.lowest()]).sum();
            let fits = base.saturating_add(lines) <= self.input.budget;
            let is_excluded = |one: &Candidate| one.eligibility == Eligibility::Excluded;
            if !fits || mentioned().any(is_excluded) || self.newest_excerpt.is_some() {
                return None;
            }
            line = 0;
        }
        let capacity = self.input.budget.checked_sub(base + line)?;
        if self.input.shares.is_empty() {
            self.solve(floor, grown, capacity, method)
        } else {
            self.solve_with_shares(floor, grown, capacity)
        }
    }

    /// Returns the plan of the highest value found among those that serve the first candidate best.
    fn solve(
        &self,
        floor: MinimumChoice,
        grown: bool,
        capacity: u64,
        method: Method,
    ) -> Option<KnapsackPlan> {
        let candidates = self.input.candidates;
        let mut chosen = self.input.fixed_selections();
        let mut capacity = capacity;
        if let Some((at, selection)) = self.newest_excerpt {
            chosen[at] = Some(selection);
            capacity = capacity.checked_sub(selection.cost(&candidates[at]))?;
        }
        let first = self.input.first.filter(|_| self.newest_excerpt.is_none()).and_then(|first| {
            let candidate = &candidates[first];
            let others = Classes::lowest_besides(self, floor, first)?;
            let left = capacity.checked_sub(others)?;
            let mut levels = candidate.ceiling..candidate.costs.len();
            Some((first, levels.find(|&level| candidate.costs[level] <= left)?))
        });
        let classes = Classes::new(self, floor, grown, first);
        let solution = match method {
            Method::Exact => solver::solve(classes.problem(), capacity)?,
            Method::Greedy => solver::solve_greedily(classes.problem(), capacity)?,
        };
        let lp_bound = solution.lp_bound;
        let bound = if classes.are_thinned() { lp_bound } else { solution.bound };
        let bounds = Bounds { bound, lp_bound };
        classes.write(&solution.chosen, &mut chosen);
        let (left, value) = (capacity - solution.cost, solution.value);
        Some(KnapsackPlan { chosen, left, value, bounds, first: first.map(|(_, level)| level) })
    }
}

impl KnapsackPlan {
    /// Returns the plan that serves the first candidate better, otherwise the one with the higher
    /// value.
    fn or_better(self, other: Self) -> Self {
        // A lower number is a fuller level.
        let first = |plan: &Self| plan.first.unwrap_or(usize::MAX);
        if first(&self) != first(&other) {
            return if first(&other) < first(&self) { other } else { self };
        }
        let bounds = Bounds {
            bound: self.bounds.bound.max(other.bounds.bound),
            lp_bound: self.bounds.lp_bound.max(other.bounds.lp_bound),
        };
        let better = if other.value > self.value { other } else { self };
        Self { bounds, ..better }
    }
}
