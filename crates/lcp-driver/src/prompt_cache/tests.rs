//! Tests of watermarks.

use super::*;

#[test]
fn budget_for_tokens_is_minimal() {
    let watermarks = Watermarks::default();
    for tokens in [0, 1, 89, 90, 91, 12_345] {
        let budget = u32::try_from(watermarks.budget_for(u64::from(tokens))).unwrap();
        assert!(watermarks.tokens(budget).0 >= tokens);
        assert!(budget == 0 || watermarks.tokens(budget - 1).0 < tokens);
    }
}

#[test]
fn invalid_watermarks_are_refused() {
    for (high, low) in
        [(1.1, 0.5), (0.5, 0.5), (0.5, 0.0), (0.5, -1.0), (f64::NAN, 0.1), (0.9, f64::NAN)]
    {
        assert!(Watermarks::new(high, low).is_err(), "{high} {low}");
    }
    assert_eq!(Watermarks::new(1.0, 0.001).unwrap().tokens(u32::MAX), (u32::MAX, 4_294_967));
}
