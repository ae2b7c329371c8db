//! Preparing hand-offs: built from a session in memory, then stored.

use std::collections::HashSet;
use std::sync::Arc;

use lcp_driver::plural;
use lcp_driver::segments::CompressionLevel;
use lcp_types::Role;

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::{Error, Result};
use crate::events::{ContinuityEvent, SessionHandoffPreparedEvent};
use crate::extract::{
    ExtractiveSummarizer, Summarizer, SummaryRequest, observed_state, summarize_or_builtin,
    user_intent,
};
use crate::model::{
    AnchorKind, AnchorPoint, ContinuationDirective, Coverage, HandoffMetadata, HandoffOptions,
    OpenCall, Recorded, SessionHandoff, SessionState, TokenUsage,
};
use crate::resume_prompt::{DirectiveOptions, continuation_directive, smallest_budget};
use crate::store::NewHandoff;
use crate::{observe, tool_pairs};

/// The token budget of the user's intent, a truncated quotation of the user.
const INTENT_TOKENS: u32 = 200;
/// A summary may use at least `1 / SUMMARY_PART` of the target.
const SUMMARY_PART: u32 = 4;
/// A generous estimate of the tokens that a part of the directive needs in addition to its content.
const PART_TOKENS: u32 = 32;
/// The brief form of a summary has `1 / BRIEF_PART` of its tokens, and the tags have
/// `1 / BRIEF_PART` of the tokens of the brief form.
const BRIEF_PART: u32 = 4;

/// A hand-off that is not stored yet, and its pack.
type HandoffDraft = (SessionHandoff, Vec<u8>);

impl SessionContinuityService {
    /// Prepares a hand-off of an open conversation and stores it durably.
    ///
    /// The directive that the next session begins with has at most `target_token_budget` tokens.
    /// The hand-off itself contains all anchors and tasks, regardless of the budget.
    ///
    /// Earlier unclaimed hand-offs of this conversation are superseded. More messages can still be
    /// recorded; they are passed on unchanged when the hand-off is resumed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open,
    /// [`Error::NothingToHandOver`](crate::Error::NothingToHandOver) if it has no messages and did
    /// not begin with a hand-off, [`Error::TargetTooSmall`](crate::Error::TargetTooSmall) if the
    /// directive would have no content, and the errors of the store. Nothing is stored then.
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

    /// Marks an anchor of an open conversation as superseded, durably.
    ///
    /// `by` is the id of the anchor that replaces it, or a word of explanation. From then on the
    /// anchor is left out of hand-offs and memories. Superseding the same anchor again changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::record_message`].
    pub fn supersede_anchor(&self, conversation: &str, id: &str, by: &str) -> Result<()> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let before = session.superseded.clone();
        session.supersede(&[(id.to_owned(), by.to_owned())]);
        let usage = self.tracker.usage(conversation);
        let kept = self.save_state(&mut session, &usage);
        kept.inspect_err(|_| session.superseded = before)
    }

    /// Returns the directive for the session that resumes this hand-off.
    ///
    /// It uses the budget, style and mode that the hand-off was prepared with.
    /// [`Self::resume_from_handoff`] also leaves out the anchors that were superseded since then.
    ///
    /// # Errors
    ///
    /// Returns an error if the directive cannot be rendered.
    pub fn generate_continuation_directive(
        &self,
        handoff: &SessionHandoff,
    ) -> Result<ContinuationDirective> {
        self.directive(handoff, &DirectiveOptions::from_handoff(handoff))
    }

    /// Returns a stored hand-off in any state.
    ///
    /// # Errors
    ///
    /// Returns [`UnknownHandoff`](crate::store::Error::UnknownHandoff) if the id is unknown,
    /// [`HandoffExpired`](crate::store::Error::HandoffExpired) if the contents were deleted, and
    /// [`Error::Package`](crate::Error::Package) if the hand-off cannot be read.
    pub fn handoff(&self, handoff_id: &str) -> Result<SessionHandoff> {
        let record = self.store.handoff(handoff_id)?;
        if record.pack.is_empty() {
            let handoff = handoff_id.to_owned();
            return Err(crate::store::Error::HandoffExpired(handoff).into());
        }
        Ok(SessionHandoff::from_pack(&record.pack)?)
    }

    /// Stores a hand-off and, with the conversation, the anchors that it supersedes.
    pub(super) fn commit(
        &self,
        session: &mut Session,
        (handoff, pack): HandoffDraft,
        usage: &TokenUsage,
        options: &HandoffOptions,
    ) -> Result<SessionHandoff> {
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

    /// Returns the reason for a hand-off now: the reason of the decision, or that it was requested.
    fn handoff_reason(&self, session: &Session) -> String {
        let decision = self.decide(session, session.effective_window());
        if decision.should_handoff { decision.reason } else { "Requested".to_owned() }
    }
}

impl SessionContinuityService {
    /// Builds the hand-off of a session, with a directive of at most `target` tokens.
    pub(super) fn build_handoff(
        &self,
        session: &Session,
        usage: &TokenUsage,
        target: u32,
        options: &HandoffOptions,
        reason: &str,
    ) -> Result<HandoffDraft> {
        let conversation = &session.record.id;
        if session.messages.is_empty() && session.origin.is_none() {
            return Err(Error::NothingToHandOver(conversation.clone()));
        }
        let (redacted, secrets) = session.redacted();
        let session = &*redacted;
        let mut warnings = Vec::new();
        if secrets > 0 {
            warnings.push(format!("replaced {} by markers", plural(secrets, "secret")));
        }
        let (anchors, superseded) = self.live_anchors(session, options, &mut warnings);
        let tasks =
            if options.extract_pending_tasks { self.session_tasks(session) } else { Vec::new() };
        let turns = unsummarized_turns(session);
        let recent = tool_pairs::newest_within(&turns, options.recent_tokens);
        let older = &turns[..turns.len() - recent.len()];
        let reason = options.reason.as_deref().unwrap_or(reason);
        let metadata = HandoffMetadata {
            created: self.clock.now(),
            tokens_before: usage.total_tokens,
            tokens_after: 0,
            compression_ratio: 0.0,
            reason: reason.to_owned(),
            target_tokens: target,
            messages: session.messages.len() as u64,
            summarizer: String::new(),
            counter: self.counter.name().to_owned(),
            exact: self.counter.is_exact(),
            style: options.style,
            mode: options.mode,
            warnings: Vec::new(),
            coverage: Coverage::default(),
        };
        let mut handoff = SessionHandoff {
            handoff_id: String::new(),
            conversation_id: conversation.clone(),
            previous_handoff_id: session.record.origin.clone(),
            epoch: session.record.epoch,
            summary: String::new(),
            summary_brief: None,
            summary_tags: None,
            anchors,
            pending_tasks: tasks,
            state: None,
            user_intent: user_intent(&session.messages, &*self.counter, INTENT_TOKENS)
                .or_else(|| session.origin.as_ref()?.user_intent.clone()),
            recent: Vec::new(),
            open_calls: open_calls(session, &turns, recent.len()),
            superseded,
            metadata,
        };
        // The summary gets the budget that the more important parts leave, so these are added
        // first. The less important parts are added after it.
        let bounded = DirectiveOptions::from_handoff(&handoff);
        let binding = self.directive(&handoff, &DirectiveOptions { budget: None, ..bounded })?;
        let left = target.saturating_sub(binding.tokens).saturating_sub(PART_TOKENS);
        let tokens = options.target_summary_tokens.min(left.max(target / SUMMARY_PART));
        let older = if older.is_empty() { &turns } else { older };
        self.summarize(session, older, tokens, options, &mut handoff, &mut warnings);
        handoff.recent = recent.to_vec();
        if options.include_session_state {
            handoff.state = self.session_state(session, options);
        }
        let directive = self.directive(&handoff, &bounded)?;
        if !directive.warnings.is_empty()
            && let Some(least) = smallest_budget(&handoff, &bounded, &self.counter)?
        {
            // A larger target changes the summary and with it the line about omissions.
            let larger = self.build_handoff(session, usage, least, options, reason);
            let least = match larger {
                Err(Error::TargetTooSmall { least, .. }) => least,
                larger => larger.map(|_| least)?,
            };
            return Err(Error::TargetTooSmall { target, least });
        }
        let metadata = &mut handoff.metadata;
        metadata.tokens_after = directive.tokens;
        metadata.compression_ratio = compression_ratio(directive.tokens, usage.total_tokens);
        warnings.extend(directive.warnings);
        observe::warnings("hand-off", warnings.len());
        metadata.warnings = warnings;
        metadata.coverage = directive.coverage;
        Ok(handoff.with_id()?)
    }

    /// Returns the known state of the session. The state given by the caller takes precedence.
    fn session_state(&self, session: &Session, options: &HandoffOptions) -> Option<SessionState> {
        let before = session.origin.as_ref().and_then(|origin| origin.state.clone());
        let mut seen = observed_state(&before.unwrap_or_default(), &session.messages);
        let mut needed = (self.needed_files)(&session.messages);
        needed.retain(|file| !seen.active_files.contains(file));
        seen.active_files.splice(0..0, needed);
        let state = seen.updated(&options.state);
        (!state.is_empty()).then_some(state)
    }

    pub(super) fn directive(
        &self,
        handoff: &SessionHandoff,
        options: &DirectiveOptions,
    ) -> Result<ContinuationDirective> {
        Ok(continuation_directive(handoff, options, Arc::clone(&self.counter))?)
    }

    /// Returns the anchors that still hold, those of the previous hand-off first, and the
    /// superseded anchors with their replacements.
    pub(super) fn live_anchors(
        &self,
        session: &Session,
        options: &HandoffOptions,
        warnings: &mut Vec<String>,
    ) -> (Vec<AnchorPoint>, Vec<(String, String)>) {
        let is_open = |anchor: &&AnchorPoint| {
            anchor.kind != AnchorKind::OpenQuestion
                || !self.anchors.is_answered(anchor, &session.messages)
        };
        let before = session.origin.iter().flat_map(|origin| &origin.anchors);
        let carried = before.filter(is_open).cloned();
        let (found, rewritten) = self.extract_anchors(&session.record.id, &session.messages);
        if rewritten > 0 {
            warnings.push(format!("{rewritten} anchors do not stand in their messages: left out"));
        }
        let mut ids = HashSet::new();
        let mut superseded = session.superseded.clone();
        superseded.extend(options.superseded_anchors.iter().cloned());
        let mut live = Vec::new();
        for anchor in carried.chain(found) {
            if !ids.insert(anchor.id.clone()) || superseded.iter().any(|(id, _)| *id == anchor.id) {
                continue;
            }
            match anchor.superseded_by.clone() {
                Some(by) => superseded.push((anchor.id, by)),
                None => live.push(anchor),
            }
        }
        let mut told = HashSet::new();
        superseded.retain(|(id, _)| ids.contains(id) && told.insert(id.clone()));
        (live, superseded)
    }

    /// Returns the anchors whose text occurs in these messages, and the number of other anchors.
    pub(super) fn extract_anchors(
        &self,
        conversation: &str,
        messages: &[Recorded],
    ) -> (Vec<AnchorPoint>, usize) {
        let found = self.anchors.anchors(conversation, messages);
        let count = found.len();
        let standing = found.into_iter().filter(|anchor| verify_quote(anchor, messages));
        let standing: Vec<_> = standing.map(normalize).collect();
        let rewritten = count - standing.len();
        (standing, rewritten)
    }

    fn summarize(
        &self,
        session: &Session,
        messages: &[Recorded],
        tokens: u32,
        options: &HandoffOptions,
        handoff: &mut SessionHandoff,
        warnings: &mut Vec<String>,
    ) {
        let request = SummaryRequest {
            messages,
            before: session.origin.as_ref().map(|origin| origin.summary.as_str()),
            target_tokens: tokens,
            level: options.summary_level,
            counter: &*self.counter,
        };
        let (summary, failed) = summarize_or_builtin(&*self.summarizer, &request);
        let builtin = ExtractiveSummarizer;
        let wrote = if failed.is_some() { builtin.name() } else { self.summarizer.name() };
        wrote.clone_into(&mut handoff.metadata.summarizer);
        if let Some(error) = failed {
            warnings.push(format!("{error}; the built-in summary is used"));
        }
        let shorter = |level, tokens| {
            let before = Some(summary.as_str());
            let request =
                SummaryRequest { messages: &[], before, target_tokens: tokens, level, ..request };
            let text = builtin.summarize(&request).ok()?;
            (!text.is_empty() && text.len() < summary.len()).then_some(text)
        };
        handoff.summary_brief = shorter(CompressionLevel::Brief, tokens / BRIEF_PART);
        handoff.summary_tags = shorter(CompressionLevel::Tags, tokens / (BRIEF_PART * BRIEF_PART));
        handoff.summary = summary;
    }
}

/// Returns whether the text of an anchor occurs in its message, byte for byte.
fn verify_quote(anchor: &AnchorPoint, messages: &[Recorded]) -> bool {
    let at = messages.binary_search_by_key(&anchor.source.message, |message| message.position);
    let content = at.ok().and_then(|at| messages[at].message.block.content.text());
    // Use the bytes of the content, because its text has replacement characters for invalid UTF-8.
    let has = |bytes: &[u8]| bytes.utf8_chunks().any(|chunk| chunk.valid().contains(&anchor.text));
    content.is_some_and(|content| has(content.as_slice())) && !anchor.text.is_empty()
}

/// Returns the messages that the previous hand-off passed on verbatim, followed by the messages of
/// this session, without system turns.
fn unsummarized_turns(session: &Session) -> Vec<Recorded> {
    let handed_over = session.origin.iter().flat_map(|origin| &origin.recent);
    handed_over
        .chain(&session.messages)
        .filter(|message| message.message.role() != Role::System)
        .cloned()
        .collect()
}

/// Returns the newest calls that have no result yet, except those among the `recent` newest turns.
///
/// Open calls of the previous hand-off are passed on only until the model has answered once.
fn open_calls(session: &Session, turns: &[Recorded], recent: usize) -> Vec<OpenCall> {
    let roles = || session.messages.iter().map(|message| message.message.role());
    let has_spoken = roles().any(|role| role == Role::Assistant);
    let own = roles().filter(|role| *role != Role::System).count();
    let told = session.origin.iter().filter(|_| !has_spoken).flat_map(|origin| &origin.open_calls);
    let turns = if has_spoken { &turns[turns.len() - own..] } else { turns };
    let older = tool_pairs::open_calls(turns).into_iter();
    let older = older.filter(|at| at + recent < turns.len());
    let older = older.map(|at| OpenCall::from_message(&turns[at].message));
    let mut open: Vec<_> = told.cloned().chain(older).collect();
    open.drain(..open.len().saturating_sub(OpenCall::MAX));
    open
}

/// Sets the id that belongs to the text of an anchor, and limits its importance to the range 0 to
/// 1.
fn normalize(anchor: AnchorPoint) -> AnchorPoint {
    let importance =
        if anchor.importance.is_nan() { 0.5 } else { anchor.importance.clamp(0.0, 1.0) };
    let superseded_by = anchor.superseded_by;
    let normal = AnchorPoint::new(anchor.kind, anchor.text, importance, anchor.source);
    AnchorPoint { superseded_by, ..normal }
}

fn compression_ratio(after: u32, before: u32) -> f64 {
    if before == 0 { 1.0 } else { f64::from(after) / f64::from(before) }
}
