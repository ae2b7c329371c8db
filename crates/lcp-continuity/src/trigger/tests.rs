//! Tests of the state machine: each event fires once.

use std::collections::BTreeMap;

use expect_test::expect;
use proptest::prelude::*;

use super::Thresholds;
use super::{Trigger, TriggerEvent, TriggerMode, TriggerState};
use crate::model::{PendingTask, TaskStatus, TokenUsage};

fn used(total_tokens: u32) -> TokenUsage {
    TokenUsage { total_tokens, ..TokenUsage::default() }
}

fn task(status: TaskStatus, remaining: usize) -> PendingTask {
    let remaining_steps = (0..remaining).map(|step| format!("step {step}")).collect();
    PendingTask { status, remaining_steps, ..PendingTask::default() }
}

const MAX: u32 = 1_000;

/// Observes token usage with the default thresholds.
struct Watch {
    trigger: Trigger,
    epoch: u32,
    mode: TriggerMode,
}

impl Watch {
    fn new(mode: TriggerMode) -> Self {
        Self { trigger: Trigger::default(), epoch: 0, mode }
    }

    fn see(&mut self, total_tokens: u32) -> Option<TriggerEvent> {
        let usage = TokenUsage {
            total_tokens,
            average_tokens_per_turn: 100,
            epoch: self.epoch,
            ..TokenUsage::default()
        };
        let thresholds = Thresholds::default();
        let decision = thresholds.decide(&usage, &[], MAX);
        self.trigger.observe(&thresholds, &decision, MAX, self.mode)
    }

    fn see_all(&mut self, totals: impl IntoIterator<Item = u32>) -> Vec<TriggerEvent> {
        totals.into_iter().filter_map(|total| self.see(total)).collect()
    }
}

use TriggerEvent::{Due, Futile, Prepare, Warn};

#[test]
fn fluctuating_usage_fires_each_event_once() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    assert_eq!(watch.see_all([100, 749, 750, 749, 751, 750]), [Warn]);
    assert_eq!(watch.see_all([849, 850, 849, 851, 850]), [Prepare]);
    watch.trigger.mark_prepared();
    assert_eq!(watch.trigger.state, TriggerState::Disarmed);
    assert_eq!(watch.see_all([849, 850, 10, 750, 850, 1_000]), []);
}

#[test]
fn immediate_preparation_skips_the_warning() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    assert_eq!(watch.see_all([900, 800, 900]), [Prepare]);
    assert_eq!(watch.trigger.state, TriggerState::Preparing);
}

#[test]
fn manual_mode_reports_due_once() {
    let mut watch = Watch::new(TriggerMode::Manual);
    assert_eq!(watch.see_all([760, 860, 840, 870, 1_000]), [Warn, Due]);
    watch.mode = TriggerMode::Automatic;
    assert_eq!(watch.see_all([1_000]), [Prepare]);
}

#[test]
fn caller_prepared_handoff_disarms_trigger() {
    for before in [None, Some(760), Some(860)] {
        let mut watch = Watch::new(TriggerMode::Manual);
        watch.see_all(before);
        watch.trigger.mark_prepared();
        assert_eq!(watch.see_all([760, 860, 1_000]), [], "{before:?}");
    }
}

#[test]
fn new_epoch_below_margin_rearms_trigger() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([860]);
    watch.trigger.mark_prepared();
    watch.epoch = 1;
    assert_eq!(watch.see_all([599]), []);
    assert_eq!(watch.trigger.state, TriggerState::Armed);
    assert_eq!(watch.see_all([800, 860, 860]), [Warn, Prepare]);
    assert_eq!(watch.trigger.epoch, 1);
}

#[test]
fn epoch_that_starts_within_margin_is_futile() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([860]);
    watch.trigger.mark_prepared();
    for epoch in 1..4 {
        watch.epoch = epoch;
        assert_eq!(watch.see_all([600, 860, 601, 1_000]), [Futile]);
        assert_eq!(watch.trigger.state, TriggerState::Disarmed);
    }
    // The usage has dropped again.
    assert_eq!(watch.see_all([599, 600, 860]), [Prepare]);
}

#[test]
fn futile_handoff_closes_the_epoch() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([860]);
    assert_eq!(watch.trigger.mark_futile(), Some(Futile));
    assert_eq!(watch.trigger.mark_futile(), None);
    assert_eq!(watch.see_all([10, 860, 1_000]), []);
    watch.epoch = 1;
    assert_eq!(watch.see_all([10, 860]), [Prepare]);
    assert_eq!(watch.trigger.mark_futile(), Some(Futile));
}

#[test]
fn failed_preparation_is_retried_after_usage_grows() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([800, 860]);
    watch.trigger.mark_failed(860);
    assert_eq!(watch.see_all([860, 800, 869]), []);
    assert_eq!(watch.see_all([870, 900]), [Prepare]);
    watch.trigger.mark_failed(870);
    assert_eq!(watch.see_all([879, 880]), [Prepare]);
    // The hand-off was prepared, but could not be stored.
    watch.trigger.mark_prepared();
    watch.trigger.mark_failed(880);
    assert_eq!(watch.see_all([889, 890]), [Prepare]);
    watch.trigger.mark_prepared();
    assert_eq!(watch.see_all([1_000]), []);
}

#[test]
fn mark_failed_without_attempt_is_ignored() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([760]);
    watch.trigger.mark_failed(760);
    assert_eq!(watch.see_all([760, 850]), [Prepare]);
}

#[test]
fn interrupted_preparation_is_due_again() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([860]);
    watch.trigger.mark_interrupted();
    assert_eq!(watch.see_all([860, 870]), [Prepare]);
    watch.trigger.mark_prepared();
    watch.trigger.mark_interrupted();
    assert_eq!(watch.see_all([900]), []);
}

#[test]
fn usage_from_earlier_epoch_is_ignored() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.epoch = 2;
    watch.see_all([10]);
    watch.epoch = 1;
    let before = watch.trigger.clone();
    assert_eq!(watch.see_all([1_000]), []);
    assert_eq!(watch.trigger, before);
}

#[test]
fn fork_starts_armed_at_any_usage() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    (watch.trigger, watch.epoch) = (Trigger::new(3), 3);
    assert_eq!(watch.see_all([760, 860]), [Warn, Prepare]);
}

#[test]
fn trigger_state_serializes_to_json() {
    let mut watch = Watch::new(TriggerMode::Automatic);
    watch.see_all([860]);
    watch.trigger.mark_failed(860);
    expect![[r#"{"epoch":0,"state":"warned","closed":false,"failed_at":860,"told_due":false,"told_futile":false}"#]]
        .assert_eq(&serde_json::to_string(&watch.trigger).unwrap());
    // The state may be written by an older or a newer version.
    let trigger: Trigger = serde_json::from_str(r#"{"epoch":3,"more":true}"#).unwrap();
    assert_eq!(trigger, Trigger::new(3));
}

#[derive(Clone, Copy, Debug)]
enum Op {
    See { total: u32, average: u32, long_task: bool, manual: bool },
    NewEpoch,
    Prepared,
    Failed,
    Futile,
    Interrupted,
}

fn any_op() -> impl Strategy<Value = Op> {
    let totals = prop_oneof![0..1_100_u32, 598..603_u32, 698..703_u32, 748..753_u32, 848..853_u32];
    let see = (totals, 0..60_u32, any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(total, average, long_task, manual)| Op::See { total, average, long_task, manual },
    );
    prop_oneof![
        30 => see,
        2 => Just(Op::NewEpoch),
        1 => Just(Op::Prepared),
        2 => Just(Op::Failed),
        1 => Just(Op::Futile),
        1 => Just(Op::Interrupted),
    ]
}

/// The result of a run: the events, each with its epoch and token usage, and the final trigger.
#[derive(Debug, Default, PartialEq)]
struct Run {
    events: Vec<(TriggerEvent, u32, u32)>,
    trigger: Trigger,
}

/// Runs `ops` and checks the invariants after each one. At `cut` the trigger is serialized and
/// deserialized.
fn run(ops: &[Op], cut: Option<usize>) -> Run {
    let thresholds = Thresholds::default();
    let mut run = Run::default();
    let (mut epoch, mut total) = (0, 0);
    let (mut closed, mut failed_at, mut may_repeat) = (false, None, false);
    for (at, &op) in ops.iter().enumerate() {
        if cut == Some(at) {
            let json = serde_json::to_string(&run.trigger).unwrap();
            run.trigger = serde_json::from_str(&json).unwrap();
        }
        let preparing = run.trigger.state == TriggerState::Preparing;
        let event = match op {
            Op::See { total: seen, average, long_task, manual } => {
                total = seen;
                let usage = TokenUsage { average_tokens_per_turn: average, epoch, ..used(total) };
                let tasks = [task(TaskStatus::InProgress, if long_task { 6 } else { 5 })];
                let mode = if manual { TriggerMode::Manual } else { TriggerMode::Automatic };
                let decision = thresholds.decide(&usage, &tasks, MAX);
                run.trigger.observe(&thresholds, &decision, MAX, mode)
            }
            Op::NewEpoch => {
                epoch += 1;
                (closed, failed_at, may_repeat) = (false, None, false);
                None
            }
            Op::Prepared | Op::Futile if epoch != run.trigger.epoch => None,
            Op::Prepared => {
                run.trigger.mark_prepared();
                closed = true;
                None
            }
            Op::Futile => {
                closed = true;
                run.trigger.mark_futile()
            }
            Op::Failed => {
                run.trigger.mark_failed(total);
                if (preparing || closed) && epoch == run.trigger.epoch {
                    (closed, failed_at, may_repeat) = (false, Some(total), true);
                }
                None
            }
            Op::Interrupted => {
                run.trigger.mark_interrupted();
                if preparing && epoch == run.trigger.epoch {
                    (failed_at, may_repeat) = (None, true);
                }
                None
            }
        };
        let Some(event) = event else { continue };
        let is_first = run.events.iter().all(|&(e, of, _)| (e, of) != (event, epoch));
        if event == Prepare {
            assert!(is_first || may_repeat, "prepared twice in epoch {epoch}");
            assert!(failed_at.is_none_or(|at| total >= at + MAX / 100), "too early: {total}");
            may_repeat = false;
        } else {
            assert!(is_first, "{event:?} twice in epoch {epoch}");
        }
        assert!(!closed || event == Futile, "{event:?} in an epoch that was over");
        run.events.push((event, epoch, total));
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Each event occurs at most once per epoch, and after a hand-off only in a new epoch. The
    /// events are reproducible, even if the trigger is saved and restored.
    #[test]
    fn events_fire_once_per_epoch_and_are_reproducible(
        ops in prop::collection::vec(any_op(), 0..60),
        cut in 0..60_usize,
    ) {
        let whole = run(&ops, None);
        prop_assert_eq!(&run(&ops, None), &whole);
        prop_assert_eq!(&run(&ops, Some(cut)), &whole);
    }

    /// Without a report on the result, there is at most one preparation per epoch.
    #[test]
    fn epoch_prepares_at_most_once_without_result_report(ops in prop::collection::vec(any_op(), 0..80)) {
        let seen = |op: &Op| matches!(op, Op::See { .. } | Op::NewEpoch);
        let ops: Vec<Op> = ops.into_iter().filter(seen).collect();
        let mut prepared: BTreeMap<u32, u32> = BTreeMap::new();
        for (event, epoch, _) in run(&ops, None).events {
            *prepared.entry(epoch).or_default() += u32::from(event == Prepare);
        }
        prop_assert!(prepared.values().all(|&count| count <= 1));
    }
}
