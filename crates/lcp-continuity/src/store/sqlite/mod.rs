//! A store in one SQLite file, shared by the processes of one machine.

mod schema;
mod tables;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_store::sqlite::{self, Options, WriteLock};
use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, Params, Row};

use super::DEFAULT_EXPIRY;
use super::error::{Error, Result};
use super::tables::{Tables, Transactional};
use crate::model::{Clock, SystemClock, Timestamp};

/// A store of conversations and hand-offs in one SQLite file.
///
/// Any number of threads, stores and processes may open the same file. Writers wait for each other
/// in a queue; readers do not wait.
///
/// The file must be on a local disk. Known network file systems are rejected. Next to the file,
/// SQLite creates a `-wal` and a `-shm` file while the store is open, and the store creates an
/// empty `.lock` and an empty `.queue` file for the queue. Symbolic links to the file are resolved.
/// The file must not be opened through two hard links at the same time. On Unix a new file is
/// accessible only to its owner (mode 0600).
///
/// If the file is moved or deleted while it is open, all writes fail with
/// [`Error::Io`](super::Error::Io) (on Unix). If only its log is found, for example because the
/// file was moved without it, no new file is created.
///
/// Changes are durable on disk when a method returns. Equal messages are stored once, and a fork
/// stores only its own messages. Messages and packs are verified by their hashes when read.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sessions.db");
/// use lcp_continuity::store::{NewConversation, NewMessage, SqliteStore, Store};
/// use std::time::Duration;
///
/// let store = SqliteStore::open(&path)?;
/// store.begin(&NewConversation {
///     id: "refactoring".into(),
///     window_tokens: 200_000,
///     output_reserve_tokens: 8_000,
/// })?;
/// let lease = store.lease("refactoring", "worker 1", Duration::from_secs(60))?;
/// let message = NewMessage { body: b"a pack of one block".to_vec(), tokens: 5 };
/// store.append(&lease, &[message], None)?;
/// drop(store);
///
/// let store = SqliteStore::open(&path)?;
/// assert_eq!(store.messages("refactoring", 0, 10)?[0].tokens, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteStore {
    writer: Mutex<Connection>,
    /// A separate connection, so that a writer that blocks other writers never waits for a reader.
    reader: Mutex<Connection>,
    lock: WriteLock,
    expiry: Duration,
    clock: Arc<dyn Clock>,
}

/// Options for opening a [`SqliteStore`].
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The maximum time to wait for other writers. After that, calls fail with
    /// [`Error::Busy`](super::Error::Busy). Default: 30 seconds.
    pub busy_timeout: Duration,
    /// The maximum size of the file in bytes. Calls that need more fail with
    /// [`Error::Full`](super::Error::Full). The limit applies to this store only, not to others
    /// that have the file open. Default: `None`, no limit.
    pub max_bytes: Option<u64>,
    /// The time for which a hand-off can be resumed, and for which a conversation is stored after
    /// its last record. Default: [`DEFAULT_EXPIRY`].
    pub expiry: Duration,
    /// The clock. All stores that have the file open should use the same one. Default: the system
    /// clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(30),
            max_bytes: None,
            expiry: DEFAULT_EXPIRY,
            clock: Arc::new(SystemClock),
        }
    }
}

impl SqliteStore {
    /// Opens the store in this file. Creates it if the file is missing or empty.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::NotAStore`](super::Error::NotAStore) or [`Error::TooNew`](super::Error::TooNew)
    ///   if the file is not a store of this version; the file is not changed,
    /// - [`Error::Damaged`](super::Error::Damaged) if the header is that of a store, but tables are
    ///   missing or unexpected,
    /// - [`Error::NetworkFileSystem`](super::Error::NetworkFileSystem) if the file is on one,
    /// - [`Error::ReadOnly`](super::Error::ReadOnly) if the file cannot be written, and
    /// - [`Error::Io`](super::Error::Io) if the folder does not exist or only the log of the file
    ///   is found.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &SqliteOptions::default())
    }

    /// Opens the store in this file with these options.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self> {
        let SqliteOptions { busy_timeout, max_bytes, expiry, ref clock } = *options;
        let file =
            Options { busy_timeout, max_bytes, durable: true, private: true, local_only: true };
        let connect = || -> Result<_> {
            let connection = sqlite::open(&path, &schema::SCHEMA, &file)?;
            // Large enough for all statements of the store.
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        };
        let writer = Mutex::new(connect()?);
        // The lock refers to the file that the writer has open, before it is opened again.
        let lock = WriteLock::for_database(&path, busy_timeout)?;
        let reader = connect()?;
        reader.pragma_update(None, "query_only", true)?;
        Ok(Self { writer, reader: Mutex::new(reader), lock, expiry, clock: Arc::clone(clock) })
    }
}

impl Transactional for SqliteStore {
    fn read<T>(&self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T> {
        let connection = lock(&self.reader);
        let transaction = connection.unchecked_transaction()?;
        work(&Transaction { connection: &transaction, now: self.clock.now() })
    }

    fn write<T>(&self, work: impl FnOnce(&mut dyn Tables) -> Result<T>) -> Result<T> {
        // Wait in the queue first. After that, no other thread uses the connection.
        let guard = self.lock.acquire()?;
        guard.write(&mut lock(&self.writer), |transaction| {
            work(&mut Transaction { connection: transaction, now: self.clock.now() })
        })
    }

    fn expiry(&self) -> Duration {
        self.expiry
    }
}

/// Locks a connection. Changes that a panic left uncommitted are rolled back.
fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("lock", &self.lock)
            .field("expiry", &self.expiry)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// A transaction with a fixed time.
struct Transaction<'c> {
    connection: &'c Connection,
    now: Timestamp,
}

impl Transaction<'_> {
    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(parameters)?)
    }

    /// Executes an INSERT and returns the row id.
    fn insert(&self, sql: &str, parameters: impl Params) -> Result<i64> {
        Ok(self.connection.prepare_cached(sql)?.insert(parameters)?)
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.connection.prepare_cached(sql)?.query_and_then(parameters, read)?.collect()
    }

    /// Returns the first row, if any.
    fn row<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_and_then(parameters, read)?.next().transpose()
    }
}

/// Converts a limit to a number of SQLite. Larger limits become `i64::MAX`.
fn to_limit(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // The value is larger than any that the store writes, so SQLite did not read it.
        if error.sqlite_error_code() == Some(ErrorCode::TooBig) {
            return Self::Damaged(error.to_string());
        }
        lcp_store::sqlite::Error::from(error).into()
    }
}

impl From<lcp_store::sqlite::Error> for Error {
    fn from(error: lcp_store::sqlite::Error) -> Self {
        use lcp_store::sqlite::Error as File;
        match error {
            File::ReadOnly => Self::ReadOnly,
            File::Full => Self::Full,
            File::Damaged(reason) => Self::Damaged(reason),
            File::Busy => Self::Busy,
            File::ForeignFile { path, reason } => {
                Self::NotAStore { path, reason: reason.to_owned() }
            }
            File::TooNew { found, known } => Self::TooNew { found, known },
            File::NetworkFileSystem { path, kind } => Self::NetworkFileSystem { path, kind },
            File::Io(reason) => Self::Io(reason),
            other => Self::Io(other.to_string()),
        }
    }
}
