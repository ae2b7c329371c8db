//! SPEC_08's two estimators.

use lcp_tokens::{CodeAwareEstimator, HeuristicEstimator, TokenEstimator};

#[test]
fn empty_text_is_zero_and_short_text_is_one() {
    let estimators: [&dyn TokenEstimator; 2] = [&HeuristicEstimator, &CodeAwareEstimator];
    for estimator in estimators {
        assert_eq!(estimator.estimate(""), 0);
        for text in ["a", "\n", " ", "ab", "abc"] {
            assert_eq!(estimator.estimate(text), 1, "{text:?}");
        }
        assert!(!estimator.is_exact() && !estimator.is_additive());
    }
}

#[test]
fn heuristic_divides_bytes_by_4() {
    assert_eq!(HeuristicEstimator.estimate(&"x".repeat(403)), 100);
    // Bytes, not characters: these are 3 bytes each.
    assert_eq!(HeuristicEstimator.estimate("漢字漢字"), 3);
}

/// More than 30 %, the percentage rounded down: 30.9 % is not code.
#[test]
fn code_aware_divides_code_by_3() {
    let text =
        |indented: usize, flat: usize| "  line\n".repeat(indented) + &"a line\n".repeat(flat);
    for (indented, flat, divisor) in
        [(0, 10, 4), (3, 7, 4), (30, 67, 4), (31, 69, 3), (4, 6, 3), (10, 0, 3)]
    {
        let text = text(indented, flat);
        let expected = u32::try_from(text.len() / divisor).unwrap();
        assert_eq!(
            CodeAwareEstimator.estimate(&text),
            expected,
            "{indented} of {}",
            indented + flat
        );
    }
    assert_eq!(CodeAwareEstimator.estimate("\tfn tabs_count_too() {}"), 7);
}
