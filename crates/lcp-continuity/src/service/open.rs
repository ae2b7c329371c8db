//! Conversations are opened, forked and closed.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use lcp_types::Role;

use super::inherited;
use super::session::{SavedState, Session};
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::model::{Recorded, SessionHandoff, TokenUsage};
use crate::resume_prompt::DirectiveOptions;
use crate::store::{ConversationRecord, Lease, NewConversation, StoredMessage};
use crate::trigger::Trigger;

const PAGE: u64 = 1_000;

impl SessionContinuityService {
    /// Begins a conversation, or takes up the one there is, and takes its lease.
    /// Gives what it uses of its window.
    ///
    /// # Errors
    ///
    /// [`store::Error::Exists`](crate::store::Error::Exists) if the id is that of a
    /// conversation with another window, or of one that was resumed or forked: see
    /// [`Self::reopen`]; [`Held`](crate::store::Error::Held) while another has it;
    /// [`Error::Thresholds`](crate::Error::Thresholds).
    pub fn open(&self, conversation: &NewConversation) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        self.store.begin(conversation)?;
        self.reopen(&conversation.id)
    }

    /// Takes up a conversation that is stored: one that began here or elsewhere, was
    /// resumed, or forked. Gives what it uses of its window.
    ///
    /// # Errors
    ///
    /// [`UnknownConversation`](crate::store::Error::UnknownConversation),
    /// [`Held`](crate::store::Error::Held) while another has it,
    /// [`Continued`](crate::store::Error::Continued) if it goes on as another;
    /// [`Error::Thresholds`](crate::Error::Thresholds) where those of the configuration
    /// are none.
    pub fn reopen(&self, conversation: &str) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        let _taking = lock(&self.opening);
        if self.session(conversation).is_ok() {
            return Ok(self.tracker.usage(conversation));
        }
        let lease = self.store.lease(conversation, &self.config.holder, self.config.lease)?;
        self.load(&lease, Instant::now()).inspect_err(|_| {
            self.tracker.forget(conversation);
            // The lease is of no use here; others need not wait for its end.
            let _ = self.store.release(&lease);
        })
    }

    /// Begins a conversation that shares the first `messages` messages of another,
    /// and takes it up.
    ///
    /// # Errors
    ///
    /// As [`Store::fork`](crate::store::Store::fork) and [`Self::reopen`].
    pub fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        self.store.fork(conversation, messages, id)?;
        self.reopen(id)
    }

    /// Gives the lease of a conversation back, and forgets it here. Nothing is lost:
    /// all that was recorded is stored. One that is not open is none, and no error.
    ///
    /// # Errors
    ///
    /// If the store could not be asked; it is forgotten here all the same.
    pub fn close(&self, conversation: &str) -> Result<()> {
        let Ok(session) = self.session(conversation) else { return Ok(()) };
        let session = lock(&session);
        self.forget(conversation, session.lease.fence);
        Ok(self.store.release(&session.lease)?)
    }

    fn load(&self, lease: &Lease, leased: Instant) -> Result<TokenUsage> {
        let session = self.read(lease, leased)?;
        let id = session.record.id.clone();
        let usage = self.tracker.usage(&id);
        let mut sessions = lock(&self.sessions);
        sessions.insert(id, (lease.fence, Arc::new(Mutex::new(session))));
        Ok(usage)
    }

    fn read(&self, lease: &Lease, leased: Instant) -> Result<Session> {
        let record = self.store.conversation(&lease.conversation)?;
        let messages = self.load_messages(&record.id, 0)?;
        let origin = self.load_origin(&record)?;
        let kept = self.inherited_state(&record)?;
        let memories = inherited::memories(kept.as_ref(), &record, &messages);
        let superseded = self.superseded(kept.as_ref(), &messages, origin.as_ref())?;
        let status =
            SavedState::from_record(&record).filter(|status| status.is_current_for(&record));
        let (trigger, view) = if let Some(status) = status {
            self.tracker.restore(status.usage);
            (status.trigger, status.view)
        } else {
            self.recount(&record, &messages, &memories, origin.as_ref())?;
            (Trigger::new(record.epoch), None)
        };
        let mut session = Session {
            record,
            lease: lease.clone(),
            leased,
            messages,
            origin,
            trigger,
            view,
            memories,
            superseded: Vec::new(),
        };
        // Earlier versions kept some of them many times.
        session.supersede(&superseded);
        self.start_from_handoff(&mut session)?;
        Ok(session)
    }

    /// What is used, where nobody kept it: what [`Self::context`] then shows. A fork
    /// of a conversation that was compacted shows all that was said.
    fn recount(
        &self,
        record: &ConversationRecord,
        messages: &[Recorded],
        memories: &[u64],
        origin: Option<&SessionHandoff>,
    ) -> Result<()> {
        self.tracker.begin(&record.id, record.epoch);
        if let Some(origin) = origin {
            let directive = self.directive(origin, &DirectiveOptions::from_handoff(origin))?;
            self.tracker.record_counted(&record.id, Role::System, directive.tokens);
        }
        for message in messages.iter().filter(|message| !memories.contains(&message.position)) {
            self.tracker.record_counted(&record.id, message.message.role(), message.tokens);
        }
        Ok(())
    }

    pub(super) fn load_messages(&self, conversation: &str, from: u64) -> Result<Vec<Recorded>> {
        let mut all = Vec::new();
        let mut next = from;
        loop {
            let page = self.store.messages(conversation, next, PAGE)?;
            let full = page.len() as u64 == PAGE;
            next += page.len() as u64;
            for message in page {
                all.push(decode_stored(&message)?);
            }
            if !full {
                return Ok(all);
            }
        }
    }
}

pub(super) fn decode_stored(stored: &StoredMessage) -> Result<Recorded> {
    Ok(Recorded {
        position: stored.position,
        epoch: stored.epoch,
        tokens: stored.tokens,
        message: stored.message()?,
    })
}
