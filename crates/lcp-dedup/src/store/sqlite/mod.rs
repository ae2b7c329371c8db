//! A store in one SQLite file, for several processes at once.

mod open;
mod packing;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Statement, TransactionBehavior, ffi};
use zstd::bulk::{Compressor, Decompressor};

use super::backend::{Backend, Found, Name, Put};
use super::error::{Error, Result};
use super::verified::Store;

/// Bodies in one SQLite file.
///
/// Any number of processes, and of stores in one process, may have the same file
/// open. It must be on a local disk: what SQLite uses to let them work side by
/// side (WAL) does not work on network file systems. Beside it SQLite keeps two
/// files, `-wal` and `-shm`; they belong to it while it is open. Symbolic links to
/// the file are resolved; by two hard links at once it must not be opened.
///
/// What was put is written through to the disk when `put` returns
/// (`synchronous = FULL`, [`SqliteOptions::durable`]). A batch is kept whole or not
/// at all, and costs one wait for the disk, as does a single body: put many at once.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("bodies.db");
/// use lcp_dedup::store::{BatchStore, SqliteStore};
///
/// let mut store = SqliteStore::open(&path)?;
/// let hashes = store.put_many(&[b"one", b"two"])?;
/// drop(store);
/// let store = SqliteStore::open_read_only(&path)?;
/// assert_eq!(store.get_many(&hashes[1..])?, [Some(b"two".to_vec())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SqliteStore = Store<Sqlite>;

/// The [`Backend`] of a [`SqliteStore`].
pub struct Sqlite {
    connection: Connection,
    compressor: Compressor<'static>,
}

/// How a [`SqliteStore`] is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that writes, before [`Error::Busy`].
    /// 30 seconds unless told otherwise.
    pub busy_timeout: Duration,
    /// Bytes the file may have; [`Error::Full`] beyond that. It binds this store,
    /// not others that have the file open. `None`, the default, is no limit.
    pub max_bytes: Option<u64>,
    /// Whether a `put` waits until it is written through to the disk
    /// (`synchronous = FULL`); `true` by default.
    ///
    /// Without (`synchronous = NORMAL`), a loss of power may take the batches that
    /// were put last, and packs that refer to them can no longer be read; by
    /// SQLite's design, nothing else is harmed. Single puts are many times faster
    /// then.
    pub durable: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(30), max_bytes: None, durable: true }
    }
}

impl Store<Sqlite> {
    /// Opens the store in this file, or makes it where there is none or an empty
    /// one.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] and [`Error::TooNew`] if the file is something else,
    /// which is left as it is; [`Error::Damaged`] if it is a store by its header, but
    /// has not the tables of one, or more than these; [`Error::ReadOnly`] if it
    /// cannot be written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &SqliteOptions::default())
    }

    /// Opens the store in this file as `options` say.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self> {
        Sqlite::new(open::to_write(path.as_ref(), options)?)
    }

    /// Opens the store in this file for reading. Others may write to it meanwhile.
    ///
    /// In a folder that cannot be written either, as on a read-only medium, nobody
    /// may: what they changed would not be seen, or be seen as damaged.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`], [`Error::TooNew`] and [`Error::Damaged`] as for
    /// [`Self::open`]; [`Error::Io`] if there is no such file.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        Sqlite::new(open::to_read(path.as_ref(), &SqliteOptions::default())?)
    }
}

impl Sqlite {
    fn new(connection: Connection) -> Result<Store<Self>> {
        let compressor = packing::compressor()?;
        Ok(Store::new(Self { connection, compressor }))
    }

    /// Those of the bodies that are not there yet.
    fn missing<'a, 'b>(&self, bodies: &'a [(Name, &'b [u8])]) -> Result<Vec<&'a (Name, &'b [u8])>> {
        let names: Vec<_> = bodies.iter().map(|(name, _)| *name).collect();
        let known = self.has(&names)?;
        Ok(bodies.iter().zip(known).filter_map(|(body, known)| (!known).then_some(body)).collect())
    }
}

impl Backend for Sqlite {
    fn has(&self, names: &[Name]) -> Result<Vec<bool>> {
        // One snapshot, and one lock, for all of them.
        let snapshot = self.connection.unchecked_transaction()?;
        let mut query = snapshot.prepare("SELECT 1 FROM bodies WHERE name = ?1")?;
        names.iter().map(|name| Ok(query.exists([name])?)).collect()
    }

    fn get(&self, names: &[Name]) -> Result<Vec<Found>> {
        let snapshot = self.connection.unchecked_transaction()?;
        let mut query = snapshot.prepare("SELECT size, body FROM bodies WHERE name = ?1")?;
        let mut decompressor = packing::decompressor()?;
        names.iter().map(|name| find(&mut query, name, &mut decompressor)).collect()
    }

    fn put(&mut self, bodies: &[(Name, &[u8])], put: Put) -> Result<()> {
        let bodies = match put {
            Put::Keep => self.missing(bodies)?,
            Put::Replace => bodies.iter().collect(),
        };
        if bodies.is_empty() {
            return Ok(());
        }
        // Before the lock: others need not wait for the compression.
        let mut rows = Vec::with_capacity(bodies.len());
        for (name, body) in bodies {
            rows.push((name, body.len().cast_signed(), packing::pack(&mut self.compressor, body)?));
        }
        let clash = match put {
            Put::Keep => "NOTHING",
            Put::Replace => "UPDATE SET size = excluded.size, body = excluded.body",
        };
        let sql = format!(
            "INSERT INTO bodies (name, size, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO {clash}"
        );
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        let mut insert = transaction.prepare(&sql)?;
        for (name, size, body) in &rows {
            insert.execute((name, size, body.as_ref()))?;
        }
        drop(insert);
        Ok(transaction.commit()?)
    }
}

fn find(
    query: &mut Statement<'_>,
    name: &Name,
    decompressor: &mut Decompressor<'_>,
) -> Result<Found> {
    let found = query
        .query_row([name], |row| {
            let (size, body) = (row.get_ref(0)?.as_i64(), row.get_ref(1)?.as_blob());
            Ok(match (size, body) {
                (Ok(size), Ok(body)) => packing::unpack(decompressor, size, body),
                _ => Found::Damaged,
            })
        })
        .optional();
    match found {
        Ok(found) => Ok(found.unwrap_or(Found::Nothing)),
        // Larger than what was ever put, so that it was not even read.
        Err(error) if error.sqlite_error_code() == Some(ffi::ErrorCode::TooBig) => {
            Ok(Found::Damaged)
        }
        Err(error) => Err(error.into()),
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        open::in_our_words(error.into())
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.connection).finish()
    }
}
