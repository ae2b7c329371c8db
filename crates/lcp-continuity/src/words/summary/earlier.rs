//! The earlier summary, as lines of which pieces may be chosen.

use lcp_driver::segments::CompressionLevel;
use lcp_types::Role;

use super::super::machine::is_output;
use super::lines::{Line, Piece, from_text, one_line};
use super::score::recency;
use super::signals::Signals;

/// Points of the goal, which stays.
const GOAL: i32 = 1_000;
/// Points of what a user said.
const USER: i32 = 20;

/// What is carried of `text`. Where it is one of ours, lines stay lines; the goal is
/// then what the user said first, and of anything else the first sentence.
pub(super) fn lines(text: &str, level: CompressionLevel) -> Vec<Line> {
    let ours = text.lines().any(|line| spoken(line).is_some());
    let mut lines = if ours { of_ours(text) } else { of_prose(text) };
    // What a user pasted is no wish.
    let is_wish = |line: &Line| {
        let text = line.pieces.first().map_or("", |piece| piece.text.as_str());
        line.label == USER_LABEL && !is_output(text)
    };
    let goal = lines.iter().position(is_wish).unwrap_or_default();
    let count = lines.len();
    for (at, line) in lines.iter_mut().enumerate() {
        let user = if is_wish(line) { USER } else { 0 };
        let brief = level >= CompressionLevel::Brief;
        for (index, piece) in line.pieces.iter_mut().enumerate() {
            let signals = Signals::of(&piece.text);
            piece.score = if (at, index) == (goal, 0) {
                GOAL
            } else if brief && !signals.matters && at + 1 < count {
                // Left out below.
                i32::MIN
            } else {
                user + signals.points + recency(at, count)
            };
        }
        line.pieces.retain(|piece| piece.score > i32::MIN);
    }
    lines.retain(|line| !line.pieces.is_empty());
    lines
}

/// The label of what a user said.
const USER_LABEL: &str = "user";

/// Who speaks in a line of a summary of ours, and what.
fn spoken(line: &str) -> Option<(&str, &str)> {
    let (label, said) = line.split_once(": ")?;
    Role::from_name(label).map(|_| (label, said))
}

/// The lines of a summary of ours.
fn of_ours(text: &str) -> Vec<Line> {
    let line = |line: &str| match spoken(line) {
        Some((label, said)) => {
            let mut pieces = Vec::new();
            let mut at = 0;
            for part in said.split(" … ") {
                for (place, text) in from_text(part) {
                    pieces.push(Piece { text, at: at + place, score: 0 });
                }
                at = pieces.last().map_or(0, |piece| piece.at + 2);
            }
            Line::new(label.to_owned(), pieces)
        }
        None => whole(one_line(line, usize::MAX)),
    };
    text.lines().filter(|it| !it.trim().is_empty()).map(line).collect()
}

/// A line for each sentence.
fn of_prose(text: &str) -> Vec<Line> {
    let pieces = if text.trim().is_empty() { Vec::new() } else { from_text(text) };
    pieces.into_iter().map(|(_, text)| whole(text)).collect()
}

/// A line that stays whole or goes.
fn whole(text: String) -> Line {
    Line::new(String::new(), vec![Piece { text, at: 0, score: 0 }])
}
