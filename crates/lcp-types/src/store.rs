//! Storage of bodies outside of a pack, by their BLAKE3 hash.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::wire::HASH_BYTES;

/// The BLAKE3 hash of a body, stored in the pack in place of the body.
pub type ContentHash = [u8; HASH_BYTES];

/// A store of referenced bodies (RFC 0001 §4.3). The decoder verifies their hashes.
pub trait ContentStore {
    /// Returns the body with this hash, or `None` if the store does not have it.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the store cannot be read.
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError>;

    /// Stores a body under its hash, which the caller has computed.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the body cannot be stored.
    fn put(&mut self, hash: ContentHash, body: &[u8]) -> Result<(), StoreError>;
}

/// An error of a content store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// A description of the problem, from the store.
    pub message: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "content store error: {}", self.message)
    }
}

impl std::error::Error for StoreError {}

/// A content store in memory.
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
