//! Hand-offs: kept, claimed, resumed.

use std::cmp::Reverse;

use super::state::{Conversation, Handoff, State, unknown_handoff, writable};
use crate::model::Timestamp;
use crate::store::check;
use crate::store::error::{Error, Result};
use crate::store::records::{
    Claim, ConversationRecord, HandoffRecord, HandoffState, Lease, NewConversation, NewHandoff,
};

impl State {
    pub(super) fn commit(
        &mut self,
        lease: &Lease,
        new: &NewHandoff,
        expires: Timestamp,
        now: Timestamp,
    ) -> Result<HandoffRecord> {
        let hash = blake3::hash(&new.pack);
        if let Some(known) = self.handoffs.get(&new.id) {
            let same = known.hash == hash
                && known.conversation == lease.conversation
                && known.previous == new.previous
                && known.messages == new.messages;
            return if same {
                Ok(known.record(&new.id, now))
            } else {
                Err(Error::Exists { id: new.id.clone() })
            };
        }
        let conversation = writable(&mut self.conversations, lease, now)?;
        if let Some(previous) = &new.previous {
            // Never itself either, so that every chain has an end.
            if !self.handoffs.contains_key(previous) {
                return Err(unknown_handoff(previous));
            }
        }
        conversation.touch(new.status.as_deref(), now);
        self.supersede(&lease.conversation, &new.id, |handoff| {
            !matches!(&handoff.state, HandoffState::Claimed { until, .. } if *until > now)
        });
        let handoff = Handoff {
            order: self.handoffs.len(),
            conversation: lease.conversation.clone(),
            epoch: lease.epoch,
            previous: new.previous.clone(),
            messages: new.messages,
            pack: Some(new.pack.clone()),
            hash,
            state: HandoffState::Committed,
            fence: 0,
            created: now,
            expires,
        };
        let record = handoff.record(&new.id, now);
        self.handoffs.insert(new.id.clone(), handoff);
        Ok(record)
    }

    /// Those of a conversation that nobody resumed, and that are `meant`, by this one.
    fn supersede(&mut self, conversation: &str, by: &str, meant: impl Fn(&Handoff) -> bool) {
        for (id, handoff) in &mut self.handoffs {
            let of = handoff.is_open() && handoff.conversation == conversation;
            if of && id != by && meant(handoff) {
                handoff.state = HandoffState::Superseded { by: by.to_owned() };
            }
        }
    }

    pub(super) fn handoff(&self, id: &str, now: Timestamp) -> Result<HandoffRecord> {
        let handoff = self.handoffs.get(id).ok_or_else(|| unknown_handoff(id))?;
        Ok(handoff.record(id, now))
    }

    pub(super) fn claim(
        &mut self,
        id: &str,
        claimant: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Claim> {
        let handoff = self.handoffs.get_mut(id).ok_or_else(|| unknown_handoff(id))?;
        match handoff.state(now) {
            HandoffState::Committed => handoff.fence += 1,
            HandoffState::Claimed { by, .. } if by == claimant => {}
            other => return Err(check::unclaimable(id, other)),
        }
        handoff.state = HandoffState::Claimed { by: claimant.to_owned(), until };
        Ok(Claim {
            handoff: handoff.record(id, now),
            claimant: claimant.to_owned(),
            fence: handoff.fence,
            until,
        })
    }

    pub(super) fn resume(
        &mut self,
        claim: &Claim,
        new: &NewConversation,
        now: Timestamp,
    ) -> Result<ConversationRecord> {
        let id = &claim.handoff.id;
        let handoff = self.handoffs.get_mut(id).ok_or_else(|| unknown_handoff(id))?;
        let known = self.conversations.get(&new.id);
        match handoff.state(now) {
            HandoffState::Resumed { into } => {
                // The claim that resumed it was the last one it had.
                let known = known.filter(|_| into == new.id && handoff.fence == claim.fence);
                return match known.map(|known| known.record(&new.id)) {
                    Some(known) if known.is(new, Some(id)) => Ok(known),
                    Some(_) => Err(Error::Exists { id: new.id.clone() }),
                    None => Err(Error::AlreadyResumed { handoff: id.clone(), into }),
                };
            }
            HandoffState::Claimed { by, .. }
                if by == claim.claimant && handoff.fence == claim.fence => {}
            _ => return Err(Error::ClaimLost { handoff: id.clone() }),
        }
        if known.is_some() {
            return Err(Error::Exists { id: new.id.clone() });
        }
        handoff.state = HandoffState::Resumed { into: new.id.clone() };
        let epoch = handoff.epoch.saturating_add(1);
        let source = handoff.conversation.clone();
        if let Some(source) = self.conversations.get_mut(&source) {
            source.continued_as = Some(new.id.clone());
            source.holder = None;
            source.fence += 1;
        }
        // A conversation goes on once.
        self.supersede(&source, id, |_| true);
        let origin = Some(id.clone());
        let conversation = Conversation { origin, ..Conversation::new(new, epoch, now) };
        Ok(self.insert(&new.id, conversation))
    }

    pub(super) fn abandon(&mut self, claim: &Claim) {
        let handoff = self.handoffs.get_mut(&claim.handoff.id);
        if let Some(handoff) = handoff.filter(|it| it.is_open() && it.fence == claim.fence) {
            handoff.state = HandoffState::Committed;
        }
    }

    pub(super) fn chain(&self, id: &str, now: Timestamp) -> Result<Vec<HandoffRecord>> {
        let mut chain = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let handoff = self.handoffs.get(id).ok_or_else(|| unknown_handoff(id))?;
            chain.push(handoff.record(id, now));
            next = handoff.previous.as_deref().filter(|_| handoff.pack.is_some());
        }
        Ok(chain)
    }

    /// Those of a conversation, the newest first, without their packs.
    pub(super) fn handoffs(
        &self,
        conversation: &str,
        limit: u64,
        now: Timestamp,
    ) -> Result<Vec<HandoffRecord>> {
        self.known(conversation)?;
        let of = self.handoffs.iter().filter(|(_, handoff)| handoff.conversation == conversation);
        let mut of: Vec<_> = of.collect();
        of.sort_unstable_by_key(|(_, handoff)| Reverse(handoff.order));
        of.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(of.into_iter().map(|(id, handoff)| handoff.summary(id, now)).collect())
    }

    pub(super) fn latest(&self, conversation: &str, now: Timestamp) -> Result<Option<String>> {
        self.known(conversation)?;
        let there = self
            .handoffs
            .iter()
            .filter(|(_, handoff)| handoff.conversation == conversation && handoff.resumable(now));
        Ok(there.max_by_key(|(_, handoff)| handoff.order).map(|(id, _)| id.clone()))
    }
}
