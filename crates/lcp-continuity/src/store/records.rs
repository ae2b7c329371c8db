//! What a store keeps, and gives.

use crate::model::Timestamp;

/// A conversation to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// Its id, of the caller's choice: 1 to 256 bytes, no control characters.
    pub id: String,
    /// Tokens of the model's window.
    pub window_tokens: u32,
    /// Tokens of it that the model's output needs.
    pub output_reserve_tokens: u32,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRecord {
    /// Its id.
    pub id: String,
    /// Tokens of the model's window.
    pub window_tokens: u32,
    /// Tokens of it that the model's output needs.
    pub output_reserve_tokens: u32,
    /// Where it was forked off.
    pub parent: Option<ForkPoint>,
    /// The hand-off that it began with.
    pub origin: Option<String>,
    /// The conversation that continues it, once its hand-off was resumed.
    pub continued_as: Option<String>,
    /// How often its window was emptied, counted on from the conversation before.
    pub epoch: u32,
    /// The fence of its newest lease; 0 if it never had any.
    pub fence: u64,
    /// Who has the lease, and until when, whether it has run out or not.
    pub holder: Option<(String, Timestamp)>,
    /// How many messages it has, inherited ones counted.
    pub messages: u64,
    /// What was kept with it last.
    pub status: Option<String>,
    /// When it began.
    pub created: Timestamp,
    /// When something was last recorded.
    pub active: Timestamp,
}

impl ConversationRecord {
    /// Whether `new` began as this with a hand-off, or without any.
    pub(super) fn is(&self, new: &NewConversation, origin: Option<&str>) -> bool {
        self.window_tokens == new.window_tokens
            && self.output_reserve_tokens == new.output_reserve_tokens
            && self.parent.is_none()
            && self.origin.as_deref() == origin
    }
}

/// Where a conversation was forked off another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The other one.
    pub conversation: String,
    /// How many of its messages they share.
    pub messages: u64,
}

/// The right to write to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The conversation.
    pub conversation: String,
    /// Who has it.
    pub holder: String,
    /// Higher than that of any lease before.
    pub fence: u64,
    /// The epoch that it is for.
    pub epoch: u32,
    /// When it runs out.
    pub until: Timestamp,
}

/// A message to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The message, as a pack of one block.
    pub body: Vec<u8>,
    /// The tokens of its text.
    pub tokens: u32,
}

/// A message that was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its place in the conversation, counted from 0.
    pub position: u64,
    /// The epoch that it was appended in.
    pub epoch: u32,
    /// The message, as a pack of one block.
    pub body: Vec<u8>,
    /// The tokens of its text.
    pub tokens: u32,
    /// When it was appended.
    pub recorded: Timestamp,
}

/// A hand-off to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHandoff {
    /// Its id: 1 to 256 bytes, no control characters.
    pub id: String,
    /// The hand-off before it.
    pub previous: Option<String>,
    /// How many messages of the conversation it covers.
    pub messages: u64,
    /// The hand-off, as a pack.
    pub pack: Vec<u8>,
    /// What to keep with the conversation, as [`Store::append`](super::Store::append)
    /// does.
    pub status: Option<String>,
}

/// A hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffRecord {
    /// Its id.
    pub id: String,
    /// The conversation that was handed over.
    pub conversation: String,
    /// The epoch of that.
    pub epoch: u32,
    /// The hand-off before it.
    pub previous: Option<String>,
    /// How many messages of the conversation it covers.
    pub messages: u64,
    /// The hand-off, as a pack; empty once it was dropped, and in a list.
    pub pack: Vec<u8>,
    /// What became of it.
    pub state: HandoffState,
    /// When it was kept.
    pub created: Timestamp,
    /// Until when it can be resumed.
    pub expires: Timestamp,
}

/// What became of a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffState {
    /// It is kept, and can be claimed.
    Committed,
    /// Somebody is about to resume it.
    Claimed {
        /// Who.
        by: String,
        /// Until when nobody else can.
        until: Timestamp,
    },
    /// It was resumed.
    Resumed {
        /// The conversation that began with it.
        into: String,
    },
    /// The same conversation was handed over again before anybody resumed it.
    Superseded {
        /// By which hand-off.
        by: String,
    },
    /// Nobody resumed it in time. Told of one that could be claimed otherwise, and
    /// of one whose pack was dropped if nothing else became of it.
    Expired,
}

/// The right to resume a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The hand-off as it is kept, with its pack.
    pub handoff: HandoffRecord,
    /// Who has it.
    pub claimant: String,
    /// Higher than that of any claim before.
    pub fence: u64,
    /// When it runs out.
    pub until: Timestamp,
}

/// What was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Conversations.
    pub conversations: u64,
    /// Packs of hand-offs.
    pub handoffs: u64,
    /// Bodies of messages that no conversation has any longer.
    pub bodies: u64,
}
