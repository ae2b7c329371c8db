//! Estimates that are another count times a factor.

use lcp_tokens::{HeuristicEstimator, ScaledEstimator, TokenEstimator};

/// Says the same of every text, the empty one too.
struct Always(u32);

impl TokenEstimator for Always {
    fn estimate(&self, _: &str) -> u32 {
        self.0
    }
    fn is_exact(&self) -> bool {
        true
    }
    fn is_additive(&self) -> bool {
        true
    }
}

/// Limits are those of the inner estimator, turned round: they fit, and a
/// character more does not.
#[test]
fn limits_and_truncation_follow_the_factor() {
    let text = "counting of words that grow and shrink ".repeat(20);
    for percent in [0, 1, 50, 100, 118, 153, 1_000] {
        let by = ScaledEstimator::new(HeuristicEstimator, percent, "scaled");
        let count = by.estimate(&text);
        for limit in [0, 1, 2, 7, 100, count - 1, count, u32::MAX] {
            assert_eq!(
                by.count_up_to(&text, limit),
                (count <= limit).then_some(count),
                "{percent} {limit}"
            );
            let (start, end) = (by.truncate_to(&text, limit), by.truncate_front_to(&text, limit));
            assert!(by.estimate(start) <= limit && by.estimate(end) <= limit, "{percent} {limit}");
            if start.len() < text.len() {
                assert!(by.estimate(&text[..=start.len()]) > limit, "{percent} {limit}");
                assert!(
                    by.estimate(&text[text.len() - end.len() - 1..]) > limit,
                    "{percent} {limit}"
                );
            }
        }
    }
}

#[test]
fn counts_are_scaled_and_rounded_up() {
    for (inner, percent, expected) in [
        (100, 118, 118),
        (1, 118, 2),
        (50, 118, 59),
        (51, 118, 61),
        (1_000_000, 153, 1_530_000),
        (7, 100, 7),
        (9, 50, 5),
    ] {
        let estimator = ScaledEstimator::new(Always(inner), percent, "scaled");
        assert_eq!(estimator.estimate("text"), expected, "{inner} × {percent} %");
        assert_eq!(estimator.percent(), percent);
    }
}

#[test]
fn only_empty_text_is_zero_tokens() {
    assert_eq!(ScaledEstimator::new(Always(5), 118, "x").estimate(""), 0);
    assert_eq!(ScaledEstimator::new(Always(0), 118, "x").estimate("text"), 1);
    assert_eq!(ScaledEstimator::new(Always(5), 0, "x").estimate("text"), 1);
}

#[test]
fn large_counts_saturate() {
    let estimator = ScaledEstimator::new(Always(u32::MAX), 118, "x");
    assert_eq!(estimator.estimate("text"), u32::MAX);
    let estimator = ScaledEstimator::new(Always(u32::MAX), u32::MAX, "x");
    assert_eq!(estimator.estimate("text"), u32::MAX);
    // The largest that is still told exactly.
    let estimator = ScaledEstimator::new(Always(u32::MAX / 2), 200, "x");
    assert_eq!(estimator.estimate("text"), u32::MAX - 1);
}

#[test]
fn scaled_estimator_is_never_exact() {
    let estimator = ScaledEstimator::new(Always(5), 100, String::from("named at run time"));
    assert!(!estimator.is_exact() && !estimator.is_additive());
    assert_eq!(estimator.name(), "named at run time");
    let twice = ScaledEstimator::new(ScaledEstimator::new(HeuristicEstimator, 200, "x"), 50, "y");
    assert_eq!((twice.estimate("twelve bytes"), twice.name()), (3, "y"));
}

#[cfg(feature = "tiktoken")]
#[test]
fn claude_is_o200k_times_a_documented_factor() {
    use lcp_tokens::{CLAUDE_4_7_SCALE_PERCENT, CLAUDE_SCALE_PERCENT, Encoding, Tiktoken};

    let text = "fn main() {\n    println!(\"a budget is a promise\");\n}\n".repeat(50);
    let o200k = u64::from(Tiktoken::new(Encoding::O200kBase).estimate(&text));
    for (estimator, percent, name) in [
        (ScaledEstimator::claude(), CLAUDE_SCALE_PERCENT, "claude"),
        (ScaledEstimator::claude_4_7(), CLAUDE_4_7_SCALE_PERCENT, "claude-4.7"),
    ] {
        let expected = (o200k * u64::from(percent)).div_ceil(100);
        assert_eq!(u64::from(estimator.estimate(&text)), expected);
        assert_eq!(estimator.name(), name);
        assert!(!estimator.is_exact() && !estimator.is_additive());
        assert_eq!(estimator.estimate(""), 0);
    }
    assert_eq!((CLAUDE_SCALE_PERCENT, CLAUDE_4_7_SCALE_PERCENT), (118, 153));
}
