//! Claims: the right to resume a hand-off.

use lcp_continuity::Clock;
use lcp_continuity::store::{Claim, Error, HandoffState};

use super::Harness;
use super::support::{MINUTE, almost, at_once, begun, commit, refused, resume, window};

pub(crate) fn one_of_sixteen_claimants_wins(harness: &dyn Harness) {
    let store = harness.store();
    store.begin(&window("a")).unwrap();
    let kept = commit(&*store, "a", "h", None);
    let claims = at_once(harness, 16, |number, store| {
        store.claim("h", &format!("claimant {number}"), MINUTE)
    });
    let (won, lost): (Vec<_>, Vec<_>) = claims.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    let claim = won.into_iter().next().unwrap().unwrap();
    let until = harness.clock().now().after(MINUTE);
    let by = claim.claimant.clone();
    for other in lost {
        let expected = Error::Claimed { handoff: "h".into(), by: by.clone(), until };
        assert_eq!(other, Err(expected));
    }

    assert_eq!(claim.until, until);
    assert_eq!(claim.handoff.state, HandoffState::Claimed { by, until });
    assert_eq!(store.handoff("h").as_ref(), Ok(&claim.handoff));
    assert_eq!(claim.handoff.pack, kept.pack);
    store.resume(&claim, &window("b")).unwrap();
}

pub(crate) fn claimant_can_extend_its_claim(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(almost(MINUTE));
    let second = harness.store().claim("h", "claimant", MINUTE).unwrap();
    assert_eq!(second.fence, first.fence);
    assert_eq!(second.until, harness.clock().now().after(MINUTE));
    // This also prolongs the claim that was returned before.
    harness.clock().advance(almost(MINUTE));
    assert_eq!(refused(store.claim("h", "other", MINUTE)), "claimed");
    store.resume(&first, &window("b")).unwrap();
}

pub(crate) fn expired_claim_is_free(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(MINUTE);
    let second = store.claim("h", "other", MINUTE).unwrap();
    assert!(second.fence > first.fence);
    assert_eq!(refused(store.claim("h", "claimant", MINUTE)), "claimed");

    // The previous claimant has no advantage, and gets a new claim.
    harness.clock().advance(MINUTE);
    let third = store.claim("h", "other", MINUTE).unwrap();
    assert!(third.fence > second.fence);
}

pub(crate) fn abandoned_claim_is_free(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    store.abandon(&first).unwrap();
    store.abandon(&first).unwrap();
    assert_eq!(store.handoff("h").unwrap().state, HandoffState::Committed);
    assert_eq!(refused(store.resume(&first, &window("b"))), "claim_lost");
    let second = store.claim("h", "other", MINUTE).unwrap();
    assert!(second.fence > first.fence);
}

pub(crate) fn lost_claim_does_not_abandon_a_newer_one(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h", None);
    let first = store.claim("h", "claimant", MINUTE).unwrap();
    harness.clock().advance(MINUTE);
    let second = store.claim("h", "claimant", MINUTE).unwrap();
    store.abandon(&first).unwrap();
    store.abandon(&Claim { fence: second.fence + 1, ..second.clone() }).unwrap();
    assert_eq!(store.handoff("h").unwrap(), second.handoff);

    store.resume(&second, &window("b")).unwrap();
    store.abandon(&second).unwrap();
    let state = HandoffState::Resumed { into: "b".into() };
    assert_eq!(store.handoff("h").unwrap().state, state);
}

pub(crate) fn superseded_handoff_cannot_be_claimed(harness: &dyn Harness) {
    let (store, _) = begun(harness, "a");
    commit(&*store, "a", "h1", None);
    commit(&*store, "a", "h2", None);
    let expected = Error::Superseded { handoff: "h1".into(), by: "h2".into() };
    assert_eq!(store.claim("h1", "claimant", MINUTE), Err(expected));

    resume(&*store, "h2", "b");
    let expected = Error::AlreadyResumed { handoff: "h2".into(), into: "b".into() };
    assert_eq!(store.claim("h2", "claimant", MINUTE), Err(expected));
    assert_eq!(refused(store.claim("h1", "claimant", MINUTE)), "superseded");
}
