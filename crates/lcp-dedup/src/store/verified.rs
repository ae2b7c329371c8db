//! What every store does, wherever it keeps its bodies: hash, verify, bound, name.

use std::borrow::Cow;
use std::collections::HashSet;

use lcp_types::{ContentHash, ContentStore, StoreError, limits};

use super::BatchStore;
use super::backend::{Backend, Found, Name, Put};
use super::error::{Error, Result};
use super::tenant::TenantKey;

/// Bytes of the largest body that a store keeps: what a reader resolves of a
/// reference at most.
pub const BODY_BYTES_MAX: u64 = limits::BODY_DECOMPRESSED_BYTES_MAX;

/// Bodies by their BLAKE3 hash, kept by a [`Backend`] that need not be trusted.
///
/// A body goes in under the hash that is computed here, and comes out only if it
/// still has it.
#[derive(Clone, Debug, Default)]
pub struct Store<B> {
    backend: B,
    tenant: Option<TenantKey>,
}

impl<B: Backend> Store<B> {
    /// The store that keeps its bodies in `backend`.
    #[must_use]
    pub fn new(backend: B) -> Self {
        Self { backend, tenant: None }
    }

    /// The part of the store that belongs to the tenant with this key. It has
    /// nothing in common with the part of another key, or that without one.
    #[must_use]
    pub fn for_tenant(self, key: TenantKey) -> Self {
        Self { tenant: Some(key), ..self }
    }

    fn names(&self, hashes: &[ContentHash]) -> Vec<Name> {
        hashes.iter().map(|hash| self.name(hash)).collect()
    }

    fn name(&self, hash: &ContentHash) -> Name {
        self.tenant.as_ref().map_or(*hash, |key| key.name(hash))
    }

    fn keep_all(&mut self, bodies: &[&[u8]], put: Put) -> Result<Vec<ContentHash>> {
        bodies.iter().try_for_each(|body| check_size(body))?;
        let hashes: Vec<_> = bodies.iter().map(|body| hash(body)).collect();
        let mut seen = HashSet::new();
        let new = hashes.iter().zip(bodies).filter(|(hash, _)| seen.insert(**hash));
        let named: Vec<_> = new.map(|(hash, body)| (self.name(hash), *body)).collect();
        if !named.is_empty() {
            self.backend.put(&named, put)?;
        }
        Ok(hashes)
    }
}

impl<B: Backend> BatchStore for Store<B> {
    fn has_many(&self, hashes: &[ContentHash]) -> Result<Vec<bool>> {
        self.backend.has(&self.names(hashes))
    }

    fn get_many(&self, hashes: &[ContentHash]) -> Result<Vec<Option<Vec<u8>>>> {
        let found = self.backend.get(&self.names(hashes))?;
        found.into_iter().zip(hashes).map(|(found, hash)| verified(found, hash)).collect()
    }

    fn put_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>> {
        self.keep_all(bodies, Put::Keep)
    }

    fn repair_many(&mut self, bodies: &[&[u8]]) -> Result<Vec<ContentHash>> {
        self.keep_all(bodies, Put::Replace)
    }
}

impl<B: Backend> ContentStore for Store<B> {
    fn get(&self, hash: &ContentHash) -> Result<Option<Cow<'_, [u8]>>, StoreError> {
        let found = self.backend.get(&[self.name(hash)])?.pop().unwrap_or(Found::Nothing);
        Ok(verified(found, hash)?.map(Cow::Owned))
    }

    fn put(&mut self, given: ContentHash, body: &[u8]) -> Result<(), StoreError> {
        check_size(body)?;
        let actual = hash(body);
        if given != actual {
            return Err(Error::WrongHash { given, actual }.into());
        }
        Ok(self.backend.put(&[(self.name(&given), body)], Put::Keep)?)
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

fn verified(found: Found, asked: &ContentHash) -> Result<Option<Vec<u8>>> {
    match found {
        Found::Nothing => Ok(None),
        Found::Body(body) if hash(&body) == *asked => Ok(Some(body)),
        Found::Body(_) | Found::Damaged => Err(Error::Corrupt { hash: *asked }),
    }
}
