//! What the words of a sentence speak of (RFC 0007 §6).

use super::super::machine::is_noise;
use super::lines::last;
use super::terms::is_term;

/// Points of words of decisions.
const DECISION: i32 = 25;
/// Points of words of outcomes, and as many of those of errors.
const OUTCOME: i32 = 20;
/// Points of a path or an identifier.
const TERM: i32 = 10;
/// Points of a figure.
const FIGURE: i32 = 5;
/// Points taken from what only says what comes next: "Let me look."
const NARRATION: i32 = -30;

/// Words of decisions, sorted.
const DECISION_WORDS: [&str; 17] = [
    "agreed", "always", "approved", "choose", "chose", "chosen", "decide", "decided", "decision",
    "decisions", "instead", "must", "never", "prefer", "rejected", "settled", "won't",
];

/// Words of outcomes, sorted.
const OUTCOME_WORDS: [&str; 27] = [
    "added", "because", "cause", "caused", "changed", "complete", "completed", "confirmed",
    "created", "done", "finished", "fixed", "found", "implemented", "merged", "moved", "pass",
    "passed", "passes", "removed", "renamed", "replaced", "turns", "verified", "work", "worked",
    "works",
];

/// Words of errors, sorted.
const ERROR_WORDS: [&str; 27] = [
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

/// What the words of a sentence speak of.
#[derive(Clone, Copy)]
pub(super) struct Signals {
    /// Whether it tells what was decided, or done.
    pub(super) matters: bool,
    /// Whether it tells what went wrong.
    error: bool,
    /// Points for all of it.
    pub(super) points: i32,
}

impl Signals {
    /// Those of `text`.
    pub(super) fn of(text: &str) -> Self {
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
    let speaks = |line: &&str| !is_noise(line) && Signals::of(line).error;
    text.lines().map(str::trim).find(speaks).unwrap_or_else(|| last(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_for_the_search() {
        assert!(DECISION_WORDS.is_sorted() && OUTCOME_WORDS.is_sorted() && ERROR_WORDS.is_sorted());
    }

    #[test]
    fn words_count_as_words_only() {
        let points = |text| Signals::of(text).points;
        assert_eq!(points("We decided."), DECISION);
        assert_eq!(points("It is undecided."), 0);
        assert_eq!(points("We WON’T."), DECISION);
        assert_eq!(points("Fixed 3 errors in src/a.rs"), OUTCOME + OUTCOME + TERM + FIGURE);
        assert_eq!(points("Let me look."), NARRATION);
    }

    #[test]
    fn the_line_of_an_error() {
        let output = "Compiling a\nerror[E0502]: cannot borrow\n  --> src/a.rs\n";
        assert_eq!(error_line(output), "error[E0502]: cannot borrow");
        assert_eq!(error_line("one\ntwo\n\n"), "two");
        let output = "=== ERRORS ===\nE  assert 1 failed\n=== 1 failed ===\n";
        assert_eq!(error_line(output), "E  assert 1 failed");
        assert_eq!(error_line("ran\n=== 1 failed ==="), "ran");
    }
}
