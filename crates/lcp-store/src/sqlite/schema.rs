//! The schema of a file, the options for opening it, and the verification of its header.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, ffi};

use super::error::{Error, Result};

/// The identity and the schema of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaSpec {
    /// The program that owns the file. SQLite stores this number in the header of the file.
    pub application_id: i32,
    /// The version of the schema, at most 2³¹ − 1. Increase it for every change of `schema`, even
    /// of a space, because files are compared with it.
    pub version: u32,
    /// The name of such a file in messages, such as `store`.
    pub name: &'static str,
    /// The page size of a new file in bytes: a power of two from 512 to 65,536.
    pub page_bytes: u32,
    /// The maximum size in bytes of a row, and of a value in a row. Larger ones are neither written
    /// nor read.
    pub row_bytes_max: u64,
    /// The statements that create the tables, indexes and triggers of a new file.
    ///
    /// A file must contain exactly the objects that these statements create, with exactly this SQL,
    /// and the internal indexes of SQLite.
    pub schema: &'static [&'static str],
    /// The migrations of older files. The last step leads from the previous version to `version`,
    /// the step before it to the previous version, and so on. A file older than the first step is
    /// refused.
    pub migrations: &'static [&'static str],
}

impl SchemaSpec {
    pub(super) fn oldest(&self) -> i64 {
        let steps = i64::try_from(self.migrations.len()).unwrap_or(i64::MAX);
        i64::from(self.version).saturating_sub(steps)
    }
}

/// The options for opening a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The maximum time to wait for another writer before [`Error::Busy`](super::Error::Busy). The
    /// default is 30 seconds.
    pub busy_timeout: Duration,
    /// The maximum size of the file in bytes. Larger files cause
    /// [`Error::Full`](super::Error::Full). The limit applies to this connection only. The default
    /// `None` means no limit.
    pub max_bytes: Option<u64>,
    /// `true` (the default) if a commit waits until it is written to the disk
    /// (`synchronous = FULL`).
    ///
    /// If `false` (`synchronous = NORMAL`), a power failure can lose the last commits, but the rest
    /// of the file is unaffected.
    pub durable: bool,
    /// `true` if only the owner of a new file can read or write it on Unix (mode 0600). The files
    /// that SQLite creates next to it have the same mode. The default is `false`.
    pub private: bool,
    /// `true` to refuse a file on a network file system
    /// ([`Error::NetworkFileSystem`](super::Error::NetworkFileSystem)). The default is `false`.
    ///
    /// The check works on Linux, with the mounts in `/proc/self/mountinfo`. On other systems, or if
    /// that file cannot be read, nothing is checked.
    pub local_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(30),
            max_bytes: None,
            durable: true,
            private: false,
            local_only: false,
        }
    }
}

/// Returns the number in the header of the file that this pragma names.
pub(super) fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

pub(super) fn is_empty(connection: &Connection) -> Result<bool> {
    Ok(number(connection, "page_count")? == 0)
}

pub(super) fn no_database(path: &Path) -> Error {
    Error::ForeignFile { path: path.into(), reason: "not a SQLite database" }
}

/// Returns the version of a file. Refuses a file that belongs to another program, or that this
/// version can neither read nor upgrade.
pub(super) fn version(connection: &Connection, path: &Path, spec: &SchemaSpec) -> Result<i64> {
    version_from(spec.oldest(), connection, path, spec)
}

/// Returns the version of a file. Refuses a file that belongs to another program, or whose version
/// is not in the range from `oldest` to the version of the spec.
pub(super) fn version_from(
    oldest: i64,
    connection: &Connection,
    path: &Path,
    spec: &SchemaSpec,
) -> Result<i64> {
    let refused = |reason| Error::ForeignFile { path: path.into(), reason };
    let application = match number(connection, "application_id") {
        Err(error) if error.sqlite_error_code() == Some(ffi::ErrorCode::NotADatabase) => {
            return Err(no_database(path));
        }
        other => other?,
    };
    if application != i64::from(spec.application_id) {
        return Err(refused("the database belongs to another program"));
    }
    let version = number(connection, "user_version")?;
    if version > i64::from(spec.version) {
        let found = u32::try_from(version).unwrap_or(u32::MAX);
        return Err(Error::TooNew { found, known: spec.version });
    }
    if version < oldest {
        return Err(refused("unknown version"));
    }
    Ok(version)
}

/// Creates the objects of the spec in an empty file.
///
/// This happens in one transaction and before the log is used. So the header of the file identifies
/// its owner from the first byte, which the header check in `open` relies on.
pub(super) fn create(connection: &mut Connection, spec: &SchemaSpec) -> Result<()> {
    connection.pragma_update(None, "page_size", spec.page_bytes)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created them first.
    if number(&transaction, "schema_version")? == 0 {
        transaction.pragma_update(None, "application_id", spec.application_id)?;
        transaction.pragma_update(None, "user_version", spec.version)?;
        make(&transaction, spec)?;
    }
    Ok(transaction.commit()?)
}

fn make(connection: &Connection, spec: &SchemaSpec) -> rusqlite::Result<()> {
    spec.schema.iter().try_for_each(|statement| connection.execute_batch(statement))
}

/// Upgrades an older file to the version of the spec, or does not change it.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, spec: &SchemaSpec) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have upgraded the file first.
    let steps_done = version(&transaction, path, spec)? - spec.oldest();
    let steps_done = usize::try_from(steps_done).unwrap_or_default();
    for step in spec.migrations.iter().skip(steps_done) {
        transaction.execute_batch(step)?;
    }
    check(&transaction, spec)?;
    transaction.pragma_update(None, "user_version", spec.version)?;
    Ok(transaction.commit()?)
}

/// Verifies that the file contains exactly the objects of the spec.
pub(super) fn check(connection: &Connection, spec: &SchemaSpec) -> Result<()> {
    let model = Connection::open_in_memory()?;
    make(&model, spec)?;
    let expected = objects(&model, usize::MAX)?;
    if objects(connection, expected.len() + 1)? != expected {
        let reason = format!("its tables do not match the schema of a {}", spec.name);
        return Err(Error::Damaged(reason));
    }
    Ok(())
}

/// The type, name, table and SQL of an object. They are bytes, because a file that is not trusted
/// may not have text there.
type Object = [Option<Vec<u8>>; 4];

fn objects(connection: &Connection, max: usize) -> rusqlite::Result<Vec<Object>> {
    let mut query = connection.prepare(
        "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB)
         FROM sqlite_schema ORDER BY 1, 2, 3, 4 LIMIT ?1",
    )?;
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    query
        .query_map([max], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?
        .collect()
}
