//! Checks at the end of a turn if a hand-off is due, and prepares or reports it.

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::events::{ContextLimitApproachingEvent, ContinuityEvent, SessionHandoffPreparedEvent};
use crate::model::{HandoffDecision, PendingTask, SessionHandoff, TokenUsage};
use crate::observe;
use crate::trigger::TriggerEvent;

/// The result of [`SessionContinuityService::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The decision of the thresholds.
    pub decision: HandoffDecision,
    /// The action that was taken.
    pub outcome: CheckOutcome,
}

/// The action that a check took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CheckOutcome {
    /// No action: nothing is due, or it was already reported in this epoch.
    NoAction,
    /// The end of the window is near. An event was sent.
    Warned,
    /// A hand-off is due, and the caller should prepare it.
    Due,
    /// A hand-off was prepared and stored. Resume it.
    Prepared(Box<SessionHandoff>),
    /// A hand-off is due, but the next session would soon need one again. Nothing was stored.
    /// Shorten the system prompt, or use a larger window.
    Futile {
        /// The number of tokens that the next session would begin with.
        next_session_tokens: u32,
        /// The size of its effective window in tokens.
        max_tokens: u32,
    },
}

impl SessionContinuityService {
    /// Decides whether a conversation should be handed over, given a window of `max_token_count`
    /// tokens. This is a query: it changes nothing. If the conversation is not open, its usage
    /// counts as zero, so no hand-off is due.
    #[must_use]
    pub fn should_handoff(&self, conversation: &str, max_token_count: u32) -> HandoffDecision {
        if let Ok(session) = self.session(conversation) {
            return self.decide(&lock(&session), max_token_count);
        }
        let usage = self.tracker.usage(conversation);
        self.config.thresholds.decide(&usage, &[], max_token_count)
    }

    /// Logs and measures how much of its window an open conversation uses, as [`Self::check`] does.
    /// It changes nothing else. Call it after messages or usage were recorded.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open.
    pub fn observe_usage(&self, conversation: &str) -> Result<()> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        let max_tokens = session.effective_window();
        let decision = self.decide(&session, max_tokens);
        observe::utilization(&decision.current_usage, max_tokens);
        let is_warning = self.config.thresholds.is_warning(&decision.current_usage, max_tokens);
        if is_warning && !decision.should_handoff {
            observe::approaching(decision.estimated_remaining_turns);
        }
        Ok(())
    }

    /// Returns the pending tasks of an open conversation.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open.
    pub fn pending_tasks(&self, conversation: &str) -> Result<Vec<PendingTask>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(self.session_tasks(&session))
    }

    /// Performs the action that is due, once per epoch. Call it at the end of each turn.
    ///
    /// It sends a warning event if the end of the window is near. If a hand-off is due, it prepares
    /// one with the configured options or, in [`TriggerMode::Manual`](crate::TriggerMode::Manual),
    /// reports that it is due.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open, and the
    /// errors of [`Self::prepare_handoff`]. A failed preparation is tried again once the
    /// conversation has grown.
    pub fn check(&self, conversation: &str) -> Result<CheckResult> {
        let session = self.session(conversation)?;
        let (checked, event) = {
            let mut session = lock(&session);
            self.check_session(&mut session)?
        };
        if let Some(event) = event {
            self.notify(&event);
        }
        Ok(checked)
    }

    fn check_session(
        &self,
        session: &mut Session,
    ) -> Result<(CheckResult, Option<ContinuityEvent>)> {
        let max_tokens = session.effective_window();
        let decision = self.decide(session, max_tokens);
        let usage = decision.current_usage.clone();
        observe::utilization(&usage, max_tokens);
        // This call has locked the session, so a preparation still marked as running was
        // interrupted.
        session.trigger.mark_interrupted();
        let before = session.trigger.clone();
        let config = &self.config;
        let fired = session.trigger.observe(&config.thresholds, &decision, max_tokens, config.mode);
        let (outcome, event) = match fired {
            None => (CheckOutcome::NoAction, None),
            Some(TriggerEvent::Warn) => {
                observe::approaching(decision.estimated_remaining_turns);
                (CheckOutcome::Warned, Some(limit_approaching(&decision)))
            }
            Some(TriggerEvent::Due) => (CheckOutcome::Due, None),
            Some(TriggerEvent::Futile) => {
                let next_session_tokens = usage.total_tokens;
                observe::futile(next_session_tokens, max_tokens);
                (CheckOutcome::Futile { next_session_tokens, max_tokens }, None)
            }
            Some(TriggerEvent::Prepare) => self.prepare_due(session, &decision, max_tokens)?,
        };
        // A hand-off was stored together with the state of the trigger.
        if session.trigger != before && !matches!(outcome, CheckOutcome::Prepared(_)) {
            // Without a stored state the action is not reported either, so the next check must
            // report it.
            let kept = self.save_state(session, &usage);
            kept.inspect_err(|_| session.trigger = before)?;
        }
        Ok((CheckResult { decision, outcome }, event))
    }

    fn prepare_due(
        &self,
        session: &mut Session,
        decision: &HandoffDecision,
        max_tokens: u32,
    ) -> Result<(CheckOutcome, Option<ContinuityEvent>)> {
        let target = self.config.target_token_budget.unwrap_or(max_tokens / 4);
        let usage = &decision.current_usage;
        let options = &self.config.handoff;
        let draft = self.build_handoff(session, usage, target, options, &decision.reason);
        let prepared = draft.and_then(|draft| {
            let (handoff, _) = &draft;
            let directive_tokens = handoff.metadata.tokens_after;
            let next_session_tokens =
                directive_tokens.saturating_add(session.system_prompt_tokens());
            if self.config.thresholds.is_futile(next_session_tokens, max_tokens) {
                let outcome = session.trigger.mark_futile().map(|_| {
                    observe::futile(next_session_tokens, max_tokens);
                    CheckOutcome::Futile { next_session_tokens, max_tokens }
                });
                // It may already have been reported in this epoch.
                return Ok((outcome.unwrap_or(CheckOutcome::NoAction), None));
            }
            session.trigger.mark_prepared();
            let handoff = self.commit(session, draft, usage, options)?;
            let event = SessionHandoffPreparedEvent { handoff: handoff.clone() };
            let event = ContinuityEvent::HandoffPrepared(Box::new(event));
            Ok((CheckOutcome::Prepared(Box::new(handoff)), Some(event)))
        });
        if prepared.is_err() {
            session.trigger.mark_failed(usage.total_tokens);
            // The reason for the failure matters more than an error while storing the state.
            let _ = self.save_state(session, usage);
        }
        prepared
    }

    pub(super) fn decide(&self, session: &Session, max_tokens: u32) -> HandoffDecision {
        let usage = self.tracker.usage(&session.record.id);
        let thresholds = &self.config.thresholds;
        // Finding tasks means reading all messages, so do it only if tasks affect the decision.
        let tasks = if thresholds.depends_on_tasks(&usage, max_tokens) {
            self.session_tasks(session)
        } else {
            Vec::new()
        };
        thresholds.decide(&usage, &tasks, max_tokens)
    }

    pub(super) fn session_tasks(&self, session: &Session) -> Vec<PendingTask> {
        let known = session.origin.as_ref().map_or(&[][..], |origin| &origin.pending_tasks);
        self.tasks.pending_tasks(known, &session.messages)
    }
}

fn limit_approaching(decision: &HandoffDecision) -> ContinuityEvent {
    let usage: TokenUsage = decision.current_usage.clone();
    ContinuityEvent::LimitApproaching(ContextLimitApproachingEvent {
        conversation_id: usage.conversation_id.clone(),
        utilization: decision.context_utilization,
        remaining_turns: decision.estimated_remaining_turns,
        usage,
    })
}
