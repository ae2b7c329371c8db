//! Files that are not stores are refused, and left unchanged.

use std::fs;
use std::path::Path;

use lcp_continuity::store::{Error, SqliteStore};
use rusqlite::Connection;

use crate::support::{closed, files, folder};

/// Opens a file that is not a store, checks that the folder is unchanged, and returns the error.
fn refuse(path: &Path) -> Error {
    let folder = path.parent().expect("a folder");
    let before = files(folder);
    let error = SqliteStore::open(path).expect_err("not a store");
    assert!(files(folder) == before, "the folder is as it was: {error}");
    error
}

#[test]
fn text_file_is_not_a_store() {
    let (_folder, path) = folder();
    fs::write(&path, "some notes\n".repeat(1_000)).expect("a text");
    let error = refuse(&path);
    assert_eq!(error.code(), "not_a_store");
    assert!(error.to_string().ends_with(
        "sessions.db is not a session store: not a SQLite database; choose another path"
    ));
}

#[test]
fn foreign_database_is_rejected() {
    let (_folder, path) = folder();
    let theirs = Connection::open(&path).expect("a database");
    theirs.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").expect("SQL");
    drop(theirs);
    let error = refuse(&path);
    assert!(error.to_string().contains("the database belongs to another program"), "{error}");
}

#[test]
fn other_schema_versions_are_rejected() {
    let (_folder, path) = folder();
    closed(&path);
    let set = |version: i32| {
        let db = Connection::open(&path).expect("a database");
        db.pragma_update(None, "user_version", version).expect("a version");
    };
    set(2);
    assert_eq!(refuse(&path), Error::TooNew { found: 2, known: 1 });
    set(0);
    assert_eq!(refuse(&path).code(), "not_a_store");
}

#[test]
fn directory_and_missing_parent_are_errors() {
    let (folder, _) = folder();
    let error = SqliteStore::open(folder.path()).expect_err("a folder");
    assert_eq!(error.code(), "not_a_store");
    let error = SqliteStore::open(folder.path().join("none/sessions.db")).expect_err("nowhere");
    assert_eq!(error.code(), "io");
}
