//! One transaction, and the errors within it.

use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::model::Timestamp;
use crate::store::error::{Error, Result};

/// A transaction at one moment.
pub(super) struct Transaction<'c> {
    pub(super) connection: &'c Connection,
    pub(super) now: Timestamp,
}

impl Transaction<'_> {
    pub(super) fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(parameters)?)
    }

    /// Executes an INSERT, and returns the row id.
    pub(super) fn insert(&self, sql: &str, parameters: impl Params) -> Result<i64> {
        Ok(self.connection.prepare_cached(sql)?.insert(parameters)?)
    }

    pub(super) fn row<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.connection.prepare_cached(sql)?.query_row(parameters, read).optional()?)
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut query = self.connection.prepare_cached(sql)?;
        Ok(query.query_map(parameters, read)?.collect::<rusqlite::Result<_>>()?)
    }
}

/// Converts a limit to SQLite's numbers; a larger one than these is none.
pub(super) fn to_limit(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn damaged(reason: impl Into<String>) -> Error {
    Error::Damaged { reason: reason.into() }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        // Larger than what is ever put, so that it was not even read.
        if error.sqlite_error_code() == Some(ErrorCode::TooBig) {
            return damaged(error.to_string());
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
            File::Damaged { reason } => Self::Damaged { reason },
            File::Busy => Self::Busy,
            File::ForeignFile { path, reason } => {
                Self::NotAStore { path, reason: reason.to_owned() }
            }
            File::TooNew { found, known } => Self::TooNew { found, known },
            File::NetworkFileSystem { path, kind } => Self::NetworkFileSystem { path, kind },
            File::Io { reason } => Self::Io { reason },
            other => Self::Io { reason: other.to_string() },
        }
    }
}
