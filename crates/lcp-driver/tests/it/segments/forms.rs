//! Levels that are missing, cost nothing, or cost too much.

use expect_test::expect;
use lcp_driver::WarningCode;

use super::*;

/// Returns the level of a segment with an ample budget, if it is not one of the last two.
fn level_of(forms: LevelCosts, anchored: bool) -> char {
    let mut segments = segments([forms, LevelCosts::full(1), LevelCosts::full(1)]);
    segments[0].anchors = if anchored { vec![1.0] } else { Vec::new() };
    let allocation = allocated(&segments, 10_000, &unlifted());
    levels(&segments, &allocation).chars().next().unwrap()
}

#[test]
fn missing_forms_are_not_chosen() {
    let none = LevelCosts::full(1_000);
    assert_eq!(level_of(none, false), 'F');
    assert_eq!(level_of(LevelCosts { tags: Some(5), ..none }, false), 'T');
    assert_eq!(level_of(LevelCosts { detailed: Some(500), ..none }, false), 'D');
    assert_eq!(level_of(LevelCosts { detailed: Some(500), tags: Some(5), ..none }, false), 'T');
}

#[test]
fn anchored_segment_without_detailed_form_is_full() {
    assert_eq!(level_of(LevelCosts { brief: Some(50), ..LevelCosts::full(1_000) }, true), 'F');
    assert_eq!(level_of(LevelCosts { detailed: Some(50), ..LevelCosts::full(1_000) }, true), 'D');
}

#[test]
fn form_costing_as_much_as_a_fuller_one_is_not_used() {
    // The form costs as much as the full segment. The full segment is used, without a warning.
    let forms = LevelCosts { brief: Some(100), ..LevelCosts::full(100) };
    assert_eq!(level_of(forms, false), 'F');
    let allocation = allocated(&segments([forms]), 100, &unlifted());
    assert_eq!(allocation.warnings, []);
}

#[test]
fn form_costlier_than_a_fuller_one_is_a_warning() {
    let mut all = segments([LevelCosts { brief: Some(400), ..costs(1_000, 300, 0, 350) }; 3]);
    all[1].id = "evil\n\u{1b}[31m\u{202e}".into();
    all.truncate(2);
    let allocation = allocated(&all, 10_000, &unlifted());
    assert_eq!(levels(&all, &allocation), "FF");
    assert_eq!(allocation.used_tokens, 2_000);
    assert!(allocation.warnings.iter().all(|warning| warning.code == WarningCode::CostlyLevel));
    let messages: Vec<_> = allocation.warnings.iter().map(ToString::to_string).collect();
    expect![[r#"
        ignored level brief of segment "s1": it costs 400 tokens, no less than a fuller level (300) [costly_level]
        ignored level tags of segment "s1": it costs 350 tokens, no less than a fuller level (300) [costly_level]
        ignored level brief of segment "evil\u{A}\u{1B}[31m\u{202E}": it costs 400 tokens, no less than a fuller level (300) [costly_level]
        ignored level tags of segment "evil\u{A}\u{1B}[31m\u{202E}": it costs 350 tokens, no less than a fuller level (300) [costly_level]
    "#]]
    .assert_eq(&(messages.join("\n") + "\n"));
}

#[test]
fn zero_cost_forms_are_shown_with_zero_budget() {
    let segments = segments([
        LevelCosts::full(0),
        LevelCosts { tags: Some(0), ..LevelCosts::full(9) },
        LevelCosts::full(1),
    ]);
    let allocation = allocated(&segments, 0, &unlifted());
    assert_eq!(levels(&segments, &allocation), "FT-");
    assert_eq!(allocation.omitted, ["s3"]);
}

#[test]
fn empty_input_uses_no_tokens() {
    let allocation = allocated(&[], 100, &BudgetAllocationOptions::default());
    assert_eq!((allocation.used_tokens, allocation.remaining_tokens), (0, 100));
    assert_eq!(allocation.tokens_by_level.len(), 4);
    assert_eq!((allocation.segments.len(), allocation.omitted.len()), (0, 0));
}
