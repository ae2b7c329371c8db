//! Conversion of the server's errors.

use std::error::Error as _;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::Error as DatabaseError;
use tokio_postgres::error::SqlState;

use crate::store::error::Error;

/// A failed statement, classified by its effect.
pub(super) enum Failure {
    /// Nothing was changed, because of a conflict with other transactions. Repeating the statement
    /// may succeed.
    Conflict(Error),
    /// The connection broke. The statement may or may not have taken effect.
    Broken(Error),
    /// Nothing was changed.
    Final(Error),
}

impl Failure {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Conflict(error) | Self::Broken(error) | Self::Final(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let Some(told) = error.as_db_error() else {
            let reason = Error::Io(words(&error));
            // Only an I/O error means that the connection broke while the statement was running.
            let mut cause = error.source();
            while let Some(inner) = cause {
                if inner.is::<std::io::Error>() {
                    return Self::Broken(reason);
                }
                cause = inner.source();
            }
            return if error.is_closed() { Self::Broken(reason) } else { Self::Final(reason) };
        };
        let code = told.code();
        let io = || Error::Io(words(&error));
        match class(code) {
            Class::Conflict => Self::Conflict(Error::Busy),
            Class::Broken => Self::Broken(io()),
            Class::Busy => Self::Final(Error::Busy),
            Class::Full => Self::Final(Error::Full),
            Class::ReadOnly => Self::Final(Error::ReadOnly),
            Class::Damaged => Self::Final(Error::Damaged(words(&error))),
            Class::Other => Self::Final(io()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Conflict,
    Broken,
    Busy,
    Full,
    ReadOnly,
    Damaged,
    Other,
}

pub(super) fn class(code: &SqlState) -> Class {
    match code.code() {
        // A unique violation, a serialization failure, a deadlock, or an unavailable lock. After a
        // unique violation, the next attempt sees the row that another transaction inserted.
        "23505" | "40001" | "40P01" | "55P03" => Class::Conflict,
        // A cancelled statement, too many connections, or a configured limit.
        "57014" | "53300" | "53400" => Class::Busy,
        "53100" => Class::Full,
        "25006" => Class::ReadOnly,
        "XX001" | "XX002" => Class::Damaged,
        // The server is shutting down, crashed or is starting, or a session was idle too long.
        "57P01" | "57P02" | "57P03" | "25P03" => Class::Broken,
        // The class of connection errors.
        code if code.starts_with("08") => Class::Broken,
        _ => Class::Other,
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                // The statement was never sent, so a broken connection has no effect.
                match Self::from(error) {
                    Self::Broken(error) => Self::Final(error),
                    other => other,
                }
            }
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => Self::Final(Error::Busy),
            PoolError::Timeout(_) => {
                let reason = "the database did not answer in time".to_owned();
                Self::Final(Error::Io(reason))
            }
            other => Self::Final(Error::Io(other.to_string())),
        }
    }
}

fn words(error: &DatabaseError) -> String {
    if let Some(told) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", told.message(), told.code().code());
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        // Some errors already include the text of their cause.
        if !words.ends_with(&text) {
            words = format!("{words}: {text}");
        }
        cause = inner.source();
    }
    words
}
