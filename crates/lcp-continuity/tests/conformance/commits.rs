//! Committing hand-offs.

use lcp_continuity::Clock;
use lcp_continuity::store::{Error, HandoffRecord, HandoffState, NewHandoff};

use super::Harness;
use super::support::{
    DAY, MINUTE, SECOND, append, begun, commit, handoff, refused, resume, window,
};

pub(crate) fn handoff_round_trips_byte_for_byte(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    append(&*store, &lease, &["0", "1"]).unwrap();
    let lease = store.next_epoch(&lease, Some("before")).unwrap();
    store.commit(&lease, &handoff("first", None)).unwrap();

    harness.clock().advance(SECOND);
    let now = harness.clock().now();
    let new = NewHandoff {
        id: "h".into(),
        previous: Some("first".into()),
        messages: 2,
        pack: (0..=u8::MAX).collect::<Vec<_>>().repeat(1_000),
        status: Some("after".into()),
    };
    let expected = HandoffRecord {
        id: "h".into(),
        conversation: "a".into(),
        epoch: 1,
        previous: Some("first".into()),
        messages: 2,
        pack: new.pack.clone(),
        state: HandoffState::Committed,
        created: now,
        expires: now.after(30 * DAY),
    };
    assert_eq!(store.commit(&lease, &new), Ok(expected.clone()));
    assert_eq!(harness.store().handoff("h"), Ok(expected));
    let record = store.conversation("a").unwrap();
    assert_eq!((record.status.as_deref(), record.last_active), (Some("after"), now));

    // The conversation may continue after the hand-off.
    assert_eq!(append(&*store, &lease, &["2"]), Ok(3));
    assert_eq!(store.handoff("h").unwrap().messages, 2);
}

pub(crate) fn repeated_commit_has_no_effect(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let mut new = handoff("h", None);
    new.status = Some("first".into());
    let first = store.commit(&lease, &new).unwrap();
    append(&*store, &lease, &["0"]).unwrap();
    let lease2 = store.next_epoch(&lease, Some("second")).unwrap();
    assert_eq!(store.commit(&lease2, &new), Ok(first.clone()));
    assert_eq!(store.conversation("a").unwrap().status.as_deref(), Some("second"));

    // It does not matter who holds the lease now, or what happened to the hand-off.
    harness.clock().advance(MINUTE);
    store.lease("a", "other", MINUTE).unwrap();
    assert_eq!(store.commit(&lease, &new), Ok(first));
    resume(&*store, "h", "b");
    let state = HandoffState::Resumed { into: "b".into() };
    assert_eq!(store.commit(&lease, &new).unwrap().state, state);
}

pub(crate) fn commit_with_taken_id_and_other_content_is_an_error(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let new = handoff("h", None);
    let kept = store.commit(&lease, &new).unwrap();
    let taken = Err(Error::Exists("h".into()));
    let pack = b"another".to_vec();
    assert_eq!(store.commit(&lease, &NewHandoff { pack, ..new.clone() }), taken);
    assert_eq!(store.commit(&lease, &NewHandoff { messages: 1, ..new.clone() }), taken);
    let previous = Some("h".into());
    assert_eq!(store.commit(&lease, &NewHandoff { previous, ..new.clone() }), taken);
    let (_, other) = begun(harness, "b");
    assert_eq!(store.commit(&other, &new), taken);
    assert_eq!(store.handoff("h"), Ok(kept));
}

pub(crate) fn newer_handoff_supersedes_unclaimed_handoffs(harness: &dyn Harness) {
    let store = harness.store();
    for id in ["a", "b"] {
        store.begin(&window(id)).unwrap();
    }
    let state = |id: &str| store.handoff(id).unwrap().state;
    let by = |id: &str| HandoffState::Superseded { by: id.into() };
    commit(&*store, "b", "other", None);

    commit(&*store, "a", "h1", None);
    store.claim("h1", "claimant", MINUTE).unwrap();
    commit(&*store, "a", "h2", None);
    let until = harness.clock().now().after(MINUTE);
    assert_eq!(state("h1"), HandoffState::Claimed { by: "claimant".into(), until });

    // That claim expires, so the hand-off is no longer claimed.
    harness.clock().advance(MINUTE);
    commit(&*store, "a", "h3", Some("h1"));
    assert_eq!((state("h1"), state("h2")), (by("h3"), by("h3")));

    // Superseded hand-offs stay superseded.
    commit(&*store, "a", "h4", None);
    assert_eq!((state("h1"), state("h3")), (by("h3"), by("h4")));
    assert_eq!((state("h4"), state("other")), (HandoffState::Committed, HandoffState::Committed));
}

pub(crate) fn lost_lease_cannot_commit(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    store.commit(&lease, &handoff("h1", None)).unwrap();
    harness.clock().advance(SECOND);
    let next = store.next_epoch(&lease, Some("status")).unwrap();
    let before = store.conversation("a").unwrap();
    let mut new = handoff("h2", None);
    new.status = Some("late".into());

    let lost = Err(Error::LeaseLost("a".into()));
    harness.clock().advance(SECOND);
    assert_eq!(store.commit(&lease, &new), lost);
    assert_eq!(store.conversation("a"), Ok(before));
    assert_eq!(store.handoff("h1").unwrap().state, HandoffState::Committed);
    assert_eq!(refused(store.handoff("h2")), "unknown_handoff");
    assert_eq!(store.latest("a"), Ok(Some("h1".into())));

    harness.clock().advance(MINUTE);
    assert_eq!(store.commit(&next, &new), lost);
    let next = store.renew(&next, MINUTE).unwrap();
    assert_eq!(store.commit(&next, &new).unwrap().epoch, 1);
}

pub(crate) fn previous_handoff_must_exist(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    store.commit(&lease, &handoff("h1", None)).unwrap();
    for previous in ["unknown", "h2"] {
        let expected = Error::UnknownHandoff(previous.into());
        assert_eq!(store.commit(&lease, &handoff("h2", Some(previous))), Err(expected));
    }
    assert_eq!(store.handoff("h1").unwrap().state, HandoffState::Committed);
    assert_eq!(refused(store.handoff("h2")), "unknown_handoff");
}

pub(crate) fn latest_is_the_newest_resumable_handoff(harness: &dyn Harness) {
    let store = harness.store();
    store.begin(&window("a")).unwrap();
    let latest = || store.latest("a").unwrap();
    assert_eq!(latest(), None);
    commit(&*store, "a", "z", None);
    assert_eq!(latest().as_deref(), Some("z"));
    // The next one is committed in the same millisecond, while this one is claimed.
    store.claim("z", "claimant", MINUTE).unwrap();
    commit(&*store, "a", "y", None);
    let claim = store.claim("y", "claimant", MINUTE).unwrap();
    assert_eq!(latest().as_deref(), Some("y"));

    store.resume(&claim, &window("b")).unwrap();
    assert_eq!(latest(), None);
    assert_eq!(store.latest("b"), Ok(None));
}

pub(crate) fn chain_is_returned_newest_first(harness: &dyn Harness) {
    let store = harness.store();
    store.begin(&window("c0")).unwrap();
    for number in 0..10 {
        let previous = (number > 0).then(|| format!("h{}", number - 1));
        commit(&*store, &format!("c{number}"), &format!("h{number}"), previous.as_deref());
        let next = resume(&*store, &format!("h{number}"), &format!("c{}", number + 1));
        assert_eq!((next.epoch, next.origin), (number + 1, Some(format!("h{number}"))));
    }
    let chain = harness.store().chain("h9").unwrap();
    let ids: Vec<_> = chain.iter().map(|handoff| &*handoff.id).collect();
    assert_eq!(ids, ["h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1", "h0"]);
    for handoff in &chain {
        assert_eq!(Ok(handoff), store.handoff(&handoff.id).as_ref());
    }
    assert_eq!(store.chain("h4").unwrap()[..], chain[5..]);
}
