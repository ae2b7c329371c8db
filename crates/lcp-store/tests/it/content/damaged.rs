//! Bodies that were changed behind a store's back.

use lcp_store::content::{
    Backend, BatchStore, ContentAddressedStore, Error, MemoryBackend, PutMode,
};

use crate::content::support::hash;

/// A body of the store at `hash` is damaged, what else is there can be read, and
/// a repair mends it.
fn assert_damaged(store: &mut dyn BatchStore, damaged: &[u8], other: &[u8]) {
    let hashes = [hash(other), hash(damaged)];
    let error = store.get_many(&hashes).expect_err("damaged");
    assert_eq!(error, Error::Corrupt(hash(damaged)));
    assert!(error.to_string().contains(&blake3::hash(damaged).to_string()), "{error}");
    let message = store.get(&hashes[1]).expect_err("damaged").message;
    assert_eq!(message, error.to_string());
    assert_eq!(store.has_many(&hashes), Ok(vec![true, true]));
    assert_eq!(store.get_many(&hashes[..1]), Ok(vec![Some(other.to_vec())]));

    store.put_many(&[damaged]).expect("it is there");
    store.get_many(&hashes).expect_err("a put leaves what is there");
    store.repair_many(&[damaged]).expect("a repair");
    assert_eq!(store.get_many(&hashes), Ok(vec![Some(other.to_vec()), Some(damaged.to_vec())]));
}

#[test]
fn damaged_body_in_memory_is_detected() {
    let mut memory = MemoryBackend::default();
    let bodies = [(hash(b"body"), &b"bodz"[..]), (hash(b"other"), b"other")];
    memory.put(&bodies, PutMode::Keep).expect("memory");
    assert_damaged(&mut ContentAddressedStore::new(memory), b"body", b"other");
}

#[cfg(feature = "object-store")]
#[test]
fn damaged_object_is_detected() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use object_store::{ObjectStoreExt, PutPayload};

    use crate::content::support::shared;

    let objects = std::sync::Arc::new(InMemory::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let name = blake3::hash(b"body").to_string();
    let path = Path::from(format!("{}/{}", &name[..2], &name[2..]));
    runtime.block_on(objects.put(&path, PutPayload::from("bodz"))).expect("memory");
    let mut store = shared(objects);
    store.put_many(&[b"other"]).expect("memory");
    assert_damaged(&mut store, b"body", b"other");
}

#[cfg(feature = "object-store")]
#[test]
fn damaged_body_file_is_detected() {
    use crate::content::support::{folder, local, shared};

    let folder = folder();
    let mut store = shared(local(&folder));
    store.put_many(&[b"body", b"other"]).expect("files");
    let name = blake3::hash(b"body").to_string();
    let path = folder.path().join(&name[..2]).join(&name[2..]);
    assert_eq!(std::fs::read(&path).expect("the body as it is"), b"body");
    std::fs::write(&path, b"bodz").expect("a change");
    assert_damaged(&mut store, b"body", b"other");

    let long = std::fs::File::create(&path).expect("a change");
    long.set_len(lcp_store::content::BODY_BYTES_MAX + 1).expect("a sparse file");
    assert_damaged(&mut store, b"body", b"other");
}

#[cfg(feature = "content-sqlite")]
mod sqlite {
    use std::path::Path;

    use lcp_store::content::{BatchStore, Error};
    use rusqlite::Connection;

    use super::assert_damaged;
    use crate::content::support::{
        folder, hash, noise, open_sqlite, open_sqlite_read_only, quick_sqlite,
    };

    /// A store at `path` that has these and is closed.
    fn closed(path: &Path, bodies: &[&[u8]]) {
        quick_sqlite(path).put_many(bodies).expect("a put");
    }

    #[test]
    fn changed_byte_in_database_is_detected() {
        let folder = folder();
        let path = folder.path().join("bodies.db");
        let body = noise(1, 5000);
        closed(&path, &[&body, b"other"]);
        let mut file = std::fs::read(&path).expect("the file");
        let place = file.windows(16).position(|bytes| bytes == &body[2000..2016]);
        file[place.expect("noise is stored as it is")] ^= 1;
        std::fs::write(&path, file).expect("a change");
        assert_damaged(&mut quick_sqlite(&path), &body, b"other");
    }

    #[test]
    fn damaged_compressed_body_is_detected() {
        let body = b"some text that compresses ".repeat(100);
        let changes = [
            // A byte, the end, all of it, the size that it is said to have.
            "body = CAST(substr(body, 1, 20) || x'00' || substr(body, 22) AS BLOB)",
            "body = substr(body, 1, length(body) - 1)",
            "body = x''",
            "body = zeroblob(17000000)",
            "size = size - 1",
            "size = length(body)",
            "size = 0",
            "size = -1",
            "size = 9223372036854775807",
        ];
        for change in changes {
            let folder = folder();
            let path = folder.path().join("bodies.db");
            closed(&path, &[&body, b"other"]);
            let connection = Connection::open(&path).expect("a database");
            let sql = format!("UPDATE bodies SET {change} WHERE size > 100");
            assert_eq!(connection.execute(&sql, ()), Ok(1), "{change}");
            drop(connection);
            assert_damaged(&mut quick_sqlite(&path), &body, b"other");
        }
    }

    #[test]
    fn overwritten_database_pages_are_detected() {
        let folder = folder();
        let path = folder.path().join("bodies.db");
        let bodies: Vec<_> = (0..200).map(|seed| noise(seed, 4000)).collect();
        let all: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
        closed(&path, &all);
        // The root of the table, and of the index: pages 2 and 3.
        let mut file = std::fs::read(&path).expect("the file");
        file[16 * 1024..48 * 1024].fill(0xFF);
        std::fs::write(&path, file).expect("a change");
        let store = open_sqlite_read_only(&path).expect("its header is whole");
        let error = store.get_many(&[hash(&bodies[0])]).expect_err("no table");
        assert!(matches!(error, Error::Damaged(_)), "{error:?}");
    }

    #[test]
    fn truncated_database_is_detected() {
        let folder = folder();
        let path = folder.path().join("bodies.db");
        let bodies: Vec<_> = (0..200).map(|seed| noise(seed, 4000)).collect();
        let all: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
        closed(&path, &all);
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
        file.set_len(64 * 1024).expect("a cut");
        drop(file);
        let error = open_sqlite(&path).expect_err("most of it is missing");
        assert!(matches!(error, Error::Damaged(_)), "{error:?}");
    }

    #[test]
    fn missing_table_is_detected() {
        let folder = folder();
        let path = folder.path().join("bodies.db");
        closed(&path, &[b"body"]);
        Connection::open(&path).and_then(|db| db.execute("DROP TABLE bodies", ())).expect("SQL");
        assert_eq!(not_our_schema(&path), NOT_OURS);
    }

    const NOT_OURS: &str = "the store file is damaged: its tables do not match the \
                            schema of a store; restore it or create a new one";

    /// Opens the file in any way, and expects that it did not change.
    fn not_our_schema(path: &Path) -> String {
        let before = std::fs::read(path).expect("the file");
        let error = open_sqlite(path).expect_err("not our schema");
        assert!(matches!(error, Error::Damaged(_)), "{error:?}");
        assert_eq!(open_sqlite_read_only(path).expect_err("not our schema"), error);
        assert!(std::fs::read(path).expect("the file") == before, "it is as it was");
        error.to_string()
    }

    #[test]
    fn extended_schema_is_detected() {
        let changes = [
            // A put that says it kept the body, and did not.
            "CREATE TRIGGER t BEFORE INSERT ON bodies BEGIN SELECT RAISE(IGNORE); END",
            "CREATE VIEW v AS SELECT * FROM bodies",
            "CREATE TABLE t (a)",
            "CREATE INDEX i ON bodies (size)",
            "ALTER TABLE bodies ADD COLUMN more INTEGER",
            "ANALYZE",
        ];
        for change in changes {
            let folder = folder();
            let path = folder.path().join("bodies.db");
            closed(&path, &[b"body"]);
            Connection::open(&path).and_then(|db| db.execute_batch(change)).expect(change);
            assert_eq!(not_our_schema(&path), NOT_OURS, "{change}");
        }
    }

    #[test]
    fn replaced_schema_is_detected() {
        let unnamed = "CREATE TABLE bodies (id INTEGER PRIMARY KEY, name BLOB, size, body)";
        let endless = "CREATE VIEW bodies (id, name, size, body) AS WITH RECURSIVE c (x) AS
                       (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x'00', 1, x'00' FROM c";
        for schema in ["", unnamed, endless] {
            let folder = folder();
            let path = folder.path().join("bodies.db");
            let ids = "PRAGMA application_id = 0x4C435053; PRAGMA user_version = 1;";
            let database = Connection::open(&path).expect("a database");
            database.execute_batch(&format!("{ids} {schema}")).expect(schema);
            drop(database);
            assert_eq!(not_our_schema(&path), NOT_OURS, "{schema}");
        }
    }
}
