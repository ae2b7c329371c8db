//! The names under which one tenant's bodies are kept.

use std::fmt;

use lcp_types::ContentHash;

use super::backend::Name;

/// A tenant's secret: bodies are kept under names that only it can work out.
///
/// Who shares a store but not the key can neither ask whether a body is there,
/// nor tell from a name which body it is. The bodies themselves are **not
/// encrypted**: whoever can read the file or bucket can read them. Two tenants
/// that have the same body keep it twice.
#[derive(Clone)]
pub struct TenantKey([u8; 32]);

impl TenantKey {
    /// A key of 32 random bytes. Without it the tenant's bodies are not found
    /// again.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    pub(super) fn name(&self, hash: &ContentHash) -> Name {
        *blake3::keyed_hash(&self.0, hash).as_bytes()
    }
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TenantKey(..)")
    }
}
