//! `check` acts once per event.

use std::sync::Arc;

use lcp_continuity::store::HandoffState;
use lcp_continuity::{
    AnchorKind, AnchorPoint, AnchorSource, CheckOutcome, Clock, ContinuityConfig, ContinuityEvent,
    HandoffOptions, Message, ReportedUsage, SessionContinuityService, TaskStatus, Thresholds,
    TokenUsage, TriggerMode,
};

use super::support::{Fixture, PLAN, Words, words};

fn manual() -> Fixture {
    Fixture::with(ContinuityConfig { mode: TriggerMode::Manual, ..ContinuityConfig::default() })
}

fn report(fixture: &Fixture, tokens: u32) -> CheckOutcome {
    let reported = ReportedUsage { input_tokens: tokens, ..ReportedUsage::default() };
    fixture.service.record_reported("c", reported).unwrap();
    fixture.service.check("c").unwrap().outcome
}

#[test]
fn check_warns_and_then_prepares_once_each() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(2_000)));
    assert_eq!(report(&fixture, 7_499), CheckOutcome::NoAction);
    assert_eq!(report(&fixture, 7_500), CheckOutcome::Warned);
    for tokens in [7_499, 7_500, 7_501, 8_499] {
        assert_eq!(report(&fixture, tokens), CheckOutcome::NoAction, "{tokens}");
    }
    assert!(matches!(report(&fixture, 8_500), CheckOutcome::Prepared(_)));
    for tokens in [8_499, 8_500, 8_499, 8_501, 9_999] {
        assert_eq!(report(&fixture, tokens), CheckOutcome::NoAction, "{tokens}");
        assert_eq!(fixture.service.should_handoff("c", 10_000).should_handoff, tokens >= 8_500);
    }
    let events = fixture.events();
    assert!(matches!(
        &events[..],
        [ContinuityEvent::LimitApproaching(_), ContinuityEvent::HandoffPrepared(_)]
    ));
    let ContinuityEvent::LimitApproaching(event) = &events[0] else { unreachable!() };
    assert_eq!((event.conversation_id.as_str(), event.usage.total_tokens), ("c", 7_500));
    assert_eq!(event.remaining_turns, event.usage.estimate_remaining_turns(10_000));
}

#[test]
fn long_task_is_due_at_70_percent() {
    let fixture = manual();
    fixture.open("c", 10_000);
    fixture.say("c", Message::assistant(PLAN));
    assert_eq!(report(&fixture, 6_999), CheckOutcome::NoAction);
    assert_eq!(report(&fixture, 7_000), CheckOutcome::Due);
    let decision = fixture.service.should_handoff("c", 10_000);
    assert_eq!(decision.reason, "Long-running task detected with limited remaining context");
}

/// SCS-ALG-06: the task list of a tool, with eight open steps and none done.
#[test]
fn list_without_a_finished_step_is_due_at_70_percent() {
    let fixture = manual();
    fixture.open("c", 10_000);
    let todos: Vec<_> = (1..=8)
        .map(|step| serde_json::json!({ "content": format!("step {step}"), "status": "pending" }))
        .collect();
    let call = serde_json::json!({ "todos": todos }).to_string();
    fixture.say("c", Message::tool_call("call_1", call));
    let tasks = fixture.service.pending_tasks("c").unwrap();
    assert_eq!((tasks.len(), tasks[0].remaining_steps.len()), (1, 8));
    assert_eq!(tasks[0].status, TaskStatus::Pending);
    assert_eq!(report(&fixture, 6_999), CheckOutcome::NoAction);
    assert_eq!(report(&fixture, 7_000), CheckOutcome::Due);
}

#[test]
fn five_step_task_is_not_long() {
    let fixture = manual();
    fixture.open("c", 10_000);
    fixture.say("c", Message::assistant(PLAN.replace("- [ ] split lexer.rs\n", "")));
    assert_eq!(report(&fixture, 8_499), CheckOutcome::Warned);
    let decision = fixture.service.should_handoff("c", 10_000);
    assert_eq!(decision.reason, "Sufficient context remaining");
}

#[test]
fn manual_mode_reports_due_without_storing_handoff() {
    let fixture = manual();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(10)));
    assert_eq!(report(&fixture, 8_500), CheckOutcome::Due);
    assert_eq!(report(&fixture, 8_600), CheckOutcome::NoAction);
    assert_eq!(fixture.store.latest("c").unwrap(), None);
    fixture.service.prepare_handoff("c", 1_000, &HandoffOptions::default()).unwrap();
    assert!(fixture.store.latest("c").unwrap().is_some());
}

#[test]
fn output_reserve_lowers_the_thresholds() {
    let fixture = manual();
    let mut conversation = super::support::conversation("c", 12_000);
    conversation.output_reserve_tokens = 2_000;
    fixture.service.open(&conversation).unwrap();
    fixture.say("c", Message::user(words(10)));
    assert_eq!(report(&fixture, 8_499), CheckOutcome::Warned);
    assert_eq!(report(&fixture, 8_500), CheckOutcome::Due);
}

#[test]
fn handoff_that_would_be_due_again_is_futile() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    // The application's system prompt takes up most of the window, and will in the next session.
    fixture.say("c", Message::system(words(620)));
    fixture.say("c", Message::user(words(250)));
    let checked = fixture.service.check("c").unwrap();
    assert!(checked.decision.should_handoff);
    let CheckOutcome::Futile { next_session_tokens, max_tokens } = checked.outcome else {
        panic!("{:?}", checked.outcome)
    };
    assert!(next_session_tokens > 620 && max_tokens == 1_000);
    assert_eq!(fixture.store.latest("c").unwrap(), None);
    for _ in 0..5 {
        fixture.say("c", Message::user(words(10)));
        assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
    }
    assert_eq!(fixture.events(), []);
}

#[test]
fn other_process_does_not_repeat_an_event() {
    let fixture = manual();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(10)));
    assert_eq!(report(&fixture, 8_500), CheckOutcome::Due);
    fixture.service.close("c").unwrap();
    let other = fixture.another("other");
    assert_eq!(other.service.reopen("c").unwrap().total_tokens, 8_500);
    assert_eq!(other.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
}

#[test]
fn next_session_rearms_the_trigger() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(100)));
    let CheckOutcome::Prepared(handoff) = report(&fixture, 8_500) else { panic!() };
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    let id = &resumed.new_conversation_id;
    assert_eq!(fixture.service.check(id).unwrap().outcome, CheckOutcome::NoAction);
    fixture.say(id, Message::user(words(9_000)));
    assert!(matches!(fixture.service.check(id).unwrap().outcome, CheckOutcome::Prepared(_)));
}

/// Messages that follow in an epoch do not make its hand-off futile.
#[test]
fn large_message_after_small_directive_is_not_futile() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(100)));
    let CheckOutcome::Prepared(handoff) = report(&fixture, 8_500) else { panic!() };
    let id = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap().new_conversation_id;
    fixture.say(&id, Message::user(words(6_500)));
    assert_eq!(fixture.service.check(&id).unwrap().outcome, CheckOutcome::NoAction);
    fixture.say(&id, Message::user(words(2_000)));
    assert!(matches!(fixture.service.check(&id).unwrap().outcome, CheckOutcome::Prepared(_)));
}

/// Content from the beginning of the epoch does make it futile.
#[test]
fn session_that_starts_nearly_full_is_futile_once() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(100)));
    let CheckOutcome::Prepared(handoff) = report(&fixture, 8_500) else { panic!() };
    fixture.say("c", Message::user(words(6_500)));
    let id = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap().new_conversation_id;
    assert!(matches!(fixture.service.check(&id).unwrap().outcome, CheckOutcome::Futile { .. }));
    fixture.say(&id, Message::user(words(2_500)));
    assert_eq!(fixture.service.check(&id).unwrap().outcome, CheckOutcome::NoAction);
}

/// The report for the whole epoch also applies to a hand-off within it.
#[test]
fn epoch_reports_futile_once_for_any_reason() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(100)));
    let CheckOutcome::Prepared(handoff) = report(&fixture, 850) else { panic!() };
    fixture.say("c", Message::user(words(650)));
    let id = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap().new_conversation_id;
    let report = |tokens| {
        let reported = ReportedUsage { input_tokens: tokens, ..ReportedUsage::default() };
        fixture.service.record_reported(&id, reported).unwrap();
        fixture.service.check(&id).unwrap().outcome
    };
    assert!(matches!(fixture.service.check(&id).unwrap().outcome, CheckOutcome::Futile { .. }));
    // Usage drops again, but the next session would also begin with this message.
    assert_eq!(report(500), CheckOutcome::NoAction);
    fixture.say(&id, Message::system(words(620)));
    assert_eq!(report(900), CheckOutcome::NoAction);
    assert_eq!(report(950), CheckOutcome::NoAction);
    assert_eq!(fixture.store.latest(&id).unwrap(), None);
}

/// A wrong configuration is reported before anything is done.
#[test]
fn invalid_thresholds_are_rejected_before_any_change() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user("hello there"));
    let handoff = fixture.service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    fixture.service.close("c").unwrap();
    let default = Thresholds::default();
    for thresholds in [
        Thresholds { margin_percent: 80, ..default },
        Thresholds { handoff_percent: 0, ..default },
        Thresholds { warning_percent: 101, ..default },
    ] {
        let config = ContinuityConfig { thresholds, ..ContinuityConfig::default() };
        let service = SessionContinuityService::new(Arc::clone(&fixture.store), Arc::new(Words))
            .with_config(config);
        let conversation = super::support::conversation;
        for error in [
            service.open(&conversation("d", 1_000)).unwrap_err(),
            service.reopen("c").unwrap_err(),
            service.fork("c", 1, "d").unwrap_err(),
            service.resume_from_handoff(&handoff.handoff_id).unwrap_err(),
        ] {
            assert_eq!(error.code(), "bad_thresholds");
            assert!(error.to_string().contains("_percent must be"), "{error}");
        }
    }
    assert_eq!(fixture.store.conversation("d").unwrap_err().code(), "unknown_conversation");
    let kept = fixture.store.handoff(&handoff.handoff_id).unwrap();
    assert_eq!(kept.state, HandoffState::Committed);
}

/// As the document says: an unknown conversation has zeros.
#[test]
fn conversation_that_is_not_open_has_a_decision_of_zeros() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(900)));
    assert!(fixture.service.should_handoff("c", 1_000).should_handoff);
    fixture.service.close("c").unwrap();
    for id in ["c", "never begun"] {
        let decision = fixture.service.should_handoff(id, 1_000);
        let usage = TokenUsage {
            conversation_id: id.to_owned(),
            last_updated: fixture.clock.now(),
            ..TokenUsage::default()
        };
        assert_eq!(decision.current_usage, usage);
        assert!(!decision.should_handoff && decision.context_utilization == 0.0);
        assert_eq!(decision.estimated_remaining_turns, 0);
        assert_eq!(decision.reason, "Sufficient context remaining");
    }
}

#[test]
fn should_handoff_has_no_side_effects() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(900)));
    let before = fixture.store.conversation("c").unwrap();
    for _ in 0..3 {
        assert!(fixture.service.should_handoff("c", 1_000).should_handoff);
    }
    assert_eq!(fixture.store.conversation("c").unwrap(), before);
    assert_eq!(fixture.events(), []);
}

#[test]
fn configured_superseded_anchors_are_stored() {
    let decision =
        |text: &str| AnchorPoint::new(AnchorKind::Decision, text, 1.0, AnchorSource::default()).id;
    let superseded = vec![(decision("Use tabs."), decision("Use spaces."))];
    let mut config = ContinuityConfig::default();
    config.handoff.superseded_anchors.clone_from(&superseded);
    let fixture = Fixture::with(config);
    fixture.open("c", 1_000);
    fixture.say("c", Message::user("DECISION: Use tabs."));
    fixture.say("c", Message::user("DECISION: Use spaces."));
    fixture.say("c", Message::user(words(850)));
    let outcome = fixture.service.check("c").unwrap().outcome;
    let CheckOutcome::Prepared(handoff) = outcome else { panic!("{outcome:?}") };
    assert_eq!(handoff.superseded, superseded);
    let options = HandoffOptions::default();
    let by_hand = fixture.service.prepare_handoff("c", 500, &options).unwrap();
    assert_eq!((&by_hand.anchors, &by_hand.superseded), (&handoff.anchors, &handoff.superseded));
}
