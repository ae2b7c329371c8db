//! A file that is moved or deleted while it is open.

use std::fs;
use std::path::PathBuf;

use lcp_continuity::store::{SqliteStore, Store};

use crate::support::{CHILD, begun, child, files, folder, message};

/// The message of a write that finds the file gone.
const GONE: &str = "sessions.db: the file was moved or deleted while it was open; move it back, or open it \
                    again";

/// Runs as a child of [`acknowledged_message_survives_a_moved_file`], and ends without closing the store.
#[test]
fn child_append_to_moved_file_fails() {
    let Some(path) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let store = SqliteStore::open(&path).expect("a new store");
    let lease = begun(&store, "a");
    store.append(&lease, &[message(b"before")], None).expect("it is kept");
    fs::rename(&path, path.with_extension("moved")).expect("a new name");
    let error = store.append(&lease, &[message(b"after")], None).expect_err("nobody finds it");
    assert_eq!(error.code(), "io");
    assert!(error.to_string().ends_with(GONE), "{error}");
    std::process::abort();
}

#[test]
fn acknowledged_message_survives_a_moved_file() {
    let (folder, path) = folder();
    let ended =
        child("moved::child_append_to_moved_file_fails", &path).output().expect("a process");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(!said.contains("panicked"), "{said}");

    // The log is kept for the file, and no new file takes its place.
    let before = files(folder.path());
    let error = SqliteStore::open(&path).expect_err("only its log is there");
    assert_eq!(error.code(), "io");
    assert!(error.to_string().contains("the file is missing but its log (-wal) exists"), "{error}");
    assert!(files(folder.path()) == before, "the folder is as it was");
    fs::write(&path, "").expect("an empty file");
    SqliteStore::open(&path).expect_err("it is as good as none");

    fs::rename(path.with_extension("moved"), &path).expect("its name");
    let store = SqliteStore::open(&path).expect("the store");
    let messages = store.messages("a", 0, 9).expect("whole");
    assert_eq!(messages.into_iter().map(|m| m.body).collect::<Vec<_>>(), [b"before"]);
}

#[test]
fn file_that_is_moved_back_is_writable_again() {
    let (_folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    let lease = begun(&store, "a");
    let away = path.with_extension("moved");
    fs::rename(&path, &away).expect("a new name");
    store.append(&lease, &[message(b"one")], None).expect_err("moved");
    assert_eq!(store.conversation("a").expect("it can be read").messages, 0);
    fs::rename(&away, &path).expect("its name");
    assert_eq!(store.append(&lease, &[message(b"one")], None), Ok(1));
}

#[test]
fn replaced_file_is_not_written() {
    let (folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    let lease = begun(&store, "a");
    for name in files(folder.path()).keys() {
        fs::remove_file(folder.path().join(name)).expect("a file");
    }
    let error = store.append(&lease, &[message(b"one")], None).expect_err("deleted");
    assert!(error.to_string().ends_with(GONE), "{error}");
    let other = SqliteStore::open(&path).expect("a new store");
    let error = store.append(&lease, &[message(b"one")], None).expect_err("another");
    assert!(error.to_string().ends_with(GONE), "{error}");
    begun(&other, "b");
    drop((store, other));
    let store = SqliteStore::open(&path).expect("the new store");
    assert_eq!(store.conversation("a").expect_err("deleted").code(), "unknown_conversation");
    store.conversation("b").expect("it is kept");
}
