//! Claims a process holds in a store, given back when it is interrupted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_continuity::store::{Error, Lease, Store};

/// The conversations that a process holds, and the hand-off that it claims.
///
/// Without it they would be nobody else's until the lease ends.
#[derive(Clone, Debug)]
pub struct HeldLeases {
    store: Arc<dyn Store>,
    holder: String,
    what: Arc<Mutex<Claims>>,
}

#[derive(Debug, Default)]
struct Claims {
    conversations: Vec<String>,
    handoff: Option<String>,
}

impl HeldLeases {
    /// Nothing yet, of this holder.
    pub(super) fn new(store: Arc<dyn Store>, holder: String) -> Self {
        Self { store, holder, what: Arc::default() }
    }

    /// Gives everything back: what this process still does with it fails from now on.
    /// Says nothing of what cannot be given back: that ends by itself.
    pub fn release_all(&self) {
        let (handoff, mut conversations) = {
            let mut what = self.locked();
            (what.handoff.take(), std::mem::take(&mut what.conversations))
        };
        if let Some(handoff) = handoff {
            // Whoever has a claim gets it again; one that nobody has is taken and left.
            match self.store.claim(&handoff, &self.holder, Duration::from_secs(1)) {
                Ok(claim) => drop(self.store.abandon(&claim)),
                Err(Error::AlreadyResumed { into, .. }) => conversations.push(into),
                Err(_) => {}
            }
        }
        for conversation in conversations {
            self.release(conversation);
        }
    }

    fn release(&self, conversation: String) {
        let Ok(record) = self.store.conversation(&conversation) else { return };
        let Some((holder, until)) = record.holder.filter(|(holder, _)| *holder == self.holder)
        else {
            return;
        };
        let (fence, epoch) = (record.fence, record.epoch);
        // It ends by itself.
        let _ = self.store.release(&Lease { conversation, holder, fence, epoch, until });
    }

    pub(super) fn takes(&self, conversation: &str) {
        self.locked().conversations.push(conversation.to_owned());
    }

    pub(super) fn gave_back(&self, conversation: &str) {
        self.locked().conversations.retain(|held| held != conversation);
    }

    pub(super) fn claims(&self, handoff: Option<&str>) {
        self.locked().handoff = handoff.map(str::to_owned);
    }

    fn locked(&self) -> MutexGuard<'_, Claims> {
        self.what.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
