//! The store in memory. It ends with its process.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lcp_types::ContentHash;

use super::DEFAULT_EXPIRY;
use super::error::{Error, Result};
use super::records::{
    ConversationRecord, ExpiryStats, HandoffState, NewMessage, StoredHandoff, StoredMessage,
};
use super::tables::{Tables, Transactional};
use crate::model::{Clock, SystemClock, Timestamp};

/// A store in memory, for tests and for sessions that need not outlive their process.
///
/// Equal messages are stored once, and a fork stores only its own messages.
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
    /// Creates an empty store with the system clock and an expiry of [`DEFAULT_EXPIRY`].
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::default(), clock: Arc::new(SystemClock), expiry: DEFAULT_EXPIRY }
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets the time for which a hand-off can be resumed, and for which a conversation is stored
    /// after its last record.
    #[must_use]
    pub fn with_expiry(self, expiry: Duration) -> Self {
        Self { expiry, ..self }
    }

    /// Locks the state, which is consistent even after a panic, and updates its time.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.now = self.clock.now();
        state
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints the number of items, never their contents.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MemoryStore")
            .field("conversations", &state.conversations.len())
            .field("handoffs", &state.handoffs.len())
            .field("bodies", &state.bodies.len())
            .field("expiry", &self.expiry)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Transactional for MemoryStore {
    fn read<T>(&self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T> {
        work(&*self.lock())
    }

    fn write<T>(&self, work: impl FnOnce(&mut dyn Tables) -> Result<T>) -> Result<T> {
        work(&mut *self.lock())
    }

    fn expiry(&self) -> Duration {
        self.expiry
    }
}

#[derive(Default)]
struct State {
    /// The time of the call that holds the lock.
    now: Timestamp,
    conversations: BTreeMap<String, Conversation>,
    /// Hand-offs, including those whose packs were deleted.
    handoffs: HashMap<String, (StoredHandoff, Vec<u8>)>,
    /// Message bodies without duplicates, shared by conversations.
    bodies: HashMap<ContentHash, Arc<[u8]>>,
}

struct Conversation {
    record: ConversationRecord,
    /// The messages that are not inherited.
    own: Vec<Message>,
}

struct Message {
    epoch: u32,
    body: Arc<[u8]>,
    tokens: u32,
    recorded: Timestamp,
}

impl Conversation {
    /// Returns the conversation's own messages with positions from `from` to `end`, exclusive.
    fn own_messages(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, &Message)> {
        let inherited = self.record.parent.as_ref().map_or(0, |parent| parent.messages);
        let first = from.max(inherited);
        let skip = usize::try_from(first - inherited).unwrap_or(usize::MAX);
        (first..end).zip(self.own.iter().skip(skip))
    }
}

impl State {
    /// Returns messages of a conversation with their positions.
    fn find_messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<(u64, &Message)>> {
        let find = |id: &str| {
            self.conversations.get(id).ok_or_else(|| Error::UnknownConversation(id.to_owned()))
        };
        let mut conversation = find(id)?;
        let mut end = from.saturating_add(limit).min(conversation.record.messages);
        // Collect the ancestors, then read them in reverse. A loop can follow a long chain of forks
        // without overflowing the stack.
        let mut line = vec![(conversation, end)];
        while let Some(parent) = &conversation.record.parent {
            end = end.min(parent.messages);
            if from >= end {
                break;
            }
            conversation = find(&parent.conversation)?;
            line.push((conversation, end));
        }
        let parts = line.into_iter().rev();
        Ok(parts.flat_map(|(conversation, end)| conversation.own_messages(from, end)).collect())
    }

    /// Returns the hand-offs of a conversation, oldest first.
    fn handoffs_of(&self, conversation: &str) -> Vec<&StoredHandoff> {
        let mut handoffs: Vec<_> = self.handoffs.values().map(|(handoff, _)| handoff).collect();
        handoffs.retain(|handoff| handoff.record.conversation == conversation);
        handoffs.sort_unstable_by_key(|handoff| handoff.order);
        handoffs
    }

    /// Returns the ids of the live conversations and hand-offs, and of everything they depend on.
    fn needed(&self, expiry: Duration) -> (HashSet<String>, HashSet<String>) {
        let now = self.now;
        let is_alive = |record: &&ConversationRecord| {
            record.last_active.after(expiry) > now || record.is_held(now)
        };
        let records = self.conversations.values().map(|conversation| &conversation.record);
        let mut conversations: Vec<_> = records.filter(is_alive).map(|record| &record.id).collect();
        let open = self.handoffs.iter().filter(|(_, (handoff, _))| handoff.state(now).is_open());
        let mut handoffs: Vec<&String> = open.map(|(id, _)| id).collect();

        let mut needed = (HashSet::new(), HashSet::new());
        loop {
            if let Some(id) = conversations.pop() {
                let Some(Conversation { record, .. }) = self.conversations.get(id) else {
                    continue;
                };
                if needed.0.insert(id.clone()) {
                    conversations.extend(record.parent.as_ref().map(|at| &at.conversation));
                    handoffs.extend(&record.origin);
                }
            } else if let Some(id) = handoffs.pop() {
                // The items that a deleted hand-off depends on are no longer needed.
                let handoff = self.handoffs.get(id).filter(|(handoff, _)| handoff.has_pack);
                let Some((handoff, _)) = handoff else { continue };
                if needed.1.insert(id.clone()) {
                    conversations.push(&handoff.record.conversation);
                    handoffs.extend(&handoff.record.previous);
                }
            } else {
                return needed;
            }
        }
    }
}

impl Tables for State {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn find_conversation(&self, id: &str) -> Result<Option<ConversationRecord>> {
        Ok(self.conversations.get(id).map(|conversation| conversation.record.clone()))
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = self.conversations.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
        Ok(page.take(limit).map(|(_, conversation)| conversation.record.clone()).collect())
    }

    fn insert_conversation(&mut self, record: &ConversationRecord) -> Result<()> {
        let conversation = Conversation { record: record.clone(), own: Vec::new() };
        self.conversations.insert(record.id.clone(), conversation);
        Ok(())
    }

    fn update_conversation(&mut self, record: &ConversationRecord) -> Result<()> {
        if let Some(conversation) = self.conversations.get_mut(&record.id) {
            conversation.record = record.clone();
        }
        Ok(())
    }

    fn insert_messages(
        &mut self,
        record: &ConversationRecord,
        messages: &[(ContentHash, &NewMessage)],
    ) -> Result<()> {
        let Self { conversations, bodies, now, .. } = self;
        let conversation = conversations.get_mut(&record.id);
        let own =
            &mut conversation.ok_or_else(|| Error::UnknownConversation(record.id.clone()))?.own;
        own.extend(messages.iter().map(|(hash, message)| {
            let body = bodies.entry(*hash).or_insert_with(|| Arc::from(message.body.as_slice()));
            let (epoch, body) = (record.epoch, Arc::clone(body));
            Message { epoch, body, tokens: message.tokens, recorded: *now }
        }));
        Ok(())
    }

    fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let stored = |(position, message): (u64, &Message)| StoredMessage {
            position,
            epoch: message.epoch,
            body: message.body.to_vec(),
            tokens: message.tokens,
            recorded: message.recorded,
        };
        Ok(self.find_messages(id, from, limit)?.into_iter().map(stored).collect())
    }

    fn message_epoch(&self, conversation: &str, position: u64) -> Result<Option<u32>> {
        let messages = self.find_messages(conversation, position, 1)?;
        Ok(messages.first().map(|(_, message)| message.epoch))
    }

    fn find_handoff(&self, id: &str) -> Result<Option<StoredHandoff>> {
        Ok(self.handoffs.get(id).map(|(handoff, _)| handoff.clone()))
    }

    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<StoredHandoff>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let newest_first = self.handoffs_of(conversation).into_iter().rev();
        Ok(newest_first.take(limit).cloned().collect())
    }

    fn open_handoffs(&self, conversation: &str) -> Result<Vec<StoredHandoff>> {
        let mut handoffs = self.handoffs_of(conversation);
        handoffs.retain(|handoff| handoff.record.state.is_open());
        Ok(handoffs.into_iter().cloned().collect())
    }

    fn insert_handoff(&mut self, handoff: &StoredHandoff, pack: &[u8]) -> Result<()> {
        let order = self.handoffs.len().cast_signed() as i64;
        let stored = StoredHandoff { order, ..handoff.clone() };
        self.handoffs.insert(handoff.record.id.clone(), (stored, pack.to_vec()));
        Ok(())
    }

    fn update_handoff(&mut self, handoff: &StoredHandoff) -> Result<()> {
        if let Some((stored, _)) = self.handoffs.get_mut(&handoff.record.id) {
            *stored = handoff.clone();
        }
        Ok(())
    }

    fn pack(&self, handoff: &StoredHandoff) -> Result<Vec<u8>> {
        Ok(self.handoffs.get(&handoff.record.id).map(|(_, pack)| pack.clone()).unwrap_or_default())
    }

    fn expire(&mut self, expiry: Duration) -> Result<ExpiryStats> {
        let (needed_conversations, needed_handoffs) = self.needed(expiry);

        let conversations = self.conversations.len();
        self.conversations.retain(|id, _| needed_conversations.contains(id));
        let conversations = (conversations - self.conversations.len()) as u64;

        let mut handoffs = 0;
        for (id, (handoff, pack)) in &mut self.handoffs {
            let is_kept = handoff.record.expires > self.now || needed_handoffs.contains(id);
            if is_kept || !handoff.has_pack {
                continue;
            }
            handoff.has_pack = false;
            *pack = Vec::new();
            handoffs += 1;
            if handoff.record.state.is_open() {
                handoff.record.state = HandoffState::Expired;
            }
        }

        let bodies = self.bodies.len();
        // Only the store itself still refers to such a body.
        self.bodies.retain(|_, body| Arc::strong_count(body) > 1);
        let bodies = (bodies - self.bodies.len()) as u64;
        Ok(ExpiryStats { conversations, handoffs, bodies })
    }
}
