//! Leases: the right to write.

use lcp_continuity::Clock;
use lcp_continuity::store::{Error, Lease};

use super::Harness;
use super::support::{
    MINUTE, SECOND, almost, append, at_once, begun, handoff, message_texts, refused, window,
};

fn lost(lease: &Lease) -> Error {
    Error::LeaseLost(lease.conversation.clone())
}

pub(crate) fn lease_has_one_holder(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    let until = harness.clock().now().after(MINUTE);
    assert_eq!((&*lease.conversation, &*lease.holder), ("a", "holder"));
    assert_eq!((lease.epoch, lease.until), (0, until));
    assert!(lease.fence > 0);

    let record = harness.store().conversation("a").unwrap();
    assert_eq!(record.holder, Some(("holder".into(), until)));
    assert_eq!(record.fence, lease.fence);

    let held = Error::Held { conversation: "a".into(), holder: "holder".into(), until };
    assert_eq!(harness.store().lease("a", "other", MINUTE), Err(held));
    assert_eq!(append(&*store, &lease, &["one"]), Ok(1));

    // A lease applies to one conversation only.
    store.begin(&window("b")).unwrap();
    store.lease("b", "other", MINUTE).unwrap();
}

pub(crate) fn expired_lease_can_be_taken(harness: &dyn Harness) {
    let (store, first) = begun(harness, "a");
    harness.clock().advance(almost(MINUTE));
    assert_eq!(refused(store.lease("a", "other", MINUTE)), "held");
    harness.clock().advance(SECOND);
    let second = store.lease("a", "other", MINUTE).unwrap();
    assert!(second.fence > first.fence);
    assert_eq!(refused(store.lease("a", "holder", MINUTE)), "held");
}

pub(crate) fn holder_can_replace_its_own_lease(harness: &dyn Harness) {
    let (store, first) = begun(harness, "a");
    let second = harness.store().lease("a", "holder", 2 * MINUTE).unwrap();
    assert!(second.fence > first.fence);
    assert_eq!(second.until, harness.clock().now().after(2 * MINUTE));
    assert_eq!(append(&*store, &first, &["late"]), Err(lost(&first)));
    assert_eq!(append(&*store, &second, &["one"]), Ok(1));
}

pub(crate) fn holder_renews_its_lease(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    harness.clock().advance(SECOND);
    let until = harness.clock().now().after(MINUTE);
    let renewed = store.renew(&lease, MINUTE).unwrap();
    assert_eq!(renewed, Lease { until, ..lease.clone() });
    // It is the same lease, so the earlier value is prolonged as well.
    harness.clock().advance(almost(MINUTE));
    assert_eq!(append(&*store, &lease, &["one"]), Ok(1));

    // An expired lease can be renewed if nobody has taken it.
    harness.clock().advance(MINUTE);
    let renewed = store.renew(&lease, MINUTE).unwrap();
    assert_eq!(append(&*store, &renewed, &["two"]), Ok(2));
    assert_eq!(refused(store.lease("a", "other", MINUTE)), "held");

    // It cannot be renewed after somebody took it, the epoch ended, or it was released.
    harness.clock().advance(MINUTE);
    let other = store.lease("a", "other", MINUTE).unwrap();
    assert_eq!(store.renew(&renewed, MINUTE), Err(lost(&renewed)));
    let next = store.next_epoch(&other, None).unwrap();
    assert_eq!(store.renew(&other, MINUTE), Err(lost(&other)));
    store.release(&next).unwrap();
    assert_eq!(store.renew(&next, MINUTE), Err(lost(&next)));
}

pub(crate) fn released_lease_is_free(harness: &dyn Harness) {
    let (store, first) = begun(harness, "a");
    store.release(&first).unwrap();
    store.release(&first).unwrap();
    assert_eq!(store.conversation("a").unwrap().holder, None);
    assert_eq!(append(&*store, &first, &["late"]), Err(lost(&first)));

    let second = store.lease("a", "other", MINUTE).unwrap();
    assert!(second.fence > first.fence);
    assert_eq!(append(&*store, &second, &["one"]), Ok(1));
}

pub(crate) fn lost_or_forged_lease_cannot_write(harness: &dyn Harness) {
    let (store, old) = begun(harness, "a");
    append(&*store, &old, &["one"]).unwrap();
    harness.clock().advance(MINUTE);
    let new = store.lease("a", "other", MINUTE).unwrap();
    let before = store.conversation("a").unwrap();

    let late = Some("late");
    assert_eq!(store.append(&old, &[], late), Err(lost(&old)));
    assert_eq!(append(&*store, &old, &["late"]), Err(lost(&old)));
    assert_eq!(store.next_epoch(&old, late), Err(lost(&old)));
    assert_eq!(store.commit(&old, &handoff("h", None)), Err(lost(&old)));
    // Neither does a forged lease.
    for forged in [
        Lease { fence: new.fence, ..old.clone() },
        Lease { fence: new.fence + 1, ..new.clone() },
        Lease { epoch: 1, ..new.clone() },
    ] {
        assert_eq!(append(&*store, &forged, &["late"]), Err(lost(&old)), "{forged:?}");
        assert_eq!(store.renew(&forged, MINUTE), Err(lost(&old)), "{forged:?}");
    }

    assert_eq!(store.conversation("a"), Ok(before));
    assert_eq!(message_texts(&*store, "a"), "one");
    assert_eq!(refused(store.handoff("h")), "unknown_handoff");
    assert_eq!(append(&*store, &new, &["two"]), Ok(2));
}

pub(crate) fn expired_lease_cannot_write(harness: &dyn Harness) {
    let (store, lease) = begun(harness, "a");
    harness.clock().advance(MINUTE);
    let before = store.conversation("a").unwrap();
    // The store ignores the end in the holder's copy of the lease.
    let lease = Lease { until: lease.until.after(MINUTE), ..lease };
    assert_eq!(append(&*store, &lease, &["late"]), Err(lost(&lease)));
    assert_eq!(store.next_epoch(&lease, None), Err(lost(&lease)));
    assert_eq!(store.commit(&lease, &handoff("h", None)), Err(lost(&lease)));
    assert_eq!(store.conversation("a"), Ok(before));
    assert_eq!(refused(store.handoff("h")), "unknown_handoff");
}

pub(crate) fn lost_lease_does_not_release_a_newer_one(harness: &dyn Harness) {
    let (store, first) = begun(harness, "a");
    let second = store.lease("a", "holder", MINUTE).unwrap();
    store.release(&first).unwrap();
    assert_eq!(refused(store.lease("a", "other", MINUTE)), "held");

    let third = store.next_epoch(&second, None).unwrap();
    store.release(&second).unwrap();
    assert_eq!(append(&*store, &third, &["one"]), Ok(1));
    store.release(&Lease { conversation: "unknown".into(), ..third }).unwrap();
}

pub(crate) fn one_of_sixteen_holders_gets_the_lease(harness: &dyn Harness) {
    harness.store().begin(&window("a")).unwrap();
    let leases =
        at_once(harness, 16, |number, store| store.lease("a", &format!("holder {number}"), MINUTE));
    let (won, held): (Vec<_>, Vec<_>) = leases.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    assert!(held.into_iter().all(|lease| refused(lease) == "held"));
    let won = won.into_iter().next().unwrap().unwrap();
    assert_eq!(append(&*harness.store(), &won, &["one"]), Ok(1));
}
