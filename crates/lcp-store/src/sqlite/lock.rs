//! A lock file in which writers queue, and the identity of the file that it is for.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::{Error, Result};
use super::paths;

/// A queue of the writers of a database: a lock on the empty file `NAME.lock` next to it.
///
/// SQLite's own way to wait is to try again after a while, by which one of several
/// busy writers may wait a hundred times longer than the others. This lock only
/// keeps order. What keeps the file whole is SQLite's: writers that do not take this
/// lock, or a lock file that is deleted meanwhile, do no harm.
///
/// It knows the file that is there when it is made. Where that was moved or deleted since,
/// nothing is written ([`Error::Moved`], on Unix): nobody would find it.
///
/// Who holds it must not write by a second lock of the same file: it would wait for
/// itself, until [`Error::Busy`].
#[derive(Clone, Debug)]
pub struct WriteLock {
    path: PathBuf,
    database: FileIdentity,
    timeout: Duration,
}

impl WriteLock {
    /// Creates the lock of the database at `path`, next to the file that links lead to. The
    /// database must be open already. Who waits for longer than `timeout` gets [`Error::Busy`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there is no such folder.
    pub fn for_database(path: impl AsRef<Path>, timeout: Duration) -> Result<Self> {
        let database = paths::resolve(path.as_ref())?;
        let path = paths::with_suffix(&database, ".lock");
        Ok(Self { path, database: FileIdentity::of_path(database), timeout })
    }

    /// Waits until nobody else holds the lock, and acquires it.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if others hold it for too long; [`Error::ReadOnly`] and
    /// [`Error::Full`] if the lock file cannot be made; otherwise [`Error::Io`].
    pub fn acquire(&self) -> Result<WriteGuard> {
        let file = self.open()?;
        let database = self.database.clone();
        match file.try_lock() {
            Ok(()) => return Ok(WriteGuard { file, database }),
            Err(TryLockError::WouldBlock) if self.timeout.is_zero() => return Err(Error::Busy),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(self.failed(&error)),
        }
        // A place in the queue cannot be given up. Somebody else takes it, and gives
        // the lock back at once if nobody waits for it any more.
        let (sender, receiver) = mpsc::channel();
        let wait = move || {
            let guard = wait_for(file).map(|file| WriteGuard { file, database });
            // Dropped, and released, where it is not received.
            drop(sender.send(guard));
        };
        let name = "lcp-store lock".to_owned();
        thread::Builder::new().name(name).spawn(wait).map_err(|error| self.failed(&error))?;
        match receiver.recv_timeout(self.timeout) {
            Ok(guard) => guard.map_err(|error| self.failed(&error)),
            Err(_) => Err(Error::Busy),
        }
    }

    /// Opens the lock file, anew each time: locks of one open file would not exclude each other.
    fn open(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        match options.open(&self.path) {
            // Another user's: to lock it, it is enough to read it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => File::open(&self.path),
            other => other,
        }
        .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::unwritable(&self.path, error)
    }
}

/// A [`WriteLock`] that is held until the guard is dropped.
#[derive(Debug)]
pub struct WriteGuard {
    file: File,
    database: FileIdentity,
}

impl WriteGuard {
    /// Runs `work` in a transaction, which is rolled back if `work` fails.
    ///
    /// # Errors
    ///
    /// What `work` fails with; [`Error::Moved`], before `work` is called;
    /// [`Error::Busy`] if somebody writes without this lock; any other error of the file.
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
        // To close the file would not be enough while a process that is just being
        // started has it, too. If it fails, closing is all there is.
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
/// SQLite goes on with a file that was moved or deleted, and with a log that nobody
/// finds again. On Unix alone: elsewhere an open file can be neither.
#[derive(Clone, Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    id: Option<FileId>,
}

impl FileIdentity {
    /// Reads the identity of the file at `path`. Without a file, every later one is accepted.
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
        let reason = "it was moved or deleted while it was open: move it back, or open it again";
        Err(Error::Moved { path: self.path.clone(), reason })
    }
}

/// The device, and the inode on it.
type FileId = (u64, u64);

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn file_id(file: &fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;

    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_file: &fs::Metadata) -> Option<FileId> {
    None
}
