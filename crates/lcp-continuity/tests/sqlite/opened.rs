//! Opening files in different states, and the description of a store.

use expect_test::expect;
use lcp_continuity::store::{SqliteOptions, SqliteStore, Store};
use rusqlite::Connection;

use crate::support::{begun, folder, message};

#[test]
fn new_file_has_expected_settings() {
    let (_folder, path) = folder();
    let _store = SqliteStore::open(&path).expect("a new store");
    let database = Connection::open(&path).expect("a database");
    let number = |pragma: &str| -> i64 {
        database.pragma_query_value(None, pragma, |row| row.get(0)).expect(pragma)
    };
    assert_eq!(number("page_size"), 4096);
    assert_eq!(number("application_id"), 0x4C43_5043);
    assert_eq!(number("user_version"), 1);
    let journal = database.pragma_query_value(None, "journal_mode", |row| row.get(0));
    assert_eq!(journal, Ok("wal".to_owned()));
}

/// Files are compared with this schema byte by byte, so another text means another version.
#[test]
fn new_file_has_expected_schema() {
    let (_folder, path) = folder();
    SqliteStore::open(&path).expect("a new store");
    let database = Connection::open(&path).expect("a database");
    let sql = "SELECT group_concat(sql, char(10)) FROM sqlite_schema";
    let schema: String = database.query_row(sql, (), |row| row.get(0)).expect("a schema");
    expect![[r"
        CREATE TABLE conversations (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            window_tokens INTEGER NOT NULL,
            output_reserve_tokens INTEGER NOT NULL,
            parent INTEGER,
            shared INTEGER,
            origin TEXT,
            continued_as TEXT,
            epoch INTEGER NOT NULL,
            fence INTEGER NOT NULL,
            holder TEXT,
            until INTEGER,
            messages INTEGER NOT NULL,
            created INTEGER NOT NULL,
            active INTEGER NOT NULL,
            status TEXT
        ) STRICT
        CREATE TABLE contents (
            number INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            body BLOB NOT NULL
        ) STRICT
        CREATE TABLE messages (
            conversation INTEGER NOT NULL,
            position INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            content INTEGER NOT NULL,
            tokens INTEGER NOT NULL,
            recorded INTEGER NOT NULL,
            PRIMARY KEY (conversation, position)
        ) STRICT, WITHOUT ROWID
        CREATE INDEX messages_by_content ON messages (content)
        CREATE TABLE handoffs (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            conversation TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            previous TEXT,
            messages INTEGER NOT NULL,
            hash BLOB NOT NULL,
            packed INTEGER NOT NULL,
            state INTEGER NOT NULL,
            successor TEXT,
            claimant TEXT,
            claim_until INTEGER,
            claim_fence INTEGER NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT
        CREATE INDEX open_handoffs ON handoffs (conversation) WHERE state = 0
        CREATE TABLE packs (
            handoff INTEGER PRIMARY KEY,
            pack BLOB NOT NULL
        ) STRICT"]]
    .assert_eq(&schema);
}

/// A link names the same file, even before the file exists.
#[cfg(unix)]
#[test]
fn symlink_opens_the_same_store() {
    use std::os::unix::fs::symlink;

    let (folder, path) = folder();
    let link = folder.path().join("link.db");
    symlink("sessions.db", &link).expect("a link");
    let by_link = SqliteStore::open(&link).expect("a new store");
    let lease = begun(&by_link, "a");
    let store = SqliteStore::open(&path).expect("the same store");
    store.append(&lease, &[message(b"one")], None).expect("the same conversation");
    assert_eq!(by_link.append(&lease, &[message(b"two")], None), Ok(2));
    for name in ["sessions.db-wal", "sessions.db.lock", "sessions.db.queue"] {
        assert!(folder.path().join(name).exists(), "{name}");
        assert!(!folder.path().join(name.replace("sessions", "link")).exists(), "{name}");
    }
}

#[test]
fn debug_shows_path_but_no_content() {
    let (_folder, path) = folder();
    let store = SqliteStore::open_with(&path, &SqliteOptions::default()).expect("a new store");
    begun(&store, "secret");
    let said = format!("{store:?}");
    assert!(said.contains("sessions.db") && !said.contains("secret"), "{said}");
}

/// Conversations are private, so only the owner may read the files.
#[cfg(unix)]
#[test]
fn files_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    begun(&store, "a");
    let mode = |name: &str| {
        let file = std::fs::metadata(folder.path().join(name)).expect(name);
        file.permissions().mode() & 0o777
    };
    for name in ["sessions.db", "sessions.db-wal", "sessions.db-shm"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    drop(store);
    // Permissions that the owner has widened are kept.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).expect("a mode");
    let _store = SqliteStore::open(&path).expect("the store");
    assert_eq!((mode("sessions.db"), mode("sessions.db-wal")), (0o660, 0o660));
}

/// Equal messages are stored once, even across conversations.
#[test]
fn equal_messages_are_stored_once() {
    let (_folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    let body = vec![7; 100_000];
    for id in ["a", "b", "c"] {
        let lease = begun(&store, id);
        let messages = vec![message(&body); 100];
        store.append(&lease, &messages, None).expect("they are kept");
    }
    drop(store);
    let file = std::fs::metadata(&path).expect("the file").len();
    assert!(file < 200_000, "{file}");
}
