//! The objective `value`: of all plans that keep the budget, one that is worth
//! most, and how far from the best it can be (RFC 0005 §3 and §4).
//!
//! `solver` knows nothing but classes of costs and values; `classes.rs` makes
//! them of blocks, `shared.rs` spends shares, `cuts.rs` shows parts of blocks, what
//! remains is here: the roll-up line, what comes first, ceilings that are lifted.

mod classes;
mod cuts;
#[cfg(test)]
mod laws;
mod shared;
mod solver;

use super::walk::{
    Allocation, Choice, Cut, Item, Ladder, Outcome, Standing, Terms, fixed, fixed_alone,
    last_resort, order,
};
use crate::plan::OptimalityBound;
use classes::{Classes, Floor};

/// Allocates the budget by value; `worths` are the values of each item's
/// details, beside their costs.
pub(crate) fn allocate(
    items: &[Item],
    worths: &[Ladder],
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
) -> (Allocation, OptimalityBound) {
    let field = Field { items, worths, terms, question: None };
    let (mut allocation, mut bounds) = field.allocate(cutter);
    if terms.excerpts && allocation.outcome == Outcome::Fits && allocation.told(items) == 0 {
        let resort = last_resort(items, &order(items), terms, cutter);
        if resort.told(items) > 0 {
            allocation = resort;
            // It asks no ceilings.
            bounds = field.relaxed(true);
        }
    }
    let value = worth(items, worths, &allocation);
    let bound = bounds.bound.max(value);
    (allocation, OptimalityBound { value, bound, lp_bound: bounds.lp_bound.max(bound) })
}

/// What an allocation is worth, the fixed blocks left out.
pub(crate) fn worth(items: &[Item], worths: &[Ladder], allocation: &Allocation) -> u64 {
    let blocks = items.iter().zip(worths).zip(&allocation.chosen);
    blocks
        .filter(|((item, _), _)| !item.is_fixed())
        .map(|((item, worths), choice)| match choice {
            None => 0,
            Some(Choice::Detail(detail)) => worths[*detail],
            Some(Choice::Excerpt { cost, .. }) => of_excerpt(item, worths, *cost),
        })
        .sum()
}

/// What an excerpt is worth: its part of the whole.
fn of_excerpt(item: &Item, worths: &[u64], cost: u64) -> u64 {
    let whole = u128::from(worths[0]) * u128::from(cost) / u128::from(item.costs[0].max(1));
    u64::try_from(whole).unwrap_or(u64::MAX)
}

/// What no plan is worth more than.
#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    bound: u64,
    lp_bound: u64,
}

/// What competes, and for what.
#[derive(Clone, Copy)]
struct Field<'t> {
    items: &'t [Item],
    worths: &'t [Ladder],
    terms: Terms<'t>,
    /// The block that is served first, and the excerpt of it that is shown
    /// whatever else is.
    question: Option<(usize, Choice)>,
}

/// How a knapsack is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// As well as it can be.
    Best,
    /// Up to the first upgrade that does not fit: the rest is for excerpts.
    Greedily,
}

/// A plan without excerpts.
struct Found {
    chosen: Vec<Option<Choice>>,
    left: u64,
    value: u64,
    bounds: Bounds,
    /// The detail of the block that is served first.
    first: Option<usize>,
}

impl Field<'_> {
    fn allocate(&self, cutter: &mut dyn Cut) -> (Allocation, Bounds) {
        let Self { items, terms, .. } = *self;
        let fixed = fixed(items);
        let base = terms.envelope + fixed;
        let rest = || (0..items.len()).filter(|&i| items[i].is_rest());
        let alone = |outcome| Allocation {
            chosen: fixed_alone(items),
            outcome,
            at_ceiling: rest().next().is_none(),
            left: terms.budget.saturating_sub(base),
        };
        if fixed > 0 && base > terms.budget {
            let outcome = Outcome::CriticalExceeds { needed: base };
            return (alone(outcome), Bounds::default());
        }
        let question = self.cut_question(base, cutter);
        let field = Field { question, ..*self };
        let Some(mut best) = field.choose(base, false) else {
            return (alone(Outcome::BelowFloor), Bounds::default());
        };
        if field.is_at_ceiling(&best.chosen) && rest().any(|i| items[i].may_grow) {
            best = field.choose(base, true).unwrap_or(best);
        }
        if terms.excerpts {
            return field.with_excerpts(base, best, cutter);
        }
        let Found { chosen, left, bounds, .. } = best;
        let at_ceiling = field.is_at_ceiling(&chosen);
        (Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }, bounds)
    }

    /// Whether all that must be shown or counted has its ceiling.
    fn is_at_ceiling(&self, chosen: &[Option<Choice>]) -> bool {
        let mut rest = self.items.iter().zip(chosen).filter(|(item, _)| item.is_rest());
        rest.all(|(item, chosen)| chosen.is_some_and(|choice| choice.is_at_ceiling(item)))
    }

    /// The better of two plans: one that pays for the roll-up line, and one in
    /// which every block has a line of its own.
    fn choose(&self, base: u64, grown: bool) -> Option<Found> {
        let on_lines = self.case(base, Floor::Line, grown, How::Best);
        match (on_lines, self.case(base, Floor::Nothing, grown, How::Best)) {
            (Some(on_lines), Some(with_line)) => Some(on_lines.or_better(with_line)),
            (on_lines, with_line) => on_lines.or(with_line),
        }
    }

    /// One of the two, if it can be.
    fn case(&self, base: u64, floor: Floor, grown: bool, how: How) -> Option<Found> {
        let is_out = |item: &Item| item.standing == Standing::Out && item.is_rest();
        let mut line = self.terms.line;
        if floor == Floor::Line {
            let fits = base.saturating_add(self.on_lines()) <= self.terms.budget;
            if !fits || self.items.iter().any(is_out) || self.question.is_some() {
                return None;
            }
            line = 0;
        }
        let capacity = self.terms.budget.checked_sub(base + line)?;
        if self.terms.shares.is_empty() {
            self.solve(floor, grown, capacity, how)
        } else {
            self.share(floor, grown, capacity)
        }
    }

    /// What a line for every block costs that must have one or be counted.
    fn on_lines(&self) -> u64 {
        let competing = self.items.iter().filter(|item| item.is_rest());
        competing.map(|item| item.costs[item.lowest()]).sum()
    }

    /// The plan of most value, of those that serve the first block best.
    fn solve(&self, floor: Floor, grown: bool, capacity: u64, how: How) -> Option<Found> {
        let mut chosen = fixed_alone(self.items);
        let mut capacity = capacity;
        if let Some((at, choice)) = self.question {
            chosen[at] = Some(choice);
            capacity = capacity.checked_sub(choice.cost(&self.items[at]))?;
        }
        let first = self.terms.first.filter(|_| self.question.is_none()).and_then(|first| {
            let item = &self.items[first];
            let others = Classes::lowest_besides(self, floor, first)?;
            let left = capacity.checked_sub(others)?;
            let detail = (item.ceiling..item.costs.len()).find(|&at| item.costs[at] <= left)?;
            Some((first, detail))
        });
        let classes = Classes::new(self, floor, grown, first);
        let solution = match how {
            How::Best => solver::solve(classes.problem(), capacity)?,
            How::Greedily => solver::solve_greedily(classes.problem(), capacity)?,
        };
        let lp_bound = solution.lp_bound;
        let bound = if classes.are_thinned() { lp_bound } else { solution.bound };
        let bounds = Bounds { bound, lp_bound };
        classes.write(&solution.chosen, &mut chosen);
        let (left, value) = (capacity - solution.cost, solution.value);
        Some(Found { chosen, left, value, bounds, first: first.map(|(_, detail)| detail) })
    }
}

impl Found {
    /// The one that serves the first block better, else that of more value.
    /// What bounds both bounds either, if both serve the first block alike.
    fn or_better(self, other: Self) -> Self {
        // A lower number is a fuller detail; nothing is less than any.
        let first = |of: &Self| of.first.unwrap_or(usize::MAX);
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
