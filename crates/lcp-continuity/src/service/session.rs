//! A conversation that is open in this service.

use std::borrow::Cow;
use std::time::Instant;

use lcp_driver::usage::UsageEntry;
use lcp_driver::window::ContextWindow;
use lcp_secrets::{Redactor, find_in_block, redact_block, reserve_markers};
use lcp_types::Role;
use serde::{Deserialize, Serialize};

use crate::compact::begins_like_memory;
use crate::model::{Recorded, SessionHandoff, TokenUsage};
use crate::store::{ConversationRecord, Lease};
use crate::trigger::Trigger;
use crate::usage_log::UsageLog;

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) record: ConversationRecord,
    pub(super) lease: Lease,
    pub(super) leased: Instant,
    /// All messages, including inherited ones.
    pub(super) messages: Vec<Recorded>,
    pub(super) origin: Option<SessionHandoff>,
    pub(super) trigger: Trigger,
    /// The messages that the window shows, if the conversation was compacted.
    pub(super) view: Option<ContextView>,
    /// The positions of the memories that compactions wrote, the newest last.
    pub(super) memories: Vec<u64>,
    /// The ids of superseded anchors, without duplicates, each with its replacement.
    pub(super) superseded: Vec<(String, String)>,
    /// The name of the model, if it is known.
    pub(super) model: Option<String>,
    /// The usage after each answer of the model.
    pub(super) usage_log: UsageLog,
}

impl Session {
    /// Returns the number of tokens in the window that messages may fill.
    pub(super) fn effective_window(&self) -> u32 {
        self.record.window_tokens.saturating_sub(self.record.output_reserve_tokens)
    }

    /// Returns the window whose available tokens are the budget of the conversation (RFC 0007 §9).
    pub(super) fn budget_window(&self) -> ContextWindow {
        let record = &self.record;
        ContextWindow::from_model(record.window_tokens)
            .with_reserves(0, record.output_reserve_tokens)
    }

    /// Returns the budget in tokens, or 0 if the reserve leaves no tokens.
    pub(super) fn budget_tokens(&self) -> u32 {
        self.budget_window().available().unwrap_or(0)
    }

    /// Returns the record of a usage.
    pub(super) fn usage_entry(&self, usage: &TokenUsage) -> UsageEntry {
        let (model, total) = (self.model.clone(), self.budget_tokens());
        UsageEntry { model, total, used: usage.total_tokens }
    }

    /// Returns the tokens of the application's system prompt, which the next session also has.
    pub(super) fn system_prompt_tokens(&self) -> u32 {
        let (system, _) = self.shown();
        system.iter().fold(0, |sum, message| sum.saturating_add(message.tokens))
    }

    pub(super) fn memory(&self) -> Option<&Recorded> {
        let memory = self.view.as_ref()?.memory?;
        self.messages.iter().find(|message| message.position == memory)
    }

    /// Returns the application's system turns, and the other messages that the window shows.
    pub(super) fn shown(&self) -> (Vec<&Recorded>, Vec<&Recorded>) {
        let is_shown = |at| self.view.as_ref().is_none_or(|view| view.shows(at));
        let (system, turns): (Vec<_>, Vec<_>) =
            self.messages.iter().partition(|message| message.message.role() == Role::System);
        let is_memory = |message: &&Recorded| self.memories.contains(&message.position);
        let system = system.into_iter().filter(|message| !is_memory(message)).collect();
        (system, turns.into_iter().filter(|message| is_shown(message.position)).collect())
    }

    /// Returns the session with markers in place of the secrets in its messages, for texts that go
    /// on to another session, and the number of replaced secrets. Markers are numbered by value
    /// within the session.
    pub(super) fn redacted(&self) -> (Cow<'_, Self>, usize) {
        let has_secret = |message: &Recorded| !find_in_block(&message.message.block).is_empty();
        if !self.messages.iter().any(has_secret) {
            return (Cow::Borrowed(self), 0);
        }
        let mut session = self.clone();
        let mut redactor = Redactor::default();
        // The values of markers of an earlier session are unknown, so new ones get other numbers.
        for message in self.messages.iter().chain(self.origin.iter().flat_map(|it| &it.recent)) {
            reserve_markers(&message.message.block, &mut redactor);
        }
        if let Some(origin) = &self.origin {
            let anchors = origin.anchors.iter().map(|anchor| &anchor.text);
            let texts = anchors.chain([&origin.summary]).chain(&origin.user_intent);
            texts.for_each(|text| redactor.reserve_markers(text.as_bytes()));
        }
        let blocks = session.messages.iter_mut().map(|message| &mut message.message.block);
        let count = blocks.map(|block| redact_block(block, &mut redactor, &|_| true).len()).sum();
        (Cow::Owned(session), count)
    }

    /// Records replacements of anchors. The first replacement recorded for an anchor wins.
    pub(super) fn supersede(&mut self, replaced: &[(String, String)]) {
        for (id, by) in replaced {
            if !self.superseded.iter().any(|(known, _)| known == id) {
                self.superseded.push((id.clone(), by.clone()));
            }
        }
    }

    pub(super) fn status(&self, usage: &TokenUsage) -> Option<String> {
        let status = SavedState {
            usage: usage.clone(),
            trigger: self.trigger.clone(),
            view: self.view.clone(),
            memories: Some(self.memories.clone()),
            superseded: self.superseded.clone(),
            model: self.model.clone(),
            usage_log: self.usage_log.clone(),
        };
        // The status is plain data, so writing it cannot fail.
        serde_json::to_string(&status).ok()
    }
}

/// The state stored with a conversation, so that another process can continue it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedState {
    pub(super) usage: TokenUsage,
    pub(super) trigger: Trigger,
    #[serde(default)]
    pub(super) view: Option<ContextView>,
    /// `None` in states written by earlier versions.
    #[serde(default)]
    pub(super) memories: Option<Vec<u64>>,
    #[serde(default)]
    pub(super) superseded: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// Empty in states written by earlier versions.
    #[serde(default)]
    pub(super) usage_log: UsageLog,
}

/// The messages that the window shows after a compaction, in addition to system turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ContextView {
    /// The position of the memory message, if there is one.
    pub(super) memory: Option<u64>,
    /// The position of the first message from which on all messages are shown.
    pub(super) from: u64,
    /// The positions of earlier messages that are shown too.
    #[serde(rename = "also")]
    pub(super) earlier_positions: Vec<u64>,
}

impl ContextView {
    /// Returns whether the message at this position is shown. System turns are not considered.
    pub(super) fn shows(&self, position: u64) -> bool {
        position >= self.from || self.earlier_positions.contains(&position)
    }
}

impl ConversationRecord {
    /// Returns the stored token usage of the conversation.
    ///
    /// `None` if no usage was stored for the current epoch, as before the first message of a new or
    /// forked conversation.
    #[must_use]
    pub fn usage(&self) -> Option<TokenUsage> {
        SavedState::from_record(self)
            .filter(|status| status.is_current_for(self))
            .map(|status| status.usage)
    }
}

impl SavedState {
    pub(super) fn from_record(record: &ConversationRecord) -> Option<Self> {
        serde_json::from_str(record.status.as_deref()?).ok()
    }

    /// Returns whether the state describes the current window of the conversation. Otherwise the
    /// usage must be counted again.
    pub(super) fn is_current_for(&self, record: &ConversationRecord) -> bool {
        self.usage.epoch == record.epoch && self.usage.conversation_id == record.id
    }

    pub(super) fn memories(&self, messages: &[Recorded]) -> Vec<u64> {
        self.memories.clone().unwrap_or_else(|| likely_memories(messages))
    }
}

/// Returns the positions of the messages that look like memories.
pub(super) fn likely_memories(messages: &[Recorded]) -> Vec<u64> {
    let is_memory = |message: &&Recorded| begins_like_memory(&message.message);
    messages.iter().filter(is_memory).map(|message| message.position).collect()
}
