//! Conversations: their leases, their messages, their forks.

use std::sync::Arc;

use super::state::{Conversation, Message, State, unknown_conversation, writable};
use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{
    ConversationRecord, ForkPoint, Lease, NewConversation, NewMessage, StoredMessage,
};

impl State {
    pub(super) fn begin(
        &mut self,
        new: &NewConversation,
        now: Timestamp,
    ) -> Result<ConversationRecord> {
        if let Some(known) = self.conversations.get(&new.id) {
            let known = known.record(&new.id);
            let exists = || Error::Exists { id: new.id.clone() };
            return if known.is(new, None) { Ok(known) } else { Err(exists()) };
        }
        Ok(self.insert(&new.id, Conversation::new(new, 0, now)))
    }

    pub(super) fn insert(&mut self, id: &str, conversation: Conversation) -> ConversationRecord {
        let record = conversation.record(id);
        self.conversations.insert(id.to_owned(), conversation);
        record
    }

    pub(super) fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        Ok(self.known(id)?.record(id))
    }

    /// Those behind `after`, in the order of their ids.
    pub(super) fn conversations(&self, after: &str, limit: u64) -> Vec<ConversationRecord> {
        let mut there: Vec<_> =
            self.conversations.iter().filter(|(id, _)| id.as_str() > after).collect();
        there.sort_unstable_by_key(|(id, _)| *id);
        there.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        there.into_iter().map(|(id, conversation)| conversation.record(id)).collect()
    }

    pub(super) fn known(&self, id: &str) -> Result<&Conversation> {
        self.conversations.get(id).ok_or_else(|| unknown_conversation(id))
    }

    pub(super) fn lease(
        &mut self,
        id: &str,
        holder: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Lease> {
        let conversation =
            self.conversations.get_mut(id).ok_or_else(|| unknown_conversation(id))?;
        conversation.goes_on(id)?;
        if let Some((other, until)) = conversation.held(now).filter(|(other, _)| other != holder) {
            return Err(Error::Held {
                conversation: id.to_owned(),
                holder: other.clone(),
                until: *until,
            });
        }
        conversation.fence += 1;
        conversation.holder = Some((holder.to_owned(), until));
        Ok(Lease {
            conversation: id.to_owned(),
            holder: holder.to_owned(),
            fence: conversation.fence,
            epoch: conversation.epoch,
            until,
        })
    }

    pub(super) fn renew(&mut self, lease: &Lease, until: Timestamp) -> Result<Lease> {
        match self.conversations.get_mut(&lease.conversation) {
            Some(conversation) if conversation.has(lease) => {
                conversation.holder = Some((lease.holder.clone(), until));
                Ok(Lease { until, ..lease.clone() })
            }
            _ => Err(Error::LeaseLost { conversation: lease.conversation.clone() }),
        }
    }

    pub(super) fn release(&mut self, lease: &Lease) {
        let conversation = self.conversations.get_mut(&lease.conversation);
        if let Some(conversation) = conversation.filter(|conversation| conversation.has(lease)) {
            conversation.holder = None;
        }
    }

    pub(super) fn append(
        &mut self,
        lease: &Lease,
        messages: &[NewMessage],
        status: Option<&str>,
        now: Timestamp,
    ) -> Result<u64> {
        let conversation = writable(&mut self.conversations, lease, now)?;
        for message in messages {
            let body = match self.bodies.get(message.body.as_slice()) {
                Some(body) => Arc::clone(body),
                None => Arc::from(message.body.as_slice()),
            };
            self.bodies.insert(Arc::clone(&body));
            conversation.own.push(Message {
                epoch: lease.epoch,
                body,
                tokens: message.tokens,
                recorded: now,
            });
        }
        conversation.touch(status, now);
        Ok(conversation.messages())
    }

    pub(super) fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let mut conversation = self.known(id)?;
        let mut end = from.saturating_add(limit).min(conversation.messages());
        // Up the parents, then down again: a long line of forks is a loop.
        let mut line = vec![(conversation, end)];
        while let Some(parent) = &conversation.parent {
            end = end.min(parent.messages);
            if from >= end {
                break;
            }
            conversation = self.known(&parent.conversation)?;
            line.push((conversation, end));
        }
        let parts = line.iter().rev();
        Ok(parts.flat_map(|(conversation, end)| conversation.stored(from, *end)).collect())
    }

    pub(super) fn next_epoch(
        &mut self,
        lease: &Lease,
        status: Option<&str>,
        now: Timestamp,
    ) -> Result<Lease> {
        let conversation = writable(&mut self.conversations, lease, now)?;
        conversation.epoch = conversation.epoch.saturating_add(1);
        conversation.touch(status, now);
        let until = conversation.holder.as_ref().map_or(lease.until, |(_, until)| *until);
        Ok(Lease { epoch: conversation.epoch, until, ..lease.clone() })
    }

    pub(super) fn fork(
        &mut self,
        parent: &str,
        messages: u64,
        id: &str,
        now: Timestamp,
    ) -> Result<ConversationRecord> {
        let conversation = self.known(parent)?;
        let point = ForkPoint { conversation: parent.to_owned(), messages };
        if let Some(known) = self.conversations.get(id) {
            return if known.parent.as_ref() == Some(&point) {
                Ok(known.record(id))
            } else {
                Err(Error::Exists { id: id.to_owned() })
            };
        }
        let there = conversation.messages();
        if messages > there {
            let conversation = parent.to_owned();
            return Err(Error::BadFork { conversation, messages: there, at: messages });
        }
        // The window of a fork is the one that the next message found.
        let next = self.messages(parent, messages, 1)?;
        let epoch = next.first().map_or(conversation.epoch, |message| message.epoch);
        let new = NewConversation {
            id: id.to_owned(),
            window_tokens: conversation.window_tokens,
            output_reserve_tokens: conversation.output_reserve_tokens,
        };
        let origin = conversation.origin.clone();
        let fork =
            Conversation { parent: Some(point), origin, ..Conversation::new(&new, epoch, now) };
        Ok(self.insert(id, fork))
    }
}
