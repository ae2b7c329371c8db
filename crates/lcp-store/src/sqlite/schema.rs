//! Whose file it is by its header, and what its schema must hold.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, ffi};

use super::error::{Error, Result};
use super::spec::SchemaSpec;

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

/// The version of a file that is ours by its header, and that we can read or
/// upgrade.
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
        return Err(Error::Damaged { reason });
    }
    Ok(())
}

/// Type, name, table and SQL of an object, as bytes: the file is not trusted to have
/// text there.
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
