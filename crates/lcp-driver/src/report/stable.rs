//! What a report says of a stable plan: what was kept of the previous text, and
//! why not all of it (RFC 0005 §6).

use serde::Serialize;

use super::figures::percent;
use crate::append::grouped;
use crate::stable::{Cause, StableUse, Turn};

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

impl From<&StableUse> for StableRow {
    fn from(stable: &StableUse) -> Self {
        Self {
            turn: stable.turn.name(),
            cause: stable.cause.map(Cause::name),
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
pub(super) fn kept(stable: &StableUse) -> Option<String> {
    let (kept, previous) = (u64::from(stable.kept_tokens), u64::from(stable.previous_tokens));
    let part = percent(kept, previous)?;
    Some(if kept == previous {
        format!("all {} tokens of the previous text", grouped(previous))
    } else {
        let (kept, previous) = (grouped(kept), grouped(previous));
        format!("{kept} of {previous} tokens of the previous text ({part}%)")
    })
}

/// Why it was packed anew, or is above its high watermark; without a full stop.
pub(super) fn why(stable: &StableUse) -> Option<String> {
    let (high, low) = (stable.high_tokens, stable.low_tokens);
    let tokens = |tokens: u32| grouped(tokens.into());
    Some(match stable.cause {
        None if stable.turn == Turn::Fresh => "there was no previous text to keep".to_owned(),
        None => return None,
        Some(Cause::HighWatermark) => {
            format!("it would have exceeded the high watermark of {} tokens", tokens(high))
        }
        Some(Cause::BecameCritical) => {
            "a block that was not in full became Critical or pinned".to_owned()
        }
        Some(Cause::Question) => {
            "the newest user turn was not in full, and more of it is shown now".to_owned()
        }
        Some(Cause::Pair) => "a tool call would have been torn from its result".to_owned(),
        Some(Cause::CriticalAboveLow) => format!(
            "Critical and pinned blocks and the newest question reach the low watermark of {}",
            tokens(low)
        ),
        Some(Cause::TurnAboveGap) => format!(
            "the turn has more than the {} tokens between the watermarks",
            tokens(high.saturating_sub(low))
        ),
    })
}
