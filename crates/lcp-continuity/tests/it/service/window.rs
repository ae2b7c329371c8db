//! Conversations that continue with another model or window.

use lcp_continuity::{CheckOutcome, ContinuityConfig, HandoffOptions, Message, TriggerMode};

use super::support::{Fixture, words};

/// CBS-INT-04: the thresholds move with the window.
#[test]
fn larger_window_moves_the_thresholds() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user(words(100)));
    fixture.say("c", Message::user(words(760)));
    let CheckOutcome::Prepared(first) = fixture.service.check("c").unwrap().outcome else {
        panic!("a hand-off is due")
    };
    assert!(fixture.service.is_compaction_due("c").unwrap());
    assert_eq!(fixture.service.set_window("c", 10_000, 0, None), Ok(true));
    assert!(!fixture.service.is_compaction_due("c").unwrap());
    let checked = fixture.service.check("c").unwrap();
    assert_eq!((checked.decision.should_handoff, checked.outcome), (false, CheckOutcome::NoAction));
    // The hand-off of the smaller window does not count for the larger one.
    fixture.say("c", Message::user(words(7_700)));
    let CheckOutcome::Prepared(second) = fixture.service.check("c").unwrap().outcome else {
        panic!("another hand-off is due")
    };
    assert_ne!(first.handoff_id, second.handoff_id);
    assert_eq!(fixture.service.set_window("c", 10_000, 0, None), Ok(false));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
}

#[test]
fn smaller_window_makes_handoff_and_compaction_due_at_once() {
    let config = ContinuityConfig { mode: TriggerMode::Manual, ..ContinuityConfig::default() };
    let fixture = Fixture::with(config);
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(100)));
    fixture.say("c", Message::user(words(760)));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
    assert_eq!(fixture.service.set_window("c", 1_000, 0, None), Ok(true));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::Due);
    assert!(fixture.service.is_compaction_due("c").unwrap());
    // The reserve is part of the window.
    assert_eq!(fixture.service.set_window("c", 2_000, 0, None), Ok(true));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::NoAction);
    assert_eq!(fixture.service.set_window("c", 2_000, 1_000, None), Ok(true));
    assert_eq!(fixture.service.check("c").unwrap().outcome, CheckOutcome::Due);
}

#[test]
fn window_and_model_are_stored_and_inherited() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    assert_eq!(fixture.service.model("c"), Ok(None));
    assert_eq!(fixture.service.set_window("c", 10_000, 0, Some("small")), Ok(false));
    assert_eq!(fixture.service.set_window("c", 20_000, 500, None), Ok(true));
    fixture.say("c", Message::user(words(10)));
    fixture.service.close("c").unwrap();
    let other = fixture.another("other");
    other.service.reopen("c").unwrap();
    assert_eq!(other.service.model("c").unwrap().as_deref(), Some("small"));
    let record = other.store.conversation("c").unwrap();
    assert_eq!((record.window_tokens, record.output_reserve_tokens), (20_000, 500));
    other.service.fork("c", 1, "fork").unwrap();
    let handoff = other.service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    let next = other.service.resume_from_handoff(&handoff.handoff_id).unwrap().new_conversation_id;
    for id in ["fork", &next] {
        assert_eq!(other.service.model(id).unwrap().as_deref(), Some("small"), "{id}");
        assert_eq!(other.store.conversation(id).unwrap().window_tokens, 20_000);
    }
    assert_eq!(other.service.set_window("c", 1, 0, None).unwrap_err().code(), "not_open");
}
