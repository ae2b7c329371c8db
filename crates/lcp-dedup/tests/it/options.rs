//! What may be asked for.

use lcp_dedup::{DedupError, DedupLevel, Options, dedup};

use crate::support::counter;

#[test]
fn thresholds_out_of_range_are_errors_with_the_code() {
    let bad = |options: &Options| dedup(&[], options, &counter()).unwrap_err();
    for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let options = Options { overlap_threshold: value, ..Options::new(DedupLevel::Exact) };
        assert!(matches!(bad(&options), DedupError::Threshold { name: "overlap_threshold", .. }));
    }
    let options = Options { near_threshold: 0.4, ..Options::new(DedupLevel::Near) };
    let error = bad(&options);
    assert_eq!(error.to_string(), "near_threshold must be from 0.5 to 1, got 0.4");
    assert_eq!(error.code(), "LCP-BUD-004");
}
