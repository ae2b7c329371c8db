//! The records of a store, and the rules that need no more than one of them.

use lcp_types::ContentHash;

use super::error::{Error, Result};
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

    /// Returns the existing conversation if `new` began as it, with this hand-off or without.
    pub(super) fn if_begun_as(self, new: &NewConversation, origin: Option<&str>) -> Result<Self> {
        let is_same = self.window_tokens == new.window_tokens
            && self.output_reserve_tokens == new.output_reserve_tokens
            && self.parent.is_none()
            && self.origin.as_deref() == origin;
        if is_same { Ok(self) } else { Err(Error::Exists(self.id.clone())) }
    }

    /// Returns the existing conversation if it is a fork at this point.
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

    pub(super) fn is_held(&self, now: Timestamp) -> bool {
        self.holder.as_ref().is_some_and(|(_, until)| *until > now)
    }

    /// Whether this is its newest lease, run out or not.
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
    /// What to keep with the conversation, as [`Store::append`](super::Store::append) does.
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

impl HandoffState {
    /// Whether a hand-off that was left in this state was neither resumed, superseded nor dropped.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self, Self::Committed | Self::Claimed { .. })
    }

    /// Returns the state at `now` of a hand-off that was left in this one.
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

/// A hand-off in a table. Its record has no pack, and the state that it was left in.
#[derive(Clone)]
pub(super) struct StoredHandoff {
    pub(super) record: HandoffRecord,
    /// Of the pack, dropped or not.
    pub(super) hash: ContentHash,
    /// Of its newest claim.
    pub(super) fence: u64,
    /// Greater than that of any hand-off that was committed before.
    pub(super) order: i64,
    /// Whether its pack was not dropped.
    pub(super) has_pack: bool,
}

impl StoredHandoff {
    /// Checks that a commit of `new` under this lease is the one that made this hand-off.
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

    /// Checks that it can be resumed with this claim. Returns the conversation where that was
    /// done already; `existing` is the one of the new id.
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
            // The claim that resumed it was the last one it had.
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
    /// The hand-off as it is kept, with its pack.
    pub handoff: HandoffRecord,
    /// Who has it.
    pub claimant: String,
    /// Higher than that of any claim before.
    pub fence: u64,
    /// When it runs out.
    pub until: Timestamp,
}

/// Counts of what was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiryStats {
    /// Conversations.
    pub conversations: u64,
    /// Packs of hand-offs.
    pub handoffs: u64,
    /// Bodies of messages that no conversation has any longer.
    pub bodies: u64,
}
