//! Writers that wait for each other in the system's queue.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::paths;
use crate::place::Place;

/// A queue for those who write to a file: a lock on the empty file `NAME.lock`
/// beside it.
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
    database: Place,
    timeout: Duration,
}

impl WriteLock {
    /// The lock of the database at `path`, beside the file that it is, whatever
    /// links lead there. The database is opened first. Who waits for longer than `timeout` gets [`Error::Busy`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if there is no such folder.
    pub fn beside(path: impl AsRef<Path>, timeout: Duration) -> Result<Self> {
        let database = paths::resolved(path.as_ref())?;
        let path = paths::beside(&database, ".lock");
        Ok(Self { path, database: Place::of(database), timeout })
    }

    /// Waits until nobody else writes, and writes what `work` does, all of it or,
    /// if it fails, nothing.
    ///
    /// # Errors
    ///
    /// As for [`Self::hold`] and [`Held::write`].
    pub fn write<T, E: From<Error>>(
        &self,
        connection: &mut Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.hold()?.write(connection, work)
    }

    /// Waits until nobody else holds the lock, and holds it.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if others hold it for too long; [`Error::ReadOnly`] and
    /// [`Error::Full`] if the lock file cannot be made; otherwise [`Error::Io`].
    pub fn hold(&self) -> Result<Held> {
        let file = self.open()?;
        let database = self.database.clone();
        match file.try_lock() {
            Ok(()) => return Ok(Held { file, database }),
            Err(TryLockError::WouldBlock) if self.timeout.is_zero() => return Err(Error::Busy),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(self.failed(&error)),
        }
        // A place in the queue cannot be given up. Somebody else takes it, and gives
        // the lock back at once if nobody waits for it any more.
        let (sender, receiver) = mpsc::channel();
        let wait = move || {
            let held = wait_for(file).map(|file| Held { file, database });
            // Dropped, and released, where it is not received.
            drop(sender.send(held));
        };
        let name = "lcp-sqlite lock".to_owned();
        thread::Builder::new().name(name).spawn(wait).map_err(|error| self.failed(&error))?;
        match receiver.recv_timeout(self.timeout) {
            Ok(held) => held.map_err(|error| self.failed(&error)),
            Err(_) => Err(Error::Busy),
        }
    }

    /// The lock file, opened by itself each time: locks of one open file would not
    /// exclude each other.
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

/// A [`WriteLock`] that is held, until this is dropped.
#[derive(Debug)]
pub struct Held {
    file: File,
    database: Place,
}

impl Held {
    /// Writes what `work` does, all of it or, if it fails, nothing.
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
        let done = work(&transaction)?;
        transaction.commit().map_err(Error::from)?;
        Ok(done)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // To close the file would not be enough while a process that is just being
        // started has it, too. If it fails, closing is all there is.
        drop(self.file.unlock());
    }
}

/// The file, once it is locked.
fn wait_for(file: File) -> io::Result<File> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(file),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
