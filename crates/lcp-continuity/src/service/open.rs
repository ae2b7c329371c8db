//! Opening, forking and closing conversations.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use lcp_types::Role;

use super::session::{SavedState, Session, likely_memories};
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::model::{AnchorPoint, Recorded, SessionHandoff, TokenUsage};
use crate::store::{ConversationRecord, ForkPoint, Lease, NewConversation, StoredMessage};
use crate::trigger::Trigger;
use crate::usage_log::UsageLog;

const PAGE: u64 = 1_000;

impl SessionContinuityService {
    /// Begins a conversation, or opens the existing one, and takes its lease. Returns its token
    /// usage.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`store::Error::Exists`](crate::store::Error::Exists) if the id belongs to a conversation
    ///   with another window, or to one that began as a resumed or forked conversation (see
    ///   [`Self::reopen`]),
    /// - [`Held`](crate::store::Error::Held) if another holder has the lease, and
    /// - [`Error::Thresholds`](crate::Error::Thresholds) if the configured thresholds are invalid.
    pub fn open(&self, conversation: &NewConversation) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        self.store.begin(conversation)?;
        self.reopen(&conversation.id)
    }

    /// Opens a stored conversation and takes its lease. The conversation may have begun in any
    /// process, and may have been resumed or forked. Returns its token usage.
    ///
    /// If another holder has the lease, this waits for it ([`ContinuityConfig::wait`]). A holder
    /// whose process has ended loses the lease at once.
    ///
    /// [`ContinuityConfig::wait`]: crate::ContinuityConfig::wait
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`UnknownConversation`](crate::store::Error::UnknownConversation) if the id is unknown,
    /// - [`Held`](crate::store::Error::Held) if another holder has the lease,
    /// - [`Continued`](crate::store::Error::Continued) if another conversation continues this one,
    ///   and
    /// - [`Error::Thresholds`](crate::Error::Thresholds) if the configured thresholds are invalid.
    pub fn reopen(&self, conversation: &str) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        self.wait_for_holder(|| self.try_to_reopen(conversation))
    }

    fn try_to_reopen(&self, conversation: &str) -> Result<TokenUsage> {
        let _taking = lock(&self.opening);
        if self.session(conversation).is_ok() {
            return Ok(self.tracker.usage(conversation));
        }
        let lease = self.take_lease(conversation)?;
        let session = self.load(&lease, Instant::now()).inspect_err(|_| {
            self.tracker.forget(conversation);
            // The lease is of no use to this service. Other holders should not have to wait for it
            // to expire.
            let _ = self.store.release(&lease);
        })?;
        let opened = (lease.fence, Arc::new(Mutex::new(session)));
        lock(&self.sessions).insert(conversation.to_owned(), opened);
        Ok(self.tracker.usage(conversation))
    }

    /// Begins a conversation that shares the first `messages` messages of another, and opens it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Store::fork`](crate::store::Store::fork) and [`Self::reopen`].
    pub fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<TokenUsage> {
        self.config.thresholds.validate()?;
        self.store.fork(conversation, messages, id)?;
        self.reopen(id)
    }

    /// Releases the lease of a conversation and closes it in this service. Everything that was
    /// recorded remains in the store. Closing a conversation that is not open does nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used. The conversation is closed in this service all
    /// the same.
    pub fn close(&self, conversation: &str) -> Result<()> {
        let Ok(session) = self.session(conversation) else { return Ok(()) };
        let session = lock(&session);
        self.forget(conversation, session.lease.fence);
        Ok(self.store.release(&session.lease)?)
    }

    pub(super) fn load(&self, lease: &Lease, leased: Instant) -> Result<Session> {
        let record = self.store.conversation(&lease.conversation)?;
        let messages = self.load_messages(&record.id, 0)?;
        let origin =
            record.origin.as_deref().map(|id| self.handoff_as_superseded(id)).transpose()?;
        let kept = self.inherited_state(&record)?;
        let memories = memories(kept.as_ref(), &record, &messages);
        let superseded = self.superseded(kept.as_ref(), &messages, origin.as_ref())?;
        let model = match (&kept, &origin) {
            (Some((status, _)), _) => status.model.clone(),
            // The session that resumes a hand-off runs with the same model, unless it names one.
            (None, Some(origin)) => {
                self.saved_state(&origin.conversation_id)?.and_then(|it| it.model)
            }
            (None, None) => None,
        };
        let status =
            SavedState::from_record(&record).filter(|status| status.is_current_for(&record));
        let is_counted = status.is_some();
        let (trigger, view, usage_log) = match status {
            Some(status) => {
                self.tracker.restore(status.usage);
                (status.trigger, status.view, status.usage_log)
            }
            None => (Trigger::new(record.epoch), None, UsageLog::default()),
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
            model,
            usage_log,
        };
        if !is_counted {
            self.recount(&mut session)?;
        }
        // Earlier versions stored some entries many times.
        session.supersede(&superseded);
        self.start_from_handoff(&mut session)?;
        Ok(session)
    }

    /// Counts the usage and the history of a conversation without a stored usage: the tokens of the
    /// messages that [`Self::context`] then shows. A fork of a compacted conversation shows all
    /// messages.
    fn recount(&self, session: &mut Session) -> Result<()> {
        let (id, epoch) = (session.record.id.clone(), session.record.epoch);
        self.tracker.begin(&id, epoch);
        if let Some(origin) = &session.origin {
            let directive = self.generate_continuation_directive(origin)?;
            self.tracker.record_counted(&id, Role::System, directive.tokens);
        }
        let counted: Vec<_> = session
            .messages
            .iter()
            .filter(|message| !session.memories.contains(&message.position))
            .map(|message| (message.message.role(), message.tokens))
            .collect();
        for (role, tokens) in counted {
            let usage = self.tracker.record_counted(&id, role, tokens);
            let entry = session.usage_entry(&usage);
            session.usage_log.record_message(role, entry);
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

/// The state stored with a conversation, or with its nearest ancestor that has any. For the state
/// of an ancestor, the fork point names the ancestor and the number of shared messages.
type InheritedState = (SavedState, Option<ForkPoint>);

impl SessionContinuityService {
    fn inherited_state(&self, record: &ConversationRecord) -> Result<Option<InheritedState>> {
        if let Some(status) = SavedState::from_record(record) {
            return Ok(Some((status, None)));
        }
        let (mut parent, mut messages) = (record.parent.clone(), u64::MAX);
        while let Some(point) = parent {
            messages = messages.min(point.messages);
            let record = self.store.conversation(&point.conversation)?;
            if let Some(status) = SavedState::from_record(&record) {
                return Ok(Some((status, Some(ForkPoint { messages, ..point }))));
            }
            parent = record.parent;
        }
        Ok(None)
    }

    /// Returns the ids of superseded anchors of a conversation, with their replacements.
    fn superseded(
        &self,
        kept: Option<&InheritedState>,
        messages: &[Recorded],
        origin: Option<&SessionHandoff>,
    ) -> Result<Vec<(String, String)>> {
        let Some((status, fork)) = kept else { return Ok(Vec::new()) };
        let mut superseded = status.superseded.clone();
        let Some(ForkPoint { conversation, messages: shared }) = fork else {
            return Ok(superseded);
        };
        if !superseded.is_empty() {
            // Messages of the ancestor after the fork point replace nothing in this conversation.
            let later =
                self.extract_anchors(conversation, &self.load_messages(conversation, *shared)?).0;
            let mut here = self.extract_anchors(conversation, messages).0;
            here.extend(origin.into_iter().flat_map(|origin| origin.anchors.iter().cloned()));
            let is_in = |anchors: &[AnchorPoint], id: &str| anchors.iter().any(|it| it.id == id);
            superseded.retain(|(_, by)| is_in(&here, by) || !is_in(&later, by));
        }
        Ok(superseded)
    }

    /// Returns a hand-off, with the anchors that were superseded between its commit and its
    /// resumption marked as such.
    pub(super) fn handoff_as_superseded(&self, id: &str) -> Result<SessionHandoff> {
        let mut origin = self.handoff(id)?;
        for (id, by) in self.superseded_before(&origin)? {
            if let Some(anchor) = origin.anchors.iter_mut().find(|anchor| anchor.id == id) {
                anchor.superseded_by.get_or_insert(by);
            }
        }
        Ok(origin)
    }

    /// Returns the superseded anchors of the conversation that was handed over, with their
    /// replacements.
    pub(super) fn superseded_before(
        &self,
        origin: &SessionHandoff,
    ) -> Result<Vec<(String, String)>> {
        let before = self.saved_state(&origin.conversation_id)?;
        Ok(before.map(|status| status.superseded).unwrap_or_default())
    }

    fn saved_state(&self, conversation: &str) -> Result<Option<SavedState>> {
        Ok(SavedState::from_record(&self.store.conversation(conversation)?))
    }
}

fn memories(
    kept: Option<&InheritedState>,
    record: &ConversationRecord,
    messages: &[Recorded],
) -> Vec<u64> {
    match kept {
        Some((status, fork)) => {
            let memories = status.memories(messages).into_iter();
            let shared = fork.as_ref().map_or(u64::MAX, |point| point.messages);
            memories.filter(|at| *at < shared).collect()
        }
        // The stored state cannot be read.
        None if record.status.is_some() => likely_memories(messages),
        None => Vec::new(),
    }
}
