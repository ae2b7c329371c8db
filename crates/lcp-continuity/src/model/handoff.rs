//! Hand-offs: what one session leaves for the next, and the directive made of one.

use lcp_driver::OutputMode;
use lcp_driver::segments::CompressionLevel;
use serde::{Deserialize, Serialize};

use super::anchor::AnchorPoint;
use super::message::{Message, Recorded};
use super::state::{PendingTask, SessionState};
use super::time::Timestamp;
use super::usage::TokenUsage;

/// What a hand-off is to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffOptions {
    /// Tokens that the summary may have: 2,000.
    pub target_summary_tokens: u32,
    /// Whether it tells the state of the session: yes.
    pub include_session_state: bool,
    /// Whether it lists the tasks that are not done: yes.
    pub extract_pending_tasks: bool,
    /// How much the summary goes into detail: Detailed.
    pub summary_level: CompressionLevel,
    /// Tokens of the newest messages that are handed over as they are: 1,000.
    pub recent_tokens: u32,
    /// What the caller knows of the session's state; what the messages show is added to it.
    pub state: SessionState,
    /// The ids of anchors that no longer hold, each with that of the anchor that
    /// replaced it, or with any word that says why.
    pub superseded_anchors: Vec<(String, String)>,
    /// Why it is handed over; the reason of the decision if none is given.
    pub reason: Option<String>,
    /// How the directive is worded.
    pub style: DirectiveStyle,
    /// How the directive is rendered.
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

/// What one session leaves for the next (RFC 0007 §5).
///
/// Its contents are what the work is about, so `Debug` shows them: take care what is logged.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionHandoff {
    /// Its id, made of what it holds: the same hand-off has the same one.
    pub handoff_id: String,
    /// The conversation that ends.
    pub conversation_id: String,
    /// The hand-off that this conversation began with.
    pub previous_handoff_id: Option<String>,
    /// The epoch of the conversation.
    pub epoch: u32,
    /// What happened, within [`HandoffOptions::target_summary_tokens`].
    pub summary: String,
    /// The same in fewer words, for where the summary does not fit.
    pub summary_brief: Option<String>,
    /// The same in a few words.
    pub summary_tags: Option<String>,
    /// The anchors that hold, those of earlier hand-offs first.
    pub anchors: Vec<AnchorPoint>,
    /// The tasks that are not done.
    pub pending_tasks: Vec<PendingTask>,
    /// The state of the session.
    pub state: Option<SessionState>,
    /// What the user wants, in the user's own words.
    pub user_intent: Option<String>,
    /// The newest messages as they are, calls and their results together.
    pub recent: Vec<Recorded>,
    /// The newest calls without a result that stand before [`Self::recent`], oldest
    /// first: 10 at most.
    pub open_calls: Vec<OpenCall>,
    /// The ids of anchors that are not carried on, each with what replaced it.
    pub superseded: Vec<(String, String)>,
    /// Figures, and how it came about.
    pub metadata: HandoffMetadata,
}

/// A call that had no result when its session was handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its id.
    pub id: String,
    /// How it begins: 200 characters at most.
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

/// Figures of a hand-off, and how it came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffMetadata {
    /// When it was prepared.
    pub created: Timestamp,
    /// Tokens of the conversation.
    pub tokens_before: u32,
    /// Tokens that the next session begins with: the directive's text.
    pub tokens_after: u32,
    /// The second by the first; 1 is no gain.
    pub compression_ratio: f64,
    /// Why it was handed over.
    pub reason: String,
    /// Tokens that the directive was to have.
    pub target_tokens: u32,
    /// Messages of the conversation that it covers.
    pub messages: u64,
    /// What wrote the summary.
    pub summarizer: String,
    /// What counted the tokens.
    pub counter: String,
    /// Whether the counts are exact.
    pub exact: bool,
    /// How the directive is worded.
    pub style: DirectiveStyle,
    /// How the directive is rendered.
    #[serde(with = "mode")]
    pub mode: OutputMode,
    /// What was not as it was asked for: a summariser that failed, parts that gave
    /// way. In words, each once.
    pub warnings: Vec<String>,
    /// The share of it that the directive retains within its target.
    #[serde(rename = "fidelity")]
    pub coverage: Coverage,
}

/// Whether a session should be handed over, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffDecision {
    /// Whether it should.
    pub should_handoff: bool,
    /// The part of the window that is used.
    pub context_utilization: f32,
    /// How many more turns of average length fit.
    pub estimated_remaining_turns: u32,
    /// What is used.
    pub current_usage: TokenUsage,
    /// Why, or why not.
    pub reason: String,
}

/// A session that was taken up again.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumedSession {
    /// The conversation that begins.
    pub new_conversation_id: String,
    /// The one that it continues.
    pub previous_conversation_id: String,
    /// What the model is told first.
    pub directive: ContinuationDirective,
    /// The anchors that hold: those of the package, without what was superseded since it was made.
    pub restored_anchors: Vec<AnchorPoint>,
    /// The state of the session.
    pub restored_state: Option<SessionState>,
    /// Messages to show after the directive: those that the old conversation got
    /// after the hand-off was prepared, and the calls that results among them answer.
    pub late_messages: Vec<Recorded>,
}

/// A mode by its name.
mod mode {
    use lcp_driver::OutputMode;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    pub(super) fn serialize<S: Serializer>(mode: &OutputMode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(mode.name())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<OutputMode, D::Error> {
        let name = String::deserialize(from)?;
        let mode = OutputMode::ALL.into_iter().find(|mode| mode.name() == name);
        mode.ok_or_else(|| D::Error::custom(format!("the mode {name:?} is not known")))
    }
}

/// How a directive is worded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectiveStyle {
    /// Lists, few words.
    Concise,
    /// Sentences, as one would brief a colleague.
    Narrative,
    /// A part for each thing, so that a budget can choose among them.
    #[default]
    Structured,
}

/// The continuation directive: what the next session is told first.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuationDirective {
    /// What happened.
    pub summary: String,
    /// What to do now, the first first.
    pub immediate_actions: Vec<String>,
    /// What not to forget: anchors, word for word.
    pub reminders: Vec<String>,
    /// What the user wants.
    pub user_intent: Option<String>,
    /// How it is worded.
    pub style: DirectiveStyle,
    /// How it is rendered.
    pub mode: OutputMode,
    /// All of it as one system prompt, within the budget.
    pub text: String,
    /// The tokens of that.
    pub tokens: u32,
    /// The share of the hand-off that it retains.
    pub coverage: Coverage,
    /// What gave way, in words; nothing does so silently.
    pub warnings: Vec<String>,
}

/// The share of a hand-off that a text retains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Anchors that stand in it byte for byte.
    pub anchors: Ratio,
    /// Steps of tasks, done or remaining, that stand in it word for word.
    pub task_steps: Ratio,
    /// Things of the session's state that stand in it.
    pub state: Ratio,
    /// The fidelity score: the weighted mean of the parts retained of each of these that there is
    /// ([`WEIGHTS`](crate::coverage::WEIGHTS)); 1 where there is none.
    pub score: f64,
    /// What does not stand in it: its kind and how it begins.
    pub lost: Vec<String>,
    /// Whether the score is at least [`COVERAGE_MIN`](crate::coverage::COVERAGE_MIN), and no decision or commitment
    /// is lost.
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
