//! What is held, and the rules that need no more than one record.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{
    ConversationRecord, ForkPoint, HandoffRecord, HandoffState, Lease, NewConversation,
    StoredMessage,
};

/// All that a store in memory holds.
#[derive(Default)]
pub(super) struct State {
    pub(super) conversations: HashMap<String, Conversation>,
    /// Those that were dropped stay, without their packs.
    pub(super) handoffs: HashMap<String, Handoff>,
    /// Each body once; conversations share them.
    pub(super) bodies: HashSet<Arc<[u8]>>,
}

pub(super) struct Conversation {
    pub(super) window_tokens: u32,
    pub(super) output_reserve_tokens: u32,
    pub(super) parent: Option<ForkPoint>,
    pub(super) origin: Option<String>,
    pub(super) continued_as: Option<String>,
    pub(super) epoch: u32,
    pub(super) fence: u64,
    pub(super) holder: Option<(String, Timestamp)>,
    /// Its messages but those that it inherits.
    pub(super) own: Vec<Message>,
    pub(super) status: Option<String>,
    pub(super) created: Timestamp,
    pub(super) active: Timestamp,
}

pub(super) struct Message {
    pub(super) epoch: u32,
    pub(super) body: Arc<[u8]>,
    pub(super) tokens: u32,
    pub(super) recorded: Timestamp,
}

pub(super) struct Handoff {
    /// How many were committed before it.
    pub(super) order: usize,
    pub(super) conversation: String,
    pub(super) epoch: u32,
    pub(super) previous: Option<String>,
    pub(super) messages: u64,
    /// None once it was dropped.
    pub(super) pack: Option<Vec<u8>>,
    /// Of the pack, dropped or not.
    pub(super) hash: blake3::Hash,
    /// As it was left: time alone changes nothing here.
    pub(super) state: HandoffState,
    /// Of its newest claim.
    pub(super) fence: u64,
    pub(super) created: Timestamp,
    pub(super) expires: Timestamp,
}

impl Conversation {
    pub(super) fn new(of: &NewConversation, epoch: u32, now: Timestamp) -> Self {
        Self {
            window_tokens: of.window_tokens,
            output_reserve_tokens: of.output_reserve_tokens,
            parent: None,
            origin: None,
            continued_as: None,
            epoch,
            fence: 0,
            holder: None,
            own: Vec::new(),
            status: None,
            created: now,
            active: now,
        }
    }

    /// How many messages it has from its parent.
    pub(super) fn inherited(&self) -> u64 {
        self.parent.as_ref().map_or(0, |parent| parent.messages)
    }

    /// How many messages it has.
    pub(super) fn messages(&self) -> u64 {
        self.inherited() + self.own.len() as u64
    }

    /// Of its own messages those at `from` and later, before `end`.
    pub(super) fn stored(&self, from: u64, end: u64) -> impl Iterator<Item = StoredMessage> {
        let first = from.max(self.inherited());
        let skip = usize::try_from(first - self.inherited()).unwrap_or(usize::MAX);
        (first..end).zip(self.own.iter().skip(skip)).map(|(position, message)| StoredMessage {
            position,
            epoch: message.epoch,
            body: message.body.to_vec(),
            tokens: message.tokens,
            recorded: message.recorded,
        })
    }

    /// Whether this is its newest lease, run out or not.
    pub(super) fn has(&self, lease: &Lease) -> bool {
        let holder = self.holder.as_ref().is_some_and(|(holder, _)| *holder == lease.holder);
        holder && self.fence == lease.fence && self.epoch == lease.epoch
    }

    /// Who may write to it now, and until when.
    pub(super) fn held(&self, now: Timestamp) -> Option<&(String, Timestamp)> {
        self.holder.as_ref().filter(|(_, until)| *until > now)
    }

    /// Whether it goes on under its own id.
    pub(super) fn goes_on(&self, id: &str) -> Result<()> {
        match &self.continued_as {
            Some(into) => Err(Error::Continued { conversation: id.to_owned(), into: into.clone() }),
            None => Ok(()),
        }
    }

    /// Something was recorded.
    pub(super) fn touch(&mut self, status: Option<&str>, now: Timestamp) {
        if let Some(status) = status {
            self.status = Some(status.to_owned());
        }
        self.active = now;
    }

    pub(super) fn record(&self, id: &str) -> ConversationRecord {
        ConversationRecord {
            id: id.to_owned(),
            window_tokens: self.window_tokens,
            output_reserve_tokens: self.output_reserve_tokens,
            parent: self.parent.clone(),
            origin: self.origin.clone(),
            continued_as: self.continued_as.clone(),
            epoch: self.epoch,
            fence: self.fence,
            holder: self.holder.clone(),
            messages: self.messages(),
            status: self.status.clone(),
            created: self.created,
            active: self.active,
        }
    }
}

impl Handoff {
    /// What became of it by now.
    pub(super) fn state(&self, now: Timestamp) -> HandoffState {
        match &self.state {
            HandoffState::Claimed { until, .. } if *until > now => self.state.clone(),
            HandoffState::Committed | HandoffState::Claimed { .. } => {
                if self.expires > now {
                    HandoffState::Committed
                } else {
                    HandoffState::Expired
                }
            }
            other => other.clone(),
        }
    }

    /// Whether it was neither resumed, superseded nor dropped.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, HandoffState::Committed | HandoffState::Claimed { .. })
    }

    /// Whether it can be resumed, now or by whoever claims it.
    pub(super) fn resumable(&self, now: Timestamp) -> bool {
        matches!(self.state(now), HandoffState::Committed | HandoffState::Claimed { .. })
    }

    pub(super) fn record(&self, id: &str, now: Timestamp) -> HandoffRecord {
        let pack = self.pack.clone().unwrap_or_default();
        HandoffRecord { pack, ..self.summary(id, now) }
    }

    /// Its record without the pack.
    pub(super) fn summary(&self, id: &str, now: Timestamp) -> HandoffRecord {
        HandoffRecord {
            id: id.to_owned(),
            conversation: self.conversation.clone(),
            epoch: self.epoch,
            previous: self.previous.clone(),
            messages: self.messages,
            pack: Vec::new(),
            state: self.state(now),
            created: self.created,
            expires: self.expires,
        }
    }
}

/// The conversation of a lease, if it may be written to under that.
pub(super) fn writable<'a>(
    conversations: &'a mut HashMap<String, Conversation>,
    lease: &Lease,
    now: Timestamp,
) -> Result<&'a mut Conversation> {
    let lost = || Error::LeaseLost { conversation: lease.conversation.clone() };
    let conversation = conversations.get_mut(&lease.conversation).ok_or_else(lost)?;
    conversation.goes_on(&lease.conversation)?;
    if conversation.has(lease) && conversation.held(now).is_some() {
        Ok(conversation)
    } else {
        Err(lost())
    }
}

pub(super) fn unknown_conversation(id: &str) -> Error {
    Error::UnknownConversation { id: id.to_owned() }
}

pub(super) fn unknown_handoff(id: &str) -> Error {
    Error::UnknownHandoff { id: id.to_owned() }
}
