//! The content-addressed store, and the key-value interface of its backends.
//!
//! The store hashes and verifies bodies, limits their size and computes their keys.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use lcp_types::{ContentHash, ContentStore, StoreError, limits};

use super::error::{Error, Result};

/// The key of a body: its hash, or the keyed hash of its hash for a tenant.
pub type BodyKey = [u8; 32];

/// The treatment of existing keys in [`Backend::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Keeps the existing body.
    Keep,
    /// Replaces the existing body.
    Replace,
}

/// The result of a lookup of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The key does not exist.
    Missing,
    /// A body. It has not been verified yet.
    Body(Vec<u8>),
    /// A damaged value: it is too long, or cannot be decompressed.
    Damaged,
}

/// A key-value store for bodies.
///
/// A backend does not need to be trusted, because
/// [`ContentAddressedStore`](super::ContentAddressedStore) verifies the hash of each body that it
/// returns.
pub trait Backend {
    /// Returns whether each of `keys` exists, in the order of the keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend cannot be read.
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>>;

    /// Looks up each of `keys`, and returns the results in the order of the keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the backend cannot be read.
    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>>;

    /// Stores bodies under keys. The keys must be distinct. Each body is stored completely or not
    /// at all.
    ///
    /// # Errors
    ///
    /// Returns an error if some bodies could not be stored.
    fn put(&mut self, bodies: &[(BodyKey, &[u8])], mode: PutMode) -> Result<()>;
}

/// A backend that keeps bodies in memory.
#[derive(Clone, Default)]
pub struct MemoryBackend {
    bodies: HashMap<BodyKey, Vec<u8>>,
}

impl Backend for MemoryBackend {
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>> {
        Ok(keys.iter().map(|key| self.bodies.contains_key(key)).collect())
    }

    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>> {
        let find = |key| self.bodies.get(key).cloned().map_or(Lookup::Missing, Lookup::Body);
        Ok(keys.iter().map(find).collect())
    }

    fn put(&mut self, bodies: &[(BodyKey, &[u8])], mode: PutMode) -> Result<()> {
        for &(key, body) in bodies {
            if mode == PutMode::Replace || !self.bodies.contains_key(&key) {
                self.bodies.insert(key, body.to_vec());
            }
        }
        Ok(())
    }
}

/// Prints the number of bodies, but not their content.
impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend").field("bodies", &self.bodies.len()).finish()
    }
}

/// The maximum size of a body in bytes: the limit of readers for a resolved reference.
pub const BODY_BYTES_MAX: u64 = limits::BODY_DECOMPRESSED_BYTES_MAX;

/// A store of bodies under their BLAKE3 hashes, with batch operations.
///
/// Results are in the order of the arguments. An argument may contain the same hash or body more
/// than once.
pub trait BatchStore: ContentStore {
    /// Returns whether each of `hashes` exists. Bodies are not read, so a damaged body also exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn has_many(&self, hashes: &[ContentHash]) -> Result<Vec<bool>>;

    /// Returns the bodies with these hashes; `None` for each body that does not exist.
    ///
    /// One damaged body makes the call fail, and the error contains its hash. To get the other
    /// bodies, repeat the call without this hash, or call it for one hash at a time. To repair the
    /// body, pass the original to [`Self::repair_many`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Corrupt`] for the first body that does not match its hash, or another error
    /// if the store cannot be read.
    fn get_many(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Stores bodies of at most [`BODY_BYTES_MAX`] bytes each, and returns their hashes. Existing
    /// bodies are not changed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLarge`] if a body is too large; in this case no body is stored. Returns
    /// another error if some bodies could not be stored. Others may have been stored, and storing
    /// them again is harmless.
    fn put_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;

    /// Stores bodies like [`Self::put_many`], but replaces existing ones, which repairs damaged
    /// bodies.
    ///
    /// # Errors
    ///
    /// The errors are those of [`Self::put_many`].
    fn repair_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;
}

/// A store of bodies under their BLAKE3 hashes, in a [`Backend`] that does not need to be trusted.
///
/// The store computes the hash of each body itself, and verifies it when the body is read.
#[derive(Clone, Debug, Default)]
pub struct ContentAddressedStore<B> {
    backend: B,
    tenant: Option<TenantKey>,
}

impl<B: Backend> ContentAddressedStore<B> {
    /// Creates a store that keeps its bodies in `backend`.
    #[must_use]
    pub const fn new(backend: B) -> Self {
        Self { backend, tenant: None }
    }

    /// Returns the part of the store that belongs to the tenant with this key. It does not share
    /// bodies with the parts of other keys, or with the part without a key.
    #[must_use]
    pub fn with_tenant(self, key: TenantKey) -> Self {
        Self { tenant: Some(key), ..self }
    }

    fn body_key(&self, hash: &ContentHash) -> BodyKey {
        self.tenant.as_ref().map_or(*hash, |key| *blake3::keyed_hash(&key.0, hash).as_bytes())
    }

    fn body_keys(&self, hashes: &[ContentHash]) -> Vec<BodyKey> {
        hashes.iter().map(|hash| self.body_key(hash)).collect()
    }

    fn put_all(&mut self, bodies: &[&[u8]], mode: PutMode) -> Result<Vec<ContentHash>> {
        bodies.iter().try_for_each(|body| check_size(body))?;
        let hashes: Vec<_> = bodies.iter().map(|body| hash(body)).collect();
        let mut seen = HashSet::new();
        let new = hashes.iter().zip(bodies).filter(|(hash, _)| seen.insert(**hash));
        let keyed: Vec<_> = new.map(|(hash, body)| (self.body_key(hash), *body)).collect();
        if !keyed.is_empty() {
            self.backend.put(&keyed, mode)?;
        }
        Ok(hashes)
    }
}

impl<B: Backend> BatchStore for ContentAddressedStore<B> {
    fn has_many(&self, hashes: &[ContentHash]) -> Result<Vec<bool>> {
        self.backend.contains(&self.body_keys(hashes))
    }

    fn get_many(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>> {
        let bodies = self.backend.get(&self.body_keys(hashes))?;
        bodies.into_iter().zip(hashes).map(|(body, hash)| verify(body, hash)).collect()
    }

    fn put_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>> {
        self.put_all(bodies, PutMode::Keep)
    }

    fn repair_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>> {
        self.put_all(bodies, PutMode::Replace)
    }
}

impl<B: Backend> ContentStore for ContentAddressedStore<B> {
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        let body = self.backend.get(&[self.body_key(hash)])?.pop().unwrap_or(Lookup::Missing);
        Ok(verify(body, hash)?.map(Cow::Owned))
    }

    fn put(&mut self, given: ContentHash, body: &[u8]) -> Result<(), StoreError> {
        check_size(body)?;
        let actual = hash(body);
        if given != actual {
            return Err(Error::WrongHash { given, actual }.into());
        }
        Ok(self.backend.put(&[(self.body_key(&given), body)], PutMode::Keep)?)
    }
}

/// The secret key of a tenant. Bodies are stored under keys that only its holder can compute.
///
/// A user of the same store without this key cannot check whether a body exists, nor identify a
/// body by its key. The bodies themselves are **not encrypted**: anyone with read access to the
/// file or bucket can read them. A body that belongs to two tenants is stored twice.
#[derive(Clone)]
pub struct TenantKey([u8; 32]);

impl TenantKey {
    /// Creates a key from 32 random bytes. Without this key, the bodies of the tenant cannot be
    /// found.
    #[must_use]
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TenantKey(..)")
    }
}

fn hash(body: &[u8]) -> ContentHash {
    *blake3::hash(body).as_bytes()
}

fn check_size(body: &[u8]) -> Result<()> {
    let (found, max) = (body.len() as u64, BODY_BYTES_MAX);
    if found > max {
        return Err(Error::TooLarge { limit: "BODY_DECOMPRESSED_BYTES_MAX", found, max });
    }
    Ok(())
}

fn verify(body: Lookup, asked: &ContentHash) -> Result<Option<Vec<u8>>> {
    match body {
        Lookup::Missing => Ok(None),
        Lookup::Body(body) if hash(&body) == *asked => Ok(Some(body)),
        Lookup::Body(_) | Lookup::Damaged => Err(Error::Corrupt(*asked)),
    }
}
