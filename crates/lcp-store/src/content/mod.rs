//! Bodies that packs share, stored by their BLAKE3 hash (RFC 0006 §9).
//!
//! | where | backend | feature |
//! |---|---|---|
//! | in memory | [`MemoryBackend`] | – |
#![cfg_attr(
    feature = "content-sqlite",
    doc = "| in one file, for several processes | [`SqliteBackend`] | `content-sqlite` |"
)]
#![cfg_attr(
    feature = "object-store",
    doc = "| where machines share it | [`ObjectStoreBackend`] | `object-store` |"
)]
//!
//! [`BatchStore`] is the interface for callers. [`ContentAddressedStore`] implements it for every
//! backend: it hashes and verifies bodies, limits their size and computes their keys. A [`Backend`]
//! only stores bytes under keys. Bodies are never deleted.
//!
//! ```
//! use lcp_store::content::{BatchStore, ContentAddressedStore, MemoryBackend};
//!
//! let mut store = ContentAddressedStore::new(MemoryBackend::default());
//! let hashes = store.put_many(&[b"one", b"two"])?;
//! assert_eq!(store.has_many(&[hashes[1], [0; 32]])?, [true, false]);
//! assert_eq!(store.get_many(&[[0; 32], hashes[0]])?, [None, Some(b"one".to_vec())]);
//! # Ok::<(), lcp_store::content::Error>(())
//! ```

mod error;
#[cfg(feature = "object-store")]
mod object_store;
#[cfg(feature = "content-sqlite")]
mod sqlite;
mod store;
#[cfg(all(test, feature = "object-store"))]
mod tests;

pub use error::{Error, Result};
#[cfg(feature = "object-store")]
pub use object_store::ObjectStoreBackend;
#[cfg(feature = "content-sqlite")]
pub use sqlite::SqliteBackend;
pub use store::{
    BODY_BYTES_MAX, Backend, BatchStore, BodyKey, ContentAddressedStore, Lookup, MemoryBackend,
    PutMode, TenantKey,
};
