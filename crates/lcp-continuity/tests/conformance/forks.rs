//! Forks: conversations that share earlier messages.

use lcp_continuity::Clock;
use lcp_continuity::store::{ConversationRecord, Error, ForkPoint};

use super::Harness;
use super::support::{
    MINUTE, SECOND, append, begun, commit, message_texts, page, refused, resume, window,
};

pub(crate) fn fork_shares_earlier_messages(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1", "2"]).unwrap();
    store.append(&lease, &[], Some("status")).unwrap();
    harness.clock().advance(SECOND);
    let now = harness.clock().now();
    let fork = store.fork("a", 2, "fork").unwrap();
    let expected = ConversationRecord {
        id: "fork".into(),
        window_tokens: 200_000,
        output_reserve_tokens: 8_000,
        parent: Some(ForkPoint { conversation: "a".into(), messages: 2 }),
        origin: None,
        continued_as: None,
        epoch: 0,
        fence: 0,
        holder: None,
        messages: 2,
        status: None,
        created: now,
        last_active: now,
    };
    assert_eq!(fork, expected);
    assert_eq!(harness.store().conversation("fork"), Ok(expected));
    assert_eq!(store.messages("fork", 0, 9), store.messages("a", 0, 2));

    // A fork needs no lease, and does not get one.
    assert_eq!(store.fork("a", 3, "all").unwrap().messages, 3);
    assert_eq!(store.fork("a", 0, "none").unwrap().messages, 0);
    assert_eq!((&*message_texts(&*store, "all"), &*message_texts(&*store, "none")), ("0 1 2", ""));
}

pub(crate) fn fork_and_parent_continue_independently(harness: &dyn Harness) {
    let (store, parent) = begun(harness, "a");
    append(&*store, &parent, &["0", "1"]).unwrap();
    store.fork("a", 1, "fork").unwrap();
    let fork = store.lease("fork", "other", MINUTE).unwrap();
    assert_eq!(append(&*store, &fork, &["f1", "f2"]), Ok(3));
    assert_eq!(append(&*store, &parent, &["2"]), Ok(3));
    assert_eq!(message_texts(&*store, "fork"), "0 f1 f2");
    assert_eq!(message_texts(&*store, "a"), "0 1 2");
    let positions: Vec<_> =
        store.messages("fork", 0, 9).unwrap().iter().map(|message| message.position).collect();
    assert_eq!(positions, [0, 1, 2]);

    // The fork also has separate epochs.
    store.next_epoch(&fork, None).unwrap();
    assert_eq!(store.conversation("a").unwrap().epoch, 0);
}

pub(crate) fn nested_fork_reads_messages_from_both_parents(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["a0", "a1", "a2"]).unwrap();
    store.fork("a", 2, "b").unwrap();
    let lease = store.lease("b", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["b2", "b3"]).unwrap();
    store.fork("b", 3, "c").unwrap();
    let lease = store.lease("c", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["c3"]).unwrap();
    assert_eq!(message_texts(&*store, "c"), "a0 a1 b2 c3");
    assert_eq!(page(&*store, "c", 1, 2), "a1 b2");
    assert_eq!(page(&*store, "c", 2, 1), "b2");
    assert_eq!(page(&*store, "c", 3, 9), "c3");
    assert_eq!(page(&*store, "c", 4, 9), "");

    // This fork has nothing of "b", not even the message at the same position.
    let early = store.fork("c", 1, "d").unwrap();
    assert_eq!(early.parent, Some(ForkPoint { conversation: "c".into(), messages: 1 }));
    let lease = store.lease("d", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["d1"]).unwrap();
    assert_eq!(message_texts(&*store, "d"), "a0 d1");
}

pub(crate) fn deeply_nested_forks_are_read(harness: &dyn Harness) {
    let (store, _) = begun(harness, "0");
    let mut expected = Vec::new();
    for number in 0..120 {
        let id = number.to_string();
        let lease = store.lease(&id, "holder", MINUTE).unwrap();
        let messages = append(&*store, &lease, &[&id]).unwrap();
        store.fork(&id, messages, &(number + 1).to_string()).unwrap();
        expected.push(id);
    }
    assert_eq!(message_texts(&*store, "120"), expected.join(" "));
    assert_eq!(page(&*store, "120", 58, 3), "58 59 60");
}

pub(crate) fn repeated_fork_returns_the_same_conversation(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    store.fork("a", 1, "fork").unwrap();
    let lease = store.lease("fork", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["f1"]).unwrap();
    harness.clock().advance(SECOND);
    assert_eq!(store.fork("a", 1, "fork"), store.conversation("fork"));
    assert_eq!(message_texts(&*store, "fork"), "0 f1");

    let taken = |id: &str| Err(Error::Exists(id.into()));
    assert_eq!(store.fork("a", 2, "fork"), taken("fork"));
    assert_eq!(store.fork("fork", 1, "fork"), taken("fork"));
    assert_eq!(store.fork("a", 1, "a"), taken("a"));
    assert_eq!(message_texts(&*store, "fork"), "0 f1");
}

pub(crate) fn fork_beyond_last_message_is_an_error(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    for at in [3, u64::MAX] {
        let expected = Error::BadFork { conversation: "a".into(), messages: 2, at };
        assert_eq!(store.fork("a", at, "fork"), Err(expected));
    }
    assert_eq!(refused(store.conversation("fork")), "unknown_conversation");

    // Inherited messages count.
    store.fork("a", 2, "b").unwrap();
    assert_eq!(refused(store.fork("b", 3, "c")), "bad_fork");
    assert_eq!(store.fork("b", 2, "c").unwrap().messages, 2);
}

pub(crate) fn fork_takes_the_epoch_at_its_position(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    let lease = store.next_epoch(&lease, None).unwrap();
    append(&*store, &lease, &["2"]).unwrap();
    store.next_epoch(&lease, None).unwrap();
    let epochs: Vec<_> =
        (0..=3).map(|at| store.fork("a", at, &format!("f{at}")).unwrap().epoch).collect();
    assert_eq!(epochs, [0, 0, 1, 2]);
    // The same holds for a fork of a fork.
    assert_eq!(store.fork("f3", 1, "g").unwrap().epoch, 0);
}

pub(crate) fn resumed_conversation_can_be_forked(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    commit(&*store, "a", "h", None);
    resume(&*store, "h", "b");
    store.fork("a", 2, "fork").unwrap();
    let lease = store.lease("fork", "holder", MINUTE).unwrap();
    assert_eq!(append(&*store, &lease, &["f2"]), Ok(3));
    commit(&*store, "fork", "h2", Some("h"));
    assert_eq!(store.chain("h2").unwrap().len(), 2);

    // A fork of the conversation that continued it has the same hand-off as its origin.
    let fork = store.fork("b", 0, "b fork").unwrap();
    assert_eq!((fork.origin.as_deref(), fork.epoch), (Some("h"), 1));
    assert_eq!(store.conversation("b fork"), Ok(fork));
    assert_eq!(refused(store.begin(&window("b fork"))), "exists");
}
