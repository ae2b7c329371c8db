//! The objective `value`: of all plans that keep the budget, one that is worth
//! most, and how far from the best it can be (RFC 0005 §3 and §4).
//!
//! `solver` knows nothing but classes of costs and values; `classes.rs` makes
//! them of blocks, `shared.rs` spends shares, what remains is here: the roll-up
//! line, what comes first, ceilings that are lifted, excerpts.

mod classes;
#[cfg(test)]
mod laws;
mod shared;
mod solver;

use lcp_types::Priority;

use super::walk::{
    Allocation, Choice, Cut, EXCERPT_MIN, Item, Ladder, Outcome, Purse, Standing, Terms, fixed,
    fixed_alone, last_resort, order,
};
use crate::plan::Certificate;
use classes::{Classes, Floor};

/// Allocates the budget by value; `worths` are the values of each item's
/// details, beside their costs.
pub(crate) fn allocate(
    items: &[Item],
    worths: &[Ladder],
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
) -> (Allocation, Certificate) {
    let field = Field { items, worths, terms };
    let (mut allocation, bounds) = field.allocate(cutter);
    if terms.excerpts && allocation.outcome == Outcome::Fits && allocation.told(items) == 0 {
        let resort = last_resort(items, &order(items), terms, cutter);
        if resort.told(items) > 0 {
            allocation = resort;
        }
    }
    let value = worth(items, worths, &allocation);
    let bound = bounds.bound.max(value);
    (allocation, Certificate { value, bound, lp_bound: bounds.lp_bound.max(bound) })
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
        let at_ceiling = |chosen: &[Option<Choice>]| {
            rest().all(|i| chosen[i].is_some_and(|choice| choice.is_at_ceiling(&items[i])))
        };
        let Some(mut best) = self.choose(base, false) else {
            return (alone(Outcome::BelowFloor), Bounds::default());
        };
        let is_at_ceiling = at_ceiling(&best.chosen);
        if is_at_ceiling && rest().any(|i| items[i].may_grow) {
            best = self.choose(base, true).unwrap_or(best);
        }
        let Found { chosen, left, bounds, .. } = best;
        let mut purse = Purse::new(items, terms.shares, terms.groups, chosen, left);
        if terms.excerpts {
            self.cut(&mut purse, is_at_ceiling, cutter);
        }
        let (chosen, left) = purse.close();
        let at_ceiling = is_at_ceiling && at_ceiling(&chosen);
        (Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }, bounds)
    }

    /// The better of two plans: one that pays for the roll-up line, and one in
    /// which every block has a line of its own.
    fn choose(&self, base: u64, grown: bool) -> Option<Found> {
        let case = |floor| {
            let line = if floor == Floor::Nothing { self.terms.line } else { 0 };
            let capacity = self.terms.budget.checked_sub(base + line)?;
            if self.terms.shares.is_empty() {
                self.solve(floor, grown, capacity)
            } else {
                self.share(floor, grown, capacity)
            }
        };
        let is_out = |item: &Item| item.standing == Standing::Out && item.is_rest();
        let may_be_on_lines = !self.items.iter().any(is_out)
            && base.saturating_add(self.on_lines()) <= self.terms.budget;
        let on_lines = may_be_on_lines.then(|| case(Floor::Line)).flatten();
        match (on_lines, case(Floor::Nothing)) {
            (Some(on_lines), Some(with_line)) => Some(on_lines.or_better(with_line)),
            (on_lines, with_line) => on_lines.or(with_line),
        }
    }

    /// What a line for every block costs that must have one or be counted.
    fn on_lines(&self) -> u64 {
        let competing = self.items.iter().filter(|item| item.is_rest());
        competing.map(|item| item.costs[item.lowest()]).sum()
    }

    /// The plan of most value, of those that serve the first block best.
    fn solve(&self, floor: Floor, grown: bool, capacity: u64) -> Option<Found> {
        let first = self.terms.first.and_then(|first| {
            let item = &self.items[first];
            let others = Classes::lowest_besides(self, floor, first)?;
            let left = capacity.checked_sub(others)?;
            let detail = (item.ceiling..item.costs.len()).find(|&at| item.costs[at] <= left)?;
            Some((first, detail))
        });
        let classes = Classes::new(self, floor, grown, first);
        let solution = solver::solve(classes.problem(), capacity)?;
        let bounds = Bounds { bound: solution.bound, lp_bound: solution.lp_bound };
        let mut chosen = fixed_alone(self.items);
        classes.write(&solution.chosen, &mut chosen);
        let (left, value) = (capacity - solution.cost, solution.value);
        Some(Found { chosen, left, value, bounds, first: first.map(|(_, detail)| detail) })
    }

    /// Gives what is left to excerpts, by the density of the whole.
    fn cut(&self, purse: &mut Purse<'_>, at_ceiling: bool, cutter: &mut dyn Cut) {
        let may_be_cut = |item: &Item| {
            item.standing == Standing::Free
                && item.priority != Priority::Critical
                && item.may_be_cut
                && (item.ceiling == 0 || at_ceiling && item.may_grow)
        };
        // What cannot pay for the smallest excerpt need not be sorted.
        let can_pay = |i: usize| purse.most(i) >= EXCERPT_MIN;
        let cut = (0..self.items.len()).filter(|&i| may_be_cut(&self.items[i]) && can_pay(i));
        let cut: Vec<_> = cut.collect();
        let mut wholes = solver::Problem::with_capacity(cut.len(), 2 * cut.len());
        for &i in &cut {
            wholes.push([(0, 0), (self.items[i].costs[0], self.worths[i][0])]);
        }
        for (class, _) in solver::by_density(&wholes) {
            let i = cut[class];
            let (item, worths) = (&self.items[i], &self.worths[i]);
            let has = match purse.chosen(i) {
                Some(Choice::Detail(detail)) => worths[detail],
                _ => 0,
            };
            // An excerpt is worth more than the line that it stands for only
            // from so many tokens on.
            let least = u128::from(has) * u128::from(item.costs[0]) / u128::from(worths[0].max(1));
            purse.excerpt(i, u64::try_from(least).unwrap_or(u64::MAX), u64::MAX, cutter);
        }
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
