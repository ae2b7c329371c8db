//! Files that are not stores: refused, and left as they are.

use std::fs;
use std::path::Path;

use lcp_store::content::{BatchStore, Error};
use rusqlite::Connection;

use crate::content::support::{files, folder, open_sqlite, open_sqlite_read_only, quick_sqlite};

/// Opens the file in any way, and expects that nothing of the folder changed.
fn refuse(path: &Path) -> Error {
    let folder = path.parent().expect("a folder");
    let before = files(folder);
    let error = open_sqlite(path).expect_err("not a store");
    assert_eq!(open_sqlite_read_only(path).expect_err("not a store"), error);
    assert!(files(folder) == before, "the folder is as it was: {error}");
    error
}

fn not_a_store(path: &Path) -> &'static str {
    match refuse(path) {
        Error::NotAStore { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_file_is_not_a_store() {
    let folder = folder();
    let path = folder.path().join("notes.txt");
    for text in ["x".to_owned(), "some notes\n".repeat(10), "some notes\n".repeat(10_000)] {
        fs::write(&path, text).expect("a text");
        assert_eq!(not_a_store(&path), "not a SQLite database");
    }
}

#[test]
fn foreign_database_is_rejected() {
    let folder = folder();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).expect("a database");
    theirs.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").expect("SQL");
    assert_eq!(not_a_store(&path), "the database belongs to another program");
    drop(theirs);
    assert_eq!(not_a_store(&path), "the database belongs to another program");
}

/// Its log holds what the file does not have yet; to open it for writing would
/// move that.
#[test]
fn foreign_database_with_log_is_rejected() {
    let (folder, other) = (folder(), folder());
    let theirs = Connection::open(other.path().join("theirs.db")).expect("a database");
    theirs
        .execute_batch(
            "PRAGMA application_id = 5; PRAGMA journal_mode = WAL;
             CREATE TABLE t (a); INSERT INTO t VALUES (1)",
        )
        .expect("SQL");
    // As if that program had been killed.
    for (name, bytes) in files(other.path()) {
        fs::write(folder.path().join(name), bytes).expect("a copy");
    }
    assert!(folder.path().join("theirs.db-wal").exists());
    assert_eq!(
        not_a_store(&folder.path().join("theirs.db")),
        "the database belongs to another program"
    );
}

#[test]
fn newer_or_zero_version_is_rejected() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    quick_sqlite(&path).put_many(&[b"body"]).expect("a put");
    let set = |version: i32| {
        let db = Connection::open(&path).expect("a database");
        db.pragma_update(None, "user_version", version).expect("a version");
    };
    set(2);
    let error = refuse(&path);
    assert_eq!(error, Error::TooNew { found: 2, known: 1 });
    assert_eq!(
        error.to_string(),
        "the store has version 2, but this program supports up to 1; use a newer program"
    );
    set(0);
    assert_eq!(not_a_store(&path), "unknown version");
}

#[test]
fn directory_and_missing_file_are_errors() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder")).expect("a folder");
    let error = open_sqlite(folder.path().join("folder")).expect_err("a folder");
    // Temporary folders may be reached by a link.
    let path = fs::canonicalize(folder.path().join("folder")).expect("a folder");
    assert_eq!(error, Error::NotAStore { path, reason: "not a file" });
    let error = open_sqlite_read_only(folder.path().join("none.db")).expect_err("nothing");
    assert!(matches!(error, Error::Io(_)), "{error:?}");
    assert!(!folder.path().join("none.db").exists());
    let error = open_sqlite(folder.path().join("none/bodies.db")).expect_err("no folder");
    assert!(matches!(error, Error::Io(_)), "{error:?}");
}

#[test]
fn empty_file_becomes_a_store_only_on_writable_open() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    fs::write(&path, "").expect("a file");
    let error = open_sqlite_read_only(&path).expect_err("empty");
    assert!(matches!(error, Error::NotAStore { reason: "the file is empty", .. }), "{error:?}");
    assert_eq!(fs::metadata(&path).expect("a file").len(), 0);
    open_sqlite(&path).expect("a new store");
    open_sqlite_read_only(&path).expect("a store");
}

#[test]
fn path_with_uri_characters_is_opened_literally() {
    let folder = folder();
    let path = folder.path().join("a?b#c%20d é.db");
    let mut store = quick_sqlite(&path);
    let hashes = store.put_many(&[b"body"]).expect("a put");
    drop(store);
    assert_eq!(files(folder.path()).len(), 1);
    let store = open_sqlite_read_only(&path).expect("the same file");
    assert_eq!(store.has_many(&hashes), Ok(vec![true]));
}
