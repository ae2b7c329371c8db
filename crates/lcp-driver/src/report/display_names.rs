//! Display names and sentences for people.

use std::borrow::Cow;

use lcp_types::DuplicateKind;

use super::metrics::{percent, relative_gap};
use crate::block_view::label::{cap, escape_control, push_word};
use crate::fmt::group_thousands;
use crate::plan::{DecisionReason, OptimalityBound};
use crate::prompt_cache::{RepackReason, StableOutcome, TextReuse};

/// Formats an identifier or a category for people: `tool_results` becomes `Tool Results`. Names
/// from packs with other characters than letters, digits, `_` and `-` are quoted and escaped. Names
/// of more than 200 characters are shortened in the middle.
///
/// ```
/// assert_eq!(lcp_driver::report::display_name("tool_results"), "Tool Results");
/// ```
#[must_use]
pub fn display_name(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '…');
    let mut out = String::new();
    let name = &*cap(name);
    // The ellipsis of a shortened name is plain.
    if name.is_empty() || !name.chars().all(plain) {
        push_word(&mut out, name);
        return out;
    }
    for word in name.split(['_', '-']).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut chars = word.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

/// Shortens a name of a pack or a configuration, and escapes its control characters.
pub(super) fn shorten(name: &str) -> Cow<'_, str> {
    match cap(name) {
        Cow::Borrowed(name) => escape_control(name),
        Cow::Owned(name) => Cow::Owned(escape_control(&name).into_owned()),
    }
}

/// The names of decisions, from the most to the least detail.
const DECISIONS: &[&str] = &[
    "full", "detailed", "summary", "tags", "excerpt", "placeholder", "rolled_up", "omit",
    "duplicate", "filtered", "metadata",
];

/// Returns the sort key of a decision in a list: the most detail first.
pub(super) fn decision_rank(decision: &str) -> usize {
    DECISIONS.iter().position(|known| *known == decision).unwrap_or(DECISIONS.len())
}

pub(super) const fn describe_reason(reason: DecisionReason) -> &'static str {
    match reason {
        DecisionReason::NoBudget => "No budget is set, or the verbosity ignores it.",
        DecisionReason::Verbosity => "The verbosity requests summaries.",
        DecisionReason::Critical => {
            "It is critical, or part of a critical tool call, so it is shown in full."
        }
        DecisionReason::Pinned => {
            "It is pinned, or part of a pinned tool call, so it is shown in full."
        }
        DecisionReason::Unchanged => {
            "It is unchanged from the previous text, so that prompt caches stay valid."
        }
        DecisionReason::Deferred => {
            "It was not in the previous text and waits for the next repack."
        }
        DecisionReason::Fits => "Everything that its priority allows fits.",
        DecisionReason::Ceiling => "Its priority does not allow more detail.",
        DecisionReason::OverBudget => "More detail does not fit in the budget.",
        DecisionReason::ShareCap => "More detail would exceed the hard cap of its share.",
        DecisionReason::Background => "Its priority is background: other blocks come first.",
        DecisionReason::Metadata => "It describes other blocks and has no text of its own.",
        DecisionReason::Filtered => "Its type was not requested.",
        DecisionReason::Duplicate(DuplicateKind::Equal) => "Another block has the same content.",
        DecisionReason::Duplicate(DuplicateKind::Contained) => {
            "Another block contains all of its lines."
        }
        DecisionReason::Duplicate(DuplicateKind::Overlapping | DuplicateKind::Adjacent) => {
            "It was merged into another block."
        }
        DecisionReason::Duplicate(DuplicateKind::Near) => {
            "Another block contains all of its lines and a few more."
        }
        DecisionReason::Duplicate(DuplicateKind::Superseded) => {
            "A newer block contains its current version."
        }
        DecisionReason::Duplicate(_) => "Another block covers it.",
    }
}

/// Describes the optimality of a plan, in words that follow its value.
pub(super) fn describe_optimality(optimality: &OptimalityBound) -> String {
    if optimality.is_optimal() {
        return "proven optimal".to_owned();
    }
    let gap = relative_gap(optimality, 10_000);
    format!(
        "of at most {} (gap {}.{:02}%)",
        group_thousands(optimality.bound),
        gap / 100,
        gap % 100
    )
}

/// Describes the reused part of the previous text; `None` without one.
pub(super) fn describe_reuse(stable: &StableOutcome) -> Option<String> {
    let (kept, previous) = (u64::from(stable.kept_tokens), u64::from(stable.previous_tokens));
    let part = percent(kept, previous)?;
    Some(if kept == previous {
        format!("all {} tokens of the previous text", group_thousands(previous))
    } else {
        let (kept, previous) = (group_thousands(kept), group_thousands(previous));
        format!("{kept} of {previous} tokens of the previous text ({part}%)")
    })
}

/// Explains why the text was repacked or exceeds its high watermark, without a final period.
pub(super) fn describe_repack(stable: &StableOutcome) -> Option<String> {
    let (high, low) = (stable.high_tokens, stable.low_tokens);
    let tokens = |tokens: u32| group_thousands(tokens.into());
    Some(match stable.repack_reason {
        None if stable.reuse == TextReuse::Fresh => "no previous text to keep".to_owned(),
        None => return None,
        Some(RepackReason::HighWatermark) => {
            format!("the text would have exceeded the high watermark of {} tokens", tokens(high))
        }
        Some(RepackReason::BecameCritical) => {
            "a block that was not shown in full became critical or pinned".to_owned()
        }
        Some(RepackReason::NewestUserTurn) => {
            "the newest user turn was not shown in full, and more of it is shown now".to_owned()
        }
        Some(RepackReason::SplitToolCall) => {
            "a tool call would have been separated from its result".to_owned()
        }
        Some(RepackReason::CriticalAboveLow) => format!(
            "critical and pinned blocks and the newest user turn reach the low watermark of {}",
            tokens(low)
        ),
        Some(RepackReason::TurnAboveGap) => format!(
            "the turn is larger than the {} tokens between the watermarks",
            tokens(high.saturating_sub(low))
        ),
    })
}
