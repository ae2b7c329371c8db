//! The backend in one SQLite file, which several processes can use at the same time.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Statement, TransactionBehavior, ffi};
use zstd::bulk::{Compressor, Decompressor};

use super::error::{Error, Result};
use super::store::{BODY_BYTES_MAX, Backend, BodyKey, Lookup, PutMode};
use crate::sqlite::{self, Options, SchemaSpec};

const SCHEMA: SchemaSpec = SchemaSpec {
    // "LCPS"
    application_id: 0x4C43_5053,
    version: 1,
    name: "store",
    // Most bodies are a few KiB long and fit into one page.
    page_bytes: 16 * 1024,
    row_bytes_max: BODY_BYTES_MAX + ROW_BYTES_MAX,
    schema: &[BODIES],
    migrations: &[],
};

/// The table is ordered by row id and has an index of the names. So a body never moves, and a
/// lookup of a name does not read bodies. Names are random, so a table in the order of names would
/// be rewritten all the time.
const BODIES: &str = "CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT";

const ROW_BYTES_MAX: u64 = 4096;

/// A backend that keeps bodies in one SQLite file.
///
/// Any number of processes, and of backends in one process, can have the same file open. The file
/// must be on a local disk, because the write-ahead log of SQLite does not work on network file
/// systems. While the file is open, SQLite keeps two more files next to it, `-wal` and `-shm`,
/// which belong to it. Symbolic links to the file are resolved. Do not open the file through two
/// hard links at the same time.
///
/// `put` returns after the body has been written to the disk (`synchronous = FULL`,
/// [`Options::durable`]). Without `durable`, single puts are many times faster, but a power failure
/// can lose the last batches, and packs that refer to these bodies can no longer be read. By the
/// design of SQLite, the rest of the file is unaffected. A batch is atomic and waits for the disk
/// once, as does a single body, so put many bodies at once.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("bodies.db");
/// use lcp_store::content::{BatchStore, ContentAddressedStore, SqliteBackend};
///
/// let mut store = ContentAddressedStore::new(SqliteBackend::open(&path)?);
/// let hashes = store.put_many(&[b"one", b"two"])?;
/// drop(store);
/// let store = ContentAddressedStore::new(SqliteBackend::open_read_only(&path)?);
/// assert_eq!(store.get_many(&hashes[1..])?, [Some(b"two".to_vec())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteBackend {
    connection: Connection,
    compressor: Compressor<'static>,
}

impl SqliteBackend {
    /// Opens the store in this file. Creates the store if the file does not exist or is empty.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::NotAStore`] if the file is something else, or [`Error::TooNew`] if it has a newer
    ///   version; the file is not changed;
    /// - [`Error::Damaged`] if the header of the file is that of a store, but its tables are
    ///   missing, different or not the only ones;
    /// - [`Error::ReadOnly`] if the file cannot be written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &Options::default())
    }

    /// Opens the store in this file with `options`.
    ///
    /// # Errors
    ///
    /// The errors are those of [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::new(sqlite::open(path, &SCHEMA, options)?)
    }

    /// Opens the store in this file for reading. Other processes can write to it meanwhile.
    ///
    /// Exception: if the folder is not writable either, as on a read-only medium, the file must not
    /// change while it is open. Changes would be missed, or would look like damage.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotAStore`], [`Error::TooNew`] and [`Error::Damaged`] as [`Self::open`]
    /// does, and [`Error::Io`] if the file does not exist.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(sqlite::open_read_only(path, &SCHEMA, &Options::default())?)
    }

    fn new(connection: Connection) -> Result<Self> {
        let compressor = Compressor::new(LEVEL).map_err(|error| failed(&error))?;
        Ok(Self { connection, compressor })
    }

    fn missing<'a, 'b>(
        &self,
        bodies: &'a [(BodyKey, &'b [u8])],
    ) -> Result<Vec<&'a (BodyKey, &'b [u8])>> {
        let keys: Vec<_> = bodies.iter().map(|(key, _)| *key).collect();
        let exists = self.contains(&keys)?;
        Ok(bodies
            .iter()
            .zip(exists)
            .filter_map(|(body, exists)| (!exists).then_some(body))
            .collect())
    }
}

impl Backend for SqliteBackend {
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>> {
        // All lookups share one snapshot and one lock.
        let snapshot = self.connection.unchecked_transaction()?;
        let mut query = snapshot.prepare("SELECT 1 FROM bodies WHERE name = ?1")?;
        keys.iter().map(|key| Ok(query.exists([key])?)).collect()
    }

    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>> {
        let snapshot = self.connection.unchecked_transaction()?;
        let mut query = snapshot.prepare("SELECT size, body FROM bodies WHERE name = ?1")?;
        let mut decompressor = Decompressor::new().map_err(|error| failed(&error))?;
        keys.iter().map(|key| find(&mut query, key, &mut decompressor)).collect()
    }

    fn put(&mut self, bodies: &[(BodyKey, &[u8])], mode: PutMode) -> Result<()> {
        let bodies = match mode {
            PutMode::Keep => self.missing(bodies)?,
            PutMode::Replace => bodies.iter().collect(),
        };
        if bodies.is_empty() {
            return Ok(());
        }
        // Compress before taking the lock, so that other writers do not wait for the compression.
        let mut rows = Vec::with_capacity(bodies.len());
        for (key, body) in bodies {
            rows.push((key, body.len().cast_signed(), compress(&mut self.compressor, body)?));
        }
        let clash = match mode {
            PutMode::Keep => "NOTHING",
            PutMode::Replace => "UPDATE SET size = excluded.size, body = excluded.body",
        };
        let sql = format!(
            "INSERT INTO bodies (name, size, body) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO {clash}"
        );
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        let mut insert = transaction.prepare(&sql)?;
        for (key, size, body) in &rows {
            insert.execute((key, size, body.as_ref()))?;
        }
        drop(insert);
        Ok(transaction.commit()?)
    }
}

fn find(
    query: &mut Statement<'_>,
    key: &BodyKey,
    decompressor: &mut Decompressor<'_>,
) -> Result<Lookup> {
    let found = query
        .query_row([key], |row| {
            let (size, body) = (row.get_ref(0)?.as_i64(), row.get_ref(1)?.as_blob());
            Ok(match (size, body) {
                (Ok(size), Ok(body)) => decompress(decompressor, size, body),
                _ => Lookup::Damaged,
            })
        })
        .optional();
    match found {
        Ok(found) => Ok(found.unwrap_or(Lookup::Missing)),
        // SQLite did not read the row, because it is larger than any body that a store accepts.
        Err(error) if error.sqlite_error_code() == Some(ffi::ErrorCode::TooBig) => {
            Ok(Lookup::Damaged)
        }
        Err(error) => Err(error.into()),
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        sqlite::Error::from(error).into()
    }
}

impl From<sqlite::Error> for Error {
    fn from(error: sqlite::Error) -> Self {
        use sqlite::Error as File;
        match error {
            File::ReadOnly => Self::ReadOnly,
            File::Full => Self::Full,
            File::Damaged(reason) => Self::Damaged(reason),
            File::Busy => Self::Busy,
            File::ForeignFile { path, reason } => Self::NotAStore { path, reason },
            File::TooNew { found, known } => Self::TooNew { found, known },
            File::Io(reason) => Self::Io(reason),
            other => Self::Io(other.to_string()),
        }
    }
}

impl fmt::Debug for SqliteBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteBackend").field(&self.connection).finish()
    }
}

/// The minimum size in bytes of a body that is compressed. A shorter body would not shrink.
const COMPRESSED_BYTES_MIN: usize = 256;
/// The fastest of the usual levels of zstd, so that a put takes microseconds.
const LEVEL: i32 = 1;

/// Returns the stored form of a body. It is compressed only if that makes it shorter.
fn compress<'b>(compressor: &mut Compressor<'_>, body: &'b [u8]) -> Result<Cow<'b, [u8]>> {
    if body.len() < COMPRESSED_BYTES_MIN {
        return Ok(body.into());
    }
    let compressed = compressor.compress(body).map_err(|error| failed(&error))?;
    Ok(if compressed.len() < body.len() { compressed.into() } else { body.into() })
}

/// Returns the body of `size` bytes whose stored form is `stored`.
fn decompress(decompressor: &mut Decompressor<'_>, size: i64, stored: &[u8]) -> Lookup {
    match usize::try_from(size) {
        Ok(size) if size == stored.len() => Lookup::Body(stored.to_vec()),
        // Check the size before allocating memory for it, because the file is not trusted.
        Ok(size) if stored.len() < size && size as u64 <= BODY_BYTES_MAX => {
            decompressor.decompress(stored, size).map_or(Lookup::Damaged, Lookup::Body)
        }
        _ => Lookup::Damaged,
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::Io(format!("zstd: {error}"))
}
