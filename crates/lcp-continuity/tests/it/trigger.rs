//! The decision to hand over a session.

use lcp_continuity::{PendingTask, TaskStatus, Thresholds, ThresholdsError, TokenUsage};
use proptest::prelude::*;

fn used(total_tokens: u32) -> TokenUsage {
    TokenUsage { total_tokens, ..TokenUsage::default() }
}

fn task(status: TaskStatus, remaining: usize) -> PendingTask {
    let remaining_steps = (0..remaining).map(|step| format!("step {step}")).collect();
    PendingTask { status, remaining_steps, ..PendingTask::default() }
}

const EXCEEDED: &str = "Context window utilization exceeded 85% threshold";
const LONG_TASK: &str = "Long-running task detected with limited remaining context";
const SUFFICIENT: &str = "Sufficient context remaining";

/// SCS-SC-02.
#[test]
fn handoff_triggered_at_85_percent_utilization() {
    let decision = Thresholds::default().decide(&used(85_000), &[], 100_000);
    assert!(decision.should_handoff);
    assert!(decision.reason.contains("85%"));
    assert!((decision.context_utilization - 0.85).abs() < 1e-6);
    assert_eq!(decision.current_usage, used(85_000));
}

/// SCS-AC-03, SCS-ALG-05 to SCS-ALG-08.
#[test]
fn decisions_at_exact_thresholds() {
    use TaskStatus::{Blocked, InProgress, Pending};
    for (total, max, tasks, reason) in [
        (84_999, 100_000, vec![], SUFFICIENT),
        (85_000, 100_000, vec![], EXCEEDED),
        (849, 999, vec![], SUFFICIENT), // 849.15 are 85 %
        (850, 999, vec![], EXCEEDED),
        (69_999, 100_000, vec![task(InProgress, 6)], SUFFICIENT),
        (70_000, 100_000, vec![task(InProgress, 6)], LONG_TASK),
        (70_000, 100_000, vec![task(InProgress, 5)], SUFFICIENT),
        (70_000, 100_000, vec![task(Pending, 8)], LONG_TASK),
        (70_000, 100_000, vec![task(Blocked, 6)], LONG_TASK),
        (84_999, 100_000, vec![task(Pending, 5), task(Blocked, 5)], SUFFICIENT),
        (
            84_999,
            100_000,
            vec![PendingTask { approved: Some(false), ..task(Pending, 8) }],
            SUFFICIENT,
        ),
        (84_999, 100_000, vec![task(Pending, 1), task(InProgress, 6)], LONG_TASK),
        (85_000, 100_000, vec![task(InProgress, 6)], EXCEEDED),
        (200_000, 100_000, vec![], EXCEEDED),
        (5, 0, vec![task(InProgress, 6)], SUFFICIENT),
        (0, 0, vec![], SUFFICIENT),
        (u32::MAX, u32::MAX, vec![], EXCEEDED),
        (3_650_722_200, u32::MAX, vec![], SUFFICIENT),
        (3_650_722_201, u32::MAX, vec![], EXCEEDED),
    ] {
        let decision = Thresholds::default().decide(&used(total), &tasks, max);
        assert_eq!(decision.reason, reason, "{total} of {max}, {tasks:?}");
        assert_eq!(decision.should_handoff, reason != SUFFICIENT);
    }
}

#[test]
fn reason_names_the_configured_threshold() {
    let thresholds = Thresholds { handoff_percent: 90, ..Thresholds::default() };
    let decision = thresholds.decide(&used(900), &[], 1_000);
    assert_eq!(decision.reason, "Context window utilization exceeded 90% threshold");
}

#[test]
fn warnings_at_exact_thresholds() {
    for (total, average, warns) in [
        (750, 42, true),  // 5.95 turns
        (749, 42, false), // below 75 %
        (750, 41, false), // 6.1 turns
        (990, 1, false),  // 10 turns
        (1_200, 1, true), // none
        (750, 0, true),   // nothing is known of turns
    ] {
        let usage = TokenUsage { average_tokens_per_turn: average, ..used(total) };
        assert_eq!(Thresholds::default().is_warning(&usage, 1_000), warns, "{total} {average}");
        assert!(!Thresholds::default().is_warning(&usage, 0));
    }
}

#[test]
fn futile_within_the_margin_of_the_lowest_threshold() {
    let default = Thresholds::default();
    assert_eq!([599, 600].map(|tokens| default.is_futile(tokens, 1_000)), [false, true]);
    let low = Thresholds { handoff_percent: 50, long_task_percent: 50, ..default };
    assert_eq!([399, 400].map(|tokens| low.is_futile(tokens, 1_000)), [false, true]);
    assert!(!default.is_futile(1_000, 0));
}

#[test]
fn invalid_thresholds_are_errors() {
    let default = Thresholds::default();
    assert_eq!(default.validate(), Ok(()));
    for (thresholds, message) in [
        (
            Thresholds { handoff_percent: 101, ..default },
            "handoff_percent must be from 1 to 100, got 101",
        ),
        (
            Thresholds { warning_percent: 0, ..default },
            "warning_percent must be from 1 to 100, got 0",
        ),
        (
            Thresholds { long_task_percent: 86, ..default },
            "long_task_percent must be at most handoff_percent (85), got 86",
        ),
        (
            Thresholds { warning_percent: 90, ..default },
            "warning_percent must be at most handoff_percent (85), got 90",
        ),
        (
            Thresholds { margin_percent: 70, ..default },
            "margin_percent must be below the lowest threshold (70), got 70",
        ),
    ] {
        let error: ThresholdsError = thresholds.validate().unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// The decision equals one by exact fractions, and repeating it changes nothing.
    #[test]
    fn decision_matches_exact_fraction_and_is_repeatable(
        total in any::<u32>(),
        max in any::<u32>(),
        near in prop::option::of(-2..3_i64),
    ) {
        let edge = u64::from(max) * 85 / 100;
        let total = near.map_or(total, |near| {
            u32::try_from(edge.saturating_add_signed(near)).unwrap_or(total)
        });
        let usage = used(total);
        let decision = Thresholds::default().decide(&usage, &[], max);
        let expected = max > 0 && u128::from(total) * 100 >= u128::from(max) * 85;
        prop_assert_eq!(decision.should_handoff, expected);
        prop_assert_eq!(Thresholds::default().decide(&usage, &[], max), decision);
    }
}
