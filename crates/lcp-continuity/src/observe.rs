//! What can be watched from outside (RFC 0007 §11): events of `tracing` with the
//! target `lcp_continuity`, and figures of the `metrics` facade, each behind its
//! feature. Without them nothing here does anything. No contents, ever.

#[cfg(feature = "tracing")]
use lcp_driver::escape_control;

use crate::model::TokenUsage;

#[cfg(feature = "tracing")]
const TARGET: &str = "lcp_continuity";

pub(crate) fn utilization(usage: &TokenUsage, max_tokens: u32) {
    #[cfg(feature = "tracing")]
    {
        let percent = percent(usage, max_tokens);
        // Stores take no ids with control characters, but others that would not show.
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

/// Tells how many warnings there are; their words are content.
pub(crate) fn warnings(of: &str, count: usize) {
    #[cfg(feature = "tracing")]
    if count > 0 {
        tracing::warn!(target: TARGET, count, "[CONT] The {of} has warnings");
    }
    let _ = (of, count);
}

/// The part that is used in whole percent, rounded down: never a threshold that was not reached.
#[cfg(feature = "tracing")]
fn percent(usage: &TokenUsage, max_tokens: u32) -> u64 {
    (u64::from(usage.total_tokens) * 100).checked_div(u64::from(max_tokens)).unwrap_or(0)
}
