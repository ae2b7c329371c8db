//! Files with content that no store wrote. It is reported, and never returned as data.

use std::fs;

use lcp_continuity::store::{Error, HandoffState, SqliteStore, Store};
use rusqlite::Connection;

use crate::support::{HOUR, begun, closed, folder, message, noise};

/// Opens a store that was changed by this SQL while it was closed.
fn changed(sql: &str) -> (tempfile::TempDir, SqliteStore) {
    let (folder, path) = folder();
    closed(&path);
    Connection::open(&path).and_then(|db| db.execute_batch(sql)).expect(sql);
    let store = SqliteStore::open(&path).expect("its tables are those of a store");
    (folder, store)
}

#[test]
fn damaged_message_is_reported() {
    let changes = [
        "UPDATE contents SET body = x'00'",
        "UPDATE contents SET body = zeroblob(17000000)",
        "UPDATE contents SET hash = x'00'",
        "UPDATE contents SET hash = zeroblob(32)",
        "DELETE FROM contents",
        "DELETE FROM messages",
        "UPDATE messages SET position = 1",
        "UPDATE messages SET epoch = -1",
        "UPDATE messages SET tokens = 4294967296",
        "UPDATE conversations SET messages = 2",
        // The conversation is its own parent.
        "UPDATE conversations SET parent = 1, shared = 1",
    ];
    for change in changes {
        let (_folder, store) = changed(change);
        let error = store.messages("a", 0, 10).expect_err(change);
        assert_eq!(error.code(), "damaged", "{change}: {error}");
    }
}

#[test]
fn appending_a_damaged_message_again_repairs_it() {
    let (_folder, store) = changed("UPDATE contents SET body = x'00'");
    let error = store.messages("a", 0, 10).expect_err("damaged");
    assert_eq!(
        error.to_string(),
        "the store is damaged: message 0 of session \"a\" is missing or corrupt; restore it, \
         or create a new one"
    );
    let lease = begun(&store, "a");
    store.append(&lease, &[message(b"a message")], None).expect("it is kept");
    let bodies: Vec<_> =
        store.messages("a", 0, 10).expect("both").into_iter().map(|m| m.body).collect();
    assert_eq!(bodies, [b"a message", b"a message"]);
}

#[test]
fn damaged_handoff_is_reported() {
    let changes = [
        "UPDATE packs SET pack = x'00'",
        "UPDATE packs SET pack = zeroblob(17000000)",
        "DELETE FROM packs",
        "UPDATE handoffs SET hash = x'00'",
        "UPDATE handoffs SET state = 4",
        // The hand-off is claimed, but without a claimant.
        "UPDATE handoffs SET state = 1",
        "UPDATE handoffs SET epoch = -1",
    ];
    for change in changes {
        let (_folder, store) = changed(change);
        let asked = [
            store.handoff("h").map(drop),
            store.chain("h").map(drop),
            store.claim("h", "claimant", HOUR).map(drop),
        ];
        for answer in asked {
            assert_eq!(answer.expect_err(change).code(), "damaged", "{change}");
        }
    }
    let (folder, store) = changed("UPDATE packs SET pack = x'00'");
    store.claim("h", "claimant", HOUR).expect_err("damaged");
    Connection::open(folder.path().join("sessions.db"))
        .and_then(|db| db.execute("UPDATE packs SET pack = CAST('a pack' AS BLOB)", ()))
        .expect("mended");
    let state = store.handoff("h").expect("mended").state;
    assert_eq!(state, HandoffState::Committed, "who got nothing has nothing");
}

#[test]
fn cyclic_handoff_chain_is_reported_as_damage() {
    let (_folder, store) = changed("UPDATE handoffs SET previous = id");
    assert_eq!(store.chain("h").expect_err("endless").code(), "damaged");
}

#[test]
fn fork_without_parent_is_reported_as_damage() {
    let (_folder, store) = changed("UPDATE conversations SET parent = 9, shared = 1");
    assert_eq!(store.conversation("a").expect_err("no parent").code(), "damaged");
}

#[test]
fn changed_schema_is_reported_as_damage() {
    let changes = [
        "DROP TABLE packs",
        "DROP INDEX messages_by_content",
        "CREATE TABLE t (a)",
        "CREATE TRIGGER t BEFORE INSERT ON packs BEGIN SELECT RAISE(IGNORE); END",
        "ALTER TABLE messages ADD COLUMN more INTEGER",
    ];
    for change in changes {
        let (_folder, path) = folder();
        closed(&path);
        Connection::open(&path).and_then(|db| db.execute_batch(change)).expect(change);
        let before = fs::read(&path).expect("the file");
        assert_eq!(
            SqliteStore::open(&path).expect_err(change),
            Error::Damaged("its tables do not match the schema of a session store".into()),
            "{change}"
        );
        assert!(fs::read(&path).expect("the file") == before, "{change}: it is as it was");
    }
}

#[test]
fn overwritten_or_truncated_file_is_reported_as_damage() {
    let (_folder, path) = folder();
    let store = SqliteStore::open(&path).expect("a new store");
    let lease = begun(&store, "a");
    for seed in 0..100 {
        store.append(&lease, &[message(&noise(seed, 4_000))], None).expect("it is kept");
    }
    drop(store);
    let whole = fs::read(&path).expect("the file");

    let mut torn = whole.clone();
    torn[40 * 4096..].fill(0xFF);
    fs::write(&path, torn).expect("a change");
    let store = SqliteStore::open(&path).expect("its schema is whole");
    assert_eq!(store.messages("a", 0, 1_000).expect_err("torn").code(), "damaged");
    drop(store);

    fs::write(&path, &whole[..whole.len() / 2]).expect("a change");
    let answer = SqliteStore::open(&path).and_then(|store| store.messages("a", 0, 1_000));
    assert_eq!(answer.expect_err("cut off").code(), "damaged");
}
