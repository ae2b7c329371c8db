//! The continuation directive, and the share of a hand-off that it retains.

use lcp_driver::OutputMode;
use serde::{Deserialize, Serialize};

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
