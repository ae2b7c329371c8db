//! What the words of a sentence speak of (RFC 0007 §6).

use super::super::output_detection::is_noise;
use super::line::last_line;
use super::terms::is_term;

pub(super) const DECISION: i32 = 25;
/// Points of words of outcomes, and as many of those of errors.
pub(super) const OUTCOME: i32 = 20;
/// Points of a path or an identifier.
pub(super) const TERM: i32 = 10;
pub(super) const FIGURE: i32 = 5;
/// Points taken from what only says what comes next: "Let me look."
pub(super) const NARRATION: i32 = -30;

/// Words of decisions, sorted.
pub(super) const DECISION_WORDS: [&str; 17] = [
    "agreed", "always", "approved", "choose", "chose", "chosen", "decide", "decided", "decision",
    "decisions", "instead", "must", "never", "prefer", "rejected", "settled", "won't",
];

/// Words of outcomes, sorted.
pub(super) const OUTCOME_WORDS: [&str; 27] = [
    "added", "because", "cause", "caused", "changed", "complete", "completed", "confirmed",
    "created", "done", "finished", "fixed", "found", "implemented", "merged", "moved", "pass",
    "passed", "passes", "removed", "renamed", "replaced", "turns", "verified", "work", "worked",
    "works",
];

/// Words of errors, sorted.
pub(super) const ERROR_WORDS: [&str; 27] = [
    "bug", "bugs", "cannot", "crash", "crashed", "crashes", "denied", "error", "errors",
    "exception", "fail", "failed", "failing", "fails", "failure", "failures", "fatal", "invalid",
    "missing", "overflow", "panic", "panicked", "refused", "regression", "timeout", "undefined",
    "wrong",
];

/// How sentences begin that only say what comes next.
const NARRATIONS: [&str; 10] = [
    "let me", "now let me", "now i", "let's look", "let's see", "i'll check", "i'll look",
    "i'll read", "i'll run", "i'll start",
];

#[derive(Clone, Copy)]
pub(super) struct Features {
    /// Whether it tells what was decided, or done.
    pub(super) matters: bool,
    /// Whether it tells what went wrong.
    error: bool,
    pub(super) points: i32,
}

impl Features {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase().replace('’', "'");
        let has = |list: &[&str]| {
            let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
            words.any(|word| list.binary_search(&word).is_ok())
        };
        let (decision, outcome, error) =
            (has(&DECISION_WORDS), has(&OUTCOME_WORDS), has(&ERROR_WORDS));
        let points = [
            (decision, DECISION),
            (outcome, OUTCOME),
            (error, OUTCOME),
            (text.split_whitespace().any(|word| is_term(word).is_some()), TERM),
            (lower.contains(|c: char| c.is_ascii_digit()), FIGURE),
            (NARRATIONS.iter().any(|start| lower.starts_with(start)), NARRATION),
        ];
        let points = points.iter().filter(|(is, _)| *is).map(|(_, points)| points).sum();
        Self { matters: decision || outcome, error, points }
    }
}

/// The first line that speaks of an error, or the last that says anything.
pub(super) fn error_line(text: &str) -> &str {
    let names_error = |line: &&str| !is_noise(line) && Features::new(line).error;
    text.lines().map(str::trim).find(names_error).unwrap_or_else(|| last_line(text))
}
