//! Each option alone changes the allocation.

use super::*;

/// Returns the levels of segments with these options, and the tokens they use.
fn shown(segments: &[Segment], budget: u32, options: &BudgetAllocationOptions) -> (String, u32) {
    let allocation = allocated(segments, budget, options);
    (levels(segments, &allocation), allocation.used_tokens)
}

#[test]
fn default_options_match_the_requirements() {
    let options = BudgetAllocationOptions::default();
    assert_eq!(options.recent_messages_full_budget, 2_000);
    assert_eq!(options.anchor_budget, 1_000);
    assert!((options.compression_aggressiveness - 0.5).abs() < f64::EPSILON);
    assert_eq!(options.min_segments_at_brief, 3);
}

#[test]
fn recent_messages_full_budget_sets_form_of_last_two() {
    let old = LevelCosts { brief: Some(300), ..LevelCosts::full(2_000) };
    let recent = costs(2_000, 600, 60, 5);
    let segments = segments([old, old, recent, recent]);
    let with = |recent_messages_full_budget, budget| {
        let options = BudgetAllocationOptions { recent_messages_full_budget, ..unlifted() };
        shown(&segments, budget, &options)
    };
    // Only the newest one fits in full. The other one gets the fullest form within half of 1,200.
    assert_eq!(with(1_200, 2_900), ("-BDF".into(), 2_900));
    // Half of 1,199 is less than 600. Older segments come first, and the remaining tokens do not
    // lift the recent one.
    assert_eq!(with(1_199, 2_900), ("BBBF".into(), 2_660));
    // Not even the shortest form costs so little, but it is used.
    assert_eq!(with(0, 2_640), ("BBTF".into(), 2_605));
    // The option does not affect segments that fit in full.
    assert_eq!(with(0, 4_000), ("--FF".into(), 4_000));
}

#[test]
fn anchor_budget_limits_early_detailed_forms() {
    let plain = LevelCosts { brief: Some(200), ..LevelCosts::full(1_000) };
    let anchored = LevelCosts { detailed: Some(300), brief: Some(50), ..LevelCosts::full(1_000) };
    let mut segments =
        segments([anchored, plain, plain, plain, LevelCosts::full(10), LevelCosts::full(10)]);
    segments[0].anchors = vec![0.5; 3];
    let with = |anchor_budget| {
        let options = BudgetAllocationOptions { anchor_budget, ..unlifted() };
        shown(&segments, 670, &options).0
    };
    assert_eq!(with(1_000), "D--BFF");
    assert_eq!(with(900), "D--BFF");
    assert_eq!(with(899), "BBBBFF");
    // Two anchors do not count as many.
    segments[0].anchors.pop();
    assert_eq!(shown(&segments, 670, &unlifted()).0, "BBBBFF");
}

#[test]
fn compression_aggressiveness_withholds_remaining_tokens() {
    let segments = segments([LevelCosts { brief: Some(100), ..LevelCosts::full(600) }; 10]);
    let with = |compression_aggressiveness| {
        let options = BudgetAllocationOptions { compression_aggressiveness, ..Default::default() };
        shown(&segments, 4_000, &options)
    };
    // The last two in full and eight in brief use 2,000 of 4,000 tokens.
    assert_eq!(with(1.0), ("BBBBBBBBFF".into(), 2_000));
    assert_eq!(with(0.75), ("BBBBBBBFFF".into(), 2_500));
    assert_eq!(with(0.5), ("BBBBBBFFFF".into(), 3_000));
    assert_eq!(with(0.0), ("BBBBFFFFFF".into(), 4_000));
}

#[test]
fn aggressiveness_does_not_affect_the_last_two_segments() {
    let segments = segments([LevelCosts { brief: Some(100), ..LevelCosts::full(3_000) }; 4]);
    assert_eq!(shown(&segments, 6_200, &unlifted()), ("BBFF".into(), 6_200));
}

#[test]
fn min_segments_at_brief_come_before_later_detailed_forms() {
    let plain = LevelCosts { brief: Some(100), ..LevelCosts::full(1_000) };
    let anchored = LevelCosts { detailed: Some(300), brief: Some(50), ..LevelCosts::full(1_000) };
    let mut segments =
        segments([anchored, plain, plain, plain, LevelCosts::full(10), LevelCosts::full(10)]);
    segments[0].anchors = vec![1.0];
    let with = |min_segments_at_brief| {
        let options = BudgetAllocationOptions { min_segments_at_brief, ..unlifted() };
        shown(&segments, 420, &options)
    };
    assert_eq!(with(3), ("BBBBFF".into(), 370));
    assert_eq!(with(2), ("BBBBFF".into(), 370));
    assert_eq!(with(1), ("D--BFF".into(), 420));
    assert_eq!(with(0), ("D--BFF".into(), 420));
}
