//! What a report says of a stable plan: what was kept of the previous text, and
//! why not all of it (RFC 0005 §6).

use serde::Serialize;

use super::figures::percent;
use crate::fmt::group_thousands;
use crate::prompt_cache::{RepackReason, StableOutcome, TextReuse};

/// Also what the page has of it.
#[derive(Serialize)]
pub(super) struct StableRow {
    turn: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    high_tokens: u32,
    low_tokens: u32,
    prefix_bytes: usize,
    prefix_tokens: u32,
    previous_tokens: u32,
    kept_bytes: usize,
    kept_tokens: u32,
}

impl From<&StableOutcome> for StableRow {
    fn from(stable: &StableOutcome) -> Self {
        Self {
            turn: stable.turn.name(),
            cause: stable.cause.map(RepackReason::name),
            high_tokens: stable.high_tokens,
            low_tokens: stable.low_tokens,
            prefix_bytes: stable.prefix_bytes,
            prefix_tokens: stable.prefix_tokens,
            previous_tokens: stable.previous_tokens,
            kept_bytes: stable.kept_bytes,
            kept_tokens: stable.kept_tokens,
        }
    }
}

/// How much of the previous text was kept; `None` without one.
pub(super) fn kept(stable: &StableOutcome) -> Option<String> {
    let (kept, previous) = (u64::from(stable.kept_tokens), u64::from(stable.previous_tokens));
    let part = percent(kept, previous)?;
    Some(if kept == previous {
        format!("all {} tokens of the previous text", group_thousands(previous))
    } else {
        let (kept, previous) = (group_thousands(kept), group_thousands(previous));
        format!("{kept} of {previous} tokens of the previous text ({part}%)")
    })
}

/// Why it was packed anew, or is above its high watermark; without a full stop.
pub(super) fn why(stable: &StableOutcome) -> Option<String> {
    let (high, low) = (stable.high_tokens, stable.low_tokens);
    let tokens = |tokens: u32| group_thousands(tokens.into());
    Some(match stable.cause {
        None if stable.turn == TextReuse::Fresh => "there was no previous text to keep".to_owned(),
        None => return None,
        Some(RepackReason::HighWatermark) => {
            format!("it would have exceeded the high watermark of {} tokens", tokens(high))
        }
        Some(RepackReason::BecameCritical) => {
            "a block that was not in full became Critical or pinned".to_owned()
        }
        Some(RepackReason::Question) => {
            "the newest user turn was not in full, and more of it is shown now".to_owned()
        }
        Some(RepackReason::Pair) => "a tool call would have been torn from its result".to_owned(),
        Some(RepackReason::CriticalAboveLow) => format!(
            "Critical and pinned blocks and the newest question reach the low watermark of {}",
            tokens(low)
        ),
        Some(RepackReason::TurnAboveGap) => format!(
            "the turn has more than the {} tokens between the watermarks",
            tokens(high.saturating_sub(low))
        ),
    })
}
