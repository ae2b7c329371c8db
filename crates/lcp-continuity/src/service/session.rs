//! A conversation that is open here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lcp_types::Role;
use serde::{Deserialize, Serialize};

use crate::compact::begins_like_memory;
use crate::model::{Recorded, SessionHandoff, Timestamp, TokenUsage};
use crate::store::{ConversationRecord, Lease};
use crate::trigger::Trigger;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) record: ConversationRecord,
    pub(super) lease: Lease,
    pub(super) leased: Instant,
    /// All its messages, inherited ones too.
    pub(super) messages: Vec<Recorded>,
    pub(super) origin: Option<SessionHandoff>,
    pub(super) trigger: Trigger,
    /// What its window shows, where it was compacted.
    pub(super) view: Option<ContextView>,
    /// The places of memories that compactions wrote, the newest last.
    pub(super) memories: Vec<u64>,
    /// The ids of anchors that no longer hold, each once, with what replaced it.
    pub(super) superseded: Vec<(String, String)>,
}

impl Session {
    /// Tokens of the window that messages may fill.
    pub(super) fn effective_window(&self) -> u32 {
        self.record.window_tokens.saturating_sub(self.record.output_reserve_tokens)
    }

    /// Tokens of the application's system prompt, which the next session has too.
    pub(super) fn system_prompt_tokens(&self) -> u32 {
        let (system, _) = self.shown();
        system.iter().fold(0, |sum, message| sum.saturating_add(message.tokens))
    }

    pub(super) fn memory(&self) -> Option<&Recorded> {
        let memory = self.view.as_ref()?.memory?;
        self.messages.iter().find(|message| message.position == memory)
    }

    /// Returns the application's system turns and the other messages that the window shows.
    pub(super) fn shown(&self) -> (Vec<&Recorded>, Vec<&Recorded>) {
        let is_shown = |at| self.view.as_ref().is_none_or(|view| view.shows(at));
        let (system, turns): (Vec<_>, Vec<_>) =
            self.messages.iter().partition(|message| message.message.role() == Role::System);
        let is_memory = |message: &&Recorded| self.memories.contains(&message.position);
        let system = system.into_iter().filter(|message| !is_memory(message)).collect();
        (system, turns.into_iter().filter(|message| is_shown(message.position)).collect())
    }

    /// Keeps what replaced anchors; of each, what was said of it first.
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
        };
        // Plain data: there is nothing that could not be written.
        serde_json::to_string(&status).ok()
    }
}

/// What is kept with a conversation, so that another process goes on where this one was.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedState {
    pub(super) usage: TokenUsage,
    pub(super) trigger: Trigger,
    #[serde(default)]
    pub(super) view: Option<ContextView>,
    /// Earlier versions kept none of them.
    #[serde(default)]
    pub(super) memories: Option<Vec<u64>>,
    #[serde(default)]
    pub(super) superseded: Vec<(String, String)>,
}

/// What the window shows after a compaction, besides system turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ContextView {
    /// The place of the message that is the memory, if there is one.
    pub(super) memory: Option<u64>,
    /// The place of the message from which on all are shown.
    pub(super) from: u64,
    /// The places of messages before it that are shown too.
    #[serde(rename = "also")]
    pub(super) earlier_positions: Vec<u64>,
}

impl ContextView {
    /// Whether the message at this place is shown, if it is no system turn.
    pub(super) fn shows(&self, position: u64) -> bool {
        position >= self.from || self.earlier_positions.contains(&position)
    }
}

impl ConversationRecord {
    /// What it uses of its window, as far as that was kept with it: not before the first
    /// message of one that was begun or forked.
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

    /// Whether it tells of the window that the conversation has now: it is counted anew otherwise.
    pub(super) fn is_current_for(&self, record: &ConversationRecord) -> bool {
        self.usage.epoch == record.epoch && self.usage.conversation_id == record.id
    }

    pub(super) fn memories(&self, messages: &[Recorded]) -> Vec<u64> {
        self.memories.clone().unwrap_or_else(|| likely_memories(messages))
    }
}

/// The places of what is a memory by all that can be seen of it.
pub(super) fn likely_memories(messages: &[Recorded]) -> Vec<u64> {
    let is_memory = |message: &&Recorded| begins_like_memory(&message.message);
    messages.iter().filter(is_memory).map(|message| message.position).collect()
}

/// A number that no other holder has, in this process or, in all likelihood, on any machine.
pub(super) fn random_holder_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{next:x}", Timestamp::now().0)
}
