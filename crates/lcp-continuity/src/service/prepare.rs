//! Hand-offs are prepared and kept.

use super::build_handoff::HandoffDraft;
use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::events::{ContinuityEvent, SessionHandoffPreparedEvent};
use crate::model::{ContinuationDirective, HandoffOptions, SessionHandoff, TokenUsage};
use crate::observe;
use crate::resume_prompt::DirectiveOptions;
use crate::store::NewHandoff;

impl SessionContinuityService {
    /// Prepares a hand-off of a conversation that is open here, and keeps it: when this returns, it
    /// is durable. The directive that the next session begins with has at most
    /// `target_token_budget` tokens; the package has all anchors and tasks, whatever the budget.
    ///
    /// An earlier hand-off of this conversation that nobody claimed is superseded.
    /// Messages can still be recorded: whoever resumes gets them as they are.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`](crate::Error::NotOpen),
    /// [`Error::NothingToHandOver`](crate::Error::NothingToHandOver), and those of the
    /// store; nothing is kept then.
    pub fn prepare_handoff(
        &self,
        conversation: &str,
        target_token_budget: u32,
        options: &HandoffOptions,
    ) -> Result<SessionHandoff> {
        let session = self.session(conversation)?;
        let handoff = {
            let mut session = lock(&session);
            let usage = self.tracker.usage(conversation);
            let reason = self.handoff_reason(&session);
            let draft =
                self.build_handoff(&session, &usage, target_token_budget, options, &reason)?;
            let before = session.trigger.clone();
            session.trigger.mark_prepared();
            let kept = self.commit(&mut session, draft, &usage, options);
            kept.inspect_err(|_| session.trigger = before)?
        };
        let event = SessionHandoffPreparedEvent { handoff: handoff.clone() };
        self.notify(&ContinuityEvent::HandoffPrepared(Box::new(event)));
        Ok(handoff)
    }

    /// Says that an anchor of a conversation that is open here no longer holds, and what replaced
    /// it: the id of another anchor, or any word. It is neither handed over nor remembered from
    /// then on. Durable when this returns. Said again of the same anchor, it changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::record_message`].
    pub fn supersede_anchor(&self, conversation: &str, id: &str, by: &str) -> Result<()> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let before = session.superseded.clone();
        session.supersede(&[(id.to_owned(), by.to_owned())]);
        let usage = self.tracker.usage(conversation);
        let kept = self.save_state(&mut session, &usage);
        kept.inspect_err(|_| session.superseded = before)
    }

    /// What the session that resumes this hand-off is told first, within the budget
    /// and in the style and mode that it was prepared for. [`Self::resume_from_handoff`]
    /// gives it without the anchors that were superseded since.
    ///
    /// # Errors
    ///
    /// If it cannot be rendered.
    pub fn generate_continuation_directive(
        &self,
        handoff: &SessionHandoff,
    ) -> Result<ContinuationDirective> {
        self.directive(handoff, &DirectiveOptions::from_handoff(handoff))
    }

    /// A hand-off that is kept, whatever became of it.
    ///
    /// # Errors
    ///
    /// [`UnknownHandoff`](crate::store::Error::UnknownHandoff),
    /// [`HandoffExpired`](crate::store::Error::HandoffExpired) where only its id is
    /// left, or one that cannot be read.
    pub fn handoff(&self, handoff_id: &str) -> Result<SessionHandoff> {
        let record = self.store.handoff(handoff_id)?;
        if record.pack.is_empty() {
            let handoff = handoff_id.to_owned();
            return Err(crate::store::Error::HandoffExpired { handoff }.into());
        }
        Ok(SessionHandoff::from_pack(&record.pack)?)
    }

    /// Keeps a hand-off, and with the conversation what it supersedes.
    pub(super) fn commit(
        &self,
        session: &mut Session,
        draft: HandoffDraft,
        usage: &TokenUsage,
        options: &HandoffOptions,
    ) -> Result<SessionHandoff> {
        let HandoffDraft { handoff, pack } = draft;
        let before = session.superseded.clone();
        session.supersede(&options.superseded_anchors);
        let new = NewHandoff {
            id: handoff.handoff_id.clone(),
            previous: handoff.previous_handoff_id.clone(),
            messages: handoff.metadata.messages,
            pack,
            status: session.status(usage),
        };
        let kept = self.with_lease(session, |store, lease| store.commit(lease, &new));
        kept.inspect_err(|_| session.superseded = before)?;
        let metadata = &handoff.metadata;
        observe::handed_off(&handoff.handoff_id, metadata.tokens_before, metadata.tokens_after);
        Ok(handoff)
    }

    /// Why it is handed over now: what the rules say, or that it was asked for.
    fn handoff_reason(&self, session: &Session) -> String {
        let decision = self.decide(session, session.effective_window());
        if decision.should_handoff { decision.reason } else { "Requested".to_owned() }
    }
}
