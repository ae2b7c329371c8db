//! Expiry: which records are dropped, and which are not.

use lcp_continuity::store::{Error, ExpiryStats, HandoffState, Store};

use super::Harness;
use super::support::{
    DAY, MINUTE, SECOND, almost, append, begun, commit, handoff, message_texts, refused, resume,
    window,
};

const NOTHING: ExpiryStats = ExpiryStats { conversations: 0, handoffs: 0, bodies: 0 };

fn gone(store: &dyn Store, conversation: &str) -> bool {
    store.conversation(conversation).is_err_and(|error| error.code() == "unknown_conversation")
}

/// Appends messages to a conversation, with a lease that is released afterwards.
#[track_caller]
fn say(store: &dyn Store, conversation: &str, texts: &[&str]) {
    let lease = store.lease(conversation, "holder", MINUTE).unwrap();
    append(store, &lease, texts).unwrap();
    store.release(&lease).unwrap();
}

pub(crate) fn unresumed_handoff_expires(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let kept = store.handoff("h").unwrap();
    harness.clock().advance(almost(30 * DAY));
    let claim = store.claim("h", "claimant", SECOND / 2).unwrap();
    assert_eq!(store.latest("a"), Ok(Some("h".into())));

    harness.clock().advance(SECOND);
    let told = store.handoff("h").unwrap();
    assert_eq!((told.state, told.pack), (HandoffState::Expired, kept.pack));
    assert_eq!(store.latest("a"), Ok(None));
    let expired = Err(Error::HandoffExpired("h".into()));
    assert_eq!(store.claim("h", "claimant", MINUTE), expired);
    assert_eq!(refused(store.resume(&claim, &window("b"))), "claim_lost");
}

pub(crate) fn idle_conversation_is_dropped_with_its_handoff(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1", "0"]).unwrap();
    let kept = store.commit(&lease, &handoff("h", None)).unwrap();
    harness.clock().advance(30 * DAY);
    let expected = ExpiryStats { conversations: 1, handoffs: 1, bodies: 2 };
    assert_eq!(store.expire(), Ok(expected));
    assert_eq!(harness.store().expire(), Ok(NOTHING));

    assert!(gone(&*store, "a"));
    assert_eq!(refused(store.messages("a", 0, 9)), "unknown_conversation");
    assert_eq!(refused(append(&*store, &lease, &["late"])), "lease_lost");
    let told = store.handoff("h").unwrap();
    assert_eq!((told.pack, told.state), (Vec::new(), HandoffState::Expired));
    assert_eq!((told.conversation, told.expires), (kept.conversation, kept.expires));
    assert_eq!(refused(store.claim("h", "claimant", MINUTE)), "handoff_expired");

    // The id of the conversation can be used again. The new conversation is empty.
    assert_eq!(store.begin(&window("a")).unwrap().messages, 0);
    assert_eq!(store.latest("a"), Ok(None));
    say(&*store, "a", &["0"]);
    assert_eq!(message_texts(&*store, "a"), "0");
}

pub(crate) fn active_conversation_is_not_dropped(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    store.commit(&lease, &handoff("h", None)).unwrap();
    store.begin(&window("idle")).unwrap();
    harness.clock().advance(almost(30 * DAY));
    assert_eq!(store.expire(), Ok(NOTHING));
    say(&*store, "a", &["1"]);

    harness.clock().advance(SECOND);
    // The conversation is in use, but the hand-off is not needed.
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 1, handoffs: 1, bodies: 0 }));
    assert!(gone(&*store, "idle"));
    assert_eq!(message_texts(&*store, "a"), "0 1");
    harness.clock().advance(almost(30 * DAY));
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 1, handoffs: 0, bodies: 2 }));
}

pub(crate) fn lease_prevents_dropping_a_conversation(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    harness.clock().advance(30 * DAY);
    let lease = store.renew(&lease, DAY).unwrap();
    assert_eq!(store.expire(), Ok(NOTHING));
    harness.clock().advance(almost(DAY));
    assert_eq!(store.expire(), Ok(NOTHING));
    store.release(&lease).unwrap();
    assert_eq!(store.expire().unwrap().conversations, 1);
}

pub(crate) fn active_fork_prevents_dropping_its_parents(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    store.fork("a", 1, "b").unwrap();
    store.fork("b", 1, "c").unwrap();
    store.fork("a", 2, "idle").unwrap();
    harness.clock().advance(29 * DAY);
    say(&*store, "c", &["c1"]);
    harness.clock().advance(DAY);
    assert_eq!(store.expire().unwrap().conversations, 1);
    assert!(gone(&*store, "idle"));
    assert_eq!(message_texts(&*store, "c"), "0 c1");

    harness.clock().advance(29 * DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 3, handoffs: 0, bodies: 3 }));
}

pub(crate) fn body_is_stored_while_a_conversation_uses_it(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["both", "a"]).unwrap();
    harness.clock().advance(DAY);
    let (_, lease) = begun(harness, "b");
    append(&*store, &lease, &["both", "b"]).unwrap();
    harness.clock().advance(29 * DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 1, handoffs: 0, bodies: 1 }));
    assert_eq!(message_texts(&*store, "b"), "both b");
    harness.clock().advance(DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 1, handoffs: 0, bodies: 2 }));

    // A body that was dropped can be recorded again.
    let (_, lease) = begun(harness, "c");
    append(&*store, &lease, &["both"]).unwrap();
    assert_eq!(message_texts(&*store, "c"), "both");
}

pub(crate) fn active_chain_prevents_dropping_earlier_records(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["a0"]).unwrap();
    commit(&*store, "a", "h1", None);
    resume(&*store, "h1", "b");
    say(&*store, "b", &["b0", "b1"]);
    harness.clock().advance(20 * DAY);
    commit(&*store, "b", "h2", Some("h1"));
    resume(&*store, "h2", "c");
    // From here on only a fork of it is in use.
    store.fork("c", 0, "fork").unwrap();
    for round in ["f0", "f1"] {
        harness.clock().advance(20 * DAY);
        say(&*store, "fork", &[round]);
        assert_eq!(store.expire(), Ok(NOTHING));
    }
    let packs: Vec<_> =
        store.chain("h2").unwrap().into_iter().map(|handoff| handoff.pack).collect();
    assert_eq!(packs, [b"pack of h2".to_vec(), b"pack of h1".to_vec()]);
    assert_eq!((&*message_texts(&*store, "a"), &*message_texts(&*store, "b")), ("a0", "b0 b1"));

    harness.clock().advance(30 * DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 4, handoffs: 2, bodies: 5 }));
}

pub(crate) fn active_claim_prevents_dropping_a_handoff(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0"]).unwrap();
    commit(&*store, "a", "h", None);
    harness.clock().advance(almost(30 * DAY));
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(2 * SECOND);
    assert_eq!(store.expire(), Ok(NOTHING));
    store.resume(&claim, &window("b")).unwrap();
    assert_eq!(store.expire(), Ok(NOTHING));
    assert_eq!(message_texts(&*store, "a"), "0");
}

pub(crate) fn dropped_handoff_retains_its_state(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    for id in ["superseded", "resumed"] {
        commit(&*store, "a", id, None);
    }
    resume(&*store, "resumed", "b");
    let before = ["superseded", "resumed"].map(|id| store.handoff(id).unwrap());
    harness.clock().advance(30 * DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 2, handoffs: 2, bodies: 0 }));
    for mut handoff in before {
        handoff.pack.clear();
        assert_eq!(store.handoff(&handoff.id), Ok(handoff));
    }
    assert_eq!(refused(store.claim("superseded", "claimant", MINUTE)), "superseded");
    assert_eq!(refused(store.claim("resumed", "claimant", MINUTE)), "already_resumed");

    // Its id stays taken, and its content is still known.
    let (_, lease) = begun(harness, "a");
    let mut new = handoff("resumed", None);
    assert_eq!(store.commit(&lease, &new), store.handoff("resumed"));
    new.pack.push(b'!');
    assert_eq!(refused(store.commit(&lease, &new)), "exists");
}

pub(crate) fn chain_ends_at_a_dropped_handoff(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h1", None);
    commit(&*store, "a", "h2", Some("h1"));
    harness.clock().advance(29 * DAY);
    say(&*store, "a", &["0"]);
    harness.clock().advance(DAY);
    assert_eq!(store.expire(), Ok(ExpiryStats { conversations: 0, handoffs: 2, bodies: 0 }));
    commit(&*store, "a", "h3", Some("h2"));
    let chain = store.chain("h3").unwrap();
    let told: Vec<_> =
        chain.into_iter().map(|handoff| (handoff.id, handoff.pack, handoff.state)).collect();
    let expected = [
        ("h3".to_owned(), b"pack of h3".to_vec(), HandoffState::Committed),
        ("h2".to_owned(), Vec::new(), HandoffState::Expired),
    ];
    assert_eq!(told, expected);
}
