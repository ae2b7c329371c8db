//! The records of a store, and the rules that involve only one record.

use lcp_types::ContentHash;

use super::error::{Error, Result};
use crate::model::Timestamp;

/// A conversation to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// The id chosen by the caller: 1 to 256 bytes without control characters.
    pub id: String,
    /// The size of the context window in tokens.
    pub window_tokens: u32,
    /// The tokens of the window that are reserved for the model's output.
    pub output_reserve_tokens: u32,
}

/// A stored conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRecord {
    /// The id.
    pub id: String,
    /// The size of the context window in tokens.
    pub window_tokens: u32,
    /// The tokens of the window that are reserved for the model's output.
    pub output_reserve_tokens: u32,
    /// The point at which it was forked from another conversation.
    pub parent: Option<ForkPoint>,
    /// The id of the hand-off that it began with.
    pub origin: Option<String>,
    /// The id of the conversation that continues it, if its hand-off was resumed.
    pub continued_as: Option<String>,
    /// The number of times the window was emptied, including in the preceding conversations.
    pub epoch: u32,
    /// The fence of its newest lease, or 0 if it was never leased.
    pub fence: u64,
    /// The holder of the newest lease and its end. The lease may have expired.
    pub holder: Option<(String, Timestamp)>,
    /// The number of messages, including inherited ones.
    pub messages: u64,
    /// The status stored last.
    pub status: Option<String>,
    /// The time when it began.
    pub created: Timestamp,
    /// The time of the last record.
    pub last_active: Timestamp,
}

impl ConversationRecord {
    pub(super) fn new(new: &NewConversation, now: Timestamp) -> Self {
        Self {
            id: new.id.clone(),
            window_tokens: new.window_tokens,
            output_reserve_tokens: new.output_reserve_tokens,
            parent: None,
            origin: None,
            continued_as: None,
            epoch: 0,
            fence: 0,
            holder: None,
            messages: 0,
            status: None,
            created: now,
            last_active: now,
        }
    }

    /// Returns this existing conversation if it began like `new`, with the same hand-off or without
    /// one.
    pub(super) fn if_begun_as(self, new: &NewConversation, origin: Option<&str>) -> Result<Self> {
        let is_same = self.window_tokens == new.window_tokens
            && self.output_reserve_tokens == new.output_reserve_tokens
            && self.parent.is_none()
            && self.origin.as_deref() == origin;
        if is_same { Ok(self) } else { Err(Error::Exists(self.id.clone())) }
    }

    /// Returns this existing conversation if it is a fork at this point.
    pub(super) fn if_forked_at(self, parent: &str, messages: u64) -> Result<Self> {
        let point = self.parent.as_ref();
        if point.is_some_and(|at| at.conversation == parent && at.messages == messages) {
            Ok(self)
        } else {
            Err(Error::Exists(self.id.clone()))
        }
    }

    pub(super) fn take_lease(
        &mut self,
        holder: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Lease> {
        self.check_not_continued()?;
        if let Some((other, until)) = self.holder.clone()
            && other != holder
            && until > now
        {
            return Err(Error::Held { conversation: self.id.clone(), holder: other, until });
        }
        self.fence = self.fence.saturating_add(1);
        self.holder = Some((holder.to_owned(), until));
        Ok(Lease {
            conversation: self.id.clone(),
            holder: holder.to_owned(),
            fence: self.fence,
            epoch: self.epoch,
            until,
        })
    }

    /// Returns the newest lease, which may have expired. `None` if it was released.
    #[must_use]
    pub fn newest_lease(&self) -> Option<Lease> {
        let (holder, until) = self.holder.clone()?;
        let (conversation, fence, epoch) = (self.id.clone(), self.fence, self.epoch);
        Some(Lease { conversation, holder, fence, epoch, until })
    }

    pub(super) fn is_held(&self, now: Timestamp) -> bool {
        self.holder.as_ref().is_some_and(|(_, until)| *until > now)
    }

    /// Returns whether this is the newest lease of the conversation, expired or not.
    pub(super) fn has_lease(&self, lease: &Lease) -> bool {
        let holder = self.holder.as_ref().is_some_and(|(holder, _)| *holder == lease.holder);
        holder && self.fence == lease.fence && self.epoch == lease.epoch
    }

    pub(super) fn check_writable(&self, lease: &Lease, now: Timestamp) -> Result<()> {
        self.check_not_continued()?;
        if self.has_lease(lease) && self.is_held(now) {
            Ok(())
        } else {
            Err(Error::LeaseLost(self.id.clone()))
        }
    }

    pub(super) fn begin_epoch(&mut self, lease: &Lease) -> Lease {
        self.epoch = self.epoch.saturating_add(1);
        let until = self.holder.as_ref().map_or(lease.until, |(_, until)| *until);
        Lease { epoch: self.epoch, until, ..lease.clone() }
    }

    fn check_not_continued(&self) -> Result<()> {
        self.continued_as.as_ref().map_or(Ok(()), |into| Err(Error::continued(&self.id, into)))
    }
}

/// A point at which a conversation was forked from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkPoint {
    /// The id of the other conversation.
    pub conversation: String,
    /// The number of messages that both share.
    pub messages: u64,
}

/// The right to write to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The conversation.
    pub conversation: String,
    /// The name of the holder.
    pub holder: String,
    /// A number higher than that of any earlier lease.
    pub fence: u64,
    /// The epoch for which the lease is valid.
    pub epoch: u32,
    /// The time when the lease expires.
    pub until: Timestamp,
}

/// A message to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The message, as a pack of one block.
    pub body: Vec<u8>,
    /// The token count of the text.
    pub tokens: u32,
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// The position in the conversation, counted from 0.
    pub position: u64,
    /// The epoch in which it was appended.
    pub epoch: u32,
    /// The message, as a pack of one block.
    pub body: Vec<u8>,
    /// The token count of the text.
    pub tokens: u32,
    /// The time when it was appended.
    pub recorded: Timestamp,
}

/// A hand-off to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHandoff {
    /// The id: 1 to 256 bytes without control characters.
    pub id: String,
    /// The id of the previous hand-off.
    pub previous: Option<String>,
    /// The number of messages of the conversation that it covers.
    pub messages: u64,
    /// The hand-off, as a pack.
    pub pack: Vec<u8>,
    /// The status to store with the conversation, as in [`Store::append`](super::Store::append).
    pub status: Option<String>,
}

/// A stored hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffRecord {
    /// The id.
    pub id: String,
    /// The conversation that was handed over.
    pub conversation: String,
    /// The epoch of the conversation.
    pub epoch: u32,
    /// The id of the previous hand-off.
    pub previous: Option<String>,
    /// The number of messages of the conversation that it covers.
    pub messages: u64,
    /// The hand-off as a pack. Empty if the pack was deleted, and in lists.
    pub pack: Vec<u8>,
    /// The state.
    pub state: HandoffState,
    /// The time when it was stored.
    pub created: Timestamp,
    /// The time until which it can be resumed.
    pub expires: Timestamp,
}

/// The state of a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffState {
    /// It is stored and can be claimed.
    Committed,
    /// A claimant is about to resume it.
    Claimed {
        /// The claimant.
        by: String,
        /// The time until which no one else can claim it.
        until: Timestamp,
    },
    /// It was resumed.
    Resumed {
        /// The conversation that began with it.
        into: String,
    },
    /// It was replaced: a newer hand-off of the same conversation was stored, or another one was
    /// resumed.
    Superseded {
        /// The id of the hand-off that replaced it.
        by: String,
    },
    /// It was not resumed in time. The pack may have been deleted.
    Expired,
}

impl HandoffState {
    /// Returns whether the hand-off was neither resumed, superseded nor deleted, judged by the
    /// stored state alone.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Committed | Self::Claimed { .. })
    }

    /// Returns the state at time `now` of a hand-off with this stored state.
    pub(super) fn at(self, expires: Timestamp, now: Timestamp) -> Self {
        match self {
            Self::Claimed { until, .. } if until > now => self,
            Self::Committed | Self::Claimed { .. } if expires > now => Self::Committed,
            Self::Committed | Self::Claimed { .. } => Self::Expired,
            other => other,
        }
    }

    /// Returns the error for a hand-off that cannot be claimed in this state.
    pub(crate) fn into_claim_error(self, id: &str) -> Error {
        let handoff = id.to_owned();
        match self {
            Self::Claimed { by, until } => Error::Claimed { handoff, by, until },
            Self::Resumed { into } => Error::AlreadyResumed { handoff, into },
            Self::Superseded { by } => Error::Superseded { handoff, by },
            Self::Committed | Self::Expired => Error::HandoffExpired(handoff),
        }
    }
}

/// A hand-off in a table. Its record has no pack, and its state is the stored one.
#[derive(Clone)]
pub(super) struct StoredHandoff {
    pub(super) record: HandoffRecord,
    /// The hash of the pack, even if the pack was deleted.
    pub(super) hash: ContentHash,
    /// The fence of its newest claim.
    pub(super) fence: u64,
    /// A number greater than that of any hand-off committed before.
    pub(super) order: i64,
    /// `true` if the pack was not deleted.
    pub(super) has_pack: bool,
}

impl StoredHandoff {
    /// Returns an error unless a commit of `new` under this lease would have created this hand-off.
    pub(super) fn check_same(
        &self,
        new: &NewHandoff,
        hash: &ContentHash,
        lease: &Lease,
    ) -> Result<()> {
        let is_same = self.hash == *hash
            && self.record.conversation == lease.conversation
            && self.record.previous == new.previous
            && self.record.messages == new.messages;
        if is_same { Ok(()) } else { Err(Error::Exists(new.id.clone())) }
    }

    pub(super) fn state(&self, now: Timestamp) -> HandoffState {
        self.record.state.clone().at(self.record.expires, now)
    }

    pub(super) fn claim(&mut self, claimant: &str, until: Timestamp, now: Timestamp) -> Result<()> {
        match self.state(now) {
            HandoffState::Committed => self.fence = self.fence.saturating_add(1),
            HandoffState::Claimed { by, .. } if by == claimant => {}
            other => return Err(other.into_claim_error(&self.record.id)),
        }
        self.record.state = HandoffState::Claimed { by: claimant.to_owned(), until };
        Ok(())
    }

    /// Checks whether the hand-off can be resumed with this claim. Returns the new conversation if
    /// this claim resumed it already. `existing` is the conversation that has the new id, if any.
    pub(super) fn check_resume(
        &self,
        claim: &Claim,
        new: &NewConversation,
        existing: Option<ConversationRecord>,
        now: Timestamp,
    ) -> Result<Option<ConversationRecord>> {
        let handoff = &self.record.id;
        let is_last_claim = self.fence == claim.fence;
        match (self.state(now), existing) {
            // The claim that resumed the hand-off was its last.
            (HandoffState::Resumed { into }, Some(existing)) if into == new.id && is_last_claim => {
                existing.if_begun_as(new, Some(handoff)).map(Some)
            }
            (HandoffState::Resumed { into }, _) => {
                Err(Error::AlreadyResumed { handoff: handoff.clone(), into })
            }
            (HandoffState::Claimed { by, .. }, existing)
                if by == claim.claimant && is_last_claim =>
            {
                existing.map_or(Ok(None), |existing| Err(Error::Exists(existing.id.clone())))
            }
            _ => Err(Error::ClaimLost(handoff.clone())),
        }
    }
}

/// The right to resume a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The stored hand-off, with its pack.
    pub handoff: HandoffRecord,
    /// The name of the claimant.
    pub claimant: String,
    /// A number higher than that of any earlier claim.
    pub fence: u64,
    /// The time when the claim expires.
    pub until: Timestamp,
}

/// Counts of deleted items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiryStats {
    /// Conversations.
    pub conversations: u64,
    /// Packs of hand-offs.
    pub handoffs: u64,
    /// Message bodies that no conversation refers to any more.
    pub bodies: u64,
}
