//! Growing transcripts.

use lcp_continuity::{Error, HandoffOptions, Message};
use lcp_types::Status;

use super::support::{Fixture, words};

/// Returns a transcript of this many messages, with every kind among them.
fn transcript(messages: usize) -> Vec<Message> {
    let one = |at| match at % 4 {
        0 => Message::user(format!("Step {at}, please.")),
        1 => Message::tool_call(format!("call_{at}"), "read a.rs"),
        2 => {
            let call = format!("call_{}", at - 1);
            Message::tool_result(call, "read", Status::Ok, "fn f() {}")
        }
        _ => Message::assistant("Done."),
    };
    (0..messages).map(one).collect()
}

#[test]
fn only_new_messages_are_recorded() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    for (messages, new) in [(3, 3), (3, 0), (8, 5), (5, 0), (0, 0), (9, 1)] {
        assert_eq!(fixture.service.append_new_messages("c", transcript(messages)), Ok(new));
    }
    let kept = fixture.service.messages("c").unwrap();
    let kept: Vec<_> = kept.into_iter().map(|recorded| recorded.message).collect();
    assert_eq!(kept, transcript(9));

    // Another process gets the same result.
    fixture.service.close("c").unwrap();
    let other = fixture.another("other");
    other.service.reopen("c").unwrap();
    assert_eq!(other.service.append_new_messages("c", transcript(2_500)), Ok(2_491));
    let record = fixture.store.conversation("c").unwrap();
    assert_eq!(record.messages, 2_500);
    assert_eq!(record.usage(), Some(other.service.usage("c")));
}

#[test]
fn first_differing_message_is_reported() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.service.append_new_messages("c", transcript(6)).unwrap();
    let differs = |position| Error::Differs { conversation: "c".into(), position };
    for position in [0, 2, 5] {
        let mut other = transcript(8);
        other[position] = Message::user("Something else.");
        let error = fixture.service.append_new_messages("c", other).unwrap_err();
        assert_eq!(error, differs(position as u64));
        assert_eq!(error.code(), "differs");
    }
    // The same text by another role, or as the answer to another call, differs.
    let mut other = transcript(6);
    other[3] = Message::user("Done.");
    assert_eq!(fixture.service.append_new_messages("c", other), Err(differs(3)));
    let mut other = transcript(6);
    other[2] = Message::tool_result("call_9", "read", Status::Ok, "fn f() {}");
    assert_eq!(fixture.service.append_new_messages("c", other), Err(differs(2)));
    assert_eq!(fixture.store.conversation("c").unwrap().messages, 6);
}

#[test]
fn leading_directive_is_not_recorded_as_message() {
    let fixture = Fixture::new();
    fixture.open("c", 1_000);
    fixture.say("c", Message::user("DECISION: one file for each rule."));
    let handoff = fixture.service.prepare_handoff("c", 500, &HandoffOptions::default()).unwrap();
    fixture.say("c", Message::assistant("Late."));
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    let id = resumed.new_conversation_id;
    let told = fixture.service.usage(&id).total_tokens;
    let late = Message::assistant("Late.");
    let directive = Message::system(format!("\n{}", resumed.directive.text));
    let transcript = vec![directive, late, Message::user(words(7))];
    assert_eq!(fixture.service.append_new_messages(&id, transcript[1..2].to_vec()), Ok(0));
    assert_eq!(fixture.service.append_new_messages(&id, transcript.clone()), Ok(1));
    assert_eq!(fixture.service.append_new_messages(&id, transcript), Ok(0));
    assert_eq!(fixture.service.usage(&id).total_tokens, told + 7);
}

#[test]
fn compaction_memory_is_skipped_when_syncing() {
    let fixture = Fixture::new();
    fixture.open("c", 200);
    let said = |turns: usize| {
        let turn = |at: usize| Message::user(format!("DECISION: rule {at}. {}", words(20)));
        (0..turns).map(turn).collect::<Vec<_>>()
    };
    fixture.service.append_new_messages("c", said(8)).unwrap();
    fixture.service.compact_if_low("c").unwrap().unwrap();
    assert_eq!(fixture.service.append_new_messages("c", said(9)), Ok(1));
    assert_eq!(fixture.service.append_new_messages("c", said(9)), Ok(0));
}
