//! Bytes under names: what a place must be able to do to be a store.

use super::error::Result;

/// What a body is kept under: its hash, or, for a tenant, the keyed hash of that.
pub type Name = [u8; 32];

/// What to do where a name is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Leave what is there.
    Keep,
    /// Put the new body in its place.
    Replace,
}

/// What there is under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Bytes, whether they are the right ones or not.
    Body(Vec<u8>),
    /// Something that cannot be what was put: it is too long, or does not unpack.
    Damaged,
}

/// A place that keeps bytes under names.
///
/// It need not be trusted: [`Store`](super::Store) hashes what it gives.
pub trait Backend {
    /// Which of these names are there, in their order.
    ///
    /// # Errors
    ///
    /// If the place could not be asked.
    fn has(&self, names: &[Name]) -> Result<Vec<bool>>;

    /// What is kept under these names, in their order.
    ///
    /// # Errors
    ///
    /// If the place could not be asked.
    fn get(&self, names: &[Name]) -> Result<Vec<Found>>;

    /// Keeps bodies under names; no name comes twice. Each is kept whole or not
    /// at all.
    ///
    /// # Errors
    ///
    /// If not all of them could be kept.
    fn put(&mut self, bodies: &[(Name, &[u8])], put: Put) -> Result<()>;
}
