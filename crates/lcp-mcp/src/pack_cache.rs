//! A cache of packs in memory, by id.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::{ToolError, ToolResult};

/// The maximum number of packs in the cache.
pub(crate) const PACKS_MAX: usize = 64;

/// The maximum total size of the packs in bytes.
pub(crate) const PACKS_BYTES_MAX: usize = 256 << 20;

/// The prefix of the URI of a pack.
pub(crate) const URI_PREFIX: &str = "lcp://pack/";

/// The length of an id in hexadecimal digits.
const ID_DIGITS: usize = 16;

/// A pack in the cache.
#[derive(Clone, Debug)]
pub(crate) struct CachedPack {
    /// The id: the first digits of the hash of the pack.
    pub(crate) id: String,
    /// The paths of its files, for display.
    pub(crate) title: String,
    /// The bytes of the pack.
    pub(crate) bytes: Arc<[u8]>,
}

impl CachedPack {
    /// Returns the URI of the pack as a resource.
    pub(crate) fn uri(&self) -> String {
        format!("{URI_PREFIX}{}", self.id)
    }
}

/// The packs from oldest to newest. The oldest are removed if a limit is exceeded.
#[derive(Debug)]
pub(crate) struct PackCache {
    packs: Mutex<VecDeque<CachedPack>>,
    count: usize,
    bytes: usize,
}

impl Default for PackCache {
    fn default() -> Self {
        Self::with_limits(PACKS_MAX, PACKS_BYTES_MAX)
    }
}

impl PackCache {
    fn with_limits(count: usize, bytes: usize) -> Self {
        Self { packs: Mutex::default(), count, bytes }
    }

    /// Adds a pack as the newest one.
    pub(crate) fn insert(&self, title: String, bytes: Vec<u8>) -> ToolResult<CachedPack> {
        if bytes.len() > self.bytes {
            let message = format!("the pack exceeds the limit of {} bytes", self.bytes);
            return Err(ToolError::limit(message).with_hint("pack fewer files, or run `lcp pack`"));
        }
        let mut id = blake3::hash(&bytes).to_hex().to_string();
        id.truncate(ID_DIGITS);
        let new = CachedPack { id, title, bytes: bytes.into() };
        let mut packs = self.lock();
        packs.retain(|old| old.id != new.id);
        packs.push_back(new.clone());
        let mut total: usize = packs.iter().map(|pack| pack.bytes.len()).sum();
        while packs.len() > self.count || total > self.bytes {
            let Some(oldest) = packs.pop_front() else { break };
            total -= oldest.bytes.len();
        }
        Ok(new)
    }

    /// Returns the pack with this id.
    pub(crate) fn get(&self, id: &str) -> Option<CachedPack> {
        self.lock().iter().find(|pack| pack.id == id).cloned()
    }

    /// Returns all packs, newest first.
    pub(crate) fn list(&self) -> Vec<CachedPack> {
        self.lock().iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CachedPack>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a text has the form of an id.
pub(crate) fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    text.len() == ID_DIGITS && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests;
