//! The laws of weighted max-min filling (RFC 0004 §3).

use lcp_driver::shares::{Demand, max_min_fair};
use proptest::prelude::*;

fn want(weight: u32, floor: u64, limit: u64) -> Demand {
    Demand { weight, floor, limit }
}

fn any_wants(tokens: u64) -> impl Strategy<Value = Vec<Demand>> {
    let weight = prop_oneof![1 => Just(0), 6 => 1u32..20, 2 => any::<u32>()];
    let floor = prop_oneof![3 => Just(0), 1 => 0..tokens / 8 + 1];
    let any_want = (weight, floor, 0..=tokens);
    let any_want = any_want.prop_map(|(weight, floor, limit)| want(weight, floor, limit));
    prop::collection::vec(any_want, 0..10)
}

/// Returns the least amount that the demand must get.
fn floor(want: &Demand) -> u64 {
    want.floor.min(want.limit)
}

fn floors(wants: &[Demand]) -> u128 {
    wants.iter().map(|want| u128::from(floor(want))).sum()
}

/// Distributes tokens one by one, each to the demand with the lowest level.
fn token_by_token(total: u64, wants: &[Demand]) -> Vec<u64> {
    let mut given: Vec<u64> = wants.iter().map(floor).collect();
    for _ in given.iter().sum::<u64>()..total {
        let mut next: Option<(usize, u32)> = None;
        for weighted in [true, false] {
            for (at, want) in wants.iter().enumerate() {
                if (want.weight > 0) != weighted || given[at] == want.limit {
                    continue;
                }
                let weight = want.weight.max(1);
                let level =
                    |at: usize, other: u32| u128::from(2 * given[at] + 1) * u128::from(other);
                if next.is_none_or(|(best, of_best)| level(at, of_best) < level(best, weight)) {
                    next = Some((at, weight));
                }
            }
            if next.is_some() {
                break;
            }
        }
        let Some((at, _)) = next else { break };
        given[at] += 1;
    }
    given
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// The sum is the total, or the sum of all demands if that is less.
    #[test]
    fn max_min_fair_distributes_the_total_or_all_demands(total: u64, wants in any_wants(u64::MAX)) {
        let given: u128 = max_min_fair(total, &wants).into_iter().map(u128::from).sum();
        let wanted: u128 = wants.iter().map(|want| u128::from(want.limit)).sum();
        prop_assert_eq!(given, wanted.min(u128::from(total)));
    }

    /// Every demand gets at most its limit. It gets at least its floor if the total is enough for
    /// all floors.
    #[test]
    fn max_min_fair_respects_floors_and_limits(total: u64, wants in any_wants(u64::MAX)) {
        for (given, want) in max_min_fair(total, &wants).into_iter().zip(&wants) {
            prop_assert!(given <= want.limit);
            prop_assert!(given >= floor(want) || floors(&wants) > u128::from(total));
        }
    }

    /// No demand has a token above its floor at a higher level than another demand's next possible
    /// token. Without weight, it has no such token while a weighted demand could take one.
    #[test]
    fn max_min_fair_is_fair_by_weight(total: u64, wants in any_wants(u64::MAX)) {
        prop_assume!(floors(&wants) <= u128::from(total));
        let given = max_min_fair(total, &wants);
        for (has, rich) in given.iter().zip(&wants).filter(|(has, want)| **has > floor(want)) {
            for (lacks, poor) in given.iter().zip(&wants).filter(|(has, want)| **has < want.limit) {
                if rich.weight == 0 || poor.weight == 0 {
                    prop_assert!(rich.weight > 0 || poor.weight == 0);
                    continue;
                }
                let last = (2 * u128::from(*has) - 1) * u128::from(poor.weight);
                let next = (2 * u128::from(*lacks) + 1) * u128::from(rich.weight);
                prop_assert!(last <= next, "{given:?}");
            }
        }
    }

    /// The result equals distributing tokens one by one.
    #[test]
    fn max_min_fair_equals_token_by_token_distribution(total in 0u64..300, wants in any_wants(200)) {
        prop_assume!(floors(&wants) <= u128::from(total));
        prop_assert_eq!(max_min_fair(total, &wants), token_by_token(total, &wants));
    }

    /// A larger total reduces no demand's amount.
    #[test]
    fn max_min_fair_is_monotone_in_the_total(total in 0u64..400, more in 0u64..5, wants in any_wants(200)) {
        let larger = max_min_fair(total + more, &wants);
        for (before, after) in max_min_fair(total, &wants).into_iter().zip(larger) {
            prop_assert!(before <= after);
        }
    }

    /// The order of demands matters only for a token between demands whose next tokens are at the
    /// same level.
    #[test]
    fn order_of_demands_decides_only_ties(
        total in 0u64..400,
        (wants, order) in any_wants(200).prop_flat_map(|wants| {
            let order: Vec<usize> = (0..wants.len()).collect();
            (Just(wants), Just(order).prop_shuffle())
        }),
    ) {
        prop_assume!(floors(&wants) <= u128::from(total));
        let shuffled: Vec<Demand> = order.iter().map(|&at| wants[at]).collect();
        let given = max_min_fair(total, &wants);
        let mut moved: Option<(u64, u32)> = None;
        for (&at, other) in order.iter().zip(max_min_fair(total, &shuffled)) {
            let (low, high) = (given[at].min(other), given[at].max(other));
            prop_assert!(high - low <= 1);
            if high > low {
                let weight = wants[at].weight.max(1);
                let (level, of) = *moved.get_or_insert((2 * high - 1, weight));
                prop_assert_eq!(u128::from(level) * u128::from(weight), u128::from(2 * high - 1) * u128::from(of));
            }
        }
    }

    /// If the weights are tokens and the total covers them, every demand gets its own tokens, up to
    /// its limit.
    #[test]
    fn own_tokens_are_guaranteed(wants in any_wants(200), more in 0u64..50) {
        let own = |want: &Demand| u64::from(want.weight).max(floor(want));
        let total = wants.iter().map(own).sum::<u64>() + more;
        for (given, want) in max_min_fair(total, &wants).into_iter().zip(&wants) {
            prop_assert!(given >= want.limit.min(want.weight.into()));
        }
    }
}

#[test]
fn unused_tokens_go_to_the_other_demands() {
    assert_eq!(
        max_min_fair(100, &[want(40, 0, 500), want(30, 0, 500), want(30, 0, 500)]),
        [40, 30, 30]
    );
    assert_eq!(
        max_min_fair(100, &[want(40, 0, 500), want(30, 0, 10), want(20, 0, 500)]),
        [60, 10, 30]
    );
    // The tokens that the second leaves also fill the third, so the first gets the rest.
    assert_eq!(
        max_min_fair(100, &[want(10, 0, 500), want(50, 0, 10), want(40, 0, 45)]),
        [45, 10, 45]
    );
    assert_eq!(max_min_fair(100, &[want(1, 0, 20), want(1, 0, 30)]), [20, 30]);
    assert_eq!(max_min_fair(100, &[]), [0; 0]);
}

#[test]
fn floors_are_met_before_weights_apply() {
    assert_eq!(max_min_fair(100, &[want(1, 70, 500), want(9, 0, 500)]), [70, 30]);
    assert_eq!(max_min_fair(1_000, &[want(1, 70, 500), want(9, 0, 9_000)]), [100, 900]);
    // Tests a floor above its limit, and floors above the total, which are met in order.
    assert_eq!(max_min_fair(100, &[want(1, 70, 20), want(1, 0, 500)]), [20, 80]);
    assert_eq!(
        max_min_fair(100, &[want(1, 70, 500), want(9, 50, 500), want(1, 1, 500)]),
        [70, 30, 0]
    );
}

#[test]
fn demands_without_weight_get_only_leftovers() {
    assert_eq!(max_min_fair(100, &[want(0, 0, 80), want(5, 0, 60), want(0, 0, 80)]), [20, 60, 20]);
    assert_eq!(max_min_fair(100, &[want(0, 10, 80), want(5, 0, 500)]), [10, 90]);
    assert_eq!(max_min_fair(5, &[want(0, 0, 80), want(0, 0, 1), want(0, 0, 80)]), [2, 1, 2]);
}

#[test]
fn max_min_fair_handles_the_largest_numbers() {
    let most = u64::MAX;
    assert_eq!(
        max_min_fair(most, &[want(u32::MAX, 0, most), want(1, 0, most)]),
        [most - (1 << 32), 1 << 32]
    );
    assert_eq!(max_min_fair(most, &[want(1, 0, most)]), [most]);
    assert_eq!(max_min_fair(most, &[want(7, most, most), want(7, most, most)]), [most, 0]);
    let many = vec![want(3, 0, most); 100];
    let given = max_min_fair(most, &many);
    assert_eq!(given.iter().map(|&tokens| u128::from(tokens)).sum::<u128>(), u128::from(most));
    assert!(given.iter().all(|&tokens| tokens.abs_diff(most / 100) <= 1));
}
