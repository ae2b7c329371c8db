//! Resuming hand-offs.

use lcp_types::Role;
use std::collections::HashSet;

use super::open::decode_stored;
use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::events::{ContinuityEvent, SessionResumedEvent};
use crate::model::{
    AnchorPoint, ContinuationDirective, Message, Recorded, ResumedSession, SessionHandoff,
};
use crate::observe;
use crate::store::{self, Claim, HandoffState, NewConversation};
use crate::tool_pairs;
use crate::trigger::Trigger;

/// Options for resuming a hand-off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeOptions {
    /// The id of the new conversation. Default: `c-` followed by the digits of the hand-off's id.
    pub conversation_id: Option<String>,
    /// The context window of the new session in tokens. Default: that of the previous session.
    pub window_tokens: Option<u32>,
    /// The part of the window in tokens that is reserved for the model's output. Default: that of
    /// the previous session.
    pub output_reserve_tokens: Option<u32>,
}

impl SessionContinuityService {
    /// Resumes a hand-off and opens the new conversation.
    ///
    /// A hand-off can be resumed exactly once, by any process. After that, the conversation that
    /// was handed over can no longer be written to.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`UnknownHandoff`](crate::store::Error::UnknownHandoff),
    ///   [`Claimed`](crate::store::Error::Claimed),
    ///   [`AlreadyResumed`](crate::store::Error::AlreadyResumed),
    ///   [`Superseded`](crate::store::Error::Superseded) or
    ///   [`HandoffExpired`](crate::store::Error::HandoffExpired) if the hand-off cannot be claimed,
    /// - [`Error::Thresholds`](crate::Error::Thresholds) if the configured thresholds are invalid,
    ///   and
    /// - [`Error::Package`](crate::Error::Package) if the hand-off cannot be read; its claim is
    ///   then released.
    pub fn resume_from_handoff(&self, handoff_id: &str) -> Result<ResumedSession> {
        self.resume_with_options(handoff_id, &ResumeOptions::default())
    }

    /// Resumes a hand-off with these options.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::resume_from_handoff`], and
    /// [`Exists`](crate::store::Error::Exists) if the conversation id is taken.
    pub fn resume_with_options(
        &self,
        handoff_id: &str,
        options: &ResumeOptions,
    ) -> Result<ResumedSession> {
        // A hand-off can be resumed only once, so check everything first.
        self.config.thresholds.validate()?;
        let session = self.wait_for_holder(|| {
            let _resuming = lock(&self.resuming);
            let claim = self.take_claim(handoff_id)?;
            let resumed = self.resume_claimed(&claim, options);
            resumed.inspect_err(|_| {
                // Another process may succeed. If the hand-off was resumed after all, this does
                // nothing.
                let _ = self.store.abandon(&claim);
            })
        })?;
        observe::resumed(handoff_id, &session.new_conversation_id, session.directive.tokens);
        let event = SessionResumedEvent { session: session.clone() };
        self.notify(&ContinuityEvent::SessionResumed(Box::new(event)));
        Ok(session)
    }

    /// Returns the result that resuming a hand-off would have or, if it was resumed already, had.
    ///
    /// Use it to inspect a hand-off before resuming it, or to repeat a result that was lost. It
    /// claims and changes nothing, and sends no event. Use the same token estimator as for the
    /// hand-off, because the directive is cut to its budget with it.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`UnknownHandoff`](crate::store::Error::UnknownHandoff) if the id is unknown,
    /// - [`Superseded`](crate::store::Error::Superseded) if another hand-off replaced it,
    /// - [`HandoffExpired`](crate::store::Error::HandoffExpired) if it was not resumed in time, or
    ///   if it was resumed and its contents were deleted, and
    /// - [`Error::Package`](crate::Error::Package) if the hand-off cannot be read.
    pub fn inspect_resume(
        &self,
        handoff_id: &str,
        options: &ResumeOptions,
    ) -> Result<ResumedSession> {
        let into = match self.store.handoff(handoff_id)?.state {
            HandoffState::Resumed { into } => Some(into),
            HandoffState::Committed | HandoffState::Claimed { .. } => None,
            state => return Err(state.into_claim_error(handoff_id).into()),
        };
        let handoff = self.handoff_as_superseded(handoff_id)?;
        let mut late = self.late_messages(&handoff)?;
        if let Some(into) = &into {
            // These are the first messages of the new conversation, unless the process that resumed
            // it died before it recorded them.
            let arrived = self.store.messages(into, 0, late.len() as u64)?;
            if arrived.len() == late.len() {
                late = arrived.iter().map(decode_stored).collect::<Result<_>>()?;
            }
        }
        let directive = self.generate_continuation_directive(&handoff)?;
        let into = into.unwrap_or_else(|| options.conversation(handoff_id));
        Ok(resumed_session(handoff, into, directive, late))
    }

    fn resume_claimed(&self, claim: &Claim, options: &ResumeOptions) -> Result<ResumedSession> {
        let handoff = SessionHandoff::from_pack(&claim.handoff.pack)?;
        let directive = self.generate_continuation_directive(&handoff)?;
        let before = self.store.conversation(&handoff.conversation_id)?;
        let conversation = NewConversation {
            id: options.conversation(&claim.handoff.id),
            window_tokens: options.window_tokens.unwrap_or(before.window_tokens),
            output_reserve_tokens: options
                .output_reserve_tokens
                .unwrap_or(before.output_reserve_tokens),
        };
        match self.store.resume(claim, &conversation) {
            // The resumption may have succeeded. A second call returns the same conversation then.
            Err(store::Error::Io(_)) => self.store.resume(claim, &conversation)?,
            resumed => resumed?,
        };
        if let Ok(old) = self.session(&before.id) {
            let fence = lock(&old).lease.fence;
            self.forget(&before.id, fence);
        }
        self.reopen(&conversation.id)?;
        let (late, handoff) = {
            let session = self.session(&conversation.id)?;
            let session = lock(&session);
            (session.messages.clone(), session.origin.clone().unwrap_or(handoff))
        };
        let holds = handoff.anchors.iter().all(AnchorPoint::is_live);
        let directive =
            if holds { directive } else { self.generate_continuation_directive(&handoff)? };
        Ok(resumed_session(handoff, conversation.id, directive, late))
    }

    /// Records the messages that arrived in the previous conversation after the hand-off was
    /// prepared, in the conversation that begins with it.
    ///
    /// This is done once, even if the process that resumed the hand-off died before it was done: no
    /// state is stored with the conversation before that.
    pub(super) fn start_from_handoff(&self, session: &mut Session) -> Result<()> {
        let record = &session.record;
        if record.status.is_some() || record.parent.is_some() {
            return Ok(());
        }
        let Some(origin) = &session.origin else { return Ok(()) };
        let late = self.late_messages(origin)?;
        let mut superseded = self.superseded_before(origin)?;
        if !superseded.is_empty() {
            let mut come = self.extract_anchors(&origin.conversation_id, &late).0;
            come.extend(origin.anchors.iter().cloned());
            superseded.retain(|(id, _)| come.iter().any(|anchor| anchor.id == *id));
        }
        session.supersede(&superseded);
        let told = self.tracker.usage(&session.record.id).total_tokens;
        let begins = late.iter().fold(told, |sum, message| sum.saturating_add(message.tokens));
        session.trigger = self.trigger_for_epoch(session, session.record.epoch, begins);
        self.record(session, late.into_iter().map(|message| message.message).collect())?;
        Ok(())
    }

    /// Returns the messages recorded after a hand-off was prepared, preceded by the earlier calls
    /// that results among them answer.
    fn late_messages(&self, origin: &SessionHandoff) -> Result<Vec<Recorded>> {
        let mut late = self.load_messages(&origin.conversation_id, origin.metadata.messages)?;
        late.retain(|message| message.message.role() != Role::System);
        if has_results_alone(&late) {
            // A result is useless without its call, which was made before the hand-off.
            let mut before = self.load_messages(&origin.conversation_id, 0)?;
            before.truncate(usize::try_from(origin.metadata.messages).unwrap_or(usize::MAX));
            late = with_calls(before, late);
        }
        Ok(late)
    }

    /// Creates the trigger of an epoch that begins with `begins` tokens. Messages recorded later in
    /// the epoch do not make its hand-off futile.
    pub(super) fn trigger_for_epoch(&self, session: &Session, epoch: u32, begins: u32) -> Trigger {
        if self.config.thresholds.is_futile(begins, session.effective_window()) {
            // The trigger reports this when it first observes the epoch.
            Trigger::new(epoch.saturating_sub(1))
        } else {
            Trigger::new(epoch)
        }
    }

    /// Returns the messages to send to the model for an open conversation, oldest first.
    ///
    /// These are, in order: the directive if the conversation began with a hand-off, the system
    /// turns, the memory if the conversation was compacted, and the other messages in the window.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open.
    pub fn context(&self, conversation: &str) -> Result<Vec<Message>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        let mut context = Vec::new();
        if let Some(origin) = &session.origin {
            let directive = self.generate_continuation_directive(origin)?;
            // The budget may be too small for any text, and providers reject empty turns.
            if !directive.text.is_empty() {
                context.push(Message::system(directive.text));
            }
        }
        let (system, turns) = session.shown();
        let all = system.into_iter().chain(session.memory()).chain(turns);
        context.extend(all.map(|message| message.message.clone()));
        Ok(context)
    }
}

impl ResumeOptions {
    fn conversation(&self, handoff: &str) -> String {
        let digits = handoff.trim_start_matches("h-");
        self.conversation_id.clone().unwrap_or_else(|| format!("c-{digits}"))
    }
}

/// Creates the result of resuming a hand-off as the conversation `into`.
fn resumed_session(
    handoff: SessionHandoff,
    into: String,
    directive: ContinuationDirective,
    late_messages: Vec<Recorded>,
) -> ResumedSession {
    ResumedSession {
        new_conversation_id: into,
        previous_conversation_id: handoff.conversation_id,
        directive,
        restored_anchors: handoff.anchors.into_iter().filter(AnchorPoint::is_live).collect(),
        restored_state: handoff.state,
        late_messages,
    }
}

/// Returns whether any result among these messages answers a call that is not among them.
fn has_results_alone(messages: &[Recorded]) -> bool {
    let mut answered = messages.iter().zip(tool_pairs::answered_calls(messages));
    answered.any(|(Recorded { message, .. }, call)| {
        call.is_none() && message.is_result() && message.tool_call_id().is_some()
    })
}

/// Returns the late messages, preceded by the earlier calls that they answer.
fn with_calls(before: Vec<Recorded>, late: Vec<Recorded>) -> Vec<Recorded> {
    let answered = tool_pairs::answered_calls(before.iter().chain(&late));
    let calls: HashSet<_> = answered.into_iter().skip(before.len()).flatten().collect();
    let before = before.into_iter().enumerate();
    let answered = before.filter(|(at, _)| calls.contains(at)).map(|(_, call)| call);
    answered.chain(late).collect()
}
