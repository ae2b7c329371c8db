//! Lists of all conversations, and of all hand-offs of a conversation.

use lcp_continuity::store::{HandoffRecord, HandoffState, Store};

use super::Harness;
use super::support::{DAY, MINUTE, append, begun, commit, refused, resume, window};

/// Returns the ids on a page.
fn ids(store: &dyn Store, after: &str, limit: u64) -> Vec<String> {
    store.conversations(after, limit).unwrap().into_iter().map(|record| record.id).collect()
}

pub(crate) fn conversations_are_listed_in_pages(harness: &dyn Harness) {
    let store = harness.store();
    assert_eq!(store.conversations("", 10), Ok(vec![]));
    // The order is by bytes, unlike in any language.
    let sorted = ["B", "a", "a b", "a-b", "aB", "ab", "é", "日本"];
    for id in ["日本", "ab", "a", "é", "a b", "B", "aB", "a-b"] {
        store.begin(&window(id)).unwrap();
    }
    assert_eq!(ids(&*store, "", u64::MAX), sorted);
    let mut seen: Vec<String> = Vec::new();
    loop {
        let page = ids(&*store, seen.last().map_or("", String::as_str), 3);
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 3);
        seen.extend(page);
    }
    assert_eq!(seen, sorted);
    assert_eq!(store.conversations("", 0), Ok(vec![]));

    // Each record is the same as if it is requested alone.
    let lease = store.lease("a", "holder", MINUTE).unwrap();
    append(&*store, &lease, &["one", "two"]).unwrap();
    store.fork("a", 1, "fork").unwrap();
    for record in harness.store().conversations("", u64::MAX).unwrap() {
        assert_eq!(store.conversation(&record.id), Ok(record));
    }
}

pub(crate) fn list_starts_after_any_id(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    store.begin(&window("b")).unwrap();
    for (after, first) in [("A", "a"), ("a", "b"), ("a\0", "b"), ("a\0z", "b"), ("aa", "b")] {
        assert_eq!(ids(&*store, after, 1), [first], "{after:?}");
    }
    assert!(ids(&*store, "b", 1).is_empty());
    assert!(ids(&*store, "\u{10ffff}", 1).is_empty());
}

pub(crate) fn handoffs_are_listed_newest_first(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    store.release(&lease).unwrap();
    assert_eq!(store.handoffs("a", 10), Ok(vec![]));
    assert_eq!(refused(store.handoffs("b", 10)), "unknown_conversation");
    commit(&*store, "a", "z", None);
    commit(&*store, "a", "m", Some("z"));
    commit(&*store, "a", "a", Some("m"));
    store.begin(&window("b")).unwrap();
    commit(&*store, "b", "other", None);
    resume(&*store, "a", "c");

    let bare = |id: &str| HandoffRecord { pack: vec![], ..store.handoff(id).unwrap() };
    let expected = vec![bare("a"), bare("m"), bare("z")];
    assert_eq!(store.handoffs("a", u64::MAX), Ok(expected.clone()));
    assert_eq!(harness.store().handoffs("a", 2), Ok(expected[..2].to_vec()));
    assert_eq!(store.handoffs("a", 0), Ok(vec![]));
    assert_eq!(refused(store.handoffs("\0", 0)), "unknown_conversation");
    assert_eq!(expected[0].state, HandoffState::Resumed { into: "c".into() });
    assert_eq!(store.handoffs("c", 10), Ok(vec![]));
}

pub(crate) fn dropped_records_are_not_listed(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    store.release(&lease).unwrap();
    commit(&*store, "a", "h", None);
    harness.clock().advance(29 * DAY);
    store.begin(&window("b")).unwrap();
    harness.clock().advance(2 * DAY);
    let listed = store.handoffs("a", 10).unwrap();
    assert_eq!(listed[0].state, HandoffState::Expired);
    store.expire().unwrap();
    assert_eq!(ids(&*store, "", 10), ["b"]);
    assert_eq!(refused(store.handoffs("a", 10)), "unknown_conversation");
}
