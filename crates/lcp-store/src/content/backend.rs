//! The key-value interface that a store needs of its backend, and the backend in memory.

use std::collections::HashMap;
use std::fmt;

use super::error::Result;

/// The key of a body: its hash, or for a tenant the keyed hash of that.
pub type Name = [u8; 32];

/// What [`Backend::put`] does with a name that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    /// Leaves the existing body.
    Keep,
    /// Replaces the existing body.
    Replace,
}

/// The result of looking a name up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The name does not exist.
    Missing,
    /// A body, which need not be the right one.
    Body(Vec<u8>),
    /// A value that was never put: it is too long, or does not decompress.
    Damaged,
}

/// A place that keeps bytes under names.
///
/// It need not be trusted: [`ContentAddressedStore`](super::ContentAddressedStore) hashes what
/// it returns.
pub trait Backend {
    /// Returns which of `names` exist, in their order.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    fn has(&self, names: &[Name]) -> Result<Vec<bool>>;

    /// Returns what is stored under `names`, in their order.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    fn get(&self, names: &[Name]) -> Result<Vec<Lookup>>;

    /// Stores bodies under names; no name occurs twice. Each is stored completely or not at all.
    ///
    /// # Errors
    ///
    /// If not all of them could be stored.
    fn put(&mut self, bodies: &[(Name, &[u8])], mode: PutMode) -> Result<()>;
}

/// Bodies in memory.
#[derive(Clone, Default)]
pub struct MemoryBackend {
    bodies: HashMap<Name, Vec<u8>>,
}

impl Backend for MemoryBackend {
    fn has(&self, names: &[Name]) -> Result<Vec<bool>> {
        Ok(names.iter().map(|name| self.bodies.contains_key(name)).collect())
    }

    fn get(&self, names: &[Name]) -> Result<Vec<Lookup>> {
        let find = |name| self.bodies.get(name).cloned().map_or(Lookup::Missing, Lookup::Body);
        Ok(names.iter().map(find).collect())
    }

    fn put(&mut self, bodies: &[(Name, &[u8])], mode: PutMode) -> Result<()> {
        for &(name, body) in bodies {
            if mode == PutMode::Replace || !self.bodies.contains_key(&name) {
                self.bodies.insert(name, body.to_vec());
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
