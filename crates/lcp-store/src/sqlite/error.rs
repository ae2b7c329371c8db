//! What can go wrong with a file, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi::ErrorCode;

/// The result of asking for a file, or of a file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file that could not be opened, read or written. What it had before, it still has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It was opened, or can only be opened, for reading.
    #[error("the file is read-only: make it and its folder writable, or open another one")]
    ReadOnly,
    /// There is no room, on the disk or within [`Options::max_bytes`](super::Options).
    #[error("the file is full: make room and write again, what it had is unharmed")]
    Full,
    /// It is ours by its header, but cannot be read as such.
    #[error("the file is damaged: restore it, or begin a new one ({0})")]
    Damaged(String),
    /// Others wrote to it for longer than one waits.
    #[error("the file is busy: another process writes to it, try again")]
    Busy,
    /// It is something else. It was not written to.
    #[error("{} is not ours: {reason}; choose another path", .path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// What it is, as far as that can be told.
        reason: &'static str,
    },
    /// It is not where it was, but what belongs to it is: what would be written now would
    /// be lost with it.
    #[error("{}: {reason}", .path.display())]
    Moved {
        /// Where it was.
        path: PathBuf,
        /// What is there, and what to do.
        reason: &'static str,
    },
    /// It was written by a newer program. It was not written to.
    #[error("the file has version {found}, this program knows {known}: use a newer program")]
    TooNew {
        /// The file's version.
        found: u32,
        /// The newest version that can be read.
        known: u32,
    },
    /// It is, or would be, where other machines may write to it, which SQLite's
    /// write-ahead log does not allow.
    #[error(
        "{} is on a network file system ({kind}), where SQLite's write-ahead log does not work: \
         choose a path on a local disk",
        .path.display()
    )]
    NetworkFileSystem {
        /// The file.
        path: PathBuf,
        /// The file system, in the words of the system, such as `nfs4`.
        kind: String,
    },
    /// It could not be reached, read or written, for another reason.
    #[error("the file cannot be used: {0}")]
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
        // Values that we never wrote.
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
            // Unknown: there is no such table, or column.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Self::Damaged(reason)
            }
            _ => Self::Io(reason),
        }
    }
}
