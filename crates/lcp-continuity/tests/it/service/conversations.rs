//! Conversations are opened, shared among threads, forked, taken over.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lcp_continuity::{ContinuityConfig, Error, HandoffOptions, Message};
use lcp_types::{Annotation, Block, Lang, Priority};

use super::support::{Fixture, conversation, words};

#[test]
fn concurrent_threads_record_every_message() {
    let fixture = Arc::new(Fixture::new());
    fixture.open("c", 1_000_000);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let fixture = Arc::clone(&fixture);
            thread::spawn(move || (0..50).for_each(|_| fixture.say("c", Message::user(words(3)))))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let usage = fixture.service.usage("c");
    assert_eq!((usage.message_count, usage.total_tokens), (400, 1_200));
    let stored = fixture.store.messages("c", 0, 1_000).unwrap();
    assert!(stored.iter().zip(0..).all(|(message, at)| message.position == at));
    assert_eq!(stored.len(), 400);
}

#[test]
fn second_process_continues_after_lease_expires() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("DECISION: Two spaces."));
    let other = fixture.another("other");
    assert_eq!(other.service.reopen("c").unwrap_err().code(), "held");
    fixture.wait(fixture.service.config().lease);
    let usage = other.service.reopen("c").unwrap();
    assert_eq!((usage.total_tokens, usage.message_count), (3, 1));
    other.say("c", Message::assistant("Done."));
    // The first process continues. It has lost the conversation, and writes nothing.
    let error = fixture.service.record_message("c", Message::user("late")).unwrap_err();
    assert_eq!(error.code(), "lease_lost");
    assert_eq!(fixture.service.usage("c").message_count, 0);
    let error = fixture.service.record_message("c", Message::user("late")).unwrap_err();
    assert_eq!(error, Error::NotOpen("c".into()));
    assert_eq!(fixture.store.messages("c", 0, 10).unwrap().len(), 2);
    let handoff = other.service.prepare_handoff("c", 1_000, &HandoffOptions::default()).unwrap();
    assert_eq!(handoff.anchors[0].text, "Two spaces.");
}

#[test]
fn expired_untaken_lease_is_renewed() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.wait(Duration::from_secs(24 * 60 * 60));
    fixture.say("c", Message::user("Back again."));
    assert_eq!(fixture.service.usage("c").message_count, 1);
}

#[test]
fn leases_are_extended_before_they_expire() {
    let config =
        ContinuityConfig { lease: Duration::from_millis(30), ..ContinuityConfig::default() };
    let fixture = Fixture::with(config);
    fixture.open("c", 10_000);
    let before = fixture.store.conversation("c").unwrap();
    thread::sleep(Duration::from_millis(15));
    fixture.wait(Duration::from_millis(15));
    fixture.say("c", Message::user("Still here."));
    let after = fixture.store.conversation("c").unwrap();
    assert_eq!(after.fence, before.fence);
    assert!(after.holder.unwrap().1 > before.holder.unwrap().1);
}

#[test]
fn forks_share_earlier_messages_and_then_diverge() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("DECISION: Use tabs."));
    fixture.say("c", Message::assistant("Right."));
    fixture.say("c", Message::user("DECISION: Use spaces."));
    let usage = fixture.service.fork("c", 2, "d").unwrap();
    assert_eq!((usage.message_count, usage.total_tokens), (2, 4));
    fixture.say("d", Message::user("DECISION: Tabs it is."));
    let of = |id: &str| {
        let handoff = fixture.service.prepare_handoff(id, 2_000, &HandoffOptions::default());
        let texts = handoff.unwrap().anchors.into_iter().map(|anchor| anchor.text);
        texts.collect::<Vec<_>>()
    };
    assert_eq!(of("c"), ["Use tabs.", "Use spaces."]);
    assert_eq!(of("d"), ["Use tabs.", "Tabs it is."]);
}

#[test]
fn fork_of_resumed_session_keeps_its_anchors() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("DECISION: Use tabs."));
    let handoff = fixture.service.prepare_handoff("c", 2_000, &HandoffOptions::default()).unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    let id = resumed.new_conversation_id;
    fixture.say(&id, Message::user("Which width have tabs here, by the way?"));
    let usage = fixture.service.fork(&id, 1, "fork").unwrap();
    assert_eq!(usage.total_tokens, resumed.directive.tokens + 8);
    let handoff = fixture.service.prepare_handoff("fork", 2_000, &HandoffOptions::default());
    assert_eq!(handoff.unwrap().anchors[0].text, "Use tabs.");
}

#[test]
fn content_blocks_are_messages_but_annotations_are_not() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    let file = Message::new(Block::code(Lang::Rust, "a.rs", "fn a() {}"));
    fixture.say("c", file.clone());
    fixture.say("c", file.clone().answering("call_9"));
    let annotation = Message::new(Block::new(Annotation::priority(0, Priority::High)));
    let error = fixture.service.record_message("c", annotation).unwrap_err();
    assert_eq!(error.code(), "bad_package");
    assert_eq!(fixture.service.usage("c").message_count, 2);
    let other = fixture.another("other");
    fixture.service.close("c").unwrap();
    other.service.reopen("c").unwrap();
    let messages: Vec<_> =
        other.service.messages("c").unwrap().into_iter().map(|m| m.message).collect();
    assert_eq!(messages, [file.clone(), file.answering("call_9")]);
}

#[test]
fn taken_invalid_and_unknown_ids_are_errors() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.open("c", 10_000);
    let error = fixture.service.open(&conversation("c", 20_000)).unwrap_err();
    assert_eq!(error.code(), "exists");
    let error = fixture.service.open(&conversation("a\nb", 20_000)).unwrap_err();
    assert_eq!(error.code(), "bad_id");
    assert_eq!(fixture.service.reopen("nobody").unwrap_err().code(), "unknown_conversation");
}

#[test]
fn fork_inherits_superseded_anchors() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    for text in ["DECISION: Use tabs.", "DECISION: No tests.", "DECISION: Use spaces."] {
        fixture.say("c", Message::user(text));
    }
    let of = |id: &str| {
        let handoff = fixture.service.prepare_handoff(id, 2_000, &HandoffOptions::default());
        handoff.unwrap().anchors
    };
    let texts = |id: &str| of(id).into_iter().map(|anchor| anchor.text).collect::<Vec<_>>();
    let ids: Vec<_> = of("c").into_iter().map(|anchor| anchor.id).collect();
    fixture.service.supersede_anchor("c", &ids[0], &ids[2]).unwrap();
    fixture.service.supersede_anchor("c", &ids[1], "a bad idea").unwrap();
    fixture.service.fork("c", 3, "all").unwrap();
    fixture.service.fork("all", 3, "again").unwrap();
    fixture.service.fork("c", 2, "earlier").unwrap();
    fixture.service.fork("all", 2, "earlier again").unwrap();
    assert_eq!(texts("c"), ["Use spaces."]);
    assert_eq!(texts("all"), ["Use spaces."]);
    assert_eq!(texts("again"), ["Use spaces."]);
    // At this point the decision was not replaced yet.
    assert_eq!(texts("earlier"), ["Use tabs."]);
    assert_eq!(texts("earlier again"), ["Use tabs."]);
}
