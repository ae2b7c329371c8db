//! Scores for sentences (RFC 0007 §6).
//!
//! The table is in the RFC. Sentences get points for their speaker and age, for their position in
//! the message, and for words about decisions, outcomes, errors, places in code, and figures. Each
//! further sentence of a message gets fewer points, so that more messages are represented.

use lcp_driver::segments::CompressionLevel;
use lcp_types::Role;

use super::super::output_detection::{is_noise, is_output};
use super::line::{Kind, Piece, is_command, kind, last_line, recency};
use super::terms::is_term;
use crate::model::{Message, Recorded};

/// The points of the first user turn, the goal.
const GOAL: i32 = 100;
const NEWEST_USER: i32 = 90;
const NEWEST_REPLY: i32 = 80;
const USER: i32 = 40;
const FAILED: i32 = 35;
const REPLY: i32 = 20;
/// The points of files and other blocks from the user.
const OTHER: i32 = 15;
const CALL: i32 = 5;
/// The points of the first sentence of a user turn that is not short, which usually is the request.
const ASKED: i32 = 40;
/// The points of the first sentence of another message that is not short.
const FIRST: i32 = 10;
const LAST: i32 = 5;
/// The deduction for short sentences, which say little.
const SHORT: i32 = -20;
/// The deduction for each better sentence of the same message.
const FURTHER: i32 = -8;
/// The length in bytes below which a sentence or turn is short: "yes", "go on".
const SHORT_BYTES: usize = 12;

/// Returns whether a message was written by the user, and is not pasted output.
fn is_wish(message: &Message) -> bool {
    message.role() == Role::User && !is_output(&message.text())
}

/// The indices of the most important messages.
pub(super) struct Scorer {
    count: usize,
    goal: Option<usize>,
    newest_user: Option<usize>,
    newest_reply: Option<usize>,
    newest_result: Option<usize>,
}

impl Scorer {
    pub(super) fn new(messages: &[Recorded]) -> Self {
        let says = |recorded: &Recorded, role: Role, least: usize| {
            kind(&recorded.message) == Kind::Turn
                && recorded.message.role() == role
                && recorded.message.text().trim().len() >= least
                && (least == 1 || !is_command(&recorded.message))
        };
        let is_goal =
            |it: &Recorded| says(it, Role::User, SHORT_BYTES) && !is_output(&it.message.text());
        // "Go on" is neither a goal nor news, and a log is not a goal, unless there is nothing
        // else.
        let leasts = || [SHORT_BYTES, 1].into_iter();
        let oldest =
            |role| leasts().find_map(|least| messages.iter().position(|it| says(it, role, least)));
        let newest =
            |role| leasts().find_map(|least| messages.iter().rposition(|it| says(it, role, least)));
        let is_result = |it: &Recorded| matches!(kind(&it.message), Kind::Result { .. });
        Self {
            count: messages.len(),
            goal: messages.iter().position(is_goal).or_else(|| oldest(Role::User)),
            newest_user: newest(Role::User),
            newest_reply: newest(Role::Assistant),
            newest_result: messages.iter().rposition(is_result),
        }
    }

    fn is_key(&self, at: usize, kind: Kind) -> bool {
        [self.goal, self.newest_user, self.newest_reply].contains(&Some(at))
            || (self.newest_result == Some(at) && kind == Kind::Result { failed: true })
    }

    fn points(&self, message: &Message, at: usize) -> i32 {
        let points = match kind(message) {
            _ if self.goal == Some(at) => GOAL,
            _ if self.newest_user == Some(at) => NEWEST_USER,
            _ if self.newest_reply == Some(at) => NEWEST_REPLY,
            Kind::Turn if is_wish(message) => USER,
            Kind::Turn => REPLY,
            Kind::Call => CALL,
            Kind::Result { failed: true } => FAILED,
            Kind::Result { failed: false } => 0,
            Kind::Other => OTHER,
        };
        points + recency(at, self.count)
    }

    /// Returns the pieces of message `at` that may be included at this level, with their scores.
    pub(super) fn choose(
        &self,
        message: &Message,
        at: usize,
        pieces: Vec<(usize, String)>,
        level: CompressionLevel,
    ) -> Vec<Piece> {
        let (kind, base, count) = (kind(message), self.points(message, at), pieces.len());
        let key = self.is_key(at, kind);
        let most = match level {
            CompressionLevel::Full => usize::MAX,
            CompressionLevel::Detailed => 3,
            CompressionLevel::Brief | CompressionLevel::Tags => 1 + usize::from(key),
        };
        let is_short = |text: &str| text.len() < SHORT_BYTES;
        let first = pieces.iter().position(|(_, text)| !is_short(text)).unwrap_or_default();
        let user = kind == Kind::Turn && is_wish(message);
        let mut chosen = Vec::with_capacity(count);
        for (index, (place, text)) in pieces.into_iter().enumerate() {
            let features = Features::new(&text);
            let stands = match level {
                CompressionLevel::Full => true,
                // Leave out announcements of the next step, and results of which only the length is
                // known.
                CompressionLevel::Detailed => {
                    (key || features.points >= 0)
                        && (kind != Kind::Result { failed: false } || !text.is_empty())
                }
                CompressionLevel::Brief | CompressionLevel::Tags => {
                    key || (kind == Kind::Turn && features.matters)
                }
            };
            if !stands {
                continue;
            }
            let place_points = match index {
                _ if index == first && user => ASKED,
                _ if index == first => FIRST,
                _ if index + 1 == count => LAST,
                _ => 0,
            };
            let short = if is_short(&text) { SHORT } else { 0 };
            let score = base + features.points + place_points + short;
            chosen.push(Piece { text, at: place, score });
        }
        chosen.sort_by_key(|piece| (-piece.score, piece.at));
        chosen.truncate(most);
        let mut less = 0;
        for piece in &mut chosen {
            piece.score += less;
            less += FURTHER;
        }
        chosen.sort_by_key(|piece| piece.at);
        chosen
    }
}

pub(super) const DECISION: i32 = 25;
/// The points of words about outcomes, and also of words about errors.
pub(super) const OUTCOME: i32 = 20;
/// The points of a path or an identifier.
pub(super) const TERM: i32 = 10;
pub(super) const FIGURE: i32 = 5;
/// The deduction for announcements of the next step: "Let me look."
pub(super) const NARRATION: i32 = -30;

/// Words about decisions, sorted.
pub(super) const DECISION_WORDS: [&str; 17] = [
    "agreed", "always", "approved", "choose", "chose", "chosen", "decide", "decided", "decision",
    "decisions", "instead", "must", "never", "prefer", "rejected", "settled", "won't",
];

/// Words about outcomes, sorted.
pub(super) const OUTCOME_WORDS: [&str; 27] = [
    "added", "because", "cause", "caused", "changed", "complete", "completed", "confirmed",
    "created", "done", "finished", "fixed", "found", "implemented", "merged", "moved", "pass",
    "passed", "passes", "removed", "renamed", "replaced", "turns", "verified", "work", "worked",
    "works",
];

/// Words about errors, sorted.
pub(super) const ERROR_WORDS: [&str; 27] = [
    "bug", "bugs", "cannot", "crash", "crashed", "crashes", "denied", "error", "errors",
    "exception", "fail", "failed", "failing", "fails", "failure", "failures", "fatal", "invalid",
    "missing", "overflow", "panic", "panicked", "refused", "regression", "timeout", "undefined",
    "wrong",
];

/// Beginnings of sentences that only announce the next step.
const NARRATIONS: [&str; 10] = [
    "let me", "now let me", "now i", "let's look", "let's see", "i'll check", "i'll look",
    "i'll read", "i'll run", "i'll start",
];

#[derive(Clone, Copy)]
pub(super) struct Features {
    /// `true` if the text is about a decision or an outcome.
    pub(super) matters: bool,
    /// `true` if the text is about an error.
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

/// Returns the first line about an error, or else the last line with content.
pub(super) fn error_line(text: &str) -> &str {
    let names_error = |line: &&str| !is_noise(line) && Features::new(line).error;
    text.lines().map(str::trim).find(names_error).unwrap_or_else(|| last_line(text))
}
