//! A store that ends with its process.

mod conversations;
mod expiry;
mod handoffs;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::state::State;
use super::error::Result;
use super::records::{
    Claim, ConversationRecord, Expired, HandoffRecord, Lease, NewConversation, NewHandoff,
    NewMessage, StoredMessage,
};
use super::{DEFAULT_EXPIRY, Store, check};
use crate::model::{Clock, SystemClock, Timestamp};

/// Conversations and hand-offs in memory, for tests and for sessions that need not
/// outlive their process.
///
/// Equal messages are held once, and a fork holds only what is its own.
///
/// ```
/// use lcp_continuity::store::{MemoryStore, NewConversation, NewMessage, Store};
/// use std::time::Duration;
///
/// let store = MemoryStore::new();
/// store.begin(&NewConversation {
///     id: "refactoring".into(),
///     window_tokens: 200_000,
///     output_reserve_tokens: 8_000,
/// })?;
/// let lease = store.lease("refactoring", "worker 1", Duration::from_secs(60))?;
/// let message = NewMessage { body: b"a pack of one block".to_vec(), tokens: 5 };
/// assert_eq!(store.append(&lease, &[message], None)?, 1);
/// # Ok::<(), lcp_continuity::store::Error>(())
/// ```
pub struct MemoryStore {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    expiry: Duration,
}

impl MemoryStore {
    /// An empty store, with the system's clock and an expiry of [`DEFAULT_EXPIRY`].
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::default(), clock: Arc::new(SystemClock), expiry: DEFAULT_EXPIRY }
    }

    /// Tells the time by this clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// How long a hand-off can be resumed, and a conversation is kept after something
    /// was last recorded.
    #[must_use]
    pub fn with_expiry(self, expiry: Duration) -> Self {
        Self { expiry, ..self }
    }

    /// The state, and the moment now. A panic while it was held left nothing half
    /// done: whatever can fail comes before the first change.
    fn lock(&self) -> (MutexGuard<'_, State>, Timestamp) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        (state, now)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// How much there is, never what it says.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (state, _) = self.lock();
        f.debug_struct("MemoryStore")
            .field("conversations", &state.conversations.len())
            .field("handoffs", &state.handoffs.len())
            .field("bodies", &state.bodies.len())
            .field("expiry", &self.expiry)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn begin(&self, conversation: &NewConversation) -> Result<ConversationRecord> {
        check::id(&conversation.id)?;
        let (mut state, now) = self.lock();
        state.begin(conversation, now)
    }

    fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        self.lock().0.conversation(id)
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        Ok(self.lock().0.conversations(after, limit))
    }

    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease> {
        check::id(holder)?;
        let (mut state, now) = self.lock();
        state.lease(conversation, holder, now.after(span), now)
    }

    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease> {
        let (mut state, now) = self.lock();
        state.renew(lease, now.after(span))
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.lock().0.release(lease);
        Ok(())
    }

    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64> {
        check::messages(messages, status)?;
        let (mut state, now) = self.lock();
        state.append(lease, messages, status, now)
    }

    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        self.lock().0.messages(conversation, from, limit)
    }

    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        check::status(status)?;
        let (mut state, now) = self.lock();
        state.next_epoch(lease, status, now)
    }

    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord> {
        check::id(id)?;
        let (mut state, now) = self.lock();
        state.fork(conversation, messages, id, now)
    }

    fn commit(&self, lease: &Lease, handoff: &NewHandoff) -> Result<HandoffRecord> {
        check::handoff(handoff)?;
        let (mut state, now) = self.lock();
        state.commit(lease, handoff, now.after(self.expiry), now)
    }

    fn handoff(&self, id: &str) -> Result<HandoffRecord> {
        let (state, now) = self.lock();
        state.handoff(id, now)
    }

    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim> {
        check::id(claimant)?;
        let (mut state, now) = self.lock();
        state.claim(handoff, claimant, now.after(span), now)
    }

    fn resume(&self, claim: &Claim, conversation: &NewConversation) -> Result<ConversationRecord> {
        check::id(&conversation.id)?;
        let (mut state, now) = self.lock();
        state.resume(claim, conversation, now)
    }

    fn abandon(&self, claim: &Claim) -> Result<()> {
        self.lock().0.abandon(claim);
        Ok(())
    }

    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>> {
        let (state, now) = self.lock();
        state.chain(handoff, now)
    }

    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>> {
        let (state, now) = self.lock();
        state.handoffs(conversation, limit, now)
    }

    fn latest(&self, conversation: &str) -> Result<Option<String>> {
        let (state, now) = self.lock();
        state.latest(conversation, now)
    }

    fn expire(&self) -> Result<Expired> {
        let (mut state, now) = self.lock();
        Ok(state.expire(self.expiry, now))
    }
}
