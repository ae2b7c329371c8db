//! Shares by value: each share spends its grant by density, then all spend the leftover tokens.

use super::classes::{Classes, MinimumChoice};
use super::solver::upgrades_by_density;
use super::{KnapsackPlan, Method, Task};
use crate::allocate::tiers::share_grants;
use crate::allocate::{AllocationInput, BudgetLedger, Selection, fixed_tokens};

impl Task<'_> {
    /// Returns a plan with shares. Its bounds are those without shares and without a first
    /// candidate.
    pub(super) fn solve_with_shares(
        &self,
        floor: MinimumChoice,
        grown: bool,
        capacity: u64,
    ) -> Option<KnapsackPlan> {
        let input = self.input;
        let candidates = input.candidates;
        let unshared =
            Task { input: AllocationInput { shares: &[], first: None, ..input }, ..*self };
        let bounds = unshared.solve(floor, grown, capacity, Method::Exact)?.bounds;
        let chosen = input.fixed_selections();
        let mut ledger =
            BudgetLedger::new(candidates, input.shares, input.groups, chosen, capacity);
        let order = input.service_order();
        if floor == MinimumChoice::Line {
            for &i in &order {
                ledger.upgrade_to(i, candidates[i].lowest());
            }
            // A cap can deny a candidate its line; then the roll-up line is needed.
            order.iter().all(|&i| ledger.chosen(i).is_some()).then_some(())?;
        }
        if grown {
            for &i in &order {
                ledger.upgrade_to(i, candidates[i].ceiling);
            }
        }
        let first = input.first.and_then(|first| {
            ledger.upgrade_to(first, candidates[first].ceiling);
            ledger.chosen(first)
        });
        // The classes are of single candidates, because the ledger adds the other members of a
        // group.
        let ungrouped =
            Task { input: AllocationInput { groups: &[], shares: &[], ..input }, ..*self };
        let classes = Classes::new(&ungrouped, MinimumChoice::Nothing, grown, None);
        let upgrades = upgrades_by_density(classes.problem());
        let take = |ledger: &mut BudgetLedger<'_>| {
            for &(class, option) in &upgrades {
                if let Some((i, level)) = classes.level(class, option) {
                    ledger.upgrade(i, level, level + 1);
                }
            }
            for &(class, _) in &upgrades {
                if let Some((i, fullest)) = classes.fullest(class) {
                    ledger.upgrade_to(i, fullest);
                }
            }
        };
        let total = capacity + fixed_tokens(candidates);
        ledger.restrict_to_grants(&share_grants(input, total, ledger.spent()));
        take(&mut ledger);
        ledger.spend_from_total();
        take(&mut ledger);
        let (chosen, left) = ledger.into_parts();
        let (value, first) = (self.value(&chosen), first.and_then(Selection::level));
        Some(KnapsackPlan { chosen, left, value, bounds, first })
    }
}
