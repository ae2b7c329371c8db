//! The rules of stores that manage their own tables: in memory and in SQLite.

use std::fmt;
use std::time::Duration;

use lcp_types::ContentHash;

use super::error::{Error, Result};
use super::records::{
    Claim, ConversationRecord, ExpiryStats, ForkPoint, HandoffRecord, HandoffState, Lease,
    NewConversation, NewHandoff, NewMessage, StoredHandoff, StoredMessage,
};
use super::{Store, validate};
use crate::model::Timestamp;

/// A store in which every call is one transaction on its tables.
pub(super) trait Transactional: Send + Sync + fmt::Debug {
    /// Runs `work` as a read transaction on a consistent state.
    fn read<T>(&self, work: impl FnOnce(&dyn Tables) -> Result<T>) -> Result<T>;

    /// Runs `work` as a write transaction, completely or not at all. The memory store has no
    /// rollback, so `work` must do everything that can fail there before its first change.
    fn write<T>(&self, work: impl FnOnce(&mut dyn Tables) -> Result<T>) -> Result<T>;

    fn expiry(&self) -> Duration;
}

/// The tables of a store within one transaction.
pub(super) trait Tables {
    /// Returns the time of the transaction.
    fn now(&self) -> Timestamp;

    fn find_conversation(&self, id: &str) -> Result<Option<ConversationRecord>>;

    /// Returns the conversations after `after`, in the order of their ids.
    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>>;

    fn insert_conversation(&mut self, record: &ConversationRecord) -> Result<()>;

    /// Replaces the mutable fields of a conversation.
    fn update_conversation(&mut self, record: &ConversationRecord) -> Result<()>;

    /// Appends messages after those that `record` has, each with the hash of its body.
    fn insert_messages(
        &mut self,
        record: &ConversationRecord,
        messages: &[(ContentHash, &NewMessage)],
    ) -> Result<()>;

    /// Returns at most `limit` messages of a conversation from position `from` on.
    fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>>;

    fn message_epoch(&self, conversation: &str, position: u64) -> Result<Option<u32>>;

    fn find_handoff(&self, id: &str) -> Result<Option<StoredHandoff>>;

    /// Returns the hand-offs of a conversation, newest first.
    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<StoredHandoff>>;

    /// Returns the hand-offs that were neither resumed, superseded nor deleted, oldest first.
    fn open_handoffs(&self, conversation: &str) -> Result<Vec<StoredHandoff>>;

    /// Inserts a hand-off. The table assigns its order.
    fn insert_handoff(&mut self, handoff: &StoredHandoff, pack: &[u8]) -> Result<()>;

    /// Replaces the mutable fields of a hand-off: its state and the fence of its claim.
    fn update_handoff(&mut self, handoff: &StoredHandoff) -> Result<()>;

    /// Returns the pack of a hand-off after verifying it. The pack must not have been deleted.
    fn pack(&self, handoff: &StoredHandoff) -> Result<Vec<u8>>;

    fn expire(&mut self, expiry: Duration) -> Result<ExpiryStats>;
}

impl dyn Tables + '_ {
    fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        self.find_conversation(id)?.ok_or_else(|| Error::UnknownConversation(id.to_owned()))
    }

    /// Returns the conversation of a lease if this is its newest lease, expired or not.
    fn leased(&self, lease: &Lease) -> Result<Option<ConversationRecord>> {
        Ok(self.find_conversation(&lease.conversation)?.filter(|record| record.has_lease(lease)))
    }

    /// Returns the conversation of a valid lease, with its last activity set to now.
    fn touched(&self, lease: &Lease, status: Option<&str>) -> Result<ConversationRecord> {
        let id = &lease.conversation;
        let mut record = self.find_conversation(id)?.ok_or_else(|| Error::LeaseLost(id.clone()))?;
        record.check_writable(lease, self.now())?;
        record.last_active = self.now();
        record.status = status.map(str::to_owned).or(record.status);
        Ok(record)
    }

    fn handoff(&self, id: &str) -> Result<StoredHandoff> {
        self.find_handoff(id)?.ok_or_else(|| Error::UnknownHandoff(id.to_owned()))
    }

    /// Returns the current record of a hand-off, with its pack unless that was deleted.
    fn with_pack(&self, handoff: StoredHandoff) -> Result<HandoffRecord> {
        let pack = if handoff.has_pack { self.pack(&handoff)? } else { Vec::new() };
        Ok(HandoffRecord { pack, state: handoff.state(self.now()), ..handoff.record })
    }

    /// Supersedes the other open hand-offs. Claimed ones are superseded only if `even_claimed`.
    fn supersede(&mut self, conversation: &str, by: &str, even_claimed: bool) -> Result<()> {
        for mut handoff in self.open_handoffs(conversation)? {
            let is_claimed = matches!(handoff.state(self.now()), HandoffState::Claimed { .. });
            if handoff.record.id != by && (even_claimed || !is_claimed) {
                handoff.record.state = HandoffState::Superseded { by: by.to_owned() };
                self.update_handoff(&handoff)?;
            }
        }
        Ok(())
    }
}

impl<S: Transactional> Store for S {
    fn begin(&self, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        self.write(|tables| {
            if let Some(existing) = tables.find_conversation(&new.id)? {
                return existing.if_begun_as(new, None);
            }
            let record = ConversationRecord::new(new, tables.now());
            tables.insert_conversation(&record)?;
            Ok(record)
        })
    }

    fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        self.read(|tables| tables.conversation(id))
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        self.read(|tables| tables.conversations(after, limit))
    }

    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease> {
        validate::id(holder)?;
        self.write(|tables| {
            let mut record = tables.conversation(conversation)?;
            let lease = record.take_lease(holder, tables.now().after(span), tables.now())?;
            tables.update_conversation(&record)?;
            Ok(lease)
        })
    }

    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease> {
        self.write(|tables| {
            let record = tables.leased(lease)?;
            let mut record = record.ok_or_else(|| Error::LeaseLost(lease.conversation.clone()))?;
            let until = tables.now().after(span);
            record.holder = Some((lease.holder.clone(), until));
            tables.update_conversation(&record)?;
            Ok(Lease { until, ..lease.clone() })
        })
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        self.write(|tables| match tables.leased(lease)? {
            Some(record) => {
                tables.update_conversation(&ConversationRecord { holder: None, ..record })
            }
            None => Ok(()),
        })
    }

    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64> {
        validate::messages(messages, status)?;
        // Hash before locking, so that others do not wait for it.
        let hash = |message: &NewMessage| *blake3::hash(&message.body).as_bytes();
        let hashed: Vec<_> = messages.iter().map(|message| (hash(message), message)).collect();
        self.write(|tables| {
            let mut record = tables.touched(lease, status)?;
            tables.insert_messages(&record, &hashed)?;
            record.messages = record.messages.saturating_add(hashed.len() as u64);
            tables.update_conversation(&record)?;
            Ok(record.messages)
        })
    }

    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        self.read(|tables| tables.messages(conversation, from, limit))
    }

    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        validate::status(status)?;
        self.write(|tables| {
            let mut record = tables.touched(lease, status)?;
            let lease = record.begin_epoch(lease);
            tables.update_conversation(&record)?;
            Ok(lease)
        })
    }

    fn set_window(
        &self,
        lease: &Lease,
        window_tokens: u32,
        output_reserve_tokens: u32,
        status: Option<&str>,
    ) -> Result<()> {
        validate::status(status)?;
        self.write(|tables| {
            let record = tables.touched(lease, status)?;
            let record = ConversationRecord { window_tokens, output_reserve_tokens, ..record };
            tables.update_conversation(&record)
        })
    }

    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord> {
        validate::id(id)?;
        self.write(|tables| {
            let parent = tables.conversation(conversation)?;
            if let Some(existing) = tables.find_conversation(id)? {
                return existing.if_forked_at(conversation, messages);
            }
            let (conversation, now) = (conversation.to_owned(), tables.now());
            if messages > parent.messages {
                let (messages, at) = (parent.messages, messages);
                return Err(Error::BadFork { conversation, messages, at });
            }
            let fork = ConversationRecord {
                id: id.to_owned(),
                // A fork has the window that the next message was recorded in.
                epoch: tables.message_epoch(&conversation, messages)?.unwrap_or(parent.epoch),
                parent: Some(ForkPoint { conversation, messages }),
                continued_as: None,
                fence: 0,
                holder: None,
                messages,
                status: None,
                created: now,
                last_active: now,
                ..parent
            };
            tables.insert_conversation(&fork)?;
            Ok(fork)
        })
    }

    fn commit(&self, lease: &Lease, new: &NewHandoff) -> Result<HandoffRecord> {
        validate::handoff(new)?;
        let hash = *blake3::hash(&new.pack).as_bytes();
        self.write(|tables| {
            if let Some(existing) = tables.find_handoff(&new.id)? {
                existing.check_same(new, &hash, lease)?;
                return tables.with_pack(existing);
            }
            let conversation = tables.touched(lease, new.status.as_deref())?;
            if let Some(previous) = &new.previous {
                // The previous hand-off cannot be this one, because this one does not exist yet. So
                // every chain ends.
                tables.handoff(previous)?;
            }
            tables.update_conversation(&conversation)?;
            tables.supersede(&lease.conversation, &new.id, false)?;
            let record = HandoffRecord {
                id: new.id.clone(),
                conversation: lease.conversation.clone(),
                epoch: lease.epoch,
                previous: new.previous.clone(),
                messages: new.messages,
                pack: Vec::new(),
                state: HandoffState::Committed,
                created: tables.now(),
                expires: tables.now().after(self.expiry()),
            };
            let handoff = StoredHandoff { record, hash, fence: 0, order: 0, has_pack: true };
            tables.insert_handoff(&handoff, &new.pack)?;
            let state = handoff.state(tables.now());
            Ok(HandoffRecord { pack: new.pack.clone(), state, ..handoff.record })
        })
    }

    fn handoff(&self, id: &str) -> Result<HandoffRecord> {
        self.read(|tables| tables.with_pack(tables.handoff(id)?))
    }

    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim> {
        validate::id(claimant)?;
        self.write(|tables| {
            let until = tables.now().after(span);
            let mut handoff = tables.handoff(handoff)?;
            handoff.claim(claimant, until, tables.now())?;
            tables.update_handoff(&handoff)?;
            let (state, fence) = (handoff.record.state.clone(), handoff.fence);
            let handoff = HandoffRecord { state, ..tables.with_pack(handoff)? };
            Ok(Claim { handoff, claimant: claimant.to_owned(), fence, until })
        })
    }

    fn resume(&self, claim: &Claim, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        self.write(|tables| {
            let mut handoff = tables.handoff(&claim.handoff.id)?;
            let existing = tables.find_conversation(&new.id)?;
            if let Some(resumed) = handoff.check_resume(claim, new, existing, tables.now())? {
                return Ok(resumed);
            }
            handoff.record.state = HandoffState::Resumed { into: new.id.clone() };
            tables.update_handoff(&handoff)?;
            let HandoffRecord { id, conversation, epoch, .. } = handoff.record;
            if let Some(mut source) = tables.find_conversation(&conversation)? {
                source.continued_as = Some(new.id.clone());
                source.holder = None;
                source.fence = source.fence.saturating_add(1);
                tables.update_conversation(&source)?;
            }
            // A conversation can be continued only once.
            tables.supersede(&conversation, &id, true)?;
            let (origin, epoch) = (Some(id), epoch.saturating_add(1));
            let begun = ConversationRecord::new(new, tables.now());
            let begun = ConversationRecord { origin, epoch, ..begun };
            tables.insert_conversation(&begun)?;
            Ok(begun)
        })
    }

    fn abandon(&self, claim: &Claim) -> Result<()> {
        self.write(|tables| match tables.find_handoff(&claim.handoff.id)? {
            Some(mut handoff) if handoff.record.state.is_open() && handoff.fence == claim.fence => {
                handoff.record.state = HandoffState::Committed;
                tables.update_handoff(&handoff)
            }
            _ => Ok(()),
        })
    }

    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>> {
        self.read(|tables| {
            let mut chain = Vec::new();
            let mut next = Some(handoff.to_owned());
            let mut newest = i64::MAX;
            while let Some(id) = next {
                let handoff = tables.handoff(&id)?;
                // Each hand-off was committed after its predecessor.
                if handoff.order >= newest {
                    let reason = format!("hand-off {id:?} is not older than its successor");
                    return Err(Error::Damaged(reason));
                }
                newest = handoff.order;
                next = handoff.record.previous.clone().filter(|_| handoff.has_pack);
                chain.push(tables.with_pack(handoff)?);
            }
            Ok(chain)
        })
    }

    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>> {
        self.read(|tables| {
            tables.conversation(conversation)?;
            let now = tables.now();
            let record = |of: StoredHandoff| HandoffRecord { state: of.state(now), ..of.record };
            Ok(tables.handoffs(conversation, limit)?.into_iter().map(record).collect())
        })
    }

    fn latest(&self, conversation: &str) -> Result<Option<String>> {
        self.read(|tables| {
            tables.conversation(conversation)?;
            let mut open = tables.open_handoffs(conversation)?;
            open.retain(|handoff| handoff.state(tables.now()).is_open());
            Ok(open.pop().map(|handoff| handoff.record.id))
        })
    }

    fn expire(&self) -> Result<ExpiryStats> {
        self.write(|tables| tables.expire(self.expiry()))
    }
}
