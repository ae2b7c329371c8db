//! What a conversation uses of its window.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// What a conversation uses of its window, in tokens (RFC 0007 §3).
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
    /// How many messages were recorded in this epoch.
    pub message_count: u32,
    /// Tokens of the history by its messages, rounded up; 0 where there is none.
    pub average_tokens_per_turn: u32,
    /// When something was recorded last.
    pub last_updated: Timestamp,
    /// The epoch: it begins anew where the window is emptied.
    pub epoch: u32,
    /// Where the total comes from.
    pub source: UsageSource,
    /// Of the input of the newest request, what came from a cache; part of the total.
    pub cached_input_tokens: u32,
    /// Tokens that the newest request put out; part of the total.
    pub output_tokens: u32,
}

/// Where a total comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The messages were counted.
    #[default]
    Counted,
    /// The provider reported it for the newest request; messages since then were counted.
    Reported,
}

/// What a provider reports of one request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedUsage {
    /// All of the input, cached or not.
    pub input_tokens: u32,
    /// What of the input came from a cache.
    pub cached_input_tokens: u32,
    /// The output.
    pub output_tokens: u32,
}

impl TokenUsage {
    /// The part of the window that is used; 0 where there is no window. For decisions at exact
    /// edges use whole numbers, as [`Thresholds`](crate::Thresholds) does.
    #[expect(clippy::cast_precision_loss, reason = "a figure to show, as in CONT-02")]
    #[must_use]
    pub fn utilization(&self, max_context_tokens: u32) -> f32 {
        if max_context_tokens == 0 {
            return 0.0;
        }
        self.total_tokens as f32 / max_context_tokens as f32
    }

    /// How many more turns of average length fit; 0 where nothing is known of turns.
    #[must_use]
    pub fn estimate_remaining_turns(&self, max_context_tokens: u32) -> u32 {
        max_context_tokens
            .saturating_sub(self.total_tokens)
            .checked_div(self.average_tokens_per_turn)
            .unwrap_or(0)
    }
}
