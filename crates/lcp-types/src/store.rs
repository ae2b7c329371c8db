//! Bodies that are stored outside of a pack, by their BLAKE3 hash.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::wire::HASH_BYTES;

/// The BLAKE3 hash of a body: what a reference block holds.
pub type ContentHash = [u8; HASH_BYTES];

/// A store of referenced bodies (RFC 0001 §4.3). The decoder verifies its hashes.
pub trait ContentStore {
    /// The body with this hash, or `None` if the store does not have it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store could not be asked.
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError>;

    /// Keeps a body under the hash that the caller computed for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the body could not be kept.
    fn put(&mut self, hash: ContentHash, body: &[u8]) -> Result<(), StoreError>;
}

/// A store that could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// What went wrong, in the store's words.
    pub message: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the content store failed: {}", self.message)
    }
}

impl std::error::Error for StoreError {}

/// A store in memory.
///
/// ```
/// use lcp_types::{ContentStore, MemoryContentStore};
///
/// let mut store = MemoryContentStore::default();
/// store.put([7; 32], b"body")?;
/// assert_eq!(store.get(&[7; 32])?.as_deref(), Some(&b"body"[..]));
/// assert_eq!(store.get(&[8; 32])?, None);
/// # Ok::<(), lcp_types::StoreError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryContentStore {
    bodies: HashMap<ContentHash, Vec<u8>>,
}

impl ContentStore for MemoryContentStore {
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        Ok(self.bodies.get(hash).map(Cow::from))
    }

    fn put(&mut self, hash: ContentHash, body: &[u8]) -> Result<(), StoreError> {
        self.bodies.entry(hash).or_insert_with(|| body.to_vec());
        Ok(())
    }
}
