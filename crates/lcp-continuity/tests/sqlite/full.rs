//! A store whose disk is full.

use lcp_continuity::store::{Error, SqliteOptions, SqliteStore, Store};

use crate::support::{HOUR, begun, folder, handoff, message, noise};

#[test]
fn full_store_keeps_existing_data() {
    let (_folder, path) = folder();
    let options = SqliteOptions { max_bytes: Some(1 << 20), ..SqliteOptions::default() };
    let store = SqliteStore::open_with(&path, &options).expect("a new store");
    let lease = begun(&store, "a");
    store.commit(&lease, &handoff("h", &noise(1, 100_000))).expect("there is room");
    let bodies: Vec<_> = (0..400).map(|seed| noise(seed, 4_000)).collect();
    let mut kept = 0;
    let error = loop {
        let batch: Vec<_> = bodies[kept..kept + 10].iter().map(|body| message(body)).collect();
        match store.append(&lease, &batch, Some("a status")) {
            Ok(_) => kept += 10,
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Full);
    assert!((150..300).contains(&kept), "{kept} bodies of 4,000 bytes in less than a MiB");
    let error = store.commit(&lease, &handoff("h2", &noise(2, 100_000)));
    assert_eq!(error, Err(Error::Full));
    assert_eq!(store.handoff("h2").expect_err("not kept").code(), "unknown_handoff");
    drop(store);
    assert!(std::fs::metadata(&path).expect("the file").len() <= 1 << 20);

    let store = SqliteStore::open(&path).expect("without a limit");
    let record = store.conversation("a").expect("it is there");
    assert_eq!(record.messages, kept as u64, "a batch is kept whole or not at all");
    let found = store.messages("a", 0, 1_000).expect("whole");
    assert!(found.iter().map(|message| &message.body).eq(&bodies[..kept]));
    assert_eq!(store.handoff("h").expect("whole").pack, noise(1, 100_000));
    let lease = store.renew(&lease, HOUR).expect("it is still in force");
    store.commit(&lease, &handoff("h2", &noise(2, 100_000))).expect("there is room now");
}
