//! Several stores at once, with the server's clock.

use std::sync::Barrier;
use std::thread;

use lcp_continuity::store::{Claim, Error, HandoffState, PostgresStore, Result, Store};

use crate::support::{MINUTE, Schema, begun, handoff, message, window};

/// Runs `work` in 16 threads with 4 stores at the same time, and returns the results.
fn at_once<T: Send>(schema: &Schema, work: impl Fn(usize, &PostgresStore) -> T + Sync) -> Vec<T> {
    let stores: Vec<PostgresStore> = (0..4).map(|_| schema.open()).collect();
    let (stores, work, start) = (&stores, &work, &Barrier::new(16));
    thread::scope(|scope| {
        let run = |number: usize| {
            scope.spawn(move || {
                start.wait();
                work(number, &stores[number % 4])
            })
        };
        let threads: Vec<_> = (0..16).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn one_of_sixteen_claimants_on_four_stores_resumes() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let lease = begun(&store, "a");
    store.commit(&lease, &handoff("h")).unwrap();
    let answers = at_once(&schema, |number, store| {
        let claim: Claim = store.claim("h", &format!("claimant {number}"), MINUTE)?;
        store.resume(&claim, &window(&format!("b{number}")))
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    let into = won[0].as_ref().unwrap().id.clone();
    for answer in lost {
        let code = answer.unwrap_err().code();
        assert!(matches!(code, "claimed" | "already_resumed"), "{code}");
    }
    assert_eq!(store.handoff("h").unwrap().state, HandoffState::Resumed { into });
}

#[test]
fn concurrent_resumes_with_one_claim_agree() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let lease = begun(&store, "a");
    store.commit(&lease, &handoff("h")).unwrap();
    let claim = store.claim("h", "claimant", MINUTE).unwrap();
    let answers = at_once(&schema, |_, store| store.resume(&claim, &window("b")));
    let first = answers[0].clone().unwrap();
    assert_eq!(first.origin.as_deref(), Some("h"));
    assert!(answers.into_iter().all(|answer| answer.unwrap() == first));
}

#[test]
fn concurrent_commits_of_one_handoff_agree() {
    let Some(schema) = Schema::new() else { return };
    let lease = begun(&schema.open(), "a");
    let answers = at_once(&schema, |_, store| store.commit(&lease, &handoff("h")));
    let first = answers[0].clone().unwrap();
    assert!(answers.into_iter().all(|answer| answer.unwrap() == first));
}

#[test]
fn one_of_concurrent_handoffs_stays_open() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let lease = begun(&store, "a");
    for round in 0..4 {
        let name = |number: usize| format!("h {round} {number}");
        at_once(&schema, |number, store| store.commit(&lease, &handoff(&name(number))).unwrap());
        let open = (0..16)
            .map(|number| store.handoff(&name(number)).unwrap())
            .filter(|record| record.state == HandoffState::Committed);
        let open: Vec<String> = open.map(|record| record.id).collect();
        assert_eq!(open, [store.latest("a").unwrap().unwrap()]);
    }
}

#[test]
fn concurrent_appends_store_each_message_once() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    let lease = begun(&store, "a");
    let mut counts: Vec<u64> = at_once(&schema, |number, store| {
        // Others store the same bodies at the same time, in another order.
        let mut texts = [message("x"), message("y"), message("z"), message(&number.to_string())];
        texts.rotate_left(number % 4);
        store.append(&lease, &texts, None).unwrap()
    });
    counts.sort_unstable();
    assert_eq!(counts, (1..=16).map(|n| n * 4).collect::<Vec<u64>>());
    let messages = store.messages("a", 0, u64::MAX).unwrap();
    let is = |text: &str| messages.iter().filter(|message| message.body == text.as_bytes()).count();
    assert_eq!([is("x"), is("y"), is("z")], [16; 3]);
    assert!((0..16).all(|number| is(&number.to_string()) == 1));
}

#[test]
fn concurrent_begins_and_forks_of_one_id_agree() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.open();
    begun(&store, "a");
    let answers = at_once(&schema, |_, store| store.begin(&window("b")).unwrap());
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
    let answers = at_once(&schema, |_, store| store.fork("a", 0, "c").unwrap());
    assert!(answers.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn expiry_does_not_break_concurrent_writers() {
    let Some(mut schema) = Schema::new() else { return };
    // Everything that is neither leased nor just written expires.
    schema.options.expiry = std::time::Duration::from_millis(1);
    let store = schema.open();
    let written = at_once(&schema, |number, store| {
        let id = format!("c{number}");
        let mut count = 0;
        for round in 0..8 {
            if number % 4 == 0 {
                store.expire().unwrap();
                continue;
            }
            let written = store.begin(&window(&id)).and_then(|_| {
                let lease = store.lease(&id, "holder", MINUTE)?;
                store.append(&lease, &[message("shared"), message(&id)], None)?;
                store.release(&lease)
            });
            match written {
                Ok(()) => count += 1,
                // The conversation may be dropped before it is leased.
                Err(Error::UnknownConversation(_)) => {}
                Err(error) => panic!("round {round}: {error}"),
            }
            match store.messages(&id, 0, u64::MAX) {
                Ok(messages) => assert_eq!(messages.len() % 2, 0),
                Err(Error::UnknownConversation(_)) => {}
                Err(error) => panic!("round {round}: {error}"),
            }
        }
        count
    });
    // Twelve of the threads write.
    assert!(written.iter().filter(|count| **count > 0).count() >= 6, "{written:?}");
    let lease = begun(&store, "last");
    store.append(&lease, &[message("shared")], None).unwrap();
    thread::sleep(std::time::Duration::from_millis(10));
    store.expire().unwrap();
    let of_threads = (0..16).map(|number| store.messages(&format!("c{number}"), 0, 9));
    let is_gone = |answer| matches!(answer, Err(Error::UnknownConversation(_)));
    assert!(of_threads.into_iter().all(is_gone));
    assert_eq!(store.messages("last", 0, 9).unwrap()[0].body, b"shared");
}
