//! Parts of blocks by value (RFC 0005 §3.4): what no detail fills.

use lcp_types::Priority;

use super::classes::{Classes, Floor};
use super::{Bounds, Field, Found, How, of_excerpt, solver, worth};
use crate::budget::walk::{
    Allocation, Choice, Cut, EXCERPT_FIRST, EXCERPT_MIN, Item, Outcome, Purse, Standing, fixed,
    rung, walk,
};

/// How near to its bound a plan is near enough: a thousandth of it.
const NEAR: u64 = 1_000;

/// Tokens that no excerpt goes below: its marker alone has more.
const PART_MIN: u64 = 8;

impl Field<'_> {
    /// The excerpt of the block that is served first, where nothing whole of it
    /// fits: half of what there is goes to it.
    pub(super) fn cut_question(&self, base: u64, cutter: &mut dyn Cut) -> Option<(usize, Choice)> {
        let terms = &self.terms;
        let first = terms.first.filter(|_| terms.excerpts && terms.shares.is_empty())?;
        let item = &self.items[first];
        let left = terms.budget.checked_sub(base + terms.line)?;
        let tells = item.costs[item.ceiling..item.telling.max(item.ceiling)].iter();
        if !may_be_cut(item, false)
            || item.group.is_some()
            || tells.min().is_some_and(|cost| *cost <= left)
        {
            return None;
        }
        let most = EXCERPT_FIRST.max(left / 2).min(left).min(item.costs[0].saturating_sub(1));
        let most = rung(most)?;
        let cost = cutter.cut(first, most)?;
        Some((first, Choice::Excerpt { most, cost }))
    }

    /// The best of several plans, each with what it leaves given to excerpts.
    pub(super) fn with_excerpts(
        &self,
        base: u64,
        found: Found,
        cutter: &mut dyn Cut,
    ) -> (Allocation, Bounds) {
        let bounds = self.relaxed(false);
        let mut best = self.filled(found, cutter);
        let mut value = worth(self.items, self.worths, &best);
        // Where much is missing, an excerpt may have been worth more than what
        // took its place.
        if bounds.bound.saturating_sub(value) <= bounds.bound / NEAR {
            return (best, bounds);
        }
        let mut others = Vec::new();
        for floor in [Floor::Line, Floor::Nothing] {
            let hows = [How::Best, How::Greedily];
            let found = hows.into_iter().filter_map(|how| self.case(base, floor, false, how));
            others.extend(found.map(|found| self.filled(found, cutter)));
        }
        others.push(walk(self.items, self.terms, cutter));
        for other in others.into_iter().filter(|other| other.outcome == Outcome::Fits) {
            let its_value = worth(self.items, self.worths, &other);
            let (told, its_told) = (self.told_first(&best), self.told_first(&other));
            if (its_told, its_value) > (told, value) {
                (best, value) = (other, its_value);
            }
        }
        (best, bounds)
    }

    /// Tokens that are shown of the block that is served first.
    fn told_first(&self, allocation: &Allocation) -> u64 {
        self.terms.first.map_or(0, |first| {
            let item = &self.items[first];
            let told = allocation.chosen[first].filter(|choice| choice.tells(item));
            told.map_or(0, |choice| choice.cost(item))
        })
    }

    /// What no plan exceeds, of excerpts neither: they lie on or under the way
    /// from nothing to the whole. With `all`, no ceilings are asked.
    pub(super) fn relaxed(&self, all: bool) -> Bounds {
        let base = self.terms.envelope + fixed(self.items);
        let capacity = self.terms.budget.saturating_sub(base);
        let classes = Classes::relaxed(self, all);
        // Either all have a part of their own, or the roll-up line is paid for.
        let rest = || self.items.iter().filter(|item| item.is_rest());
        let parts: u64 = rest().map(|item| item.costs[item.lowest()].min(PART_MIN)).sum();
        let needs_line = parts > capacity || rest().any(|item| item.standing == Standing::Out);
        let line = if needs_line { self.terms.line } else { 0 };
        let solution = solver::solve_greedily(classes.problem(), capacity.saturating_sub(line));
        let lp_bound = solution.map_or(0, |solution| solution.lp_bound);
        Bounds { bound: lp_bound, lp_bound }
    }

    /// Gives what a plan leaves to excerpts, by the density of the whole.
    fn filled(&self, found: Found, cutter: &mut dyn Cut) -> Allocation {
        let Self { items, worths, terms, .. } = *self;
        let at_ceiling = self.is_at_ceiling(&found.chosen);
        let mut purse = Purse::new(items, terms.shares, terms.groups, found.chosen, found.left);
        // What cannot pay for the smallest excerpt need not be sorted.
        let can_pay = |i: usize| purse.most(i) >= EXCERPT_MIN;
        let cut = (0..items.len()).filter(|&i| may_be_cut(&items[i], at_ceiling) && can_pay(i));
        let cut: Vec<_> = cut.collect();
        let mut wholes = solver::Problem::with_capacity(cut.len(), 2 * cut.len());
        for &i in &cut {
            wholes.push([(0, 0), (items[i].costs[0], worths[i][0])]);
        }
        for (class, _) in solver::by_density(&wholes) {
            let i = cut[class];
            let has = match purse.chosen(i) {
                Some(Choice::Detail(detail)) => worths[i][detail],
                Some(Choice::Excerpt { cost, .. }) => of_excerpt(&items[i], &worths[i], cost),
                None => 0,
            };
            // An excerpt is worth more than the line that it stands for only
            // from so many tokens on.
            let least =
                u128::from(has) * u128::from(items[i].costs[0]) / u128::from(worths[i][0].max(1));
            purse.excerpt(i, u64::try_from(least).unwrap_or(u64::MAX), u64::MAX, cutter);
        }
        let (chosen, left) = purse.close();
        let at_ceiling = at_ceiling && self.is_at_ceiling(&chosen);
        Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }
    }
}

/// Whether a part of a block may be shown.
fn may_be_cut(item: &Item, at_ceiling: bool) -> bool {
    item.standing == Standing::Free
        && item.priority != Priority::Critical
        && item.may_be_cut
        && (item.ceiling == 0 || at_ceiling && item.may_grow)
}
