//! A store that has no room left.

use lcp_store::content::{BatchStore, Error};
use lcp_store::sqlite::Options;

use crate::content::support::{folder, noise, open_sqlite, open_sqlite_with};

#[test]
fn full_store_keeps_existing_bodies() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let options = Options { max_bytes: Some(1 << 20), durable: false, ..Options::default() };
    let mut store = open_sqlite_with(&path, &options).expect("a new store");
    let bodies: Vec<_> = (0..400).map(|seed| noise(seed, 4000)).collect();
    let mut kept = Vec::new();
    let error = loop {
        let next = &bodies[kept.len()..kept.len() + 10];
        let batch: Vec<_> = next.iter().map(Vec::as_slice).collect();
        match store.put_many(&batch) {
            Ok(hashes) => kept.extend(hashes),
            Err(error) => break error,
        }
    };
    assert_eq!(error, Error::Full);
    assert_eq!(
        error.to_string(),
        "the store or its disk is full; free space and try again (stored bodies are intact)"
    );
    assert!(kept.len() > 200, "{} bodies of 4,000 bytes in a MiB", kept.len());

    let expected: Vec<_> = bodies[..kept.len()].iter().cloned().map(Some).collect();
    assert!(store.get_many(&kept) == Ok(expected.clone()));
    let next: Vec<_> = bodies[kept.len()..kept.len() + 10]
        .iter()
        .map(|b| crate::content::support::hash(b))
        .collect();
    assert_eq!(store.has_many(&next), Ok(vec![false; 10]), "a batch is kept whole or not at all");
    let again: Vec<_> = bodies[..10].iter().map(Vec::as_slice).collect();
    assert!(store.put_many(&again).is_ok(), "what is there needs no room");
    drop(store);
    assert!(std::fs::metadata(&path).expect("the file").len() <= 1 << 20);

    let mut store = open_sqlite(&path).expect("without a limit");
    assert!(store.get_many(&kept) == Ok(expected));
    let rest: Vec<_> = bodies[kept.len()..].iter().map(Vec::as_slice).collect();
    assert!(store.put_many(&rest).is_ok(), "there is room now");
}
