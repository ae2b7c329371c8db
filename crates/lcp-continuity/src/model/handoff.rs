//! Hand-offs from one session to the next, and the directive made from a hand-off.

use std::collections::BTreeMap;

use lcp_driver::OutputMode;
use lcp_driver::segments::CompressionLevel;
use serde::{Deserialize, Serialize};

use super::anchor::AnchorPoint;
use super::message::{Message, Recorded};
use super::state::{PendingTask, SessionState};
use super::time::Timestamp;
use super::usage::TokenUsage;

/// Options for the contents of a hand-off.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffOptions {
    /// The token budget of the summary. Default: 2,000.
    pub target_summary_tokens: u32,
    /// Includes the state of the session. Default: `true`.
    pub include_session_state: bool,
    /// Includes the pending tasks. Default: `true`.
    pub extract_pending_tasks: bool,
    /// The level of detail of the summary. Default: `Detailed`.
    pub summary_level: CompressionLevel,
    /// The token budget of the newest messages, which are handed over verbatim. Default: 1,000.
    pub recent_tokens: u32,
    /// The session state known to the caller. It takes precedence over the state found in the
    /// messages.
    pub state: SessionState,
    /// The ids of anchors that no longer hold, each with the id of its replacement or with a word
    /// of explanation.
    pub superseded_anchors: Vec<(String, String)>,
    /// The reason for the hand-off. Default: the reason of the decision.
    pub reason: Option<String>,
    /// The wording of the directive.
    pub style: DirectiveStyle,
    /// The output mode of the directive.
    pub mode: OutputMode,
}

impl Default for HandoffOptions {
    fn default() -> Self {
        Self {
            target_summary_tokens: 2_000,
            include_session_state: true,
            extract_pending_tasks: true,
            summary_level: CompressionLevel::Detailed,
            recent_tokens: 1_000,
            state: SessionState::default(),
            superseded_anchors: Vec::new(),
            reason: None,
            style: DirectiveStyle::default(),
            mode: OutputMode::default(),
        }
    }
}

/// The facts, tasks and state of one session that the next session starts from (RFC 0007 §5).
///
/// A hand-off contains conversation text, and `Debug` prints it. Be careful when logging it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHandoff {
    /// The id, derived from the contents: equal hand-offs have equal ids.
    pub handoff_id: String,
    /// The id of the conversation that ends.
    pub conversation_id: String,
    /// The id of the hand-off that this conversation began with.
    pub previous_handoff_id: Option<String>,
    /// The epoch of the conversation.
    pub epoch: u32,
    /// The summary of the conversation, within [`HandoffOptions::target_summary_tokens`].
    pub summary: String,
    /// A shorter summary, used if the full one does not fit.
    pub summary_brief: Option<String>,
    /// The summary in a few words.
    pub summary_tags: Option<String>,
    /// The anchors that still hold, those of earlier hand-offs first.
    pub anchors: Vec<AnchorPoint>,
    /// The pending tasks.
    pub pending_tasks: Vec<PendingTask>,
    /// The state of the session.
    pub state: Option<SessionState>,
    /// The goal of the user, in the user's own words.
    pub user_intent: Option<String>,
    /// The newest messages verbatim, with calls and results kept together.
    pub recent: Vec<Recorded>,
    /// The newest calls before [`Self::recent`] that have no result, oldest first: at most 10.
    pub open_calls: Vec<OpenCall>,
    /// The ids of superseded anchors, each with its replacement.
    pub superseded: Vec<(String, String)>,
    /// Token counts and other metadata.
    pub metadata: HandoffMetadata,
}

/// A tool call that had no result when its session was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// The id of the call.
    pub id: String,
    /// The beginning of its text: at most 200 characters.
    pub text: String,
}

impl OpenCall {
    pub(crate) const MAX: usize = 10;
    const CHARS: usize = 200;

    pub(crate) fn from_message(message: &Message) -> Self {
        Self {
            id: message.tool_call_id().unwrap_or_default().to_owned(),
            text: message.text().chars().take(Self::CHARS).collect(),
        }
    }
}

/// The metadata of a hand-off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffMetadata {
    /// The time of preparation.
    pub created: Timestamp,
    /// The tokens of the conversation.
    pub tokens_before: u32,
    /// The tokens of the directive, with which the next session begins.
    pub tokens_after: u32,
    /// `tokens_after / tokens_before`. A ratio of 1 saves nothing.
    pub compression_ratio: f64,
    /// The reason for the hand-off.
    pub reason: String,
    /// The token budget of the directive.
    pub target_tokens: u32,
    /// The number of messages that the hand-off covers.
    pub messages: u64,
    /// The name of the summarizer.
    pub summarizer: String,
    /// The name of the token estimator.
    pub counter: String,
    /// `true` if the token counts are exact.
    pub exact: bool,
    /// The wording of the directive.
    pub style: DirectiveStyle,
    /// The output mode of the directive.
    #[serde(with = "mode")]
    pub mode: OutputMode,
    /// Warnings as text, without duplicates, such as a failed summarizer or parts that were
    /// shortened or omitted.
    pub warnings: Vec<String>,
    /// The share of the hand-off that the directive retains within its budget.
    #[serde(rename = "fidelity")]
    pub coverage: Coverage,
}

/// The decision whether to hand a session over, with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffDecision {
    /// `true` if the session should be handed over.
    pub should_handoff: bool,
    /// The fraction of the window that is used.
    pub context_utilization: f32,
    /// The number of further turns of average length that fit.
    pub estimated_remaining_turns: u32,
    /// The token usage of the conversation.
    pub current_usage: TokenUsage,
    /// The reason for the decision.
    pub reason: String,
}

/// A session that was resumed from a hand-off.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumedSession {
    /// The id of the new conversation.
    pub new_conversation_id: String,
    /// The id of the conversation that it continues.
    pub previous_conversation_id: String,
    /// The directive, which is the first text the model sees.
    pub directive: ContinuationDirective,
    /// The anchors that still hold: those of the hand-off, except any superseded since it was
    /// prepared.
    pub restored_anchors: Vec<AnchorPoint>,
    /// The state of the session.
    pub restored_state: Option<SessionState>,
    /// Messages to show after the directive: those recorded after the hand-off was prepared, and
    /// the calls that results among them answer.
    pub late_messages: Vec<Recorded>,
}

/// Serializes an output mode by its name.
mod mode {
    use lcp_driver::OutputMode;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
    pub(super) fn serialize<S: Serializer>(mode: &OutputMode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(mode.name())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<OutputMode, D::Error> {
        let name = String::deserialize(from)?;
        let mode = OutputMode::ALL.into_iter().find(|mode| mode.name() == name);
        mode.ok_or_else(|| D::Error::custom(format!("unknown mode {name:?}")))
    }
}

/// The wording of a directive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectiveStyle {
    /// Terse lists.
    Concise,
    /// Sentences, like a briefing for a colleague.
    Narrative,
    /// A separate part for each item, so that a budget can select among them.
    #[default]
    Structured,
}

/// The continuation directive, also called the resume prompt: the first text of the next session.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuationDirective {
    /// The summary of the previous session.
    pub summary: String,
    /// The next actions, in order.
    pub immediate_actions: Vec<String>,
    /// Reminders: anchors, verbatim.
    pub reminders: Vec<String>,
    /// The goal of the user.
    pub user_intent: Option<String>,
    /// The wording.
    pub style: DirectiveStyle,
    /// The output mode.
    pub mode: OutputMode,
    /// The whole directive as one system prompt, within the budget.
    pub text: String,
    /// The token count of `text`.
    pub tokens: u32,
    /// The tokens of the text by sections of a conversation ([`category`](lcp_types::category)).
    /// The introduction and the next actions are the scaffolding reminder. The text around the
    /// parts belongs to no section.
    pub tokens_by_category: BTreeMap<String, u32>,
    /// The share of the hand-off that it retains.
    pub coverage: Coverage,
    /// Warnings about every part that was shortened or omitted.
    pub warnings: Vec<String>,
}

/// The share of a hand-off that a text retains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The anchors that the text contains byte for byte.
    pub anchors: Ratio,
    /// The task steps, done or remaining, that the text contains verbatim.
    pub task_steps: Ratio,
    /// The items of the session state that the text contains.
    pub state: Ratio,
    /// The fidelity score: the mean of the retained shares of all groups that have items, weighted
    /// by [`WEIGHTS`](crate::coverage::WEIGHTS). 1 if no group has items.
    pub score: f64,
    /// The items that the text does not contain: the kind and the beginning of each.
    pub lost: Vec<String>,
    /// `true` if the score is at least [`COVERAGE_MIN`](crate::coverage::COVERAGE_MIN) and no
    /// decision or commitment is lost.
    pub ok: bool,
}

/// A number of items retained, out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratio {
    /// The number of items retained.
    #[serde(rename = "kept")]
    pub retained: u32,
    /// The number of items.
    #[serde(rename = "of")]
    pub total: u32,
}
