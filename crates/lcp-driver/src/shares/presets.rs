//! Presets of shares.

use lcp_types::category;

use super::share::Rounding;
use super::{ContextBudget, Shares};

/// The sections of a conversation and their ratios (CBS).
pub const DEFAULT_BUDGET_RATIOS: [(&str, f64); 8] =
    sections([0.15, 0.05, 0.10, 0.05, 0.15, 0.10, 0.35, 0.05]);

/// The ratios for code: more for recent messages and working state (CBS).
pub const CODE_FOCUSED_RATIOS: [(&str, f64); 8] =
    sections([0.10, 0.05, 0.05, 0.10, 0.10, 0.10, 0.45, 0.05]);

/// The ratios for long work with many preferences: more for memory, less for summary (CBS).
pub const PREFERENCE_FOCUSED_RATIOS: [(&str, f64); 8] =
    sections([0.15, 0.05, 0.15, 0.05, 0.10, 0.10, 0.35, 0.05]);

/// The ratios for short, focused sessions: more for summary, less for memory (CBS).
pub const SESSION_FOCUSED_RATIOS: [(&str, f64); 8] =
    sections([0.15, 0.05, 0.05, 0.05, 0.20, 0.10, 0.35, 0.05]);

/// The categories of an agent's context and their ratios (Task 016.c).
pub const AGENT_RATIOS: [(&str, f64); 4] = [
    (category::TOOL_RESULTS, 0.40),
    (category::OPEN_FILES, 0.30),
    (category::SEARCH_RESULTS, 0.20),
    (category::REFERENCES, 0.10),
];

const fn sections(ratios: [f64; 8]) -> [(&'static str, f64); 8] {
    let [system, goal, memory, state, summary, retrieved, recent, reminder] = ratios;
    [
        (category::SYSTEM_PROMPT, system),
        (category::GOAL, goal),
        (category::MEMORY, memory),
        (category::WORKING_STATE, state),
        (category::CONVERSATION_SUMMARY, summary),
        (category::RETRIEVED_CONTEXT, retrieved),
        (category::RECENT_MESSAGES, recent),
        (category::SCAFFOLDING_REMINDER, reminder),
    ]
}

impl Shares {
    /// The names of all presets.
    pub const PRESETS: &[&str] =
        &["conversation", "agent", "code-focused", "preference-focused", "session-focused"];

    /// Returns the preset with this name.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "conversation" => Some(Self::conversation()),
            "agent" => Some(Self::agent()),
            "code-focused" => Some(Self::sections(&CODE_FOCUSED_RATIOS)),
            "preference-focused" => Some(Self::sections(&PREFERENCE_FOCUSED_RATIOS)),
            "session-focused" => Some(Self::sections(&SESSION_FOCUSED_RATIOS)),
            _ => None,
        }
    }

    /// Returns the shares of a conversation: [`DEFAULT_BUDGET_RATIOS`].
    #[must_use]
    pub fn conversation() -> Self {
        Self::sections(&DEFAULT_BUDGET_RATIOS)
    }

    /// Returns the shares of the sections of CBS, which are rounded down.
    fn sections(ratios: &[(&str, f64); 8]) -> Self {
        Self::from_ratios(ratios, Rounding::Down)
    }

    /// Returns the shares of an agent's context: [`AGENT_RATIOS`].
    #[must_use]
    pub fn agent() -> Self {
        Self::from_ratios(&AGENT_RATIOS, Rounding::LargestRemainder)
    }
}

/// Returns the budget of a conversation as CBS computes it: every section of
/// [`DEFAULT_BUDGET_RATIOS`] is rounded down, so that a few tokens belong to no section.
///
/// This is the division of [`Shares::conversation`].
///
/// ```
/// let budget = lcp_driver::shares::calculate_budget(3_276);
/// assert_eq!(budget.tokens("recent_messages"), Some(1_146));
/// ```
#[must_use]
pub fn calculate_budget(total: u32) -> ContextBudget {
    Shares::conversation().divide(total)
}
