//! What a file holds, how it is opened, and whose it is by its header.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, ffi};

use super::error::{Error, Result};

/// Whose file it is, and what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaSpec {
    /// Whose file it is; SQLite keeps it in the file's header.
    pub application_id: i32,
    /// Rises when `schema` changes, if only by a space: files are compared with it.
    /// At most 2³¹ − 1.
    pub version: u32,
    /// What such a file is called in messages, such as `store`.
    pub name: &'static str,
    /// Bytes of a page of a new file: a power of two, 512 to 65,536.
    pub page_bytes: u32,
    /// Bytes of the largest row, and of the largest value in one. What is larger is
    /// neither written nor read.
    pub row_bytes_max: u64,
    /// The statements that make the tables, indexes and triggers of a new file.
    ///
    /// A file holds exactly the objects that these make, with exactly this SQL, and
    /// SQLite's own indexes.
    pub schema: &'static [&'static str],
    /// How older files become such as `schema` makes: the last step leads to
    /// `version` from the one before it, the last but one to that, and so on. What
    /// is older than the first step is refused.
    pub migrations: &'static [&'static str],
}

impl SchemaSpec {
    pub(super) fn oldest(&self) -> i64 {
        let steps = i64::try_from(self.migrations.len()).unwrap_or(i64::MAX);
        i64::from(self.version).saturating_sub(steps)
    }
}

/// How a file is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for another process that writes, before
    /// [`Error::Busy`](super::Error::Busy). 30 seconds by default.
    pub busy_timeout: Duration,
    /// Bytes the file may have; [`Error::Full`](super::Error::Full) beyond that. It
    /// binds this connection only. `None`, the default, is no limit.
    pub max_bytes: Option<u64>,
    /// Whether a commit waits until it is written through to the disk
    /// (`synchronous = FULL`); `true` by default.
    ///
    /// Without (`synchronous = NORMAL`), a loss of power may take the last commits,
    /// and nothing else.
    pub durable: bool,
    /// Whether a new file is made such that on Unix nobody but its owner can read or write it (mode
    /// 0600); `false` by default. The files beside it have the mode that it has.
    pub private: bool,
    /// Whether a file on a network file system is refused
    /// ([`Error::NetworkFileSystem`](super::Error::NetworkFileSystem)); `false` by default.
    ///
    /// Known on Linux, by the mounts that `/proc/self/mountinfo` lists. On other
    /// systems, or where that cannot be read, nothing is checked.
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

/// The number of the file's header that this pragma names.
pub(super) fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

pub(super) fn is_empty(connection: &Connection) -> Result<bool> {
    Ok(number(connection, "page_count")? == 0)
}

pub(super) fn no_database(path: &Path) -> Error {
    Error::ForeignFile { path: path.into(), reason: "it is no SQLite database" }
}

/// The version of a file that is ours by its header, and that we can read or upgrade.
pub(super) fn version(connection: &Connection, path: &Path, spec: &SchemaSpec) -> Result<i64> {
    version_from(spec.oldest(), connection, path, spec)
}

/// The version of a file that is ours by its header: from `oldest` to the spec's.
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
        return Err(refused("it is another program's database"));
    }
    let version = number(connection, "user_version")?;
    if version > i64::from(spec.version) {
        let found = u32::try_from(version).unwrap_or(u32::MAX);
        return Err(Error::TooNew { found, known: spec.version });
    }
    if version < oldest {
        return Err(refused("its version is none of ours"));
    }
    Ok(version)
}

/// Makes the spec in an empty file.
///
/// In one transaction, and before the log is used: from the first byte on, the
/// file's own header says whose it is, which looking at it beforehand relies on.
pub(super) fn create(connection: &mut Connection, spec: &SchemaSpec) -> Result<()> {
    connection.pragma_update(None, "page_size", spec.page_bytes)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
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

/// Brings an older file to the version of the spec, or leaves it as it is.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, spec: &SchemaSpec) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let steps_done = version(&transaction, path, spec)? - spec.oldest();
    let steps_done = usize::try_from(steps_done).unwrap_or_default();
    for step in spec.migrations.iter().skip(steps_done) {
        transaction.execute_batch(step)?;
    }
    check(&transaction, spec)?;
    transaction.pragma_update(None, "user_version", spec.version)?;
    Ok(transaction.commit()?)
}

/// Whether the file holds what the spec makes, and nothing else.
pub(super) fn check(connection: &Connection, spec: &SchemaSpec) -> Result<()> {
    let model = Connection::open_in_memory()?;
    make(&model, spec)?;
    let expected = objects(&model, usize::MAX)?;
    if objects(connection, expected.len() + 1)? != expected {
        let reason = format!("its tables are not those of a {}", spec.name);
        return Err(Error::Damaged(reason));
    }
    Ok(())
}

/// Type, name, table and SQL of an object, as bytes: the file is not trusted to have text there.
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
