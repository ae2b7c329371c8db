//! Presets of shares.

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
pub const AGENT_RATIOS: [(&str, f64); 4] =
    [("tool_results", 0.40), ("open_files", 0.30), ("search_results", 0.20), ("references", 0.10)];

const fn sections(ratios: [f64; 8]) -> [(&'static str, f64); 8] {
    let [system, goal, memory, state, summary, retrieved, recent, reminder] = ratios;
    [
        ("system_prompt", system),
        ("goal", goal),
        ("memory", memory),
        ("working_state", state),
        ("conversation_summary", summary),
        ("retrieved_context", retrieved),
        ("recent_messages", recent),
        ("scaffolding_reminder", reminder),
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
