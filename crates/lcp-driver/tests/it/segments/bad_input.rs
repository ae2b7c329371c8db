//! Invalid input for an allocation.

use expect_test::expect;
use lcp_driver::segments::SegmentsError;

use super::*;

fn failed(
    segments: &[Segment],
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
) -> SegmentsError {
    allocate(segments, 1_000, options, focus).unwrap_err()
}

fn two() -> Vec<Segment> {
    segments([LevelCosts::full(10); 2])
}

#[test]
fn aggressiveness_outside_0_to_1_is_an_error() {
    for value in [-0.01, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let options = BudgetAllocationOptions { compression_aggressiveness: value, ..unlifted() };
        let error = failed(&two(), &options, &PreferredSegments::default());
        assert_eq!(error.code(), "bad_aggressiveness");
        assert!(error.to_string().ends_with(&format!("got {value}")));
    }
    for value in [0.0, -0.0, 1.0] {
        let options = BudgetAllocationOptions { compression_aggressiveness: value, ..unlifted() };
        assert!(allocate(&two(), 1_000, &options, &PreferredSegments::default()).is_ok());
    }
}

#[test]
fn negative_or_non_finite_importance_is_an_error() {
    for value in [-0.1, f64::NAN, f64::INFINITY] {
        let mut segments = two();
        segments[1].anchors = vec![1.0, value];
        let error = failed(&segments, &unlifted(), &PreferredSegments::default());
        assert_eq!(error.code(), "bad_importance");
        assert!(error.to_string().ends_with(&format!("got {value} in segment \"s2\"")));
    }
}

#[test]
fn duplicate_segment_id_is_an_error() {
    let mut segments = two();
    segments[1].id = "s1".into();
    let error = failed(&segments, &unlifted(), &PreferredSegments::default());
    assert_eq!(error, SegmentsError::DuplicateId { id: "s1".into() });
    expect![[r#"duplicate segment ID "s1""#]].assert_eq(&error.to_string());
}

#[test]
fn expanding_an_unknown_segment_is_an_error() {
    let error = failed(&two(), &unlifted(), &expanding("s3\n"));
    expect![[r#"cannot expand segment "s3\n": it does not exist"#]].assert_eq(&error.to_string());
    assert_eq!(error.code(), "unknown_segment");
    // A segment that is listed twice counts once.
    let twice = PreferredSegments {
        expanded: vec!["s1".into(), "s1".into()],
        ..PreferredSegments::default()
    };
    assert_eq!(allocate(&two(), 10, &unlifted(), &twice).unwrap().used_tokens, 10);
}
