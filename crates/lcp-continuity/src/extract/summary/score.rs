//! What a sentence is worth (RFC 0007 §6).
//!
//! The table is in the RFC: points for who says it and when, for its place in the message, and for
//! words that speak of decisions, outcomes and errors, of places in code, and of figures. Each
//! sentence after the best of a message is worth less, so that more messages get a word in.

use lcp_driver::segments::CompressionLevel;
use lcp_types::Role;

use super::super::output_detection::{is_noise, is_output};
use super::line::{Kind, Piece, is_command, kind, last_line, recency};
use super::terms::is_term;
use crate::model::{Message, Recorded};

/// Points of the first user turn: the goal.
const GOAL: i32 = 100;
const NEWEST_USER: i32 = 90;
const NEWEST_REPLY: i32 = 80;
const USER: i32 = 40;
const FAILED: i32 = 35;
const REPLY: i32 = 20;
/// Points of files and other blocks that were handed in.
const OTHER: i32 = 15;
const CALL: i32 = 5;
/// Points of the first sentence of a user turn that is not short: what is asked for.
const ASKED: i32 = 40;
/// Points of the first sentence of another message that is not short.
const FIRST: i32 = 10;
const LAST: i32 = 5;
/// Points taken from what is too short to say much.
const SHORT: i32 = -20;
/// Points taken from a sentence for each better one of its message.
const FURTHER: i32 = -8;
/// Bytes below which a sentence, or a turn, is short: "yes", "go on".
const SHORT_BYTES: usize = 12;

/// Whether a turn is what a user says, not what one pastes.
fn is_wish(message: &Message) -> bool {
    message.role() == Role::User && !is_output(&message.text())
}

/// The messages that matter more than others.
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
        // "Go on" is neither a goal nor news, and a log is no goal, unless there is nothing else.
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

    /// Returns the pieces of message `at` that may stand at this level, with their scores.
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
                // Neither what only says what comes next, nor a result that says no
                // more than how long it is.
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
