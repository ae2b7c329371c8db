//! What a report says of a plan by value: what it is worth, and how far the
//! best one can be above it (RFC 0005 §4).

use serde::Serialize;

use crate::fmt::group_thousands;
use crate::plan::OptimalityBound;

#[derive(Serialize)]
pub(super) struct ValueRow {
    value: u64,
    bound: u64,
    lp_bound: u64,
    gap: f64,
    best: bool,
}

impl From<&OptimalityBound> for ValueRow {
    fn from(optimality: &OptimalityBound) -> Self {
        const MILLION: u32 = 1_000_000;
        Self {
            value: optimality.value,
            bound: optimality.bound,
            lp_bound: optimality.lp_bound,
            gap: f64::from(gap(optimality, MILLION)) / f64::from(MILLION),
            best: optimality.is_optimal(),
        }
    }
}

/// How good it is, in words that stand behind the value.
pub(super) fn quality(optimality: &OptimalityBound) -> String {
    if optimality.is_optimal() {
        return "proven best".to_owned();
    }
    let gap = gap(optimality, 10_000);
    format!(
        "of at most {} (gap {}.{:02} %)",
        group_thousands(optimality.bound),
        gap / 100,
        gap % 100
    )
}

/// The gap in parts of the bound, such as millionths. Rounded up: the true one
/// is never larger, and only that of a plan that is proven best is 0.
fn gap(optimality: &OptimalityBound, parts: u32) -> u32 {
    let OptimalityBound { value, bound, .. } = *optimality;
    let missing = u128::from(bound.saturating_sub(value)) * u128::from(parts);
    let gap = missing.div_ceil(u128::from(bound.max(1)));
    u32::try_from(gap).unwrap_or(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn optimality(value: u64, bound: u64) -> OptimalityBound {
        OptimalityBound { value, bound, lp_bound: bound }
    }

    #[test]
    fn gaps_are_rounded_up() {
        let millionths = |value, bound| gap(&optimality(value, bound), 1_000_000);
        assert_eq!(millionths(995, 1_000), 5_000);
        assert_eq!(millionths(2, 3), 333_334);
        assert_eq!(millionths(u64::MAX - 1, u64::MAX), 1);
        assert_eq!(millionths(0, u64::MAX), 1_000_000);
        assert_eq!((millionths(0, 0), millionths(7, 7), millionths(8, 7)), (0, 0, 0));
        assert_eq!(quality(&optimality(995, 1_000)), "of at most 1,000 (gap 0.50 %)");
        assert_eq!(quality(&optimality(999_999, 1_000_000)), "of at most 1,000,000 (gap 0.01 %)");
        assert_eq!(quality(&optimality(0, 5)), "of at most 5 (gap 100.00 %)");
        assert_eq!(quality(&optimality(5, 5)), "proven best");
    }

    proptest! {
        #[test]
        fn no_gap_is_smaller_than_it_is(value: u64, bound: u64) {
            let optimality = optimality(value.min(bound), bound.max(value));
            let gap = u128::from(gap(&optimality, 1_000_000));
            let bound = u128::from(optimality.bound);
            let missing = bound - u128::from(optimality.value);
            prop_assert!(gap * bound >= missing * 1_000_000);
            prop_assert!(gap == 0 || (gap - 1) * bound < missing * 1_000_000);
        }
    }
}
