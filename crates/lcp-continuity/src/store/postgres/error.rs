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
            let reason = Error::Io { reason: words(&error) };
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
        let io = || Error::Io { reason: words(&error) };
        match class(code) {
            Class::Conflict => Self::Conflict(Error::Busy),
            Class::Broken => Self::Broken(io()),
            Class::Busy => Self::Final(Error::Busy),
            Class::Full => Self::Final(Error::Full),
            Class::ReadOnly => Self::Final(Error::ReadOnly),
            Class::Damaged => Self::Final(Error::Damaged { reason: words(&error) }),
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
    let known: [(&SqlState, Class); 15] = [
        // Somebody else made it at the same time: the next look sees it.
        (&SqlState::UNIQUE_VIOLATION, Class::Conflict),
        (&SqlState::T_R_SERIALIZATION_FAILURE, Class::Conflict),
        (&SqlState::T_R_DEADLOCK_DETECTED, Class::Conflict),
        (&SqlState::LOCK_NOT_AVAILABLE, Class::Conflict),
        (&SqlState::QUERY_CANCELED, Class::Busy),
        (&SqlState::TOO_MANY_CONNECTIONS, Class::Busy),
        (&SqlState::CONFIGURATION_LIMIT_EXCEEDED, Class::Busy),
        (&SqlState::DISK_FULL, Class::Full),
        (&SqlState::READ_ONLY_SQL_TRANSACTION, Class::ReadOnly),
        (&SqlState::DATA_CORRUPTED, Class::Damaged),
        (&SqlState::INDEX_CORRUPTED, Class::Damaged),
        (&SqlState::ADMIN_SHUTDOWN, Class::Broken),
        (&SqlState::CRASH_SHUTDOWN, Class::Broken),
        (&SqlState::CANNOT_CONNECT_NOW, Class::Broken),
        (&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT, Class::Broken),
    ];
    if let Some((_, class)) = known.iter().find(|(known, _)| *known == code) {
        return *class;
    }
    // The class of connections.
    if code.code().starts_with("08") { Class::Broken } else { Class::Other }
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
                Self::Final(Error::Io { reason })
            }
            other => Self::Final(Error::Io { reason: other.to_string() }),
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
