//! The category allocator tests of Task 016.c, under their names.

use lcp_driver::shares::{ContextBudget, Demand, Share, Shares, max_min_fair};
use proptest::prelude::*;

fn tokens(budget: &ContextBudget) -> Vec<u32> {
    budget.shares().iter().map(|share| share.tokens).collect()
}

#[test]
fn should_allocate_by_percentage() {
    assert_eq!(tokens(&Shares::agent().divide(90_000)), [36_000, 27_000, 18_000, 9_000]);
    let shares = Shares::new([Share::ratio("a", 0.125), Share::ratio("b", 0.5)]).unwrap();
    let budget = shares.divide(1_000);
    assert_eq!(tokens(&budget), [125, 500]);
    assert_eq!(budget.unassigned(), 375);
}

#[test]
fn should_handle_fixed_allocation() {
    let shares =
        [Share::tokens("fixed", 1_500), Share::ratio("most", 0.6), Share::ratio("rest", 0.1)];
    let shares = Shares::new(shares).unwrap();
    let budget = shares.divide(10_000);
    assert_eq!(tokens(&budget), [1_500, 6_000, 1_000]);
    assert_eq!((budget.unassigned(), budget.scaling()), (1_500, None));
    // The ratios scale with the total, the fixed number does not.
    assert_eq!(tokens(&shares.divide(20_000)), [1_500, 12_000, 2_000]);
}

proptest! {
    #[test]
    fn should_sum_to_available(total: u32, cuts in prop::collection::vec(1u32..1_000, 1..20)) {
        // The ratios sum to 1, apart from rounding errors.
        let sum: u32 = cuts.iter().sum();
        let ratio = |(at, &cut): (usize, &u32)| {
            Share::ratio(at.to_string(), f64::from(cut) / f64::from(sum))
        };
        let shares = Shares::new(cuts.iter().enumerate().map(ratio)).unwrap();
        for shares in [shares, Shares::agent()] {
            let budget = shares.divide(total);
            let sum: u64 = budget.shares().iter().map(|share| u64::from(share.tokens)).sum();
            prop_assert_eq!(sum, u64::from(total));
            prop_assert_eq!((budget.unassigned(), budget.scaling()), (0, None));
        }
    }
}

#[test]
fn should_handle_single_category() {
    let shares = Shares::new([Share::ratio("only", 1.0)]).unwrap();
    assert_eq!(tokens(&shares.divide(12_345)), [12_345]);
    assert_eq!(tokens(&shares.divide(u32::MAX)), [u32::MAX]);
}

#[test]
fn should_handle_empty_category() {
    // One share has no tokens, and one has no demand.
    let shares = Shares::new([Share::ratio("none", 0.0), Share::ratio("all", 1.0)]).unwrap();
    assert_eq!(tokens(&shares.divide(500)), [0, 500]);
    let wants = [
        Demand { weight: 400, floor: 0, limit: 0 },
        Demand { weight: 600, floor: 0, limit: 5_000 },
    ];
    assert_eq!(max_min_fair(1_000, &wants), [0, 1_000]);
}

#[test]
fn should_redistribute_unused() {
    let budget = Shares::agent().divide(90_000);
    // Files and references need less than their shares, the others more.
    let limits = [80_000, 7_000, 80_000, 2_000];
    let wants: Vec<Demand> = budget
        .shares()
        .iter()
        .zip(limits)
        .map(|(share, limit)| Demand { weight: share.tokens, floor: 0, limit })
        .collect();
    // 81,000 tokens are left for two categories with shares of 36,000 and 18,000.
    assert_eq!(max_min_fair(90_000, &wants), [54_000, 7_000, 27_000, 2_000]);
}
