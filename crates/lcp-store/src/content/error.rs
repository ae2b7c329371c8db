//! The errors of a content store.

use std::path::PathBuf;

use lcp_types::{ContentHash, StoreError};

/// The result of a call of a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A store that could not do what it was asked. What it had before, it still has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something was put into a store that was opened, or can only be opened, for reading.
    #[error("the store is read-only: make its file and folder writable, or open another one")]
    ReadOnly,
    /// There is no room, on the disk or within the store's own limit.
    #[error("the store is full: make room and put again, what it had is unharmed")]
    Full,
    /// A body is not what its hash says.
    #[error(
        "the store's body {} is damaged: repair it with the original, or read it elsewhere",
        blake3::Hash::from_bytes(*.0)
    )]
    Corrupt(ContentHash),
    /// The file itself is damaged, beyond single bodies.
    #[error("the store's file is damaged: restore it, or begin a new one ({0})")]
    Damaged(String),
    /// Another process kept the store to itself for longer than one waits.
    #[error("the store is busy: another process writes to it, try again")]
    Busy,
    /// The file is something else. It was not written to.
    #[error("{} is not a content store: {reason}; choose another path", .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is, as far as that can be told.
        reason: &'static str,
    },
    /// The file was written by a newer version of this crate. It was not written to.
    #[error("the store has version {found}, this program knows {known}: use a newer program")]
    TooNew {
        /// The file's version.
        found: u32,
        /// The newest version that can be read.
        known: u32,
    },
    /// A body is too large to be kept.
    #[error("a body is too large: {limit} is {max} bytes, it has {found}")]
    TooLarge {
        /// The limit's name, in `lcp_types::limits`.
        limit: &'static str,
        /// The body's bytes.
        found: u64,
        /// What the limit allows, in bytes.
        max: u64,
    },
    /// A body was to be kept under a hash that is not its own.
    #[error(
        "a body was put as {}, its hash is {}: hash what you put",
        blake3::Hash::from_bytes(*.given),
        blake3::Hash::from_bytes(*.actual)
    )]
    WrongHash {
        /// The hash that the caller gave.
        given: ContentHash,
        /// The hash of the body.
        actual: ContentHash,
    },
    /// The store could not be reached, read or written, for another reason.
    #[error("the store cannot be used: {0}")]
    Io(String),
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self { message: error.to_string() }
    }
}
