//! Lock files of the writer queue, and the identity of the database file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fs, thread};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::{Error, Result};
use super::paths;

/// A queue of the writers of a database, by locks on the empty files `NAME.lock` and `NAME.queue`
/// next to it.
///
/// Without this lock, a waiting writer of SQLite polls, and one of several busy writers can wait a
/// hundred times longer than the others. The lock only reduces unfair waits. SQLite itself protects
/// the file, so writers without this lock and the deletion of the lock files are harmless.
///
/// The writer holds `NAME.lock`. The next writer holds `NAME.queue` until it has both locks. The
/// second lock is needed because the system does not pass a released lock to a waiter: a busy writer
/// would usually retake `NAME.lock`. The order among waiters for `NAME.queue` is up to the system.
///
/// The lock remembers the identity of the database file. If the file has been moved or deleted
/// since, writing fails with [`Error::Moved`] (on Unix), because the data would be lost.
///
/// The holder of a lock must not write through a second lock of the same file. It would wait for
/// itself until [`Error::Busy`].
#[derive(Clone, Debug)]
pub struct WriteLock {
    path: PathBuf,
    queue: PathBuf,
    database: FileIdentity,
    timeout: Duration,
}

impl WriteLock {
    /// Creates the lock of the database at `path`. Symbolic links are resolved, so the lock files are
    /// next to the database file itself. The database must already be open. [`Self::acquire`] fails
    /// with [`Error::Busy`] after `timeout`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] if the folder does not exist.
    pub fn for_database(path: impl AsRef<Path>, timeout: Duration) -> Result<Self> {
        let database = paths::resolve(path.as_ref())?;
        let [path, queue] = [".lock", ".queue"].map(|end| paths::with_suffix(&database, end));
        Ok(Self { path, queue, database: FileIdentity::of_path(database), timeout })
    }

    /// Waits until the lock is free, and acquires it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Busy`] after the timeout, [`Error::ReadOnly`] or [`Error::Full`] if a
    /// lock file cannot be created, and [`Error::Io`] for other failures.
    pub fn acquire(&self) -> Result<WriteGuard> {
        let file = LockFile::open(&self.path)?;
        let database = self.database.clone();
        // If this call must wait, it does not keep the place: others may have waited longer for it.
        let file = match LockFile::open(&self.queue)?.try_lock()? {
            Ok(_place) => match file.try_lock()? {
                Ok(lock) => return Ok(WriteGuard { _lock: lock, database }),
                Err(file) => file,
            },
            Err(_) => file,
        };
        if self.timeout.is_zero() {
            return Err(Error::Busy);
        }
        // A waiting `File::lock` cannot be cancelled, so a thread waits. After a timeout, the thread
        // gives up its place when it gets `.queue`, or releases both locks when it gets `.lock`.
        let queue = LockFile::open(&self.queue)?;
        let (sender, receiver) = mpsc::channel();
        let caller = Arc::new(());
        let waiting = Arc::downgrade(&caller);
        let wait = move || {
            let guard = queue.lock().and_then(|_place| {
                if waiting.strong_count() == 0 {
                    return Err(Error::Busy);
                }
                let lock = file.lock()?;
                Ok(WriteGuard { _lock: lock, database })
            });
            // If the receiver is gone, the guard is dropped and releases the lock.
            drop(sender.send(guard));
        };
        let name = "lcp-store lock".to_owned();
        let failed = |error| Error::unwritable(&self.path, &error);
        thread::Builder::new().name(name).spawn(wait).map_err(failed)?;
        let guard = receiver.recv_timeout(self.timeout);
        drop(caller);
        guard.unwrap_or(Err(Error::Busy))
    }
}

/// A guard that holds a [`WriteLock`] until it is dropped.
#[derive(Debug)]
pub struct WriteGuard {
    _lock: Locked,
    database: FileIdentity,
}

impl WriteGuard {
    /// Runs `work` in a transaction. The transaction is rolled back if `work` fails.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - the error of `work`;
    /// - [`Error::Moved`], before `work` is called, if the database file was moved or deleted;
    /// - [`Error::Busy`] if a process writes without this lock;
    /// - any other error of the file.
    pub fn write<T, E: From<Error>>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.database.check()?;
        let behavior = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(behavior).map_err(Error::from)?;
        let output = work(&transaction)?;
        transaction.commit().map_err(Error::from)?;
        Ok(output)
    }
}

/// An open lock file without a lock.
struct LockFile {
    file: File,
    path: PathBuf,
}

impl LockFile {
    /// Opens a lock file. Each call opens it separately, because locks on the same open file do not
    /// exclude each other.
    fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = match options.open(path) {
            // The lock file may belong to another user. Read access is enough to lock it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(path),
            other => other,
        };
        let file = file.map_err(|error| Error::unwritable(path, &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Tries to lock the file. Returns the file if another holder has the lock.
    fn try_lock(self) -> Result<std::result::Result<Locked, Self>> {
        match self.file.try_lock() {
            Ok(()) => Ok(Ok(Locked(self.file))),
            Err(TryLockError::WouldBlock) => Ok(Err(self)),
            Err(TryLockError::Error(error)) => Err(Error::unwritable(&self.path, &error)),
        }
    }

    /// Waits until the file is not locked, and locks it.
    fn lock(self) -> Result<Locked> {
        loop {
            match self.file.lock() {
                Ok(()) => return Ok(Locked(self.file)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::unwritable(&self.path, &error)),
            }
        }
    }
}

/// A locked file. Dropping it releases the lock.
#[derive(Debug)]
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Unlock explicitly, because closing the file does not release the lock while a process
        // that is being started has inherited it. If unlocking fails, closing is the only fallback.
        drop(self.0.unlock());
    }
}

/// A path, and the identity of the file that it named.
///
/// If a file is moved or deleted while it is open, SQLite continues to write to it and to a log
/// that cannot be found later. The check works on Unix only. On other systems an open file cannot
/// be moved or deleted.
#[derive(Clone, Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    id: Option<FileId>,
}

impl FileIdentity {
    /// Reads the identity of the file at `path`. If the file does not exist, any later file is
    /// accepted.
    pub(super) fn of_path(path: PathBuf) -> Self {
        let id = fs::metadata(&path).ok().as_ref().and_then(file_id);
        Self { path, id }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.id.is_none() {
            return Ok(());
        }
        let current = match fs::metadata(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::unreachable(&self.path, &error));
            }
            other => other.ok().as_ref().and_then(file_id),
        };
        if current == self.id {
            return Ok(());
        }
        let reason =
            "the file was moved or deleted while it was open; move it back, or open it again";
        Err(Error::Moved { path: self.path.clone(), reason })
    }
}

/// The device and inode numbers of a file.
type FileId = (u64, u64);

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no file id")]
fn file_id(file: &fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;

    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_file: &fs::Metadata) -> Option<FileId> {
    None
}
