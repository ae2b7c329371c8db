//! A lock file in which writers queue, and the identity of the database file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::{Error, Result};
use super::paths;

/// A queue of the writers of a database, by a lock on the empty file `NAME.lock` next to it.
///
/// Without this lock, a waiting writer of SQLite polls, and one of several busy writers can wait a
/// hundred times longer than the others. The lock only ensures fairness. SQLite itself protects the
/// file, so writers without this lock and the deletion of the lock file are harmless.
///
/// The lock remembers the identity of the database file. If the file has been moved or deleted
/// since, writing fails with [`Error::Moved`] (on Unix), because the data would be lost.
///
/// The holder of a lock must not write through a second lock of the same file. It would wait for
/// itself until [`Error::Busy`].
#[derive(Clone, Debug)]
pub struct WriteLock {
    path: PathBuf,
    database: FileIdentity,
    timeout: Duration,
}

impl WriteLock {
    /// Creates the lock of the database at `path`. Symbolic links are resolved, so the lock file is
    /// next to the database file itself. The database must already be open. [`Self::acquire`] fails
    /// with [`Error::Busy`] after `timeout`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] if the folder does not exist.
    pub fn for_database(path: impl AsRef<Path>, timeout: Duration) -> Result<Self> {
        let database = paths::resolve(path.as_ref())?;
        let path = paths::with_suffix(&database, ".lock");
        Ok(Self { path, database: FileIdentity::of_path(database), timeout })
    }

    /// Waits until the lock is free, and acquires it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Busy`] after the timeout, [`Error::ReadOnly`] or [`Error::Full`] if the
    /// lock file cannot be created, and [`Error::Io`] for other failures.
    pub fn acquire(&self) -> Result<WriteGuard> {
        let file = self.open()?;
        let database = self.database.clone();
        match file.try_lock() {
            Ok(()) => return Ok(WriteGuard { file, database }),
            Err(TryLockError::WouldBlock) if self.timeout.is_zero() => return Err(Error::Busy),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(self.failed(&error)),
        }
        // A waiting `File::lock` cannot be cancelled. So another thread waits, and releases the
        // lock at once if this call has timed out.
        let (sender, receiver) = mpsc::channel();
        let wait = move || {
            let guard = wait_for(file).map(|file| WriteGuard { file, database });
            // If the receiver is gone, the guard is dropped and releases the lock.
            drop(sender.send(guard));
        };
        let name = "lcp-store lock".to_owned();
        thread::Builder::new().name(name).spawn(wait).map_err(|error| self.failed(&error))?;
        match receiver.recv_timeout(self.timeout) {
            Ok(guard) => guard.map_err(|error| self.failed(&error)),
            Err(_) => Err(Error::Busy),
        }
    }

    /// Opens the lock file. Each call opens it separately, because locks on the same open file do
    /// not exclude each other.
    fn open(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        match options.open(&self.path) {
            // The lock file may belong to another user. Read access is enough to lock it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(&self.path),
            other => other,
        }
        .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::unwritable(&self.path, error)
    }
}

/// A guard that holds a [`WriteLock`] until it is dropped.
#[derive(Debug)]
pub struct WriteGuard {
    file: File,
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

impl Drop for WriteGuard {
    fn drop(&mut self) {
        // Unlock explicitly, because closing the file does not release the lock while a process
        // that is being started has inherited it. If unlocking fails, closing is the only fallback.
        drop(self.file.unlock());
    }
}

fn wait_for(file: File) -> io::Result<File> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(file),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
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
