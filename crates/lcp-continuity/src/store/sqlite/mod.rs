//! A store in one SQLite file, for the processes of one machine.

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

/// Conversations and hand-offs in one SQLite file.
///
/// Any number of threads, stores and processes may have the same file open: writers
/// wait for each other in a queue, readers for nobody. It must be on a local disk;
/// what is known to be a network file system is refused. Beside it are two files of
/// SQLite's, `-wal` and `-shm`, which belong to it while it is open, and the empty
/// `.lock` for the queue. Symbolic links to the file are resolved; by two hard links
/// at once it must not be opened. On Unix a new file is its owner's alone (mode 0600).
///
/// Where the file is moved or deleted while it is open, nothing more is written
/// ([`Error::Io`](super::Error::Io), on Unix). Where only its log is found, as after the
/// file was moved without it, no new one is made.
///
/// What a method says to have done is written through to the disk. Equal messages
/// are kept once, and a fork holds only what is its own. Messages and packs are
/// verified by their hashes when they are read.
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
    /// Apart, so that who writes, and has others wait for it, waits for no reader.
    reader: Mutex<Connection>,
    lock: WriteLock,
    expiry: Duration,
    clock: Arc<dyn Clock>,
}

/// How a [`SqliteStore`] is opened.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// How long to wait for others that write, before
    /// [`Error::Busy`](super::Error::Busy): 30 seconds.
    pub busy_timeout: Duration,
    /// Bytes the file may have; [`Error::Full`](super::Error::Full) beyond that. It binds this
    /// store, not others that have the file open. `None`, the default, is no limit.
    pub max_bytes: Option<u64>,
    /// How long a hand-off can be resumed, and a conversation is kept after something
    /// was last recorded: [`DEFAULT_EXPIRY`].
    pub expiry: Duration,
    /// Tells the time: the system's clock. All who have the file open should go by the same.
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
    /// Opens the store in this file, or makes it where there is none or an empty one.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`](super::Error::NotAStore) and
    /// [`Error::TooNew`](super::Error::TooNew) if the file is something else, which
    /// is left as it is; [`Error::Damaged`](super::Error::Damaged) if it is a store by
    /// its header, but has not the tables of one, or more than these;
    /// [`Error::NetworkFileSystem`](super::Error::NetworkFileSystem);
    /// [`Error::ReadOnly`](super::Error::ReadOnly) if it cannot be written;
    /// [`Error::Io`](super::Error::Io) if there is no such folder, or only its log is there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &SqliteOptions::default())
    }

    /// Opens the store in this file as `options` say.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self> {
        let SqliteOptions { busy_timeout, max_bytes, expiry, ref clock } = *options;
        let file =
            Options { busy_timeout, max_bytes, durable: true, private: true, local_only: true };
        let connect = || -> Result<_> {
            let connection = sqlite::open(&path, &schema::SCHEMA, &file)?;
            // Every statement that there is.
            connection.set_prepared_statement_cache_capacity(64);
            Ok(connection)
        };
        let writer = Mutex::new(connect()?);
        // It knows the file that the writer has, before it is opened again.
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
        // The queue first: then nobody else has the connection.
        let guard = self.lock.acquire()?;
        guard.write(&mut lock(&self.writer), |transaction| {
            work(&mut Transaction { connection: transaction, now: self.clock.now() })
        })
    }

    fn expiry(&self) -> Duration {
        self.expiry
    }
}

/// Locks a connection; what a panic left uncommitted is rolled back.
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

/// A transaction at one moment.
struct Transaction<'c> {
    connection: &'c Connection,
    now: Timestamp,
}

impl Transaction<'_> {
    fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(parameters)?)
    }

    /// Executes an INSERT, and returns the row id.
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

    /// Returns the first row, if there is one.
    fn row<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_and_then(parameters, read)?.next().transpose()
    }
}

/// Converts a limit to SQLite's numbers; a larger one than these is none.
fn to_limit(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // Larger than what is ever put, so that it was not even read.
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
