//! Several processes with one file.

use std::path::Path;
use std::process::Child;

use lcp_store::content::BatchStore;
use rusqlite::Connection;

use crate::content::support::{
    CHILD, child, folder, hash, noise, open_sqlite, open_sqlite_read_only, open_sqlite_with,
};

/// Puts of each of the two.
const PUTS: u64 = 10_000;
/// Of these, as many are of bodies that the other puts, too.
const COMMON: u64 = 4_000;
const BATCH: usize = 50;

/// The bodies that a process puts, one by one; half of them compress.
fn bodies(process: u64) -> impl Iterator<Item = Vec<u8>> {
    (0..PUTS).map(move |number| {
        let owner = if number < COMMON { 0 } else { process };
        let seed = owner << 32 | number;
        if number % 2 == 0 {
            noise(seed, 900)
        } else {
            format!("body {seed:020} ").repeat(40).into()
        }
    })
}

/// Run by [`two_writing_processes_store_all_bodies`].
#[test]
fn child_puts_all_bodies() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (process, path) = told.split_once(' ').expect("a number and a path");
    let mut store = open_sqlite(path).expect("a store, made by either");
    let bodies: Vec<_> = bodies(process.parse().expect("a number")).collect();
    for batch in bodies.chunks(BATCH) {
        let batch: Vec<_> = batch.iter().map(Vec::as_slice).collect();
        store.put_many(&batch).expect("a put");
    }
}

#[test]
fn two_writing_processes_store_all_bodies() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let mut writers = [1, 2].map(|process| {
        let told = format!("{process} {}", path.display());
        child("content::processes::child_puts_all_bodies", told).spawn().expect("a process")
    });
    read_meanwhile(&path, &mut writers);
    for writer in &mut writers {
        assert!(writer.wait().expect("a process").success());
    }

    let store = open_sqlite_read_only(&path).expect("a store");
    for process in [1, 2] {
        let bodies: Vec<_> = bodies(process).collect();
        let hashes: Vec<_> = bodies.iter().map(|body| hash(body)).collect();
        let found = store.get_many(&hashes).expect("whole");
        assert!(found.into_iter().eq(bodies.into_iter().map(Some)), "of process {process}");
    }
    let database = Connection::open(&path).expect("a database");
    let one = |sql: &str| database.query_row(sql, (), |row| row.get::<_, String>(0));
    let rows = (2 * PUTS - COMMON).to_string();
    assert_eq!(one("SELECT CAST(count(*) AS TEXT) FROM bodies"), Ok(rows));
    assert_eq!(one("PRAGMA integrity_check"), Ok("ok".to_owned()));
}

/// What a reader finds while others write is whole, and does not go away.
fn read_meanwhile(path: &Path, writers: &mut [Child]) {
    let hashes: Vec<_> = bodies(1).step_by(97).map(|body| hash(&body)).collect();
    let mut writing =
        || writers.iter_mut().any(|writer| writer.try_wait().expect("a process").is_none());
    let store = loop {
        // Asked first: what the last of them made is seen once more after its end.
        let writing = writing();
        // Until one of them has made it, if they do not all fail.
        match open_sqlite_read_only(path) {
            Ok(store) => break store,
            Err(error) => assert!(writing, "all writers ended: {error}"),
        }
        std::thread::yield_now();
    };
    let mut known = 0;
    while writing() {
        let found = store.get_many(&hashes).expect("whole").into_iter().flatten().count();
        assert!(found >= known);
        known = found;
    }
}

#[test]
fn two_open_stores_see_each_others_puts() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let mut first = open_sqlite(&path).expect("a store");
    let mut second = open_sqlite(&path).expect("a store");
    let one = first.put_many(&[b"one"]).expect("a put");
    let two = second.put_many(&[b"two"]).expect("a put");
    assert_eq!(second.has_many(&one), Ok(vec![true]));
    drop(second);
    assert_eq!(first.has_many(&two), Ok(vec![true]));
}

#[test]
fn writer_that_waits_too_long_gets_busy_error() {
    use lcp_store::content::Error;
    use lcp_store::sqlite::Options;

    let folder = folder();
    let path = folder.path().join("bodies.db");
    let options = Options { busy_timeout: std::time::Duration::ZERO, ..Options::default() };
    let mut store = open_sqlite_with(&path, &options).expect("a store");
    let kept = store.put_many(&[b"body"]).expect("a put");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    assert_eq!(store.put_many(&[b"another"]), Err(Error::Busy));
    assert_eq!(store.put_many(&[b"body"]), Ok(kept.clone()), "it is there: nothing is written");
    assert_eq!(store.has_many(&kept), Ok(vec![true]), "readers do not wait");
    other.execute_batch("ROLLBACK").expect("no lock");
    store.put_many(&[b"another"]).expect("nobody else writes");
}
