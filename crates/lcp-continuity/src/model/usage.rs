//! The token usage of a conversation.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// The token usage of a conversation in its context window (RFC 0007 §3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// The conversation.
    pub conversation_id: String,
    /// All tokens in the window: system prompt and history.
    pub total_tokens: u32,
    /// Tokens of system turns.
    pub system_prompt_tokens: u32,
    /// Tokens of all other messages.
    pub conversation_history_tokens: u32,
    /// Tokens of the newest message.
    pub last_message_tokens: u32,
    /// The number of messages recorded in this epoch.
    pub message_count: u32,
    /// The mean number of history tokens per history message, rounded up. 0 if the history is
    /// empty.
    pub average_tokens_per_turn: u32,
    /// The time of the last record.
    pub last_updated: Timestamp,
    /// The epoch. A new epoch begins whenever the window is emptied.
    pub epoch: u32,
    /// The source of the total.
    pub source: UsageSource,
    /// The input tokens of the newest request that came from a cache. Included in the total.
    pub cached_input_tokens: u32,
    /// The output tokens of the newest request. Included in the total.
    pub output_tokens: u32,
}

/// The source of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The messages were counted.
    #[default]
    Counted,
    /// The provider reported the total of the newest request. Later messages were counted and
    /// added.
    Reported,
}

/// The token usage that a provider reports for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedUsage {
    /// All input tokens, cached or not.
    pub input_tokens: u32,
    /// The input tokens that came from a cache.
    pub cached_input_tokens: u32,
    /// The output tokens.
    pub output_tokens: u32,
}

impl TokenUsage {
    /// Returns the fraction of the window that is used, or 0 for a window of 0 tokens.
    ///
    /// The result is a rounded `f32`. For decisions at exact thresholds use integers, as
    /// [`Thresholds`](crate::Thresholds) does.
    #[expect(clippy::cast_precision_loss, reason = "a figure to show, as in CONT-02")]
    #[must_use]
    pub fn utilization(&self, max_context_tokens: u32) -> f32 {
        if max_context_tokens == 0 {
            return 0.0;
        }
        self.total_tokens as f32 / max_context_tokens as f32
    }

    /// Returns the number of further turns of average length that fit, or 0 if the average is
    /// unknown.
    #[must_use]
    pub fn estimate_remaining_turns(&self, max_context_tokens: u32) -> u32 {
        max_context_tokens
            .saturating_sub(self.total_tokens)
            .checked_div(self.average_tokens_per_turn)
            .unwrap_or(0)
    }
}
