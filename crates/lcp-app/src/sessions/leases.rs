//! The leases and claims of a process in a store, which an interruption releases.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_continuity::store::{Error, Store};

/// The leased conversations and the claimed hand-off of a process.
///
/// If they were not released, other processes would have to wait until the lease expires.
#[derive(Clone, Debug)]
pub(super) struct HeldLeases {
    store: Arc<dyn Store>,
    holder: String,
    claims: Arc<Mutex<Claims>>,
}

#[derive(Debug, Default)]
struct Claims {
    conversations: Vec<String>,
    handoff: Option<String>,
}

impl HeldLeases {
    /// Creates an empty list for a holder.
    pub(super) fn new(store: Arc<dyn Store>, holder: String) -> Self {
        Self { store, holder, claims: Arc::default() }
    }

    /// Releases all leases and the claim; later writes of this process fail. Ignores errors:
    /// leases expire.
    pub(super) fn release_all(&self) {
        let (handoff, mut conversations) = {
            let mut claims = self.lock();
            (claims.handoff.take(), std::mem::take(&mut claims.conversations))
        };
        if let Some(handoff) = handoff {
            // The holder of a claim gets it again. A free claim is taken and abandoned.
            match self.store.claim(&handoff, &self.holder, Duration::from_secs(1)) {
                Ok(claim) => drop(self.store.abandon(&claim)),
                Err(Error::AlreadyResumed { into, .. }) => conversations.push(into),
                Err(_) => {}
            }
        }
        for conversation in conversations {
            self.release(&conversation);
        }
    }

    fn release(&self, conversation: &str) {
        let Ok(record) = self.store.conversation(conversation) else { return };
        if let Some(lease) = record.newest_lease().filter(|lease| lease.holder == self.holder) {
            // If this fails, the lease expires.
            let _ = self.store.release(&lease);
        }
    }

    /// Registers a leased conversation.
    pub(super) fn take(&self, conversation: &str) {
        self.lock().conversations.push(conversation.to_owned());
    }

    /// Removes a released conversation.
    pub(super) fn forget(&self, conversation: &str) {
        self.lock().conversations.retain(|held| held != conversation);
    }

    /// Registers the claimed hand-off, or removes it for `None`.
    pub(super) fn claim(&self, handoff: Option<&str>) {
        self.lock().handoff = handoff.map(str::to_owned);
    }

    fn lock(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
