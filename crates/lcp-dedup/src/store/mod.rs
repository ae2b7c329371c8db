//! Where bodies are kept across packs, by their hash (RFC 0006 §9).
//!
//! | where | type | feature |
//! |---|---|---|
//! | in memory | [`Store<Memory>`](Memory) | – |
#![cfg_attr(
    feature = "sqlite",
    doc = "| in one file, for several processes | [`SqliteStore`] | `sqlite` |"
)]
#![cfg_attr(
    feature = "object-store",
    doc = "| where machines share it | [`SharedStore`] | `object-store` |"
)]
//!
//! [`BatchStore`] is what a caller asks. [`Store`] does what all of them have in
//! common: it hashes, verifies, bounds and names bodies. A [`Backend`] only keeps
//! bytes under names.
//!
//! Nothing is ever deleted by these stores.

mod backend;
mod error;
mod memory;
#[cfg(feature = "object-store")]
mod objects;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tenant;
mod verified;

use lcp_types::{ContentHash, ContentStore};

pub use backend::{Backend, Found, Name, Put};
pub use error::{Error, Result};
pub use memory::Memory;
#[cfg(feature = "object-store")]
pub use objects::{Objects, SharedStore};
#[cfg(feature = "sqlite")]
pub use sqlite::{Sqlite, SqliteOptions, SqliteStore};
pub use tenant::TenantKey;
pub use verified::{BODY_BYTES_MAX, Store};

/// Bodies by their BLAKE3 hash, many at once.
///
/// Answers stand in the order of what was asked for, which may hold the same
/// hash or body more than once.
///
/// ```
/// use lcp_dedup::store::{BatchStore, Store};
///
/// let mut store = Store::in_memory();
/// let hashes = store.put_many(&[b"one", b"two"])?;
/// assert_eq!(store.has_many(&[hashes[1], [0; 32]])?, [true, false]);
/// assert_eq!(store.get_many(&[[0; 32], hashes[0]])?, [None, Some(b"one".to_vec())]);
/// # Ok::<(), lcp_dedup::store::Error>(())
/// ```
pub trait BatchStore: ContentStore {
    /// Which of these the store has. Their bodies are not looked at: one that is
    /// damaged is there, too.
    ///
    /// # Errors
    ///
    /// If the store could not be asked.
    fn has_many(&self, hashes: &[ContentHash]) -> Result<Vec<bool>>;

    /// The bodies with these hashes; `None` for each that the store does not have.
    ///
    /// One damaged body fails them all. The error names it: ask again without it, or
    /// for one hash at a time, to get the others; [`Self::repair_many`] with the
    /// original mends it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first that does not match its hash; other errors if
    /// the store could not be asked.
    fn get_many(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Keeps bodies, each of at most [`BODY_BYTES_MAX`] bytes, and gives their
    /// hashes. What the store has already is left as it is.
    ///
    /// # Errors
    ///
    /// If one is too large (then none was kept), or the store could not keep them
    /// all. Some may have been kept then; to put them again does no harm.
    fn put_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;

    /// Like [`Self::put_many`], but in place of what the store has: this mends
    /// bodies that are damaged.
    ///
    /// # Errors
    ///
    /// As [`Self::put_many`].
    fn repair_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;
}
