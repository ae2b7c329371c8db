//! What the server says, in our words.

use std::error::Error as _;

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::Error as DatabaseError;
use tokio_postgres::error::SqlState;

use crate::store::error::Error;

/// What a failure means for what was asked.
pub(super) enum Failure {
    /// Nothing was done, and it may work if it is asked again: a conflict with others.
    Conflict(Error),
    /// The connection broke: it was done or not.
    Broken(Error),
    /// Nothing was done.
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
            // What was not sent, or was not understood, was not cut off.
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
        // A unique violation (somebody else made it at the same time: the next look sees it), a
        // conflict of transactions, a deadlock, a lock that is not available.
        "23505" | "40001" | "40P01" | "55P03" => Class::Conflict,
        // A statement that was cancelled, too many connections, a limit of the configuration.
        "57014" | "53300" | "53400" => Class::Busy,
        "53100" => Class::Full,
        "25006" => Class::ReadOnly,
        "XX001" | "XX002" => Class::Damaged,
        // The server shuts down, crashes or starts; a session was idle for too long.
        "57P01" | "57P02" | "57P03" | "25P03" => Class::Broken,
        // The class of connections.
        code if code.starts_with("08") => Class::Broken,
        _ => Class::Other,
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                // It was never sent, so a break is none.
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
        // Some repeat what caused them.
        if !words.ends_with(&text) {
            words = format!("{words}: {text}");
        }
        cause = inner.source();
    }
    words
}
