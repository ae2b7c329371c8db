//! Sizes that do not fit, and invalid sizes.

use expect_test::expect;
use lcp_driver::shares::{Share, ShareScaling, Shares, SharesError};
use proptest::prelude::*;

fn tokens(shares: &Shares, available: u32) -> Vec<u32> {
    shares.divide(available).shares().iter().map(|share| share.tokens).collect()
}

fn ratios(ratios: &[f64]) -> Result<Shares, SharesError> {
    Shares::new(ratios.iter().enumerate().map(|(at, &r)| Share::ratio(format!("s{at}"), r)))
}

#[test]
fn ratios_above_1_are_scaled_down() {
    let shares = ratios(&[0.8, 0.4, 0.4]).unwrap();
    let budget = shares.divide(1_000);
    assert_eq!(tokens(&shares, 1_000), [500, 250, 250]);
    assert_eq!(budget.scaling(), Some(ShareScaling::Ratios { wanted: 1_600, left: 1_000 }));
    expect![
        "the ratios of the shares ask for 1,600 tokens; scaled them down to the 1,000 that are left"
    ]
    .assert_eq(&budget.scaling().unwrap().to_string());
    // The adjusted budget has the same proportions.
    assert_eq!(budget.adjust_for_total(2_000).tokens("s0"), Some(1_000));
    // Even one token is too few for ratios over 1.
    assert!(shares.divide(1).scaling().is_some());
}

#[test]
fn fixed_sizes_take_precedence_over_ratios() {
    let shares =
        Shares::new([Share::ratio("a", 0.6), Share::tokens("b", 700), Share::ratio("c", 0.2)]);
    let shares = shares.unwrap();
    let budget = shares.divide(1_000);
    assert_eq!(tokens(&shares, 1_000), [225, 700, 75]);
    assert_eq!(budget.scaling(), Some(ShareScaling::Ratios { wanted: 800, left: 300 }));
    assert_eq!((shares.divide(3_500).scaling(), shares.divide(3_500).unassigned()), (None, 0));
    assert!(shares.divide(3_499).scaling().is_some());
}

#[test]
fn fixed_sizes_above_the_total_are_scaled_down() {
    let shares =
        Shares::new([Share::tokens("a", 3_000), Share::ratio("b", 0.5), Share::tokens("c", 1_000)]);
    let shares = shares.unwrap();
    let budget = shares.divide(1_001);
    assert_eq!(tokens(&shares, 1_001), [751, 0, 250]);
    assert_eq!(budget.scaling(), Some(ShareScaling::Fixed { wanted: 4_000, available: 1_001 }));
    expect![
        "the fixed shares ask for 4,000 tokens; scaled them down to the 1,001 that are available"
    ]
    .assert_eq(&budget.scaling().unwrap().to_string());
}

#[test]
fn ratios_below_1_leave_the_rest_unassigned() {
    let budget = ratios(&[0.25, 0.25]).unwrap().divide(1_001);
    assert_eq!((budget.tokens("s0"), budget.tokens("s1")), (Some(250), Some(250)));
    assert_eq!((budget.unassigned(), budget.scaling()), (501, None));
}

#[test]
fn thirds_assign_all_tokens_and_break_ties_in_order() {
    let thirds = ratios(&[1.0 / 3.0; 3]).unwrap();
    assert_eq!(tokens(&thirds, 100), [34, 33, 33]);
    assert_eq!(tokens(&thirds, 101), [34, 34, 33]);
    assert_eq!(tokens(&thirds, u32::MAX), [u32::MAX / 3; 3]);
    assert_eq!(tokens(&ratios(&[0.333; 3]).unwrap(), 1_000), [333; 3]);
}

#[test]
fn cap_limits_its_share() {
    let budget = Shares::agent().with_cap("tool_results", 1_000).unwrap().divide(90_000);
    assert_eq!(budget.tokens("tool_results"), Some(1_000));
    assert_eq!(budget.get("tool_results").unwrap().cap, Some(1_000));
    assert_eq!(budget.tokens("open_files"), Some(27_000));
    assert_eq!(budget.unassigned(), 35_000);
}

#[test]
fn invalid_shares_are_errors_with_the_number() {
    let message = |shares: Result<Shares, SharesError>| shares.unwrap_err().to_string();
    let ratio = |ratio| message(ratios(&[0.5, ratio]));
    assert_eq!(ratio(-0.1), "the ratio of share `s1` must be from 0 to 1000000, got -0.1");
    assert_eq!(ratio(f64::NAN), "the ratio of share `s1` must be from 0 to 1000000, got NaN");
    assert_eq!(ratio(f64::INFINITY), "the ratio of share `s1` must be from 0 to 1000000, got inf");
    assert_eq!(
        message(ratios(&[0.0, -0.0])),
        "at least one share must be above 0 (number of shares: 2)"
    );
    assert_eq!(
        message(Shares::new([Share::tokens("a", 0)])),
        "at least one share must be above 0 (number of shares: 1)"
    );
    assert_eq!(message(Shares::new([])), "at least one share is required");
    let twice = [Share::ratio("a", 0.1), Share::tokens("a", 10)];
    assert_eq!(message(Shares::new(twice)), "duplicate share `a`");
    let empty = [Share::ratio("a", 0.1), Share::tokens("", 10)];
    assert_eq!(message(Shares::new(empty)), "share 1 has an empty name");
    assert_eq!(message(ratios(&[0.01; 101])), "too many shares: got 101, maximum 100");
    assert!(ratios(&[0.01; 100]).is_ok());
    assert_eq!(message(Shares::agent().with_cap("goal", 1)), "unknown share `goal`");
}

fn any_share() -> impl Strategy<Value = Share> {
    let size = prop_oneof![
        (0.0..2.0).prop_map(|ratio| Share::ratio("", ratio)),
        Just(Share::ratio("", Shares::RATIO_MAX)),
        Just(Share::ratio("", 1e-12)),
        (0u32..2_000).prop_map(|tokens| Share::tokens("", tokens)),
        Just(Share::tokens("", u32::MAX)),
    ];
    (size, prop::option::of(any::<u32>())).prop_map(|(share, cap)| Share { cap, ..share })
}

proptest! {
    /// With any sizes, shares never exceed the available tokens or a cap, and all tokens are
    /// assigned if sizes demand them.
    #[test]
    fn shares_never_exceed_the_total_or_a_cap(
        shares in prop::collection::vec(any_share(), 1..20),
        total in prop_oneof![0u32..5_000, any::<u32>()],
        next in prop_oneof![0u32..5_000, any::<u32>()],
    ) {
        let name = |(at, share): (usize, Share)| Share { name: at.to_string(), ..share };
        let shares = Shares::new(shares.into_iter().enumerate().map(name));
        prop_assume!(shares.is_ok());
        let budget = shares.unwrap().divide(total);
        for budget in [&budget, &budget.adjust_for_total(next)] {
            let mut sum = 0;
            for share in budget.shares() {
                prop_assert!(share.tokens <= share.cap.unwrap_or(u32::MAX));
                sum += u64::from(share.tokens);
            }
            prop_assert_eq!(sum + u64::from(budget.unassigned()), u64::from(budget.total()));
        }
        let is_capped = budget.shares().iter().any(|share| share.cap == Some(share.tokens));
        prop_assert!(budget.scaling().is_none() || budget.unassigned() == 0 || is_capped);
        prop_assert_eq!(budget.adjust_for_total(total), budget);
    }
}

/// Tokens that a cap denies to a share are not reserved from the others.
#[test]
fn capped_fixed_share_reserves_only_its_cap() {
    let large = Share::tokens("b", 500);
    let shares = Shares::new([Share::ratio("a", 0.9), large]).unwrap().with_cap("b", 100).unwrap();
    let budget = shares.divide(1_000);
    assert_eq!((budget.tokens("a"), budget.tokens("b")), (Some(900), Some(100)));
    assert!(budget.scaling().is_none());
}
