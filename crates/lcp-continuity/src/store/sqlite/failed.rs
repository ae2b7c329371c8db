//! What fails within a transaction.

use rusqlite::ffi::ErrorCode;

use crate::store::error::Error;

/// An error on its way out of a transaction: a store's, SQLite's, or the file's.
#[derive(Debug)]
pub(super) struct Failed(pub(super) Error);

pub(super) type Result<T> = std::result::Result<T, Failed>;

impl Failed {
    pub(super) fn damaged(reason: impl Into<String>) -> Self {
        Self(Error::Damaged { reason: reason.into() })
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        // Larger than what is ever put, so that it was not even read.
        if error.sqlite_error_code() == Some(ErrorCode::TooBig) {
            return Self::damaged(error.to_string());
        }
        lcp_store::sqlite::Error::from(error).into()
    }
}

impl From<lcp_store::sqlite::Error> for Failed {
    fn from(error: lcp_store::sqlite::Error) -> Self {
        use lcp_store::sqlite::Error as File;
        Self(match error {
            File::ReadOnly => Error::ReadOnly,
            File::Full => Error::Full,
            File::Damaged { reason } => Error::Damaged { reason },
            File::Busy => Error::Busy,
            File::ForeignFile { path, reason } => {
                Error::NotAStore { path, reason: reason.to_owned() }
            }
            File::TooNew { found, known } => Error::TooNew { found, known },
            File::NetworkFileSystem { path, kind } => Error::NetworkFileSystem { path, kind },
            File::Io { reason } => Error::Io { reason },
            other => Error::Io { reason: other.to_string() },
        })
    }
}
