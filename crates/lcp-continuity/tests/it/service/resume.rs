//! Hand-offs are resumed exactly once.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lcp_continuity::{
    AnchorKind, AnchorPoint, AnchorSource, ContinuityConfig, ContinuityEvent, Error,
    HandoffOptions, Message, ResumeOptions, store,
};

use super::support::{Fixture, words};

fn handed_over(fixture: &Fixture) -> String {
    fixture.open("c", 10_000);
    fixture.say("c", Message::user("Please find the slow query."));
    fixture.say("c", Message::assistant("DECISION: Measure first."));
    let options = HandoffOptions::default();
    fixture.service.prepare_handoff("c", 2_000, &options).unwrap().handoff_id
}

#[test]
fn one_of_many_services_resumes_the_handoff() {
    let fixture = Arc::new(Fixture::new());
    let handoff = handed_over(&fixture);
    fixture.service.close("c").unwrap();
    let threads: Vec<_> = (0..12)
        .map(|number| {
            let other = fixture.another(&format!("machine {number}"));
            let handoff = handoff.clone();
            thread::spawn(move || other.service.resume_from_handoff(&handoff).map_err(|e| e.code()))
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert!(matches!(error, "claimed" | "already_resumed"), "{error}");
    }
}

#[test]
fn resume_ends_the_old_conversation() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    let other = fixture.another("other");
    let resumed = other.service.resume_from_handoff(&handoff).unwrap();
    let error = fixture.service.record_message("c", Message::user("hello?")).unwrap_err();
    assert!(error.to_string().contains(&resumed.new_conversation_id), "{error}");
    assert_eq!(fixture.service.reopen("c").unwrap_err().code(), "continued");
    let id = &resumed.new_conversation_id;
    other.say(id, Message::user("Go on, please, with the query."));
    assert_eq!(other.service.messages(id).unwrap().len(), 1);
    let error = other.service.resume_from_handoff(&handoff).unwrap_err();
    assert_eq!(error.code(), "already_resumed");
}

#[test]
fn messages_after_the_handoff_are_resumed() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    fixture.say("c", Message::user("And the index?"));
    fixture.say("c", Message::assistant("I see no index on that column."));
    let resumed = fixture.service.resume_from_handoff(&handoff).unwrap();
    let texts: Vec<_> =
        resumed.late_messages.iter().map(|m| m.message.text().into_owned()).collect();
    assert_eq!(texts, ["And the index?", "I see no index on that column."]);
    let context = fixture.service.context(&resumed.new_conversation_id).unwrap();
    assert_eq!(context.len(), 3);
    let usage = fixture.service.usage(&resumed.new_conversation_id);
    assert_eq!(usage.total_tokens, resumed.directive.tokens + 3 + 7);
}

#[test]
fn claim_of_dead_process_expires() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    fixture.store.claim(&handoff, "a machine that dies", Duration::from_secs(60)).unwrap();
    let error = fixture.service.resume_from_handoff(&handoff).unwrap_err();
    assert_eq!(error.code(), "claimed");
    fixture.wait(Duration::from_secs(60));
    fixture.service.resume_from_handoff(&handoff).unwrap();
}

#[test]
fn other_process_completes_interrupted_resume() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    fixture.say("c", Message::user("One more thing."));
    // The process resumed the hand-off, and ended before it took anything over.
    let claim = fixture.store.claim(&handoff, "dies", Duration::from_secs(60)).unwrap();
    let next = super::support::conversation("next", 10_000);
    fixture.store.resume(&claim, &next).unwrap();
    let other = fixture.another("other");
    let usage = other.service.reopen("next").unwrap();
    assert_eq!(other.service.messages("next").unwrap().len(), 1);
    let context = other.service.context("next").unwrap();
    let counted: u32 = context.iter().map(|m| super::prepare::counted(&m.text())).sum();
    assert_eq!((usage.total_tokens, usage.epoch), (counted, 1));
}

#[test]
fn inspect_resume_shows_pending_and_past_resumes() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    fixture.say("c", Message::user("And the index?"));
    let [measure, guess] = ["Measure first.", "Guess."].map(decision);
    fixture.service.supersede_anchor("c", &measure, &guess).unwrap();
    let other = fixture.another("other");
    let options =
        ResumeOptions { conversation_id: Some("next".into()), ..ResumeOptions::default() };
    let before = other.service.inspect_resume(&handoff, &options).unwrap();
    // The inspection claimed nothing.
    let resumed = fixture.service.resume_with_options(&handoff, &options).unwrap();
    assert_eq!((&before.directive, resumed.late_messages.len()), (&resumed.directive, 1));
    // Later messages are not included, and the holder does not have to release its lease.
    fixture.say("next", Message::user("Let us go on."));
    let again = || other.service.inspect_resume(&handoff, &ResumeOptions::default()).unwrap();
    assert_eq!(again(), resumed);
    let next = fixture.service.prepare_handoff("next", 2_000, &HandoffOptions::default()).unwrap();
    fixture.service.resume_from_handoff(&next.handoff_id).unwrap();
    assert_eq!(again(), resumed);
    assert_eq!(
        fixture.service.resume_from_handoff(&handoff).unwrap_err().code(),
        "already_resumed"
    );
}

#[test]
fn inspect_resume_rejects_superseded_and_unknown_handoffs() {
    let fixture = Fixture::new();
    let first = handed_over(&fixture);
    let code = |handoff: &str| {
        let told = fixture.service.inspect_resume(handoff, &ResumeOptions::default());
        told.map(|told| told.late_messages.len()).map_err(|error| error.code())
    };
    fixture.say("c", Message::user("And the index?"));
    let options = HandoffOptions::default();
    let second = fixture.service.prepare_handoff("c", 2_000, &options).unwrap().handoff_id;
    assert_eq!(code(&first), Err("superseded"));
    // The process that resumed it ended before anything was taken over.
    fixture.say("c", Message::user("One more thing."));
    let claim = fixture.store.claim(&second, "dies", Duration::from_secs(60)).unwrap();
    fixture.store.resume(&claim, &super::support::conversation("next", 10_000)).unwrap();
    assert_eq!(code(&second), Ok(1));
    assert_eq!(code("h-nothing"), Err("unknown_handoff"));
}

#[test]
fn resume_options_set_window_and_conversation_id() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    let options = ResumeOptions {
        conversation_id: Some("the query, part 2".into()),
        window_tokens: Some(1_000_000),
        ..ResumeOptions::default()
    };
    let resumed = fixture.service.resume_with_options(&handoff, &options).unwrap();
    assert_eq!(resumed.new_conversation_id, "the query, part 2");
    let record = fixture.store.conversation("the query, part 2").unwrap();
    assert_eq!((record.window_tokens, record.origin), (1_000_000, Some(handoff)));
}

#[test]
fn resume_sends_an_event() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    let resumed = fixture.service.resume_from_handoff(&handoff).unwrap();
    let events = fixture.events();
    let [ContinuityEvent::HandoffPrepared(prepared), ContinuityEvent::SessionResumed(event)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(prepared.handoff.handoff_id, handoff);
    assert_eq!(event.session, resumed);
}

#[test]
fn unknown_and_expired_handoffs_are_errors() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    let unknown = fixture.service.resume_from_handoff("h-0").unwrap_err();
    assert_eq!(unknown.code(), "unknown_handoff");
    fixture.wait(Duration::from_secs(31 * 24 * 60 * 60));
    let expired = fixture.service.resume_from_handoff(&handoff).unwrap_err();
    assert_eq!(expired.code(), "handoff_expired");
}

#[test]
fn unreadable_handoff_is_not_claimed() {
    let fixture = Fixture::new();
    fixture.open("c", 10_000);
    fixture.say("c", Message::user(words(5)));
    let lease = {
        fixture.service.close("c").unwrap();
        fixture.store.lease("c", "me", Duration::from_secs(60)).unwrap()
    };
    let new = lcp_continuity::store::NewHandoff {
        id: "odd".into(),
        previous: None,
        messages: 1,
        pack: b"no pack".to_vec(),
        status: None,
    };
    fixture.store.commit(&lease, &new).unwrap();
    let error = fixture.service.resume_from_handoff("odd").unwrap_err();
    assert_eq!(error.code(), "bad_package");
    let record = fixture.store.handoff("odd").unwrap();
    assert_eq!(record.state, lcp_continuity::store::HandoffState::Committed);
}

/// Returns the id of a decision.
fn decision(text: &str) -> String {
    AnchorPoint::new(AnchorKind::Decision, text, 1.0, AnchorSource::default()).id
}

fn texts(anchors: &[AnchorPoint]) -> Vec<&str> {
    anchors.iter().map(|anchor| anchor.text.as_str()).collect()
}

#[test]
fn anchor_superseded_after_handoff_is_not_restored() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    let [measure, guess] = ["Measure first.", "Guess."].map(decision);
    fixture.service.supersede_anchor("c", &measure, &guess).unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff).unwrap();
    assert_eq!(resumed.restored_anchors, []);
    assert_eq!(resumed.directive.reminders, [] as [String; 0]);
    // The package is unchanged, and the directive is the same in every process.
    assert_eq!(texts(&fixture.service.handoff(&handoff).unwrap().anchors), ["Measure first."]);
    let id = &resumed.new_conversation_id;
    let context = fixture.service.context(id).unwrap();
    assert_eq!(context[0].text(), resumed.directive.text);
    assert_eq!(fixture.service.usage(id).total_tokens, resumed.directive.tokens);
    fixture.service.close(id).unwrap();
    let other = fixture.another("other");
    other.service.reopen(id).unwrap();
    assert_eq!(other.service.context(id).unwrap(), context);
    let usage = other.service.fork(id, 0, "fork").unwrap();
    assert_eq!(usage.total_tokens, resumed.directive.tokens);
    assert_eq!(other.service.context("fork").unwrap(), context);
    // The replacement is recorded once.
    let options = HandoffOptions::default();
    for id in [id.as_str(), "fork"] {
        let second = other.service.prepare_handoff(id, 2_000, &options).unwrap();
        assert_eq!(second.anchors, []);
        assert_eq!(second.superseded, [(measure.clone(), guess.clone())]);
        let next = other.service.resume_from_handoff(&second.handoff_id).unwrap();
        let next = next.new_conversation_id;
        let third = other.service.prepare_handoff(&next, 2_000, &options).unwrap();
        assert_eq!((third.anchors, third.superseded), (vec![], vec![]));
    }
}

#[test]
fn anchor_superseded_in_late_messages_stays_superseded() {
    let fixture = Fixture::new();
    let handoff = handed_over(&fixture);
    fixture.say("c", Message::user("DECISION: Add an index."));
    fixture.say("c", Message::user("DECISION: Add a cache."));
    let [index, cache] = ["Add an index.", "Add a cache."].map(decision);
    fixture.service.supersede_anchor("c", &index, &cache).unwrap();
    fixture.service.supersede_anchor("c", "of nothing here", "x").unwrap();
    let resumed = fixture.service.resume_from_handoff(&handoff).unwrap();
    let id = &resumed.new_conversation_id;
    let status = fixture.store.conversation(id).unwrap().status.unwrap();
    assert!(status.contains(&index) && !status.contains("of nothing here"), "{status}");
    let next = fixture.service.prepare_handoff(id, 2_000, &HandoffOptions::default()).unwrap();
    assert_eq!(texts(&next.anchors), ["Measure first.", "Add a cache."]);
    assert_eq!(next.superseded, [(index, cache)]);
}

/// A process that renews its expired lease first also gets this error.
#[test]
fn expired_lease_reports_the_continued_conversation() {
    let lease = Duration::from_millis(3);
    let fixture = Fixture::with(ContinuityConfig { lease, ..ContinuityConfig::default() });
    let handoff = handed_over(&fixture);
    let into = fixture.another("other").service.resume_from_handoff(&handoff).unwrap();
    thread::sleep(lease);
    let error = fixture.service.record_message("c", Message::user("hello?")).unwrap_err();
    let into = into.new_conversation_id;
    assert_eq!(error, store::Error::Continued { conversation: "c".into(), into }.into());
    assert!(matches!(fixture.service.messages("c"), Err(Error::NotOpen(_))));
}
