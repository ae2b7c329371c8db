//! The errors of a SQLite file, with advice for the user.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi::ErrorCode;

/// The result of opening or using a file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a SQLite file. A failed operation does not harm the stored data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file was opened for reading, or cannot be opened for writing.
    #[error("the file is read-only; make it and its folder writable, or use another file")]
    ReadOnly,
    /// The disk is full, or the file has reached [`Options::max_bytes`](super::Options).
    #[error("the file or its disk is full; free space and try again (stored data is intact)")]
    Full,
    /// The header of the file matches the schema, but the rest of the file does not or cannot be
    /// read.
    #[error("the file is damaged: {0}; restore it or create a new one")]
    Damaged(String),
    /// Another process held the lock of the file for longer than the timeout.
    #[error("the file is busy: another process is writing to it; try again")]
    Busy,
    /// The file belongs to another program. It was not changed.
    #[error("cannot use {}: {reason}; choose another path", .path.display())]
    ForeignFile {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file was refused, as far as it is known.
        reason: &'static str,
    },
    /// The file was moved or deleted, but its log is still there or the file is still open. Further
    /// writes would be lost.
    #[error("{}: {reason}", .path.display())]
    Moved {
        /// The original path of the file.
        path: PathBuf,
        /// The current state, and advice.
        reason: &'static str,
    },
    /// The file was written by a newer program. It was not changed.
    #[error(
        "the file has version {found}, but this program supports up to {known}; use a newer program"
    )]
    TooNew {
        /// The version of the file.
        found: u32,
        /// The newest version that this program can read.
        known: u32,
    },
    /// The file is, or would be, on a network file system. Other machines could write to it, which
    /// the write-ahead log of SQLite does not support.
    #[error(
        "{} is on a network file system ({kind}), which SQLite's write-ahead log does not support; \
         choose a path on a local disk",
        .path.display()
    )]
    NetworkFileSystem {
        /// The path of the file.
        path: PathBuf,
        /// The type of the file system as the operating system names it, such as `nfs4`.
        kind: String,
    },
    /// The file could not be accessed, read or written for another reason.
    #[error("cannot use the file: {0}")]
    Io(String),
}

impl Error {
    pub(super) fn unreachable(path: &Path, error: &io::Error) -> Self {
        Self::Io(format!("{}: {error}", path.display()))
    }

    pub(super) fn unwritable(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::unreachable(path, error),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Sql;
        let reason = error.to_string();
        // The file contains values that this crate never writes.
        if let Sql::FromSqlConversionFailure(..)
        | Sql::IntegralValueOutOfRange(..)
        | Sql::InvalidColumnType(..)
        | Sql::Utf8Error(..) = error
        {
            return Self::Damaged(reason);
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            // SQLite reports a missing table or column as an unknown error.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Self::Damaged(reason)
            }
            _ => Self::Io(reason),
        }
    }
}
