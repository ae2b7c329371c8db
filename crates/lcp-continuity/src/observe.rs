//! Observability (RFC 0007 §11): `tracing` events with the target `lcp_continuity`, and metrics of
//! the `metrics` facade. Each needs its feature; without it, these functions do nothing. Message
//! contents are never logged.

#[cfg(feature = "tracing")]
use lcp_driver::escape_control;

use crate::model::TokenUsage;

#[cfg(feature = "tracing")]
const TARGET: &str = "lcp_continuity";

pub(crate) fn utilization(usage: &TokenUsage, max_tokens: u32) {
    #[cfg(feature = "tracing")]
    {
        let percent = percent(usage, max_tokens);
        // Stores reject ids with control characters, but not ids with other invisible characters.
        let conversation = escape_control(&usage.conversation_id);
        tracing::info!(
            target: TARGET,
            "[CONT] Context utilization {percent}% for conversation {conversation}"
        );
    }
    #[cfg(feature = "metrics")]
    {
        let conversation = usage.conversation_id.clone();
        metrics::gauge!("Agents.Continuity.TokenUsage", "conversation" => conversation)
            .set(f64::from(usage.total_tokens));
        metrics::histogram!("Agents.Continuity.Utilization")
            .record(f64::from(usage.utilization(max_tokens)));
    }
    let _ = (usage, max_tokens);
}

pub(crate) fn approaching(remaining_turns: u32) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: TARGET,
        "[CONT] Approaching context limit: {remaining_turns} turns remaining"
    );
    let _ = remaining_turns;
}

pub(crate) fn handed_off(handoff: &str, tokens_before: u32, tokens_after: u32) {
    #[cfg(feature = "tracing")]
    {
        let handoff = &*escape_control(handoff);
        tracing::info!(target: TARGET, handoff, tokens_before, tokens_after, "[CONT] Hand-off prepared");
    }
    #[cfg(feature = "metrics")]
    metrics::counter!("Agents.Continuity.HandoffsTriggered").increment(1);
    let _ = (handoff, tokens_before, tokens_after);
}

pub(crate) fn resumed(handoff: &str, conversation: &str, tokens: u32) {
    #[cfg(feature = "tracing")]
    {
        let (conversation, handoff) = (escape_control(conversation), &*escape_control(handoff));
        tracing::info!(
            target: TARGET,
            handoff,
            tokens,
            "[CONT] Session resumed as conversation {conversation}"
        );
    }
    let _ = (handoff, conversation, tokens);
}

pub(crate) fn futile(next_session_tokens: u32, max_tokens: u32) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: TARGET,
        "[CONT] A hand-off is futile: the next session would begin with {next_session_tokens} of \
         {max_tokens} tokens"
    );
    let _ = (next_session_tokens, max_tokens);
}

/// Logs the number of warnings, but not their text, which may quote message contents.
pub(crate) fn warnings(of: &str, count: usize) {
    #[cfg(feature = "tracing")]
    if count > 0 {
        tracing::warn!(target: TARGET, count, "[CONT] The {of} has warnings");
    }
    let _ = (of, count);
}

/// Returns the used share of the window in whole percent, rounded down, so that the log never shows
/// a threshold as reached too early.
#[cfg(feature = "tracing")]
fn percent(usage: &TokenUsage, max_tokens: u32) -> u64 {
    (u64::from(usage.total_tokens) * 100).checked_div(u64::from(max_tokens)).unwrap_or(0)
}
