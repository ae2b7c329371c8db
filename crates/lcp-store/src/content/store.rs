//! The content-addressed store, which hashes, verifies and bounds bodies, and gives them keys; and
//! the key-value interface that it needs of its backend.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use lcp_types::{ContentHash, ContentStore, StoreError, limits};

use super::error::{Error, Result};

/// The key of a body: its hash, or for a tenant the keyed hash of that.
pub type BodyKey = [u8; 32];

/// What [`Backend::put`] does with a key that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Leaves the existing body.
    Keep,
    /// Replaces the existing body.
    Replace,
}

/// The result of looking a key up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The key does not exist.
    Missing,
    /// A body, which need not be the right one.
    Body(Vec<u8>),
    /// A value that was never put: it is too long, or does not decompress.
    Damaged,
}

/// A place that keeps bytes under keys.
///
/// It need not be trusted: [`ContentAddressedStore`](super::ContentAddressedStore) hashes what
/// it returns.
pub trait Backend {
    /// Returns which of `keys` exist, in their order.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>>;

    /// Returns what is stored under `keys`, in their order.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>>;

    /// Stores bodies under keys; no key occurs twice. Each is stored completely or not at all.
    ///
    /// # Errors
    ///
    /// If not all of them could be stored.
    fn put(&mut self, bodies: &[(BodyKey, &[u8])], mode: PutMode) -> Result<()>;
}

/// Bodies in memory.
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

/// Prints the number of bodies, never their content.
impl fmt::Debug for MemoryBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackend").field("bodies", &self.bodies.len()).finish()
    }
}

/// Bytes of the largest body that a store accepts: the most that a reader resolves of a reference.
pub const BODY_BYTES_MAX: u64 = limits::BODY_DECOMPRESSED_BYTES_MAX;

/// A store of bodies by their BLAKE3 hash, many at once.
///
/// Results stand in the order of the arguments, which may hold the same hash or body more than
/// once.
pub trait BatchStore: ContentStore {
    /// Returns which of `hashes` exist. Their bodies are not read: a damaged one exists, too.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn has_many(&self, hashes: &[ContentHash]) -> Result<Vec<bool>>;

    /// Returns the bodies with these hashes; `None` for each that does not exist.
    ///
    /// One damaged body fails the call. The error names it: ask again without it, or for one
    /// hash at a time, to get the others; [`Self::repair_many`] with the original repairs it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first body that does not match its hash; other errors if the
    /// store cannot be read.
    fn get_many(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>>;

    /// Stores bodies, each of at most [`BODY_BYTES_MAX`] bytes, and returns their hashes.
    /// Existing bodies are left as they are.
    ///
    /// # Errors
    ///
    /// If one is too large (then none was stored), or not all could be stored. Some may have
    /// been stored then; to put them again does no harm.
    fn put_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;

    /// Stores bodies like [`Self::put_many`], but replaces existing ones, which repairs damaged
    /// bodies.
    ///
    /// # Errors
    ///
    /// As [`Self::put_many`].
    fn repair_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>>;
}

/// Bodies by their BLAKE3 hash, in a [`Backend`] that need not be trusted.
///
/// A body is stored under the hash computed here, and returned only if it still has that hash.
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

    /// Returns the part of the store that belongs to the tenant with this key. It shares nothing
    /// with the part of another key, or with that without a key.
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

/// A tenant's secret: bodies are stored under keys that only its holder can compute.
///
/// Who shares a store but not the key can neither ask whether a body exists, nor learn from a
/// body's key which body it is. The bodies themselves are **not encrypted**: whoever can read the file
/// or bucket can read them. A body of two tenants is stored twice.
#[derive(Clone)]
pub struct TenantKey([u8; 32]);

impl TenantKey {
    /// Creates a key of 32 random bytes. Without it the tenant's bodies cannot be found again.
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
