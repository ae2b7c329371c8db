//! The storage of the tested stores.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use lcp_continuity::store::{self, SqliteOptions, SqliteStore, Store};
use lcp_testkit::PostgresServer;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::failed;
use crate::Result;

/// The place in which stores are created. Dropping it deletes them.
pub(super) enum Backend {
    /// A folder.
    Sqlite(TempDir),
    /// A server that this program starts.
    Postgres(PostgresServer),
}

impl Backend {
    pub(super) fn sqlite() -> Result<Self> {
        TempDir::new().map(Self::Sqlite).map_err(failed)
    }

    /// Starts a PostgreSQL server. Returns the reason if that is not possible.
    pub(super) fn postgres() -> Result<Self, String> {
        if cfg!(feature = "postgres") {
            PostgresServer::start().map(Self::Postgres)
        } else {
            Err("it is not built in (--features postgres)".to_owned())
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgres",
        }
    }

    /// Returns a location without a store.
    pub(super) fn fresh(&self) -> StoreLocation {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        match self {
            Self::Sqlite(folder) => {
                StoreLocation::Sqlite(folder.path().join(format!("store-{number}.sqlite")))
            }
            Self::Postgres(server) => {
                StoreLocation::Postgres { url: server.url(), schema: format!("store_{number}") }
            }
        }
    }

    /// Returns the size in bytes of the files of a closed store. For PostgreSQL, returns the size
    /// of all tables and indexes of the server.
    pub(super) fn bytes(&self, place: &StoreLocation) -> Result<u64> {
        let size = |path: &Path| {
            let folder = path.is_dir();
            if folder { all_bytes(path) } else { fs::metadata(path).map(|found| found.len()) }
        };
        let path = match (self, place) {
            (Self::Postgres(server), _) => server.data().join("base"),
            (Self::Sqlite(_), StoreLocation::Sqlite(path)) => path.clone(),
            (Self::Sqlite(_), StoreLocation::Postgres { .. }) => {
                return Err(failed("another kind of store"));
            }
        };
        size(&path).map_err(|error| failed(format!("cannot look at {}: {error}", path.display())))
    }
}

fn all_bytes(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A file that the server removed meanwhile counts as empty.
        bytes += match entry.metadata() {
            Ok(found) if found.is_dir() => all_bytes(&entry.path())?,
            Ok(found) => found.len(),
            Err(_) => 0,
        };
    }
    Ok(bytes)
}

/// The location of a store, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoreLocation {
    Sqlite(PathBuf),
    Postgres { url: String, schema: String },
}

impl StoreLocation {
    /// Creates a location from the arguments of a child.
    pub(super) fn from_arguments(store: &str, schema: Option<&str>) -> Self {
        match schema {
            Some(schema) => Self::Postgres { url: store.to_owned(), schema: schema.to_owned() },
            None => Self::Sqlite(store.into()),
        }
    }

    /// Returns the arguments that pass the location to a child.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Sqlite(path) => vec!["--store".into(), path.into()],
            Self::Postgres { url, schema } => {
                vec!["--store".into(), url.into(), "--schema".into(), schema.into()]
            }
        }
    }

    pub(super) fn open(&self) -> store::Result<Box<dyn Store>> {
        self.open_limited(None)
    }

    /// Opens the store like [`Self::open`]. A SQLite file is limited to `max_bytes` bytes.
    pub(super) fn open_limited(&self, max_bytes: Option<u64>) -> store::Result<Box<dyn Store>> {
        match self {
            Self::Sqlite(path) => {
                let options = SqliteOptions { max_bytes, ..SqliteOptions::default() };
                Ok(Box::new(SqliteStore::open_with(path, &options)?))
            }
            Self::Postgres { url, schema } => postgres(url, schema),
        }
    }

    /// Checks the integrity of a SQLite file, and returns the damage that SQLite reports.
    pub(super) fn damage(&self) -> Result<Option<String>> {
        let Self::Sqlite(path) = self else { return Ok(None) };
        let check = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0))
        };
        let said = check().map_err(failed)?;
        Ok(Some(said).filter(|said| said != "ok"))
    }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str, schema: &str) -> store::Result<Box<dyn Store>> {
    use lcp_continuity::store::{PostgresOptions, PostgresStore};
    let schema = schema.to_owned();
    let options = PostgresOptions { schema, pool_size: 2, ..PostgresOptions::default() };
    Ok(Box::new(PostgresStore::open_with(url, &options)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str, _: &str) -> store::Result<Box<dyn Store>> {
    Err(store::Error::Io("PostgreSQL is not built in".to_owned()))
}
