//! Writers in a queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use lcp_store::sqlite::{Error, WriteLock};
use rusqlite::{Connection, Transaction};

use super::{COUNTS, folder, quick};

const LONG: Duration = Duration::from_secs(60);

fn count(connection: &Connection) -> i64 {
    let query = "SELECT coalesce(max(count), 0) FROM counts";
    connection.query_row(query, (), |row| row.get(0)).expect("a number")
}

fn set(connection: &Connection, count: i64) -> Result<(), Error> {
    let sql = "INSERT INTO counts VALUES ('a', ?1) ON CONFLICT DO UPDATE SET count = ?1";
    connection.execute(sql, [count])?;
    Ok(())
}

/// Waits for the lock, and writes.
fn write<T, E: From<Error>>(
    lock: &WriteLock,
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    lock.acquire()?.write(connection, work)
}

/// SQLite is told not to wait, so that without the queue somebody would be refused.
#[test]
fn queued_writers_all_succeed() {
    let (_folder, path) = folder();
    let files: Vec<_> = (0..4).map(|_| quick(&path, &COUNTS).expect("a file")).collect();
    let write_all = |mut file: Connection| {
        let lock = WriteLock::for_database(&path, LONG)?;
        file.busy_timeout(Duration::ZERO)?;
        for _ in 0..50 {
            write(&lock, &mut file, |transaction| set(transaction, count(transaction) + 1))?;
        }
        // Closed when all have written: to close one may keep others out.
        Ok::<_, Error>(file)
    };
    let files: Vec<_> = thread::scope(|scope| {
        let write_all = &write_all;
        let threads: Vec<_> =
            files.into_iter().map(|file| scope.spawn(move || write_all(file))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for file in files {
        assert_eq!(file.as_ref().map(count), Ok(200));
    }
}

#[test]
fn second_writer_waits_for_the_lock() {
    let (_folder, path) = folder();
    let (mut first, second) = (quick(&path, &COUNTS), quick(&path, &COUNTS));
    let first = first.as_mut().expect("a file");
    let second = second.expect("a file");
    let lock = WriteLock::for_database(&path, LONG).expect("a lock");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let held = lock.acquire().expect("nobody else");
        let waiting = scope.spawn(|| {
            let _held = WriteLock::for_database(&path, LONG).and_then(|lock| lock.acquire());
            done.load(Ordering::SeqCst)
        });
        set(&second, 1).expect("it is SQLite that writes, whoever holds the lock");
        done.store(true, Ordering::SeqCst);
        drop(held);
        assert!(waiting.join().expect("no panic"), "it waited");
    });
    write(&lock, first, |transaction| set(transaction, 2)).expect("free again");
    assert_eq!(count(&second), 2);
}

/// A writer that releases the lock rarely retakes it before a waiting writer. With one lock file, it
/// usually would.
#[test]
fn waiting_writer_precedes_the_previous_writer() {
    const ROUNDS: usize = 20;
    let (folder, path) = folder();
    let _file = quick(&path, &COUNTS).expect("a file");
    let lock = |timeout| WriteLock::for_database(&path, timeout).expect("a lock");
    let (busy, patient) = (lock(Duration::ZERO), lock(LONG));
    let queue = || std::fs::File::open(folder.path().join("counts.db.queue")).expect("a file");
    let mut retaken = 0;
    for _ in 0..ROUNDS {
        let held = busy.acquire().expect("nobody else");
        let (release, released) = mpsc::channel::<()>();
        let waiting = {
            let patient = patient.clone();
            thread::spawn(move || {
                let _held = patient.acquire().expect("the next writer");
                released.recv()
            })
        };
        // A writer that only tries the lock has the place for less than a millisecond.
        let is_taken = || queue().try_lock().is_err();
        while !(is_taken() && {
            thread::sleep(Duration::from_millis(10));
            is_taken()
        }) {
            thread::yield_now();
        }
        drop(held);
        retaken += usize::from(busy.acquire().is_ok());
        release.send(()).expect("a receiver");
        waiting.join().expect("no panic").expect("a message");
    }
    assert!(retaken <= ROUNDS / 4, "{retaken} of {ROUNDS}");
}

#[test]
fn lock_timeout_gives_busy_error() {
    let (_folder, path) = folder();
    let mut file = quick(&path, &COUNTS).expect("a file");
    let patient = WriteLock::for_database(&path, LONG).expect("a lock");
    let held = patient.acquire().expect("nobody else");
    for timeout in [Duration::ZERO, Duration::from_millis(5)] {
        let lock = WriteLock::for_database(&path, timeout).expect("a lock");
        let refused = write(&lock, &mut file, |transaction| set(transaction, 1));
        assert_eq!(refused, Err(Error::Busy));
    }
    drop(held);
    // Whoever still stands in the queue for them gives the lock back.
    write(&patient, &mut file, |transaction| set(transaction, 2)).expect("free again");
    assert_eq!(count(&file), 2);
}

#[test]
fn failed_write_is_rolled_back() {
    #[derive(Debug, PartialEq)]
    enum Failed {
        Ours,
        File(Error),
    }
    impl From<Error> for Failed {
        fn from(error: Error) -> Self {
            Self::File(error)
        }
    }

    let (_folder, path) = folder();
    let mut file = quick(&path, &COUNTS).expect("a file");
    let lock = WriteLock::for_database(&path, Duration::ZERO).expect("a lock");
    let failed = write(&lock, &mut file, |transaction| {
        set(transaction, 1)?;
        Err::<(), _>(Failed::Ours)
    });
    assert_eq!(failed, Err(Failed::Ours));
    assert_eq!(count(&file), 0);
    let other = quick(&path, &COUNTS).expect("a file");
    file.busy_timeout(Duration::ZERO).expect("a setting");
    other.execute_batch("BEGIN IMMEDIATE").expect("without the lock");
    let failed = write(&lock, &mut file, |_| Ok(()));
    assert_eq!(failed, Err(Failed::File(Error::Busy)));
    other.execute_batch("ROLLBACK").expect("SQL");
    write(&lock, &mut file, |transaction| set(transaction, 1).map_err(Failed::File)).expect("free");
}

/// Whoever wrote on would write what nobody finds.
#[cfg(unix)]
#[test]
fn moved_or_replaced_file_is_not_written() {
    let (folder, path) = folder();
    let mut file = quick(&path, &COUNTS).expect("a file");
    let lock = WriteLock::for_database(&path, LONG).expect("a lock");
    let away = folder.path().join("away.db");
    std::fs::rename(&path, &away).expect("a new name");
    let reason = "the file was moved or deleted while it was open; move it back, or open it again";
    let moved = Err(Error::Moved {
        path: folder.path().canonicalize().expect("a folder").join("counts.db"),
        reason,
    });
    assert_eq!(write(&lock, &mut file, |transaction| set(transaction, 1)), moved);
    std::fs::write(&path, "another").expect("a file");
    assert_eq!(write(&lock, &mut file, |transaction| set(transaction, 1)), moved);
    std::fs::rename(&away, &path).expect("its name");
    write(&lock, &mut file, |transaction| set(transaction, 2)).expect("it is back");
    assert_eq!(count(&file), 2);
}

/// One queue for one file, whatever it is called.
#[cfg(unix)]
#[test]
fn symlink_uses_the_same_lock() {
    let (folder, path) = folder();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink("counts.db", &link).expect("a link");
    let _held =
        WriteLock::for_database(&link, LONG).and_then(|lock| lock.acquire()).expect("nobody else");
    for name in ["counts.db.lock", "counts.db.queue"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    let busy = WriteLock::for_database(&path, Duration::ZERO).and_then(|lock| lock.acquire());
    assert_eq!(busy.expect_err("held"), Error::Busy);
}
