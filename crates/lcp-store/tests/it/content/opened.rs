//! Files as they are found: new, just being made, left behind by a crash.

use std::fs;
use std::sync::Barrier;
use std::thread;

use expect_test::expect;
use lcp_store::content::{BatchStore, Error};
use rusqlite::Connection;

use crate::content::support::{
    folder, hash, noise, open_sqlite, open_sqlite_read_only, quick_sqlite,
};

#[test]
fn concurrent_opens_create_one_store() {
    for _ in 0..10 {
        let folder = folder();
        let path = folder.path().join("bodies.db");
        let start = Barrier::new(8);
        let put = |body: [u8; 1]| {
            start.wait();
            open_sqlite(&path).expect("made by either").put_many(&[&body]).expect("a put")[0]
        };
        let hashes: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|body| scope.spawn(move || put([body]))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let store = open_sqlite(&path).expect("a store");
        assert_eq!(store.has_many(&hashes), Ok(vec![true; 8]));
    }
}

#[test]
fn new_file_has_expected_settings_and_schema() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let store = open_sqlite(&path).expect("a new store");
    let database = Connection::open(&path).expect("a database");
    let number = |pragma: &str| -> i64 {
        database.pragma_query_value(None, pragma, |row| row.get(0)).expect(pragma)
    };
    assert_eq!(number("page_size"), 16 * 1024);
    assert_eq!(number("application_id"), 0x4C43_5053);
    assert_eq!(number("user_version"), 1);
    let journal = database.pragma_query_value(None, "journal_mode", |row| row.get(0));
    assert_eq!(journal, Ok("wal".to_owned()));
    // Files are compared with it byte by byte: another text is another version.
    let sql = "SELECT sql FROM sqlite_schema WHERE name = 'bodies'";
    expect![[r"
        CREATE TABLE bodies (
            id INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            body BLOB NOT NULL
        ) STRICT"]]
    .assert_eq(&database.query_row(sql, (), |row| row.get::<_, String>(0)).expect("a table"));
    drop(store);
}

/// Older ones may damage a file that several processes write to.
#[test]
fn sqlite_version_is_recent_enough() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

#[test]
fn text_is_compressed() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let text = |number: u32| format!("line {number} of some text\n").repeat(4000).into_bytes();
    let texts: Vec<_> = (0..50).map(text).collect();
    let all: Vec<_> = texts.iter().map(Vec::as_slice).collect();
    quick_sqlite(&path).put_many(&all).expect("a put");
    let bytes: usize = all.iter().map(|text| text.len()).sum();
    let file = fs::metadata(&path).expect("the file").len();
    assert!(file * 10 < bytes as u64, "{file} of {bytes}");
}

/// A crash while the log was moved into the file: its first page says that it has
/// more pages than it has.
#[test]
fn file_shorter_than_its_header_is_recovered_from_log() {
    let (folder, crashed) = (folder(), folder());
    let (path, copy) = (folder.path().join("bodies.db"), crashed.path().join("bodies.db"));
    let bodies: Vec<_> = (0..100).map(|seed| noise(seed, 4000)).collect();
    let all: Vec<_> = bodies.iter().map(Vec::as_slice).collect();
    let mut store = quick_sqlite(&path);
    store.put_many(&all).expect("a put");
    let mut file = fs::read(&path).expect("without the bodies");
    fs::copy(folder.path().join("bodies.db-wal"), crashed.path().join("bodies.db-wal"))
        .expect("the log");
    drop(store);
    let whole = fs::read(&path).expect("with them");
    assert!(whole.len() > file.len());
    file[..16 * 1024].copy_from_slice(&whole[..16 * 1024]);
    fs::write(&copy, file).expect("a copy");

    let store = open_sqlite(&copy).expect("the log has the rest");
    let hashes: Vec<_> = bodies.iter().map(|body| hash(body)).collect();
    let found = store.get_many(&hashes).expect("whole");
    assert!(found.into_iter().eq(bodies.into_iter().map(Some)));
}

/// VACUUM writes the schema anew, and is no change.
#[test]
fn vacuumed_file_is_still_valid() {
    let folder = folder();
    let path = folder.path().join("bodies.db");
    let hashes = quick_sqlite(&path).put_many(&[b"body"]).expect("a put");
    Connection::open(&path).and_then(|db| db.execute("VACUUM", ())).expect("SQL");
    let store = open_sqlite(&path).expect("a store");
    assert_eq!(store.get_many(&hashes), Ok(vec![Some(b"body".to_vec())]));
}

/// A link is another name of the file, even while there is none yet.
#[cfg(unix)]
#[test]
fn symlink_opens_the_same_store() {
    use std::os::unix::fs::symlink;

    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("real")).expect("a folder");
    symlink("real/bodies.db", place("link.db")).expect("a link");
    symlink("link.db", place("link to it.db")).expect("a link");
    let error = open_sqlite_read_only(place("link.db")).expect_err("nothing yet");
    assert!(error.to_string().contains("bodies.db"), "{error}");

    let mut store = quick_sqlite(&place("link to it.db"));
    let hashes = store.put_many(&[b"body"]).expect("a put");
    assert!(place("real/bodies.db-wal").exists());
    for name in ["link.db", "link to it.db", "real/bodies.db"] {
        let reader = open_sqlite_read_only(place(name)).expect(name);
        assert_eq!(reader.has_many(&hashes), Ok(vec![true]), "{name}");
        let hashes = quick_sqlite(&place(name)).put_many(&[name.as_bytes()]).expect(name);
        assert_eq!(store.has_many(&hashes), Ok(vec![true]), "{name}");
    }

    symlink("loop.db", place("loop.db")).expect("a link");
    let error = open_sqlite(place("loop.db")).expect_err("a link to itself");
    assert!(matches!(error, Error::Io(_)), "{error:?}");
}

/// A store can be handed to another thread.
#[test]
fn sqlite_store_is_send() {
    fn is_send<T: Send>(_: &T) {}
    let folder = folder();
    is_send(&quick_sqlite(&folder.path().join("bodies.db")));
}
