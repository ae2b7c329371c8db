use proptest::prelude::*;

use super::display_names::{describe_optimality, display_name, shorten};
use super::metrics::relative_gap;
use super::table::style::{bar, fit};
use crate::block_view::label::escape_control;
use crate::plan::OptimalityBound;

fn optimality(value: u64, bound: u64) -> OptimalityBound {
    OptimalityBound { value, bound, lp_bound: bound }
}

#[test]
fn gaps_are_rounded_up() {
    let millionths = |value, bound| relative_gap(&optimality(value, bound), 1_000_000);
    assert_eq!(millionths(995, 1_000), 5_000);
    assert_eq!(millionths(2, 3), 333_334);
    assert_eq!(millionths(u64::MAX - 1, u64::MAX), 1);
    assert_eq!(millionths(0, u64::MAX), 1_000_000);
    assert_eq!((millionths(0, 0), millionths(7, 7), millionths(8, 7)), (0, 0, 0));
    assert_eq!(describe_optimality(&optimality(995, 1_000)), "of at most 1,000 (gap 0.50%)");
    assert_eq!(
        describe_optimality(&optimality(999_999, 1_000_000)),
        "of at most 1,000,000 (gap 0.01%)"
    );
    assert_eq!(describe_optimality(&optimality(0, 5)), "of at most 5 (gap 100.00%)");
    assert_eq!(describe_optimality(&optimality(5, 5)), "proven optimal");
}

proptest! {
    #[test]
    fn relative_gap_is_the_exact_gap_rounded_up(value: u64, bound: u64) {
        let optimality = optimality(value.min(bound), bound.max(value));
        let gap = u128::from(relative_gap(&optimality, 1_000_000));
        let bound = u128::from(optimality.bound);
        let missing = bound - u128::from(optimality.value);
        prop_assert!(gap * bound >= missing * 1_000_000);
        prop_assert!(gap == 0 || (gap - 1) * bound < missing * 1_000_000);
    }
}

#[test]
fn display_names_are_title_case_or_quoted() {
    assert_eq!(display_name("tool_results"), "Tool Results");
    assert_eq!(display_name("rolled_up"), "Rolled Up");
    assert_eq!(display_name("a b"), "\"a b\"");
    assert_eq!(display_name("\u{1b}[2J"), "\"\\u{1B}[2J\"");
}

#[test]
fn long_names_are_shortened() {
    for name in ["x".repeat(100_000), "x y".repeat(100_000), "\u{202e}".repeat(100_000)] {
        assert!(display_name(&name).chars().count() < 2_000);
        assert!(shorten(&name).chars().count() < 2_000);
    }
    assert_eq!(display_name(&"x".repeat(300)).chars().count(), 200);
}

#[test]
fn invisible_characters_are_escaped() {
    assert_eq!(escape_control("a b.rs"), "a b.rs");
    assert_eq!(escape_control("a\u{202e}b"), "a\\u{202e}b");
}

#[test]
fn bars_are_drawn_in_eighths_of_a_cell() {
    assert_eq!(bar(0, 10, 4), "");
    assert_eq!(bar(1, 1_000_000, 4), "▏");
    assert_eq!(bar(5, 10, 4), "██");
    assert_eq!(bar(9, 16, 4), "██▎");
    assert_eq!(bar(20, 10, 4), "████");
    assert_eq!(bar(1, 0, 4), "");
}

#[test]
fn fit_shortens_wide_text_at_the_start() {
    assert_eq!(fit("src/main.rs", 8), "…main.rs");
    assert_eq!(fit("src/main.rs", 11), "src/main.rs");
}
