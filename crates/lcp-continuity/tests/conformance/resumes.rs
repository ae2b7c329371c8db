//! Resuming hand-offs.

use lcp_continuity::Clock;
use lcp_continuity::store::{Claim, ConversationRecord, Error, HandoffState, NewConversation};

use super::Harness;
use super::support::{
    DAY, MINUTE, SECOND, almost, append, at_once, begun, commit, handoff, message_texts, refused,
    resume, window,
};

pub(crate) fn resumed_conversation_starts_in_the_next_epoch(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    let lease = store.next_epoch(&lease, Some("status")).unwrap();
    store.commit(&lease, &handoff("h", None)).unwrap();
    // The epoch of the new conversation follows the hand-off's, not a later one of the old
    // conversation.
    store.next_epoch(&lease, None).unwrap();

    harness.clock().advance(SECOND);
    let now = harness.clock().now();
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    let new = NewConversation { window_tokens: 1_000_000, ..window("b") };
    let expected = ConversationRecord {
        id: "b".into(),
        window_tokens: 1_000_000,
        output_reserve_tokens: 8_000,
        parent: None,
        origin: Some("h".into()),
        continued_as: None,
        epoch: 2,
        fence: 0,
        holder: None,
        messages: 0,
        status: None,
        created: now,
        last_active: now,
    };
    assert_eq!(store.resume(&claim, &new), Ok(expected.clone()));
    assert_eq!(harness.store().conversation("b"), Ok(expected));
    let state = HandoffState::Resumed { into: "b".into() };
    assert_eq!(store.handoff("h").unwrap().state, state);

    let lease = store.lease("b", "claimant", MINUTE).unwrap();
    assert_eq!(lease.epoch, 2);
    assert_eq!(append(&*store, &lease, &["b0"]), Ok(1));
}

pub(crate) fn resume_ends_the_previous_conversation(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    store.commit(&lease, &handoff("h", None)).unwrap();
    let active = store.conversation("a").unwrap().last_active;
    harness.clock().advance(SECOND);
    resume(&*store, "h", "b");

    let continued = Error::Continued { conversation: "a".into(), into: "b".into() };
    assert_eq!(append(&*store, &lease, &["late"]), Err(continued.clone()));
    assert_eq!(store.lease("a", "holder", MINUTE), Err(continued));
    assert_eq!(refused(store.next_epoch(&lease, None)), "continued");
    assert_eq!(refused(store.commit(&lease, &handoff("h2", None))), "continued");
    store.renew(&lease, MINUTE).unwrap_err();
    store.release(&lease).unwrap();

    let record = store.conversation("a").unwrap();
    assert_eq!((record.continued_as.as_deref(), record.last_active), (Some("b"), active));
    assert_eq!(message_texts(&*store, "a"), "0");
    assert_eq!(refused(store.handoff("h2")), "unknown_handoff");
    // Beginning it again returns the record, which names its continuation.
    assert_eq!(store.begin(&window("a")), Ok(record));
}

pub(crate) fn handoff_is_resumed_once(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(MINUTE);
    let second = store.claim("h", "other", MINUTE).unwrap();
    store.resume(&second, &window("b")).unwrap();

    let already = Err(Error::AlreadyResumed { handoff: "h".into(), into: "b".into() });
    assert_eq!(store.resume(&second, &window("c")), already);
    assert_eq!(store.resume(&first, &window("b")), already);
    assert_eq!(store.resume(&first, &window("c")), already);
    assert_eq!(refused(store.conversation("c")), "unknown_conversation");
    assert_eq!(store.conversation("a").unwrap().continued_as.as_deref(), Some("b"));
}

pub(crate) fn repeated_resume_returns_the_same_conversation(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    store.resume(&claim, &window("b")).unwrap();
    let lease = store.lease("b", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["b0"]).unwrap();

    // This holds even long after the claim expired.
    harness.clock().advance(DAY);
    let again = harness.store().resume(&claim, &window("b"));
    assert_eq!(again, store.conversation("b"));
    assert_eq!(again.unwrap().messages, 1);
}

pub(crate) fn repeated_resume_does_not_take_unrelated_conversation(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    store.commit(&lease, &handoff("h", None)).unwrap();
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    store.resume(&claim, &window("b")).unwrap();
    // A fork needs the handed-over conversation, but nothing needs its continuation.
    store.fork("a", 1, "fork").unwrap();
    harness.clock().advance(29 * DAY);
    let lease = store.lease("fork", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["1"]).unwrap();
    harness.clock().advance(DAY);
    assert_eq!(store.expire().unwrap().conversations, 1);
    let already = Error::AlreadyResumed { handoff: "h".into(), into: "b".into() };
    assert_eq!(store.resume(&claim, &window("b")), Err(already));

    let other = store.begin(&window("b")).unwrap();
    let taken = Error::Exists("b".into());
    assert_eq!(store.resume(&claim, &window("b")), Err(taken));
    assert_eq!(store.conversation("b"), Ok(other));
}

pub(crate) fn eight_threads_resume_with_one_claim(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    let resumed = at_once(harness, 8, |_, store| store.resume(&claim, &window("b")));
    assert!(resumed.iter().all(|resumed| *resumed == store.conversation("b")), "{resumed:?}");
}

pub(crate) fn lost_or_forged_claim_cannot_resume(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    let lost = Err(Error::ClaimLost("h".into()));
    // The claim expired, and the store ignores the end in the claimant's copy.
    harness.clock().advance(MINUTE);
    let late = Claim { until: first.until.after(DAY), ..first.clone() };
    assert_eq!(store.resume(&late, &window("b")), lost);

    let second = store.claim("h", "claimant", MINUTE).unwrap();
    assert_eq!(store.resume(&first, &window("b")), lost);
    let forged = Claim { claimant: "other".into(), ..second.clone() };
    assert_eq!(store.resume(&forged, &window("b")), lost);
    store.abandon(&second).unwrap();
    assert_eq!(store.resume(&second, &window("b")), lost);

    assert_eq!(refused(store.conversation("b")), "unknown_conversation");
    assert_eq!(store.handoff("h").unwrap().state, HandoffState::Committed);
    assert_eq!(store.conversation("a").unwrap().continued_as, None);
}

pub(crate) fn resume_into_taken_id_is_an_error(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let (_, other) = begun(harness, "other");
    store.commit(&lease, &handoff("h", None)).unwrap();
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    for id in ["a", "other"] {
        let taken = Err(Error::Exists(id.into()));
        assert_eq!(store.resume(&claim, &window(id)), taken);
    }
    assert_eq!(store.handoff("h").unwrap(), claim.handoff);
    assert_eq!(append(&*store, &lease, &["0"]), Ok(1));
    assert_eq!(append(&*store, &other, &["0"]), Ok(1));
    store.resume(&claim, &window("b")).unwrap();
}

pub(crate) fn resumed_handoff_supersedes_the_others(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h1", None);
    let first = store.claim("h1", "claimant", MINUTE).unwrap();
    commit(&*store, "a", "h2", None);
    let second = store.claim("h2", "other", MINUTE).unwrap();
    commit(&*store, "a", "h3", None);

    store.resume(&first, &window("b")).unwrap();
    let by = HandoffState::Superseded { by: "h1".into() };
    assert_eq!(store.handoff("h2").unwrap().state, by);
    assert_eq!(store.handoff("h3").unwrap().state, by);
    assert_eq!(refused(store.resume(&second, &window("c"))), "claim_lost");
    assert_eq!(refused(store.claim("h3", "other", MINUTE)), "superseded");
    assert_eq!(store.conversation("a").unwrap().continued_as.as_deref(), Some("b"));
}

pub(crate) fn active_claim_can_resume_after_expiry(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    harness.clock().advance(almost(30 * DAY));
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(2 * SECOND);
    assert_eq!(store.handoff("h").unwrap(), claim.handoff);
    store.resume(&claim, &window("b")).unwrap();
}
