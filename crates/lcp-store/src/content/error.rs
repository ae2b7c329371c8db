//! The errors of a content store.

use std::path::PathBuf;

use lcp_types::{ContentHash, StoreError};

/// The result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a content store. A failed operation does not harm the stored bodies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store was opened for reading, or cannot be opened for writing.
    #[error("the store is read-only; make its file and folder writable, or use another store")]
    ReadOnly,
    /// The disk is full, or the store has reached its size limit.
    #[error("the store or its disk is full; free space and try again (stored bodies are intact)")]
    Full,
    /// A stored body does not match its hash.
    #[error(
        "the stored body {} is damaged; repair it with the original, or read it from another store",
        blake3::Hash::from_bytes(*.0)
    )]
    Corrupt(ContentHash),
    /// The store file itself is damaged, not only single bodies.
    #[error("the store file is damaged: {0}; restore it or create a new one")]
    Damaged(String),
    /// Another process held the lock of the store for longer than the timeout.
    #[error("the store is busy: another process is writing to it; try again")]
    Busy,
    /// The file is not a content store. It was not changed.
    #[error("{} is not a content store: {reason}; choose another path", .path.display())]
    NotAStore {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file is not a store, as far as it is known.
        reason: &'static str,
    },
    /// The file was written by a newer version of this crate. It was not changed.
    #[error(
        "the store has version {found}, but this program supports up to {known}; use a newer program"
    )]
    TooNew {
        /// The version of the file.
        found: u32,
        /// The newest version that this crate can read.
        known: u32,
    },
    /// A body exceeds the maximum size.
    #[error("body exceeds {limit}: got {found} bytes, maximum {max}")]
    TooLarge {
        /// The name of the limit in `lcp_types::limits`.
        limit: &'static str,
        /// The size of the body in bytes.
        found: u64,
        /// The maximum size in bytes.
        max: u64,
    },
    /// The caller passed a body with the hash of another body.
    #[error(
        "body was passed with hash {}, but its hash is {}; pass the hash of the body",
        blake3::Hash::from_bytes(*.given),
        blake3::Hash::from_bytes(*.actual)
    )]
    WrongHash {
        /// The hash from the caller.
        given: ContentHash,
        /// The hash of the body.
        actual: ContentHash,
    },
    /// The store could not be accessed, read or written for another reason.
    #[error("cannot use the store: {0}")]
    Io(String),
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self { message: error.to_string() }
    }
}
