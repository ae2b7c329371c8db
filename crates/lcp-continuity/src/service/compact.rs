//! Compaction of an open conversation.

use lcp_driver::shares::Shares;
use lcp_types::Role;

use super::session::{ContextView, Session};
use super::{SessionContinuityService, lock};
use crate::compact::{Compaction, CompactionOptions, CompactionRequest, compact};
use crate::error::Result;
use crate::model::Recorded;
use crate::observe;

impl SessionContinuityService {
    /// Compacts an open conversation if less than 20 % of its budget remains. The budget is 80 % of
    /// the window without the output reserve: in a window of 8,000 tokens it has 6,400, so a
    /// compaction starts above 5,120.
    ///
    /// The target is 50 % of the window, of which the memory gets at most 20 %. Afterwards
    /// [`Self::context`] returns the compacted conversation. All messages stay in the store.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::compact`].
    pub fn compact_if_low(&self, conversation: &str) -> Result<Option<Compaction>> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        if !self.is_low(&session) {
            return Ok(None);
        }
        self.compact_session(&mut session, &CompactionOptions::default()).map(Some)
    }

    /// Returns whether [`Self::compact_if_low`] would compact an open conversation.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open.
    pub fn is_compaction_due(&self, conversation: &str) -> Result<bool> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(self.is_low(&session))
    }

    /// Returns the compaction that [`Self::compact`] would make of an open conversation, and
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::compact`].
    pub fn inspect_compaction(
        &self,
        conversation: &str,
        options: &CompactionOptions,
    ) -> Result<Compaction> {
        let session = self.session(conversation)?;
        self.compaction(&lock(&session), options)
    }

    fn is_low(&self, session: &Session) -> bool {
        let used = self.tracker.usage(&session.record.id).total_tokens;
        // If the reserve leaves no tokens, a compaction cannot help.
        CompactionOptions::default().is_low(used, session.budget_tokens())
    }

    /// Compacts an open conversation regardless of how full its window is, and begins its next
    /// epoch.
    ///
    /// # Errors
    ///
    /// Returns [`CompactionError::Futile`](crate::compact::CompactionError::Futile) if compaction
    /// would not help, [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open,
    /// and the errors of the store. The conversation is then unchanged.
    pub fn compact(&self, conversation: &str, options: &CompactionOptions) -> Result<Compaction> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        self.compact_session(&mut session, options)
    }

    fn compact_session(
        &self,
        session: &mut Session,
        options: &CompactionOptions,
    ) -> Result<Compaction> {
        let compaction = self.compaction(session, options)?;
        observe::warnings("compaction", compaction.warnings.len());
        self.begin_epoch(session, &compaction)?;
        Ok(compaction)
    }

    fn compaction(&self, session: &Session, options: &CompactionOptions) -> Result<Compaction> {
        // The memory must not have a secret. The messages that remain are read from the store.
        let (redacted, _) = session.redacted();
        let session = &*redacted;
        let (system, turns) = session.shown();
        let shown = system.into_iter().chain(session.memory()).chain(turns);
        let messages: Vec<Recorded> = shown.cloned().collect();
        let record = &session.record;
        let (anchors, _) = self.live_anchors(session, &self.config.handoff, &mut Vec::new());
        Ok(compact(&CompactionRequest {
            messages: &messages,
            memory: session.memory().map(|memory| memory.position),
            window: session.budget_window(),
            used_tokens: self.tracker.usage(&record.id).total_tokens,
            anchors: &anchors,
            summarizer: &*self.summarizer,
            counter: &*self.counter,
            shares: &Shares::conversation(),
            options: *options,
        })?)
    }

    /// Stores the memory, which is not yet shown, and then begins the epoch that shows it.
    fn begin_epoch(&self, session: &mut Session, compaction: &Compaction) -> Result<()> {
        let id = session.record.id.clone();
        let before = self.tracker.usage(&id);
        let memory = match &compaction.memory {
            Some(memory) => Some(self.append_memory(session, &memory.message)?),
            None => None,
        };
        let mut lease = session.lease.clone();
        let (old_view, old_trigger) = (session.view.take(), session.trigger.clone());
        let old_log = session.usage_log.clone();
        session.view = Some(context_view(compaction, memory, &session.messages));
        // The records of the next epoch do not replace those of this one.
        session.usage_log.finish();
        self.tracker.begin(&id, session.record.epoch + 1);
        let system = compaction.system.iter().fold(0u32, |sum, m| sum.saturating_add(m.tokens));
        let remembered = compaction.memory.as_ref().map_or(0, |memory| memory.tokens);
        let told = system.saturating_add(remembered).saturating_add(compaction.overhead_tokens);
        self.tracker.record_counted(&id, Role::System, told);
        for message in &compaction.recent {
            self.tracker.record_counted(&id, message.message.role(), message.tokens);
        }
        let usage = self.tracker.usage(&id);
        session.trigger = self.trigger_for_epoch(session, usage.epoch, usage.total_tokens);
        let status = session.status(&usage);
        let begun = self.with_lease(session, |store, held| {
            lease = store.next_epoch(held, status.as_deref())?;
            Ok(())
        });
        if let Err(error) = begun {
            (session.view, session.trigger) = (old_view, old_trigger);
            session.usage_log = old_log;
            self.restore_usage(before);
            return Err(error);
        }
        session.record.epoch = lease.epoch;
        session.lease = lease;
        Ok(())
    }
}

/// Returns the view of a compacted conversation: its memory and those of `messages` that remain.
fn context_view(
    compaction: &Compaction,
    memory: Option<u64>,
    messages: &[Recorded],
) -> ContextView {
    let mut earlier_positions: Vec<u64> =
        compaction.recent.iter().map(|message| message.position).collect();
    earlier_positions.sort_unstable();
    let mut from = messages.len() as u64;
    for message in messages.iter().rev() {
        // System turns, including the memory, are shown at any position.
        if earlier_positions.last() == Some(&message.position) {
            earlier_positions.pop();
        } else if message.message.role() != Role::System {
            break;
        }
        from = message.position;
    }
    ContextView { memory, from, earlier_positions }
}
