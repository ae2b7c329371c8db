//! The session service, which records, checks, hands over and resumes conversations.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lcp_continuity::extract::Summarizer;
use lcp_continuity::store::{self, HandoffState, Store};
use lcp_continuity::{
    CheckOutcome, HandoffDecision, Message, ReportedUsage, ResumeOptions, ResumedSession,
    SessionContinuityService, SessionHandoff,
};
use lcp_driver::{DefaultDriver, DriverConfig, append_text};
use lcp_tokens::TokenEstimator;
use serde_json::{Value, json};

use super::conversation_status::ConversationStatus;
use super::leases::HeldLeases;
use super::usage_report::UsageReport;
use super::window::Window;
use super::{HandoffSettings, failed};
use crate::config::{Continuity, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::interrupt::{self, Hook};
use crate::rank::needed_files;

/// The sessions of a store. Each call takes the leases that it needs and releases them, even if it
/// fails. Calls of several threads wait for each other.
#[derive(Debug)]
pub struct Sessions {
    pub(super) service: SessionContinuityService,
    held: HeldLeases,
    /// The name of the summarizer program, if there is one.
    summarizer: Option<String>,
    /// `true` if options change the content of hand-offs, which do not record these options.
    has_own_content: bool,
    /// The levels of usage.
    usage: Usage,
    /// A lock for one call at a time. A concurrent call would release the leases of another.
    call_lock: Mutex<()>,
    /// The hooks that stop the summarizer and release leases if the process is interrupted.
    _hooks: Vec<Hook>,
}

/// Messages to record.
#[derive(Debug)]
pub enum NewMessages {
    /// A conversation from its beginning. Only messages after the recorded ones are added.
    Transcript(Vec<Message>),
    /// Further messages.
    Append(Vec<Message>),
    /// No messages.
    None,
}

/// A condition for a hand-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffCondition {
    /// If the thresholds are exceeded.
    Due,
    /// Like `Due`, but at most once per epoch, and not if it would be futile (RFC 0007 §4).
    Once,
    /// Always.
    Always,
}

/// The result of [`Sessions::handoff`].
#[derive(Debug)]
pub struct HandoffOutcome {
    /// The status after the call.
    pub status: ConversationStatus,
    /// The hand-off and its pack; `None` if no hand-off was due.
    pub handoff: Option<(SessionHandoff, Vec<u8>)>,
    /// `true` if this call prepared it.
    pub is_new: bool,
    /// The reason for the missing hand-off if it is due.
    pub skip_reason: Option<String>,
}

impl HandoffOutcome {
    /// Returns the outcome as JSON (`lcp.prepared.v1`).
    pub fn to_json(&self) -> Value {
        let status = &self.status;
        let handoff = self.handoff.as_ref().map(|(handoff, pack)| {
            let metadata = &handoff.metadata;
            json!({
                "id": handoff.handoff_id,
                "previous": handoff.previous_handoff_id,
                "epoch": handoff.epoch,
                "messages": metadata.messages,
                "tokens_before": metadata.tokens_before,
                "tokens_after": metadata.tokens_after,
                "target_tokens": metadata.target_tokens,
                "reason": metadata.reason,
                "anchors": handoff.anchors.len(),
                "pending_tasks": handoff.pending_tasks.len(),
                "summarizer": metadata.summarizer,
                "warnings": metadata.warnings,
                "lost": metadata.coverage.lost,
                "pack_bytes": pack.len(),
            })
        });
        json!({
            "schema": "lcp.prepared.v1",
            "conversation": status.conversation,
            "new": self.is_new,
            "handoff": handoff,
            "decision": status.verdict.name(),
            "utilization_percent": status.percent(),
            "reason": self.skip_reason.as_ref().unwrap_or(&status.decision.reason),
        })
    }
}

impl Sessions {
    /// Opens the sessions of a store. The options for hand-offs take precedence over the settings.
    pub fn new(
        store: Arc<dyn Store>,
        counter: Arc<dyn TokenEstimator>,
        options: &HandoffSettings,
        file: &Continuity,
    ) -> Self {
        let config = options.config(file);
        let held = HeldLeases::new(Arc::clone(&store), config.holder.clone());
        let mut service = SessionContinuityService::new(store, counter)
            .with_config(config)
            .with_needed_files(needed_files);
        let (mut hooks, mut name) = (Vec::new(), None);
        if let Some(summarizer) = options.summarizer(file) {
            name = Some(Summarizer::name(&summarizer).to_owned());
            let filter = summarizer.filter().clone();
            hooks.push(interrupt::on_interrupt(move || filter.stop()));
            service = service.with_summarizer(summarizer);
        }
        hooks.push(interrupt::on_interrupt({
            let held = held.clone();
            move || held.release_all()
        }));
        Self {
            service,
            held,
            summarizer: name,
            has_own_content: options.change_content(),
            usage: Usage::default(),
            call_lock: Mutex::default(),
            _hooks: hooks,
        }
    }

    /// Sets the levels of usage and its warnings.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Returns the usage of a conversation with its history. Takes no lease.
    pub fn usage(&self, id: &str) -> Result<UsageReport> {
        let _guard = self.lock();
        let stored = self.service.inspect_usage(id).map_err(failed)?;
        Ok(UsageReport::new(stored, &self.usage))
    }

    /// Records messages, and then the usage that a provider reported for the newest request. If
    /// `window` names another model or window, the conversation continues with that. With
    /// `may_begin`, a conversation that does not exist is created with that window.
    pub fn record_usage(
        &self,
        id: &str,
        said: NewMessages,
        reported: Option<ReportedUsage>,
        window: Option<&Window>,
        may_begin: bool,
    ) -> Result<ConversationStatus> {
        let _guard = self.lock();
        let is_new = self.begin(id, window.filter(|_| may_begin))?;
        let status = self.with_lease(id, || {
            let previous_window = match window.map(|window| self.replan(id, window)).transpose() {
                Ok(previous) => previous.flatten(),
                Err(failure) => return Ok(Err(failure)),
            };
            let recorded = match said {
                NewMessages::Transcript(messages) => {
                    self.service.append_new_messages(id, messages)?
                }
                NewMessages::Append(messages) => {
                    let count = messages.len() as u64;
                    self.service.record_messages(id, messages)?;
                    count
                }
                NewMessages::None => 0,
            };
            if let Some(reported) = reported {
                self.service.record_reported(id, reported)?;
            }
            self.service.observe_usage(id)?;
            Ok(Ok(ConversationStatus { is_new, recorded, previous_window, ..self.status(id)? }))
        })??;
        let assumption = window.filter(|_| is_new).and_then(|window| window.warning.clone());
        let warnings = assumption.into_iter().chain(status.warnings).collect();
        Ok(ConversationStatus { warnings, ..status })
    }

    /// Returns the status of a conversation with the hand-off decision. Records nothing. The status
    /// of a conversation that does not exist consists of zeros.
    pub fn should_handoff(&self, id: &str) -> Result<ConversationStatus> {
        let _guard = self.lock();
        if let Err(store::Error::UnknownConversation(_)) = self.service.store().conversation(id) {
            return Ok(ConversationStatus::unknown(id));
        }
        self.with_lease(id, || self.status(id))
    }

    /// Prepares a hand-off of a conversation if the condition holds. An unclaimed hand-off with all
    /// messages and the same options is returned again.
    pub fn handoff(&self, id: &str, when: HandoffCondition) -> Result<HandoffOutcome> {
        let _guard = self.lock();
        self.with_lease(id, || {
            let made = match when {
                HandoffCondition::Once => self.run_check(id)?,
                HandoffCondition::Due | HandoffCondition::Always => {
                    let (_, decision) = self.decision(id)?;
                    let is_wanted = when == HandoffCondition::Always || decision.should_handoff;
                    let there =
                        self.latest_unclaimed(id)?.filter(|there| self.is_complete(id, there));
                    match there {
                        Some(there) if is_wanted => Ok((there, false)),
                        None if is_wanted => Ok((self.prepare(id)?, true)),
                        _ => Err(None),
                    }
                }
            };
            let (handoff, is_new, skip_reason) = match made {
                Ok((handoff, is_new)) => (Some(handoff), is_new, None),
                Err(skip_reason) => (None, false, skip_reason),
            };
            let handoff = match handoff {
                Some(handoff) => {
                    let pack = self.service.store().handoff(&handoff.handoff_id)?.pack;
                    Some((handoff, pack))
                }
                None => None,
            };
            Ok(HandoffOutcome { status: self.status(id)?, handoff, is_new, skip_reason })
        })
    }

    /// Resumes a hand-off, which is possible only once. `check` inspects the result before the
    /// hand-off is claimed. If it fails, the hand-off can still be resumed.
    pub fn resume(
        &self,
        handoff: &str,
        options: &ResumeOptions,
        check: impl FnOnce(&ResumedSession) -> Result,
    ) -> Result<ResumedSession> {
        let _guard = self.lock();
        check(&self.service.inspect_resume(handoff, options).map_err(failed)?)?;
        self.held.claim(Some(handoff));
        let resumed = self.service.resume_with_options(handoff, options);
        if let Ok(resumed) = &resumed {
            // All data is stored. If the release fails, the lease expires.
            let _ = self.service.close(&resumed.new_conversation_id);
        }
        self.held.claim(None);
        resumed.map_err(failed)
    }

    /// Returns the result of an earlier resume again, for a caller that lost it.
    pub fn resumed(&self, handoff: &str) -> Result<ResumedSession> {
        let record = self.service.store().handoff(handoff).map_err(failed)?;
        if !matches!(record.state, HandoffState::Resumed { .. }) {
            let message = format!("hand-off {handoff:?} was not resumed [not_resumed]");
            return Err(
                Error::new(ErrorKind::Session, message).with_hint("resume it without --repeat")
            );
        }
        self.service.inspect_resume(handoff, &ResumeOptions::default()).map_err(failed)
    }

    /// Creates the conversation if it does not exist. Returns whether it was created.
    fn begin(&self, id: &str, window: Option<&Window>) -> Result<bool> {
        let store = self.service.store();
        let known = store.conversation(id).map(|_| false);
        let begun = match (known, window) {
            (Err(store::Error::UnknownConversation(_)), Some(window)) => {
                match store.begin(&window.to_new_conversation(id)) {
                    // Another process has just begun it, with another window.
                    Err(store::Error::Exists(_)) => Ok(false),
                    begun => begun.map(|_| true),
                }
            }
            (known, _) => known,
        };
        begun.map_err(failed)
    }

    /// Continues an open conversation with the model or the window that a call names. Returns the
    /// former window and reserve if they changed.
    fn replan(&self, id: &str, window: &Window) -> Result<Option<(u32, u32)>> {
        let known = self.service.store().conversation(id).map_err(failed)?;
        let model = self.service.model(id).map_err(failed)?;
        let (tokens, reserve) = window.continued(&known, model.as_deref())?;
        let changed = self.service.set_window(id, tokens, reserve, window.model.as_deref());
        let before = (known.window_tokens, known.output_reserve_tokens);
        Ok(changed.map_err(failed)?.then_some(before))
    }

    /// Runs work while holding the lease of a conversation.
    pub(super) fn with_lease<T>(
        &self,
        id: &str,
        work: impl FnOnce() -> lcp_continuity::Result<T>,
    ) -> Result<T> {
        let _taken = LeaseGuard { sessions: self, id };
        self.held.take(id);
        self.service.reopen(id).map_err(failed)?;
        work().map_err(failed)
    }

    pub(super) fn status(&self, id: &str) -> lcp_continuity::Result<ConversationStatus> {
        let (record, decision) = self.decision(id)?;
        let latest = self.service.store().latest(id)?;
        let budget = UsageReport::new(self.service.inspect_usage(id)?, &self.usage);
        let thresholds = &self.service.config().thresholds;
        let status = ConversationStatus::new(record, decision, thresholds, budget, latest);
        let is_compaction_due = self.service.is_compaction_due(id)?;
        Ok(ConversationStatus { is_compaction_due, ..status })
    }

    fn decision(
        &self,
        id: &str,
    ) -> lcp_continuity::Result<(store::ConversationRecord, HandoffDecision)> {
        let record = self.service.store().conversation(id)?;
        let effective = record.window_tokens.saturating_sub(record.output_reserve_tokens);
        let decision = self.service.should_handoff(id, effective);
        Ok((record, decision))
    }

    /// Runs the trigger. Returns the hand-off and whether it is new, or else the reason, if any.
    fn run_check(
        &self,
        id: &str,
    ) -> lcp_continuity::Result<Result<(SessionHandoff, bool), Option<String>>> {
        let checked = self.service.check(id)?;
        Ok(match checked.outcome {
            CheckOutcome::Prepared(handoff) => Ok((*handoff, true)),
            CheckOutcome::Futile { next_session_tokens, max_tokens } => Err(Some(format!(
                "a hand-off would be futile: the next session would begin with \
                 {next_session_tokens} of {max_tokens} tokens"
            ))),
            _ if !checked.decision.should_handoff => Err(None),
            // The hand-off was prepared before, but the caller may not have received it.
            _ => match self.latest_unclaimed(id)? {
                Some(there) => Ok((there, false)),
                None => Err(Some(
                    "this epoch already has a hand-off, or a hand-off would be futile".to_owned(),
                )),
            },
        })
    }

    fn prepare(&self, id: &str) -> lcp_continuity::Result<SessionHandoff> {
        let target = self.target(id)?;
        self.service.prepare_handoff(id, target, &self.service.config().handoff)
    }

    fn target(&self, id: &str) -> lcp_continuity::Result<u32> {
        let record = self.service.store().conversation(id)?;
        let effective = record.window_tokens.saturating_sub(record.output_reserve_tokens);
        Ok(self.service.config().target_token_budget.unwrap_or(effective / 4))
    }

    /// Returns the newest hand-off if it is unclaimed.
    fn latest_unclaimed(&self, id: &str) -> lcp_continuity::Result<Option<SessionHandoff>> {
        let Some(latest) = self.service.store().latest(id)? else { return Ok(None) };
        let record = self.service.store().handoff(&latest)?;
        if record.state != HandoffState::Committed {
            return Ok(None);
        }
        Ok(Some(SessionHandoff::from_pack(&record.pack)?))
    }

    /// Returns whether a hand-off has all messages and was prepared with these options.
    fn is_complete(&self, id: &str, there: &SessionHandoff) -> bool {
        let (asked, made) = (&self.service.config().handoff, &there.metadata);
        let messages = self.service.messages(id).map(|messages| messages.len() as u64);
        messages == Ok(made.messages)
            && self.target(id) == Ok(made.target_tokens)
            && (asked.style, asked.mode) == (made.style, made.mode)
            && self.summarizer.as_ref().is_none_or(|name| *name == made.summarizer)
            && !self.has_own_content
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        self.call_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that releases a conversation when it is dropped.
struct LeaseGuard<'a> {
    sessions: &'a Sessions,
    id: &'a str,
}

impl Drop for LeaseGuard<'_> {
    fn drop(&mut self) {
        // All data is stored. If the release fails, the lease expires.
        let _ = self.sessions.service.close(self.id);
        self.sessions.held.forget(self.id);
    }
}

/// Returns the usage that a provider reported for a request, or `None` if it has more cached input
/// tokens than input tokens.
pub fn reported_usage(
    input_tokens: u32,
    cached_input_tokens: u32,
    output_tokens: u32,
) -> Option<ReportedUsage> {
    let is_possible = cached_input_tokens <= input_tokens;
    is_possible.then_some(ReportedUsage { input_tokens, cached_input_tokens, output_tokens })
}

/// Returns the first text of a new session: the directive and the messages after the hand-off.
pub fn resume_text(resumed: &ResumedSession) -> Result<String> {
    let mut text = resumed.directive.text.clone();
    if !resumed.late_messages.is_empty() {
        let late = resumed.late_messages.iter();
        let blocks: Vec<_> = late.map(|message| message.message.block.clone()).collect();
        let config = DriverConfig { mode: resumed.directive.mode, ..DriverConfig::default() };
        let late = DefaultDriver::default().render(&blocks, &config);
        let late = late.map_err(|error| failed(lcp_continuity::Error::from(error)))?;
        append_text(&mut text, &late, config.mode);
    }
    Ok(text)
}

/// The kinds of content that a resume prompt does not show in full: the beginning of each warning,
/// and its code.
const OMISSIONS: [(&str, &str, &str); 2] =
    [("left out: ", "leaves out", "left_out"), ("shortened: ", "shortens", "shortened")];

/// Returns the warnings of a hand-off as lines for users. Unless `all` is set, one line counts the
/// items of each kind that the resume prompt does not show in full.
#[must_use]
pub fn warning_lines(warnings: &[String], all: bool) -> Vec<String> {
    let kind = |warning: &str| OMISSIONS.iter().position(|of| warning.starts_with(of.0));
    let mut counts = [0_usize; OMISSIONS.len()];
    for kind in warnings.iter().filter_map(|warning| kind(warning)) {
        counts[kind] += 1;
    }
    let mut lines = Vec::new();
    for warning in warnings {
        match kind(warning) {
            Some(kind) if !all && counts[kind] > 1 => {
                let items = lcp_driver::plural(std::mem::take(&mut counts[kind]), "item");
                let (_, action, code) = OMISSIONS[kind];
                lines.push(format!(
                    "the resume prompt {action} {items}; pass -v to list them [{code}]"
                ));
            }
            Some(kind) if !all && counts[kind] == 0 => {}
            Some(kind) => lines.push(format!("{warning} [{}]", OMISSIONS[kind].2)),
            None => lines.push(warning.clone()),
        }
    }
    lines
}

/// Returns a resumed session as JSON (`lcp.resume.v1`).
pub fn resume_json(resumed: &ResumedSession) -> Value {
    let directive = &resumed.directive;
    let late = resumed.late_messages.iter().map(|late| {
        json!({
            "role": late.message.role().to_string(),
            "tool_call_id": late.message.tool_call_id(),
            "text": late.message.text(),
            "tokens": late.tokens,
        })
    });
    let anchors = resumed
        .restored_anchors
        .iter()
        .map(|anchor| json!({ "id": anchor.id, "kind": anchor.kind.name(), "text": anchor.text }));
    json!({
        "schema": "lcp.resume.v1",
        "conversation": resumed.new_conversation_id,
        "previous": resumed.previous_conversation_id,
        "directive": {
            "text": directive.text,
            "tokens": directive.tokens,
            "actions": directive.immediate_actions,
            "by_category": directive.tokens_by_category,
            "warnings": directive.warnings,
        },
        "late_messages": late.collect::<Vec<_>>(),
        "anchors": anchors.collect::<Vec<_>>(),
        "state": resumed.restored_state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_warning_counts_the_items_that_are_left_out() {
        let warnings =
            ["a", "left out: b", "left out: c", "shortened: d (tags)"].map(str::to_owned);
        let counted = [
            "a",
            "the resume prompt leaves out 2 items; pass -v to list them [left_out]",
            "shortened: d (tags) [shortened]",
        ];
        assert_eq!(warning_lines(&warnings, false), counted);
        let all = [
            "a", "left out: b [left_out]", "left out: c [left_out]",
            "shortened: d (tags) [shortened]",
        ];
        assert_eq!(warning_lines(&warnings, true), all);
    }
}
