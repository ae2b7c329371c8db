//! Shares by value: each spends its grant by density, then all what is left.

use super::classes::{Classes, Floor};
use super::solver::by_density;
use super::{Field, Found, How};
use crate::budget::walk::{Allocation, Choice, Outcome, Purse, Terms, fixed_alone, grants, order};

impl Field<'_> {
    /// A plan with shares. Its bounds are those of plans that know none, and
    /// serve no block first.
    pub(super) fn share(&self, floor: Floor, grown: bool, capacity: u64) -> Option<Found> {
        let Self { items, worths, terms, .. } = *self;
        let whole = Field { terms: Terms { shares: &[], first: None, ..terms }, ..*self };
        let bounds = whole.solve(floor, grown, capacity, How::Best)?.bounds;
        let mut purse = Purse::new(items, terms.shares, terms.groups, fixed_alone(items), capacity);
        let order = order(items);
        if floor == Floor::Line {
            for &i in &order {
                purse.step(i, items[i].lowest(), items[i].costs.len());
            }
            // A cap can keep one from its line: then the roll-up line is due.
            order.iter().all(|&i| purse.chosen(i).is_some()).then_some(())?;
        }
        if grown {
            // All have their ceilings; what may grow does so beside them.
            for &i in &order {
                purse.step(i, items[i].ceiling, items[i].costs.len());
            }
        }
        let first = terms.first.and_then(|first| {
            purse.step(first, items[first].ceiling, items[first].costs.len());
            purse.chosen(first)
        });
        // Each block by itself: the purse brings its group along.
        let apart = Field { terms: Terms { groups: &[], shares: &[], ..terms }, ..*self };
        let classes = Classes::new(&apart, Floor::Nothing, grown, None);
        let upgrades = by_density(classes.problem());
        let take = |purse: &mut Purse<'_>| {
            for &(class, option) in &upgrades {
                if let Some((item, detail)) = classes.detail(class, option) {
                    purse.step(item, detail, detail + 1);
                }
            }
            for &(class, _) in &upgrades {
                if let Some((item, full)) = classes.fullest(class) {
                    purse.step(item, full, items[item].costs.len());
                }
            }
        };
        purse.grant(&grants(items, terms, capacity + super::fixed(items), purse.spent()));
        take(&mut purse);
        purse.pool();
        take(&mut purse);
        let (chosen, left) = purse.close();
        let allocation = Allocation { chosen, outcome: Outcome::Fits, at_ceiling: false, left };
        let value = super::worth(items, worths, &allocation);
        let first = first.and_then(Choice::detail);
        Some(Found { chosen: allocation.chosen, left, value, bounds, first })
    }
}
