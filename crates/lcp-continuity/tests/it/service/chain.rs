//! Ten hand-offs in a chain.

use lcp_continuity::{HandoffOptions, Message, SessionHandoff};
use lcp_types::Status;

use super::support::{Fixture, words};

const SUMMARY_TOKENS: u32 = 120;
const TARGET_TOKENS: u32 = 3_000;

/// Returns a decision of each session. Its odd format shows whether it is rewritten.
fn anchor(session: usize) -> String {
    format!("  The limit of  stage {session} is {session}0 MiB — «not» `more`,\tsee §{session}.")
}

fn session(fixture: &Fixture, id: &str, number: usize) {
    let said = format!("I looked.\n\nDECISION:{}\n\nMore to come.", anchor(number));
    fixture.say(id, Message::user(format!("Go on with stage {number} of the migration, please.")));
    fixture.say(id, Message::tool_call(format!("call_{number}"), "{\"command\": \"make\"}"));
    let output = words(150);
    fixture.say(id, Message::tool_result(format!("call_{number}"), "bash", Status::Ok, output));
    fixture.say(id, Message::assistant(said));
    let boxes: Vec<_> = (0..10)
        .map(|step| format!("- [{}] step {step}", if step < number { 'x' } else { ' ' }))
        .collect();
    let done = boxes.join("\n");
    fixture.say(id, Message::assistant(format!("Plan: migrate\n\n{done}")));
}

#[test]
fn ten_handoffs_keep_anchors_and_tasks() {
    let fixture = Fixture::new();
    let options = HandoffOptions {
        target_summary_tokens: SUMMARY_TOKENS,
        recent_tokens: 400,
        ..HandoffOptions::default()
    };
    fixture.open("first", 20_000);
    let mut id = "first".to_owned();
    let mut handoffs: Vec<SessionHandoff> = Vec::new();
    for number in 1..=9 {
        session(&fixture, &id, number);
        let handoff = fixture.service.prepare_handoff(&id, TARGET_TOKENS, &options).unwrap();
        for stage in 1..=number {
            let expected = anchor(stage);
            let kept = handoff.anchors.iter().filter(|a| a.text == expected.trim());
            assert_eq!(
                kept.count(),
                1,
                "stage {stage} in hand-off {number}: {:?}",
                handoff.anchors
            );
        }
        let task = &handoff.pending_tasks[0];
        let steps =
            |range: std::ops::Range<usize>| range.map(|s| format!("step {s}")).collect::<Vec<_>>();
        assert_eq!(
            (&task.done_steps, &task.remaining_steps),
            (&steps(0..number), &steps(number..10))
        );
        assert!(fixture.service.usage(&id).total_tokens > 0);
        assert!(super::prepare::counted(&handoff.summary) <= SUMMARY_TOKENS);
        assert!(handoff.metadata.tokens_after <= TARGET_TOKENS);
        assert!(handoff.metadata.coverage.ok, "{:?}", handoff.metadata);
        assert_pairs(&handoff);
        let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
        id = resumed.new_conversation_id;
        handoffs.push(handoff);
    }
    let last = fixture.service.prepare_handoff(&id, TARGET_TOKENS, &options).unwrap();
    let chain = fixture.store.chain(&last.handoff_id).unwrap();
    let expected: Vec<_> =
        handoffs.iter().rev().map(|handoff| handoff.handoff_id.clone()).collect();
    assert_eq!(chain[1..].iter().map(|record| record.id.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(last.anchors.len(), 9);
    assert_eq!(last.epoch, 9);
}

/// Checks that calls and results are together.
fn assert_pairs(handoff: &SessionHandoff) {
    let recent = &handoff.recent;
    for message in recent.iter().filter(|message| message.message.is_result()) {
        let call = message.message.tool_call_id();
        let called = |other: &&lcp_continuity::Recorded| {
            !other.message.is_result() && other.message.tool_call_id() == call
        };
        assert!(recent.iter().any(|other| called(&other)), "{call:?} without its call");
    }
}

#[test]
fn superseded_anchors_are_not_handed_over() {
    let fixture = Fixture::new();
    fixture.open("c", 20_000);
    fixture.say("c", Message::user("DECISION: Use files."));
    fixture.say("c", Message::user("DECISION: Use SQLite."));
    let default = HandoffOptions::default();
    let first = fixture.service.prepare_handoff("c", 2_000, &default).unwrap();
    let ids: Vec<_> = first.anchors.iter().map(|anchor| anchor.id.clone()).collect();
    let options = HandoffOptions {
        superseded_anchors: vec![(ids[0].clone(), ids[1].clone())],
        ..HandoffOptions::default()
    };
    let second = fixture.service.prepare_handoff("c", 2_000, &options).unwrap();
    assert_eq!(second.anchors.iter().map(|a| a.text.as_str()).collect::<Vec<_>>(), ["Use SQLite."]);
    assert_eq!(second.superseded, options.superseded_anchors);
    let resumed = fixture.service.resume_from_handoff(&second.handoff_id).unwrap();
    let id = resumed.new_conversation_id;
    fixture.say(&id, Message::user("Go on with it, please, as we said."));
    let third = fixture.service.prepare_handoff(&id, 2_000, &default).unwrap();
    assert_eq!(third.anchors, second.anchors);
    assert_eq!(third.superseded, []);
}

#[test]
fn repeated_superseded_list_is_stored_once() {
    let fixture = Fixture::new();
    fixture.open("c", 20_000);
    fixture.say("c", Message::user("DECISION: Use files."));
    let superseded_anchors: Vec<_> =
        (0..40).map(|at| (format!("anchor {at}"), format!("what replaced it, {at}"))).collect();
    let options = HandoffOptions { superseded_anchors, ..HandoffOptions::default() };
    for _ in 0..60 {
        fixture.service.prepare_handoff("c", 500, &options).unwrap();
    }
    fixture.service.supersede_anchor("c", "anchor 0", "something else").unwrap();
    let status = fixture.store.conversation("c").unwrap().status.unwrap();
    assert_eq!(status.matches("\"anchor 0\"").count(), 1);
    // The first record of the replacement stays.
    assert!(status.contains("[\"anchor 0\",\"what replaced it, 0\"]"), "{status}");
}
