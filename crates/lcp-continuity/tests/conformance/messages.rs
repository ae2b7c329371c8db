//! Messages of a conversation.

use lcp_continuity::Clock;
use lcp_continuity::store::{Lease, NewMessage, StoredMessage};

use super::Harness;
use super::support::{
    MINUTE, SECOND, append, at_once, begun, message, message_texts, page, refused, window,
};

pub(crate) fn messages_are_stored_in_order(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let first = harness.clock().now();
    assert_eq!(append(&*store, &lease, &["one", "three"]), Ok(2));
    harness.clock().advance(SECOND);
    let second = harness.clock().now();
    let lease = store.next_epoch(&lease, None).unwrap();
    assert_eq!(append(&*store, &lease, &["one"]), Ok(3));

    let stored = |position, epoch, text, recorded| {
        let NewMessage { body, tokens } = message(text);
        StoredMessage { position, epoch, body, tokens, recorded }
    };
    let expected =
        vec![stored(0, 0, "one", first), stored(1, 0, "three", first), stored(2, 1, "one", second)];
    assert_eq!(harness.store().messages("a", 0, 10), Ok(expected));
    let record = store.conversation("a").unwrap();
    assert_eq!((record.messages, record.epoch), (3, 1));
    assert_eq!((record.created, record.last_active), (first, second));
}

pub(crate) fn bodies_round_trip_byte_for_byte(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let bodies = [Vec::new(), vec![0], every.clone(), every.repeat(1_000), b"\xff\xfe".to_vec()];
    let messages: Vec<_> =
        bodies.iter().map(|body| NewMessage { body: body.clone(), tokens: u32::MAX }).collect();
    store.append(&lease, &messages, None).unwrap();
    store.append(&lease, &messages, None).unwrap();
    let found = harness.store().messages("a", 0, 100).unwrap();
    assert!(found.iter().map(|message| &message.body).eq(bodies.iter().chain(&bodies)));
    assert!(found.iter().all(|message| message.tokens == u32::MAX));
}

pub(crate) fn messages_are_read_in_pages(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1", "2", "3", "4"]).unwrap();
    for (from, limit, expected) in [
        (0, 2, "0 1"),
        (2, 2, "2 3"),
        (4, 2, "4"),
        (1, 0, ""),
        (5, 1, ""),
        (3, u64::MAX, "3 4"),
        (u64::MAX, u64::MAX, ""),
    ] {
        assert_eq!(page(&*store, "a", from, limit), expected, "from {from}, at most {limit}");
    }
}

pub(crate) fn status_persists_until_replaced(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let status = || store.conversation("a").unwrap().status;
    let messages = [message("one")];
    store.append(&lease, &messages, Some("{\"warned\": true}")).unwrap();
    store.append(&lease, &messages, None).unwrap();
    assert_eq!(status().as_deref(), Some("{\"warned\": true}"));
    assert_eq!(store.append(&lease, &[], Some("é ''")), Ok(2));
    assert_eq!(status().as_deref(), Some("é ''"));
    let lease = store.next_epoch(&lease, None).unwrap();
    assert_eq!(status().as_deref(), Some("é ''"));
    store.next_epoch(&lease, Some("")).unwrap();
    assert_eq!(status().as_deref(), Some(""));
}

pub(crate) fn next_epoch_invalidates_the_previous_lease(harness: &dyn Harness) {
    let (store, old) = begun(harness, "a");
    harness.clock().advance(SECOND);
    let new = store.next_epoch(&old, Some("status")).unwrap();
    assert_eq!(new, Lease { epoch: 1, ..old.clone() });
    assert_eq!(refused(append(&*store, &old, &["late"])), "lease_lost");
    assert_eq!(refused(store.next_epoch(&old, None)), "lease_lost");
    assert_eq!(append(&*store, &new, &["one"]), Ok(1));
    // A lease that is taken afterwards is for that epoch.
    assert_eq!(store.lease("a", "holder", MINUTE).unwrap().epoch, 1);
}

pub(crate) fn eight_threads_write_to_eight_conversations(harness: &dyn Harness) {
    at_once(harness, 8, |number, store| {
        let id = format!("c{number}");
        store.begin(&window(&id)).unwrap();
        let lease = store.lease(&id, "holder", MINUTE).unwrap();
        for round in 0..8 {
            // One of the two messages is the same in all threads.
            let (own, common) = (format!("{number}-{round}"), format!("common-{round}"));
            assert_eq!(append(store, &lease, &[&own, &common]), Ok(2 * (round + 1)));
        }
    });
    let store = harness.store();
    for number in 0..8 {
        let expected: Vec<_> =
            (0..8).map(|round| format!("{number}-{round} common-{round}")).collect();
        assert_eq!(message_texts(&*store, &format!("c{number}")), expected.join(" "));
    }
}
