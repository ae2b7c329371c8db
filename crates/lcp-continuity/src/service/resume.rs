//! Hand-offs are resumed.

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

/// How a hand-off is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeOptions {
    /// The id of the conversation that begins; `c-` and the digits of the hand-off's
    /// id if none is given.
    pub conversation_id: Option<String>,
    /// Tokens of the window of the model that goes on; that of the one before if none are given.
    pub window_tokens: Option<u32>,
    /// Tokens of it that the model's output needs; likewise.
    pub output_reserve_tokens: Option<u32>,
}

impl SessionContinuityService {
    /// Resumes a hand-off: exactly once, whoever tries. The conversation that begins
    /// is open here then; the one that was handed over can no longer be written to.
    ///
    /// # Errors
    ///
    /// [`UnknownHandoff`](crate::store::Error::UnknownHandoff);
    /// [`Claimed`](crate::store::Error::Claimed),
    /// [`AlreadyResumed`](crate::store::Error::AlreadyResumed),
    /// [`Superseded`](crate::store::Error::Superseded),
    /// [`HandoffExpired`](crate::store::Error::HandoffExpired);
    /// [`Error::Thresholds`](crate::Error::Thresholds); and a hand-off that cannot be
    /// read, which nobody has claimed then.
    pub fn resume_from_handoff(&self, handoff_id: &str) -> Result<ResumedSession> {
        self.resume_with_options(handoff_id, &ResumeOptions::default())
    }

    /// Resumes a hand-off as `options` say.
    ///
    /// # Errors
    ///
    /// As [`Self::resume_from_handoff`];
    /// [`Exists`](crate::store::Error::Exists) if there is a conversation of this id.
    pub fn resume_with_options(
        &self,
        handoff_id: &str,
        options: &ResumeOptions,
    ) -> Result<ResumedSession> {
        // A hand-off is resumed once: nothing must be wrong afterwards.
        self.config.thresholds.validate()?;
        let session = {
            let _resuming = lock(&self.resuming);
            let claim = self.store.claim(handoff_id, &self.config.holder, self.config.lease)?;
            let resumed = self.resume_claimed(&claim, options);
            resumed.inspect_err(|_| {
                // Others may have more luck; where it was resumed after all, this is nothing.
                let _ = self.store.abandon(&claim);
            })?
        };
        observe::resumed(handoff_id, &session.new_conversation_id, session.directive.tokens);
        let event = SessionResumedEvent { session: session.clone() };
        self.notify(&ContinuityEvent::SessionResumed(Box::new(event)));
        Ok(session)
    }

    /// What resuming a hand-off gives or, where somebody has resumed it, gave: to look at it
    /// before, and to tell it again where the answer was lost. Nothing is claimed or changed,
    /// and no event tells of it. What counts should be what counted then: a directive is cut
    /// to its budget by it.
    ///
    /// # Errors
    ///
    /// [`UnknownHandoff`](crate::store::Error::UnknownHandoff);
    /// [`Superseded`](crate::store::Error::Superseded),
    /// [`HandoffExpired`](crate::store::Error::HandoffExpired), the latter also where it was
    /// resumed and only its id is left; and a hand-off that cannot be read.
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
            // They stand first there, unless whoever resumed it died before they arrived.
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
            // Perhaps it is done: asked again, the store tells.
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

    /// A conversation that begins with a hand-off takes over what was recorded in
    /// the one before after that was prepared. Done once, also where the process
    /// that resumed it died in between: nothing is kept with it before.
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

    /// What was recorded after a hand-off was prepared, and the calls that results among it answer.
    fn late_messages(&self, origin: &SessionHandoff) -> Result<Vec<Recorded>> {
        let mut late = self.load_messages(&origin.conversation_id, origin.metadata.messages)?;
        late.retain(|message| message.message.role() != Role::System);
        if has_results_alone(&late) {
            // A result is nothing without its call, which was made before the hand-off.
            let mut before = self.load_messages(&origin.conversation_id, 0)?;
            before.truncate(usize::try_from(origin.metadata.messages).unwrap_or(usize::MAX));
            late = with_calls(before, late);
        }
        Ok(late)
    }

    /// The trigger of an epoch that begins with so many tokens. What is recorded
    /// later in it is no reason to call its hand-off futile.
    pub(super) fn trigger_for_epoch(&self, session: &Session, epoch: u32, begins: u32) -> Trigger {
        if self.config.thresholds.is_futile(begins, session.effective_window()) {
            // It says so when it sees the epoch for the first time.
            Trigger::new(epoch.saturating_sub(1))
        } else {
            Trigger::new(epoch)
        }
    }

    /// What the model is to see now of a conversation that is open here, oldest
    /// first: the directive where it began with a hand-off, its system turns, the
    /// memory where it was compacted, and its messages from there on.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`](crate::Error::NotOpen).
    pub fn context(&self, conversation: &str) -> Result<Vec<Message>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        let mut context = Vec::new();
        if let Some(origin) = &session.origin {
            let directive = self.generate_continuation_directive(origin)?;
            // A budget may be too small for any; an empty turn is refused elsewhere.
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

/// What a hand-off gives that goes on as `into`.
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

/// Whether results among these messages answer calls that are not.
fn has_results_alone(messages: &[Recorded]) -> bool {
    let mut answered = messages.iter().zip(tool_pairs::answered_calls(messages));
    answered.any(|(Recorded { message, .. }, call)| {
        call.is_none() && message.is_result() && message.tool_call_id().is_some()
    })
}

/// The late messages, behind those calls of the ones before that they answer.
fn with_calls(before: Vec<Recorded>, late: Vec<Recorded>) -> Vec<Recorded> {
    let answered = tool_pairs::answered_calls(before.iter().chain(&late));
    let calls: HashSet<_> = answered.into_iter().skip(before.len()).flatten().collect();
    let before = before.into_iter().enumerate();
    let answered = before.filter(|(at, _)| calls.contains(at)).map(|(_, call)| call);
    answered.chain(late).collect()
}
