//! Beginning conversations, and limits of arguments.

use lcp_continuity::Clock;
use lcp_continuity::store::{ConversationRecord, Error, NewConversation, NewMessage};
use lcp_types::limits;

use super::Harness;
use super::support::{
    DAY, MINUTE, SECOND, append, begun, commit, handoff, message, message_texts, refused, resume,
    window,
};

pub(crate) fn repeated_begin_returns_the_same_conversation(harness: &dyn Harness) {
    let store = harness.store();
    let begun = store.begin(&window("a")).unwrap();
    let now = harness.clock().now();
    let expected = ConversationRecord {
        id: "a".into(),
        window_tokens: 200_000,
        output_reserve_tokens: 8_000,
        parent: None,
        origin: None,
        continued_as: None,
        epoch: 0,
        fence: 0,
        holder: None,
        messages: 0,
        status: None,
        created: now,
        last_active: now,
    };
    assert_eq!(begun, expected);

    harness.clock().advance(DAY);
    assert_eq!(store.begin(&window("a")), Ok(expected));
    let lease = store.lease("a", "holder", MINUTE).unwrap();
    store.append(&lease, &[message("one")], None).unwrap();
    assert_eq!(harness.store().begin(&window("a")), store.conversation("a"));
    assert_eq!(store.conversation("a").unwrap().messages, 1);
}

pub(crate) fn begin_with_taken_id_is_an_error(harness: &dyn Harness) {
    let store = harness.store();
    store.begin(&window("a")).unwrap();
    let taken = |id: &str| Err(Error::Exists(id.into()));
    assert_eq!(store.begin(&NewConversation { window_tokens: 1, ..window("a") }), taken("a"));
    let reserve = NewConversation { output_reserve_tokens: 1, ..window("a") };
    assert_eq!(store.begin(&reserve), taken("a"));

    store.fork("a", 0, "fork").unwrap();
    assert_eq!(store.begin(&window("fork")), taken("fork"));
    commit(&*store, "a", "h", None);
    resume(&*store, "h", "resumed");
    assert_eq!(store.begin(&window("resumed")), taken("resumed"));
}

pub(crate) fn invalid_ids_are_rejected(harness: &dyn Harness) {
    let longest = "é".repeat(limits::CONTINUITY_ID_BYTES_MAX / 2);
    let (store, lease) = begun(harness, &longest);
    store.release(&lease).unwrap();
    let odd = "it's \"quoted\"; -- %_\\";
    let lease = store.lease(&longest, odd, MINUTE).unwrap();
    assert_eq!(lease.holder, odd);
    store.commit(&lease, &handoff(&longest, None)).unwrap();
    assert_eq!(store.conversation(&longest).unwrap().id, longest);
    assert_eq!(store.handoff(&longest).unwrap().id, longest);
    let claim = store.claim(&longest, &longest, MINUTE).unwrap();

    let too_long = format!("{longest}x");
    for id in ["", "a\nb", "a\0b", "\u{7f}", "\u{85}", &too_long] {
        let code = if id == too_long { "too_large" } else { "bad_id" };
        assert_eq!(refused(store.begin(&window(id))), code, "{id:?}");
        assert_eq!(refused(store.lease(&longest, id, MINUTE)), code, "{id:?}");
        assert_eq!(refused(store.fork(&longest, 0, id)), code, "{id:?}");
        assert_eq!(refused(store.commit(&lease, &handoff(id, None))), code, "{id:?}");
        assert_eq!(refused(store.claim(&longest, id, MINUTE)), code, "{id:?}");
        assert_eq!(refused(store.resume(&claim, &window(id))), code, "{id:?}");
    }
}

pub(crate) fn window_of_a_leased_conversation_changes(harness: &dyn Harness) {
    let (store, first) = begun(harness, "a");
    store.append(&first, &[message("one")], Some("before")).unwrap();
    harness.clock().advance(SECOND);
    let before = store.conversation("a").unwrap();
    store.set_window(&first, 4_000, 500, Some("after")).unwrap();
    let expected = ConversationRecord {
        window_tokens: 4_000,
        output_reserve_tokens: 500,
        status: Some("after".into()),
        last_active: harness.clock().now(),
        ..before
    };
    assert_eq!(harness.store().conversation("a"), Ok(expected.clone()));
    // Without a status, the stored one remains. The lease remains valid.
    store.set_window(&first, 5_000, 0, None).unwrap();
    assert_eq!(store.conversation("a").unwrap().status, expected.status);
    assert_eq!(append(&*store, &first, &["two"]), Ok(2));

    let second = store.lease("a", "holder", MINUTE).unwrap();
    assert_eq!(refused(store.set_window(&first, 6_000, 0, None)), "lease_lost");
    store.fork("a", 1, "fork").unwrap();
    assert_eq!(store.conversation("fork").unwrap().window_tokens, 5_000);
    store.commit(&second, &handoff("h", None)).unwrap();
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    store.resume(&claim, &window("b")).unwrap();
    assert_eq!(refused(store.set_window(&second, 6_000, 0, None)), "continued");
    assert_eq!(store.conversation("a").unwrap().window_tokens, 5_000);
}

pub(crate) fn missing_records_are_unknown(harness: &dyn Harness) {
    let (store, _) = begun(harness, "there");
    let unknown = "unknown_conversation";
    // The last one cannot exist, and must not confuse any store.
    for id in ["a", "THERE", "there ", "the%", "a\0b"] {
        let named = Error::UnknownConversation(id.into());
        assert_eq!(store.conversation(id), Err(named));
        assert_eq!(refused(store.lease(id, "holder", MINUTE)), unknown);
        assert_eq!(refused(store.messages(id, 0, 1)), unknown);
        assert_eq!(refused(store.fork(id, 0, "fork")), unknown);
        assert_eq!(refused(store.latest(id)), unknown);

        assert_eq!(store.handoff(id), Err(Error::UnknownHandoff(id.into())));
        assert_eq!(refused(store.claim(id, "claimant", MINUTE)), "unknown_handoff");
        assert_eq!(refused(store.chain(id)), "unknown_handoff");
    }
}

pub(crate) fn oversized_values_are_rejected(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let large = |max: u64| vec![b'x'; usize::try_from(max + 1).unwrap()];

    let body = large(limits::MESSAGE_BYTES_MAX);
    let messages = [message("one"), NewMessage { body, tokens: 1 }];
    let expected = Error::TooLarge {
        what: "a message",
        limit: "MESSAGE_BYTES_MAX",
        found: limits::MESSAGE_BYTES_MAX + 1,
        max: limits::MESSAGE_BYTES_MAX,
    };
    assert_eq!(store.append(&lease, &messages, None), Err(expected));

    let status = String::from_utf8(large(limits::STATUS_BYTES_MAX)).unwrap();
    let status = Some(&*status);
    assert_eq!(refused(store.append(&lease, &[message("one")], status)), "too_large");
    assert_eq!(refused(store.next_epoch(&lease, status)), "too_large");
    assert_eq!(refused(store.set_window(&lease, 1, 0, status)), "too_large");

    let mut new = handoff("h", None);
    new.status = status.map(Into::into);
    assert_eq!(refused(store.commit(&lease, &new)), "too_large");
    new = handoff("h", None);
    new.pack = large(limits::HANDOFF_BYTES_MAX);
    assert_eq!(refused(store.commit(&lease, &new)), "too_large");

    assert_eq!(message_texts(&*store, "a"), "");
    assert_eq!(refused(store.handoff("h")), "unknown_handoff");

    // Values of exactly the largest size are accepted.
    let status = "x".repeat(usize::try_from(limits::STATUS_BYTES_MAX).unwrap());
    new.pack.pop();
    new.status = Some(status.clone());
    assert_eq!(store.commit(&lease, &new).unwrap().pack, new.pack);
    assert_eq!(store.conversation("a").unwrap().status, Some(status));
}
