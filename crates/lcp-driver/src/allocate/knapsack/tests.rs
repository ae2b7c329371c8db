//! Properties of plans by value (RFC 0005 §7), compared with every possible plan.

use lcp_types::Priority;
use proptest::prelude::*;

use super::*;
use crate::allocate::allocate_tiers;
use crate::allocate::ledger::{EXCERPT_MIN, excerpt_step};

/// A test case: the items, the values of their details, the groups and the budget.
#[derive(Clone, Debug)]
struct Case {
    items: Vec<Candidate>,
    values: Vec<PerLevel>,
    groups: Vec<Vec<usize>>,
    budget: u64,
    envelope: u64,
    line: u64,
    first: Option<usize>,
}

impl Case {
    fn input(&self) -> AllocationInput<'_> {
        AllocationInput {
            candidates: &self.items,
            budget: self.budget,
            envelope: self.envelope,
            line: self.line,
            fill: false,
            shares: &[],
            excerpts: false,
            groups: &self.groups,
            first: self.first,
        }
    }

    fn allocate(&self) -> (Allocation, ValueBounds) {
        allocate_by_value(self.input(), &self.values, &mut NoCuts)
    }

    fn value(&self, allocation: &Allocation) -> u64 {
        let task = Task { input: self.input(), values: &self.values, newest_excerpt: None };
        task.value(&allocation.chosen)
    }

    /// Returns the cost of a plan; `None` if it is not allowed.
    fn cost(&self, chosen: &[Option<usize>]) -> Option<u64> {
        let mut cost = self.envelope;
        let mut rolled_up = false;
        for (item, detail) in self.items.iter().zip(chosen) {
            cost += detail.map_or(0, |detail| item.costs[detail]);
            rolled_up |= detail.is_none() && item.needs_mention();
        }
        let shown = |group: &Vec<usize>| group.iter().filter(|&&at| chosen[at].is_some()).count();
        let whole = |group: &Vec<usize>| [0, group.len()].contains(&shown(group));
        let cost = cost + if rolled_up { self.line } else { 0 };
        (self.groups.iter().all(whole) && cost <= self.budget).then_some(cost)
    }

    /// Returns the highest value of all allowed plans, by trying every plan.
    fn optimum(&self) -> Option<u64> {
        let mut chosen: Vec<Option<usize>> =
            self.items.iter().map(|item| item.is_fixed().then_some(0)).collect();
        let mut best = None;
        self.every(0, &mut chosen, &mut best);
        best
    }

    fn every(&self, at: usize, chosen: &mut Vec<Option<usize>>, best: &mut Option<u64>) {
        let Some(item) = self.items.get(at) else {
            if self.cost(chosen).is_some() {
                let fixed = |at: &usize| self.items[*at].is_fixed();
                let values = (0..chosen.len()).filter(|at| !fixed(at));
                let value = values.filter_map(|at| Some(self.values[at][chosen[at]?])).sum();
                *best = (*best).max(Some(value));
            }
            return;
        };
        if item.is_fixed() {
            return self.every(at + 1, chosen, best);
        }
        for detail in (item.ceiling..item.costs.len()).map(Some).chain([None]) {
            chosen[at] = detail;
            self.every(at + 1, chosen, best);
        }
    }
}

struct NoCuts;

impl Excerpter for NoCuts {
    fn excerpt_cost(&mut self, _: usize, _: u64) -> Option<u64> {
        None
    }
}

fn any_ladder() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let cost = prop_oneof![1u64..30, 1u64..3_000, (0u32..14).prop_map(|power| 1 << power)];
    prop::collection::vec((cost, prop_oneof![0u64..10, 0u64..100_000]), 1..4).prop_map(
        |mut details| {
            details.sort_unstable_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            details.dedup_by_key(|(cost, _)| *cost);
            details
        },
    )
}

fn any_case() -> impl Strategy<Value = Case> {
    let block = (any_ladder(), prop::sample::select(&Priority::ALL[..]), any::<bool>());
    let blocks = prop::collection::vec(block, 0..7);
    (blocks, 0usize..7, any::<bool>(), 0u64..9, 0u64..25, 0.0..1.2f64).prop_map(
        |(blocks, grouped, first, envelope, line, share)| {
            let mut case = Case {
                items: Vec::new(),
                values: Vec::new(),
                groups: Vec::new(),
                budget: 0,
                envelope,
                line,
                first: None,
            };
            for (details, priority, low) in blocks {
                case.items.push(Candidate {
                    priority,
                    rank: None,
                    costs: details.iter().map(|(cost, _)| *cost).collect(),
                    ceiling: if low { details.len() - 1 } else { 0 },
                    content_levels: details.len(),
                    may_grow: false,
                    may_be_cut: false,
                    has_passages: false,
                    share: 0,
                    group: None,
                    eligibility: Eligibility::Competes,
                });
                case.values.push(details.iter().map(|(_, value)| *value).collect());
            }
            // The first blocks form a group if there are at least two.
            let members: Vec<_> = (0..grouped.min(case.items.len())).collect();
            if members.len() > 1 {
                let highest = members.iter().map(|&at| case.items[at].priority).min().unwrap();
                for &at in &members {
                    case.items[at].group = Some(0);
                    case.items[at].priority = highest;
                }
                case.groups.push(members);
            }
            let is_high = |item: &Candidate| item.priority == Priority::High;
            case.first = case.items.iter().rposition(is_high).filter(|_| first);
            let whole: u64 = case.items.iter().map(|item| item.costs[0]).sum();
            #[expect(
                clippy::cast_precision_loss, clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            let budget = (whole as f64 * share) as u64;
            case.budget = budget + envelope;
            case
        },
    )
}

/// Excerpts of any size that is not below the minimum.
struct Cuts;

impl Excerpter for Cuts {
    fn excerpt_cost(&mut self, _: usize, most: u64) -> Option<u64> {
        (most >= EXCERPT_MIN).then_some(most)
    }
}

/// Returns the highest value of all plans in which at most one block is an excerpt.
fn optimum_with_an_excerpt(case: &Case) -> u64 {
    let mut best = case.optimum().unwrap_or_default();
    for at in 0..case.items.len() {
        let item = &case.items[at];
        if item.is_fixed() || item.ceiling > 0 {
            continue;
        }
        let rungs = (EXCERPT_MIN..item.costs[0]).filter(|&size| excerpt_step(size) == Some(size));
        for size in rungs.step_by(3) {
            let mut cut = case.clone();
            cut.items[at].costs = [size].into_iter().collect();
            cut.values[at] = [excerpt_value(item, &case.values[at], size)].into_iter().collect();
            best = best.max(cut.optimum().unwrap_or_default());
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Checks that with excerpts, no plan is worth more than the bound, and that allocation by
    /// tiers is at most slightly better than the result.
    #[test]
    fn bound_holds_for_plans_with_excerpts(mut case in any_case()) {
        case.items.truncate(4);
        case.values.truncate(4);
        case.groups.clear();
        case.first = None;
        for item in &mut case.items {
            item.group = None;
            item.may_be_cut = true;
        }
        let input = AllocationInput { excerpts: true, ..case.input() };
        let (allocation, optimality) = allocate_by_value(input, &case.values, &mut Cuts);
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        prop_assert_eq!(optimality.value, case.value(&allocation));
        let optimum = optimum_with_an_excerpt(&case);
        prop_assert!(optimum <= optimality.bound, "{optimum} above {optimality:?}");
        let strict = allocate_tiers(input, &mut Cuts);
        let by_tiers = case.value(&strict);
        prop_assert!(by_tiers <= optimality.bound);
        prop_assert!(by_tiers - optimality.value.min(by_tiers) <= optimality.bound / 999);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// Checks that the plan stays within the budget, that no group is split, and that the plan has
    /// the stated value. No plan may be worth more than the bound.
    #[test]
    fn plan_value_is_correct_and_bound_holds(case in any_case()) {
        let (allocation, optimality) = case.allocate();
        prop_assert_eq!(optimality.value, case.value(&allocation));
        prop_assert!(optimality.value <= optimality.bound);
        prop_assert!(optimality.bound <= optimality.lp_bound);
        let chosen: Vec<_> =
            allocation.chosen.iter().map(|choice| choice.and_then(Selection::level)).collect();
        if allocation.outcome != Outcome::Fits {
            // If so, no plan is allowed, except one that shows nothing of value.
            prop_assert!(case.optimum().is_none_or(|optimum| optimum == 0));
            return Ok(());
        }
        prop_assert!(case.cost(&chosen).is_some());
        let optimum = case.optimum().unwrap_or_default();
        prop_assert!(optimality.value <= optimum);
        if case.first.is_none() {
            prop_assert!(optimum <= optimality.bound, "{optimum} above {optimality:?}");
            // A case with so few blocks is solved exactly. Large groups are solved by their convex
            // hull.
            if case.groups.iter().all(|group| group.len() <= 3) {
                prop_assert_eq!(optimality.value, optimum);
            }
        }
    }

    /// Checks that the block that is served first has the fullest detail that any plan can give it.
    #[test]
    fn first_block_gets_fullest_possible_detail(case in any_case()) {
        let (allocation, _) = case.allocate();
        let Some(first) = case.first.filter(|_| allocation.outcome == Outcome::Fits) else {
            return Ok(());
        };
        let got = allocation.chosen[first].and_then(Selection::level);
        let item = &case.items[first];
        let mut details = (item.ceiling..item.costs.len()).map(Some).chain([None]);
        let best = details.find(|&detail| can_be(&case, first, detail));
        prop_assert_eq!(Some(got), best);
    }

    /// Checks that no upgrade with a higher value fits in the remaining budget.
    #[test]
    fn remaining_budget_fits_no_upgrade_by_value(case in any_case()) {
        let (allocation, _) = case.allocate();
        let chosen: Vec<_> =
            allocation.chosen.iter().map(|choice| choice.and_then(Selection::level)).collect();
        for (at, item) in case.items.iter().enumerate() {
            let is_free = !item.is_fixed() && item.group.is_none() && case.first != Some(at);
            for detail in (item.ceiling..item.costs.len()).filter(|_| is_free) {
                let has = chosen[at].map_or(0, |detail| case.values[at][detail]);
                let mut other = chosen.clone();
                other[at] = Some(detail);
                let better = case.values[at][detail] > has && case.cost(&other).is_some();
                prop_assert!(!better || allocation.outcome != Outcome::Fits);
            }
        }
    }
}

/// Returns whether a plan can give `first` this detail, with the minimum for all other blocks.
fn can_be(case: &Case, first: usize, detail: Option<usize>) -> bool {
    let group = case.items[first].group.filter(|_| detail.is_some());
    let plan = |all_on_lines: bool| -> Vec<Option<usize>> {
        let least = |at: usize| {
            let item = &case.items[at];
            let is_on_line =
                all_on_lines && item.needs_mention() || group.is_some() && item.group == group;
            if at == first {
                detail
            } else if item.is_fixed() {
                Some(0)
            } else {
                is_on_line.then(|| item.lowest())
            }
        };
        (0..case.items.len()).map(least).collect()
    };
    [false, true].into_iter().any(|all_on_lines| case.cost(&plan(all_on_lines)).is_some())
}
