//! What a file holds: compared with its layout, and brought to it.

use lcp_store::sqlite::{Error, Options, SchemaSpec, open, open_read_only};
use rusqlite::Connection;

use super::{COUNTS, folder, quick};

/// What `counts.db` was two versions ago.
const FIRST: SchemaSpec = SchemaSpec {
    version: 1,
    schema: &["CREATE TABLE log (name TEXT NOT NULL UNIQUE) STRICT"],
    migrations: &[],
    ..COUNTS
};

/// How it became what it is.
const UPGRADED: SchemaSpec = SchemaSpec {
    migrations: &[
        COUNTS.schema[0],
        "CREATE INDEX counts_by_count ON counts (count);
CREATE TRIGGER counted AFTER INSERT ON counts BEGIN
    INSERT INTO log (name) VALUES (new.name);
END",
    ],
    ..COUNTS
};

/// What it was one version ago.
const SECOND: SchemaSpec = SchemaSpec {
    version: 2,
    schema: &[COUNTS.schema[1], COUNTS.schema[0]],
    migrations: &[],
    ..COUNTS
};

/// Steps that forget the trigger.
const WRONG: SchemaSpec =
    SchemaSpec { migrations: &[COUNTS.schema[0], COUNTS.schema[2]], ..COUNTS };

fn version(connection: &Connection) -> i64 {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a number")
}

#[test]
fn opened_file_has_the_tables_of_its_schema() {
    let (_folder, path) = folder();
    quick(&path, &COUNTS).expect("a new file");
    let writer = quick(&path, &COUNTS).expect("the same file");
    writer.execute("INSERT INTO counts VALUES ('a', 1)", ()).expect("a row");
    let reader = open_read_only(&path, &COUNTS, &Options::default()).expect("the same file");
    let logged = reader.query_row("SELECT name FROM log", (), |row| row.get::<_, String>(0));
    assert_eq!(logged.as_deref(), Ok("a"), "by the trigger");
}

#[test]
fn changed_schema_is_damage() {
    let changes = [
        "DROP TRIGGER counted",
        "DROP INDEX counts_by_count",
        "DROP TABLE log",
        "CREATE TABLE more (a)",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more BEFORE INSERT ON counts BEGIN SELECT RAISE(IGNORE); END",
        "DROP INDEX counts_by_count; CREATE INDEX counts_by_count ON counts (name)",
        "ANALYZE",
        // Values that no program leaves there, and that are not text.
        "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = CAST(x'FF' AS TEXT)
         WHERE name = 'counts_by_count'",
    ];
    for change in changes {
        let (_folder, path) = folder();
        quick(&path, &COUNTS).expect("a new file");
        Connection::open(&path).and_then(|db| db.execute_batch(change)).expect(change);
        let error = quick(&path, &COUNTS).expect_err(change);
        assert!(matches!(error, Error::Damaged(_)), "{change}: {error:?}");
        let read = open_read_only(&path, &COUNTS, &Options::default()).expect_err(change);
        assert_eq!(read, error, "{change}");
    }
}

#[test]
fn damage_message_names_the_schema() {
    let (_folder, path) = folder();
    quick(&path, &COUNTS).expect("a new file");
    Connection::open(&path).and_then(|db| db.execute_batch("DROP TABLE log")).expect("SQL");
    assert_eq!(
        quick(&path, &COUNTS).expect_err("a table is missing").to_string(),
        "the file is damaged: its tables do not match the schema of a table of counts; restore it or \
         create a new one"
    );
}

#[test]
fn older_file_is_upgraded() {
    let (_folder, path) = folder();
    let first = quick(&path, &FIRST).expect("a new file");
    first.execute("INSERT INTO log VALUES ('old')", ()).expect("a row");
    drop(first);

    let read = open_read_only(&path, &UPGRADED, &Options::default()).expect_err("not yet");
    assert_eq!(
        read.to_string(),
        "cannot use the file: its version is older; open it for writing once"
    );
    let upgraded = quick(&path, &UPGRADED).expect("an older file");
    assert_eq!(version(&upgraded), 3);
    upgraded.execute("INSERT INTO counts VALUES ('new', 1)", ()).expect("a row");
    let logged =
        upgraded.query_row("SELECT group_concat(name) FROM log", (), |row| row.get::<_, String>(0));
    assert_eq!(logged.as_deref(), Ok("old,new"));

    quick(&path, &UPGRADED).expect("nothing to do");
    quick(&path, &COUNTS).expect("it is as if made so");
    let error = quick(&path, &FIRST).expect_err("too new");
    assert_eq!(error, Error::TooNew { found: 3, known: 1 });
}

#[test]
fn intermediate_version_runs_remaining_migrations() {
    let (_folder, path) = folder();
    quick(&path, &SECOND).expect("a new file");
    assert_eq!(version(&quick(&path, &UPGRADED).expect("an older file")), 3);
}

#[test]
fn failed_migrations_are_rolled_back() {
    let (_folder, path) = folder();
    quick(&path, &FIRST).expect("a new file");
    let error = quick(&path, &WRONG).expect_err("without the trigger");
    assert!(matches!(error, Error::Damaged(_)), "{error:?}");
    assert_eq!(version(&quick(&path, &FIRST).expect("as it was")), 1);
}

#[test]
fn file_older_than_first_migration_is_rejected() {
    let (_folder, path) = folder();
    quick(&path, &FIRST).expect("a new file");
    let last_step = SchemaSpec { migrations: &UPGRADED.migrations[1..], ..COUNTS };
    for layout in [&COUNTS, &last_step] {
        let error = quick(&path, layout).expect_err("no way");
        let reason = "unknown version";
        assert!(
            matches!(&error, Error::ForeignFile { reason: it, .. } if *it == reason),
            "{error:?}"
        );
    }
}

#[test]
fn oversized_values_are_rejected() {
    let (_folder, path) = folder();
    let file = quick(&path, &COUNTS).expect("a new file");
    let insert = |bytes: usize| {
        file.execute("INSERT INTO log VALUES (?1)", ["x".repeat(bytes)]).map_err(Error::from)
    };
    assert_eq!(insert(90_000), Ok(1));
    assert!(matches!(insert(100_001), Err(Error::Io(_))));
}

/// A new file would have SQLite throw the log away.
#[test]
fn log_without_its_file_is_not_overwritten() {
    let (folder, path) = folder();
    let log = folder.path().join("counts.db-wal");
    std::fs::write(&log, "what was written last").expect("a log");
    for there in [false, true] {
        if there {
            std::fs::write(&path, "").expect("an empty file");
        }
        let error = quick(&path, &COUNTS).expect_err("only its log");
        assert!(matches!(error, Error::Moved { .. }), "{error:?}");
        assert_eq!(path.exists(), there, "nothing is made");
    }
    std::fs::write(&log, "").expect("an empty log");
    quick(&path, &COUNTS).expect("nothing is lost");
}

#[test]
fn file_at_max_bytes_is_full() {
    let (_folder, path) = folder();
    let options = Options { max_bytes: Some(64 * 1024), durable: false, ..Options::default() };
    let file = open(&path, &COUNTS, &options).expect("a new file");
    let insert = |name: u32| {
        let name = format!("{name:08000}");
        file.execute("INSERT INTO log VALUES (?1)", [name]).map_err(Error::from)
    };
    assert_eq!((0..100).find_map(|name| insert(name).err()), Some(Error::Full));
}

/// Temporary folders are on a local disk, or tests of SQLite could not run.
#[test]
fn local_only_accepts_a_local_disk() {
    let (_folder, path) = folder();
    let options = Options { local_only: true, durable: false, ..Options::default() };
    open(&path, &COUNTS, &options).expect("a local disk");
    open_read_only(&path, &COUNTS, &options).expect("a local disk");
    let error = Error::NetworkFileSystem { path: "/home/a.db".into(), kind: "nfs4".into() };
    assert_eq!(
        error.to_string(),
        "/home/a.db is on a network file system (nfs4), which SQLite's write-ahead log does not \
         support; choose a path on a local disk"
    );
}
