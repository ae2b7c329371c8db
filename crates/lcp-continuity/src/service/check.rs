//! Is it time to hand over, and what then happens, once.

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::events::{ContextLimitApproachingEvent, ContinuityEvent, SessionHandoffPreparedEvent};
use crate::model::{HandoffDecision, PendingTask, SessionHandoff, TokenUsage};
use crate::observe;
use crate::trigger::TriggerEvent;

/// What a check found, and did.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// What the rules say.
    pub decision: HandoffDecision,
    /// What came of it.
    pub outcome: CheckOutcome,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CheckOutcome {
    /// Nothing: there is no reason, or it came of it before.
    NoAction,
    /// The limit approaches: the event was told.
    Warned,
    /// A hand-off is due, and it is up to the caller to prepare it.
    Due,
    /// A hand-off was prepared and is kept: resume it.
    Prepared(Box<SessionHandoff>),
    /// A hand-off is due, but would be due again at once. Nothing was kept. Say less
    /// in the system prompt, or use a larger window.
    Futile {
        /// Tokens that the next session would begin with.
        next_session_tokens: u32,
        /// Tokens that it may have.
        max_tokens: u32,
    },
}

impl SessionContinuityService {
    /// Whether a conversation that is open here should be handed over, if its window
    /// holds `max_token_count` tokens. A query: it changes nothing, and says the same
    /// as long as it is so.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`](crate::Error::NotOpen).
    pub fn should_handoff(
        &self,
        conversation: &str,
        max_token_count: u32,
    ) -> Result<HandoffDecision> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(self.decide(&session, max_token_count))
    }

    /// The tasks of a conversation that is open here that are not done.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`](crate::Error::NotOpen).
    pub fn pending_tasks(&self, conversation: &str) -> Result<Vec<PendingTask>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(self.session_tasks(&session))
    }

    /// To be called at the end of each turn: does what is due, once an epoch. Warns;
    /// where a hand-off is due prepares it with what the configuration says, or,
    /// where that is not `auto`, says so.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`](crate::Error::NotOpen), and those of
    /// [`Self::prepare_handoff`]: it is tried again once the conversation has grown.
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
        // Nobody else is preparing: it would have this session.
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
        // A hand-off was kept with its status already.
        if session.trigger != before && !matches!(outcome, CheckOutcome::Prepared(_)) {
            // What was not kept was not said either.
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
                // It may have been reported in this epoch.
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
            // Why it failed matters more than that this could not be kept.
            let _ = self.save_state(session, usage);
        }
        prepared
    }

    pub(super) fn decide(&self, session: &Session, max_tokens: u32) -> HandoffDecision {
        let usage = self.tracker.usage(&session.record.id);
        let thresholds = &self.config.thresholds;
        // To find tasks, all is read: only where they can matter.
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
