//! The store in memory, which ends with its process.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::error::{Error, Result};
use super::records::{
    Claim, ConversationRecord, ExpiryStats, ForkPoint, HandoffRecord, HandoffState, Lease,
    NewConversation, NewHandoff, NewMessage, StoredHandoff, StoredMessage,
};
use super::{DEFAULT_EXPIRY, Store, validate};
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
    /// Creates an empty store, with the system's clock and an expiry of [`DEFAULT_EXPIRY`].
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::default(), clock: Arc::new(SystemClock), expiry: DEFAULT_EXPIRY }
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Sets how long a hand-off can be resumed, and a conversation is kept after something
    /// was last recorded.
    #[must_use]
    pub fn with_expiry(self, expiry: Duration) -> Self {
        Self { expiry, ..self }
    }

    /// Locks the state, and reads the clock. A panic while it was locked left nothing half
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

/// Prints how much there is, never its content.
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

#[derive(Default)]
struct State {
    conversations: BTreeMap<String, Conversation>,
    /// Those that were dropped stay, without their packs.
    handoffs: HashMap<String, Handoff>,
    /// Each body once; conversations share them.
    bodies: HashSet<Arc<[u8]>>,
}

struct Conversation {
    record: ConversationRecord,
    /// Its messages but those that it inherits.
    own: Vec<Message>,
}

struct Message {
    epoch: u32,
    body: Arc<[u8]>,
    tokens: u32,
    recorded: Timestamp,
}

struct Handoff {
    /// How many were committed before it.
    order: usize,
    is_dropped: bool,
    /// Its state is the one it was left in: time alone changes nothing here.
    stored: StoredHandoff,
}

impl Conversation {
    /// Returns its own messages from `from` on, before `end`.
    fn own_messages(&self, from: u64, end: u64) -> impl Iterator<Item = StoredMessage> {
        let inherited = self.record.parent.as_ref().map_or(0, |parent| parent.messages);
        let first = from.max(inherited);
        let skip = usize::try_from(first - inherited).unwrap_or(usize::MAX);
        (first..end).zip(self.own.iter().skip(skip)).map(|(position, message)| StoredMessage {
            position,
            epoch: message.epoch,
            body: message.body.to_vec(),
            tokens: message.tokens,
            recorded: message.recorded,
        })
    }

    fn touch(&mut self, status: Option<&str>, now: Timestamp) {
        if let Some(status) = status {
            self.record.status = Some(status.to_owned());
        }
        self.record.active = now;
    }
}

impl Handoff {
    /// Whether it can be resumed, now or by whoever claims it.
    fn is_resumable(&self, now: Timestamp) -> bool {
        self.stored.state(now).is_open()
    }

    fn record(&self, now: Timestamp) -> HandoffRecord {
        HandoffRecord { state: self.stored.state(now), ..self.stored.record.clone() }
    }
}

impl State {
    fn insert(&mut self, record: ConversationRecord) -> ConversationRecord {
        let conversation = Conversation { record: record.clone(), own: Vec::new() };
        self.conversations.insert(record.id.clone(), conversation);
        record
    }

    fn conversation(&self, id: &str) -> Result<&Conversation> {
        self.conversations.get(id).ok_or_else(|| Error::unknown_conversation(id))
    }

    fn handoff(&self, id: &str) -> Result<&Handoff> {
        self.handoffs.get(id).ok_or_else(|| Error::unknown_handoff(id))
    }

    fn handoff_mut(&mut self, id: &str) -> Result<&mut Handoff> {
        self.handoffs.get_mut(id).ok_or_else(|| Error::unknown_handoff(id))
    }

    /// Returns the conversation of a lease, if that is its newest one.
    fn leased(&mut self, lease: &Lease) -> Option<&mut Conversation> {
        let conversation = self.conversations.get_mut(&lease.conversation);
        conversation.filter(|conversation| conversation.record.has_lease(lease))
    }

    /// Returns the conversation of a lease, if it can be written to under that.
    fn writable(&mut self, lease: &Lease, now: Timestamp) -> Result<&mut Conversation> {
        let id = &lease.conversation;
        let conversation = self.conversations.get_mut(id).ok_or_else(|| Error::lease_lost(id))?;
        conversation.record.check_writable(lease, now)?;
        Ok(conversation)
    }

    fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let mut conversation = self.conversation(id)?;
        let mut end = from.saturating_add(limit).min(conversation.record.messages);
        // Up the parents, then down again: a long line of forks is a loop.
        let mut line = vec![(conversation, end)];
        while let Some(parent) = &conversation.record.parent {
            end = end.min(parent.messages);
            if from >= end {
                break;
            }
            conversation = self.conversation(&parent.conversation)?;
            line.push((conversation, end));
        }
        let parts = line.iter().rev();
        Ok(parts.flat_map(|(conversation, end)| conversation.own_messages(from, *end)).collect())
    }

    /// Supersedes the open hand-offs of a conversation by this one, except those that are
    /// claimed at this moment.
    fn supersede(&mut self, conversation: &str, by: &str, unless_claimed_at: Option<Timestamp>) {
        for handoff in self.handoffs.values_mut().map(|handoff| &mut handoff.stored.record) {
            let is_claimed = matches!((&handoff.state, unless_claimed_at),
                (HandoffState::Claimed { until, .. }, Some(now)) if *until > now);
            let is_other = handoff.conversation == conversation && handoff.id != by;
            if is_other && handoff.state.is_open() && !is_claimed {
                handoff.state = HandoffState::Superseded { by: by.to_owned() };
            }
        }
    }

    /// Returns the ids of the conversations and hand-offs that are alive, and of all that these
    /// came from.
    fn needed(&self, expiry: Duration, now: Timestamp) -> (HashSet<String>, HashSet<String>) {
        let alive = self.conversations.values().map(|conversation| &conversation.record).filter(
            |conversation| conversation.active.after(expiry) > now || conversation.is_held(now),
        );
        let mut conversations: Vec<&String> = alive.map(|conversation| &conversation.id).collect();
        let alive = self.handoffs.iter().filter(|(_, handoff)| handoff.is_resumable(now));
        let mut handoffs: Vec<&String> = alive.map(|(id, _)| id).collect();

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
                // Nothing is left that a dropped one came from.
                let kept = self.handoffs.get(id).filter(|handoff| !handoff.is_dropped);
                let Some(handoff) = kept else { continue };
                if needed.1.insert(id.clone()) {
                    conversations.push(&handoff.stored.record.conversation);
                    handoffs.extend(&handoff.stored.record.previous);
                }
            } else {
                return needed;
            }
        }
    }
}

impl Store for MemoryStore {
    fn begin(&self, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        let (mut state, now) = self.lock();
        if let Some(existing) = state.conversations.get(&new.id) {
            return existing.record.clone().if_begun_as(new, None);
        }
        Ok(state.insert(ConversationRecord::new(new, now)))
    }

    fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        Ok(self.lock().0.conversation(id)?.record.clone())
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (state, _) = self.lock();
        let page = state.conversations.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
        Ok(page.take(limit).map(|(_, conversation)| conversation.record.clone()).collect())
    }

    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease> {
        validate::id(holder)?;
        let (mut state, now) = self.lock();
        let found = state.conversations.get_mut(conversation);
        let found = found.ok_or_else(|| Error::unknown_conversation(conversation))?;
        found.record.take_lease(holder, now.after(span), now)
    }

    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease> {
        let (mut state, now) = self.lock();
        let until = now.after(span);
        let conversation =
            state.leased(lease).ok_or_else(|| Error::lease_lost(&lease.conversation))?;
        conversation.record.holder = Some((lease.holder.clone(), until));
        Ok(Lease { until, ..lease.clone() })
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        if let Some(conversation) = self.lock().0.leased(lease) {
            conversation.record.holder = None;
        }
        Ok(())
    }

    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64> {
        validate::messages(messages, status)?;
        let (mut state, now) = self.lock();
        state.writable(lease, now)?;
        let mut own = Vec::with_capacity(messages.len());
        for message in messages {
            let body = state.bodies.get(message.body.as_slice()).cloned();
            let body = body.unwrap_or_else(|| Arc::from(message.body.as_slice()));
            state.bodies.insert(Arc::clone(&body));
            own.push(Message { epoch: lease.epoch, body, tokens: message.tokens, recorded: now });
        }
        let conversation = state.writable(lease, now)?;
        conversation.record.messages += own.len() as u64;
        conversation.own.append(&mut own);
        conversation.touch(status, now);
        Ok(conversation.record.messages)
    }

    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        self.lock().0.messages(conversation, from, limit)
    }

    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        validate::status(status)?;
        let (mut state, now) = self.lock();
        let conversation = state.writable(lease, now)?;
        conversation.touch(status, now);
        Ok(conversation.record.begin_epoch(lease))
    }

    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord> {
        validate::id(id)?;
        let (mut state, now) = self.lock();
        let parent = &state.conversation(conversation)?.record;
        if let Some(existing) = state.conversations.get(id) {
            return existing.record.clone().if_forked_at(conversation, messages);
        }
        if messages > parent.messages {
            return Err(Error::BadFork {
                conversation: conversation.to_owned(),
                messages: parent.messages,
                at: messages,
            });
        }
        // The window of a fork is the one that the next message found.
        let next = state.messages(conversation, messages, 1)?;
        let fork = ConversationRecord {
            id: id.to_owned(),
            parent: Some(ForkPoint { conversation: conversation.to_owned(), messages }),
            continued_as: None,
            epoch: next.first().map_or(parent.epoch, |message| message.epoch),
            fence: 0,
            holder: None,
            messages,
            status: None,
            created: now,
            active: now,
            ..parent.clone()
        };
        Ok(state.insert(fork))
    }

    fn commit(&self, lease: &Lease, new: &NewHandoff) -> Result<HandoffRecord> {
        validate::handoff(new)?;
        let hash = *blake3::hash(&new.pack).as_bytes();
        let (mut state, now) = self.lock();
        if let Some(existing) = state.handoffs.get(&new.id) {
            existing.stored.check_same(new, &hash, lease)?;
            return Ok(existing.record(now));
        }
        state.writable(lease, now)?;
        if let Some(previous) = &new.previous {
            // Never itself either, so that every chain has an end.
            state.handoff(previous)?;
        }
        state.writable(lease, now)?.touch(new.status.as_deref(), now);
        state.supersede(&lease.conversation, &new.id, Some(now));
        let record = HandoffRecord {
            id: new.id.clone(),
            conversation: lease.conversation.clone(),
            epoch: lease.epoch,
            previous: new.previous.clone(),
            messages: new.messages,
            pack: new.pack.clone(),
            state: HandoffState::Committed,
            created: now,
            expires: now.after(self.expiry),
        };
        let stored = StoredHandoff { record, hash, fence: 0 };
        let handoff = Handoff { order: state.handoffs.len(), is_dropped: false, stored };
        let record = handoff.record(now);
        state.handoffs.insert(new.id.clone(), handoff);
        Ok(record)
    }

    fn handoff(&self, id: &str) -> Result<HandoffRecord> {
        let (state, now) = self.lock();
        Ok(state.handoff(id)?.record(now))
    }

    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim> {
        validate::id(claimant)?;
        let (mut state, now) = self.lock();
        let until = now.after(span);
        let found = state.handoff_mut(handoff)?;
        found.stored.claim(claimant, until, now)?;
        let fence = found.stored.fence;
        Ok(Claim { handoff: found.record(now), claimant: claimant.to_owned(), fence, until })
    }

    fn resume(&self, claim: &Claim, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        let (mut state, now) = self.lock();
        let existing = state.conversations.get(&new.id).map(|existing| existing.record.clone());
        let handoff = state.handoff_mut(&claim.handoff.id)?;
        if let Some(resumed) = handoff.stored.check_resume(claim, new, existing, now)? {
            return Ok(resumed);
        }
        let handoff = &mut handoff.stored.record;
        handoff.state = HandoffState::Resumed { into: new.id.clone() };
        let (epoch, source) = (handoff.epoch.saturating_add(1), handoff.conversation.clone());
        if let Some(Conversation { record, .. }) = state.conversations.get_mut(&source) {
            record.continued_as = Some(new.id.clone());
            record.holder = None;
            record.fence += 1;
        }
        // A conversation goes on once.
        state.supersede(&source, &claim.handoff.id, None);
        let origin = Some(claim.handoff.id.clone());
        Ok(state.insert(ConversationRecord { origin, epoch, ..ConversationRecord::new(new, now) }))
    }

    fn abandon(&self, claim: &Claim) -> Result<()> {
        let (mut state, _) = self.lock();
        if let Some(Handoff { stored, .. }) = state.handoffs.get_mut(&claim.handoff.id)
            && stored.record.state.is_open()
            && stored.fence == claim.fence
        {
            stored.record.state = HandoffState::Committed;
        }
        Ok(())
    }

    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>> {
        let (state, now) = self.lock();
        let mut chain = Vec::new();
        let mut next = Some(handoff);
        while let Some(id) = next {
            let handoff = state.handoff(id)?;
            chain.push(handoff.record(now));
            next = handoff.stored.record.previous.as_deref().filter(|_| !handoff.is_dropped);
        }
        Ok(chain)
    }

    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>> {
        let (state, now) = self.lock();
        state.conversation(conversation)?;
        let mut handoffs: Vec<_> = state.handoffs.values().collect();
        handoffs.retain(|handoff| handoff.stored.record.conversation == conversation);
        handoffs.sort_unstable_by_key(|handoff| Reverse(handoff.order));
        handoffs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let summary = |handoff: &Handoff| HandoffRecord { pack: Vec::new(), ..handoff.record(now) };
        Ok(handoffs.into_iter().map(summary).collect())
    }

    fn latest(&self, conversation: &str) -> Result<Option<String>> {
        let (state, now) = self.lock();
        state.conversation(conversation)?;
        let resumable = state.handoffs.iter().filter(|(_, handoff)| {
            handoff.stored.record.conversation == conversation && handoff.is_resumable(now)
        });
        Ok(resumable.max_by_key(|(_, handoff)| handoff.order).map(|(id, _)| id.clone()))
    }

    fn expire(&self) -> Result<ExpiryStats> {
        let (mut state, now) = self.lock();
        let (needed_conversations, needed_handoffs) = state.needed(self.expiry, now);

        let conversations = state.conversations.len();
        state.conversations.retain(|id, _| needed_conversations.contains(id));
        let conversations = (conversations - state.conversations.len()) as u64;

        let mut handoffs = 0;
        for (id, handoff) in &mut state.handoffs {
            let record = &mut handoff.stored.record;
            if record.expires > now || needed_handoffs.contains(id) || handoff.is_dropped {
                continue;
            }
            handoff.is_dropped = true;
            record.pack = Vec::new();
            handoffs += 1;
            if record.state.is_open() {
                record.state = HandoffState::Expired;
            }
        }

        let bodies = state.bodies.len();
        // The store's own reference is the last one left.
        state.bodies.retain(|body| Arc::strong_count(body) > 1);
        let bodies = (bodies - state.bodies.len()) as u64;
        Ok(ExpiryStats { conversations, handoffs, bodies })
    }
}
