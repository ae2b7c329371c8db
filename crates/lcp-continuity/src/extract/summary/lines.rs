//! Conversion of messages, and of an earlier summary, to lines whose pieces can be selected.

use lcp_driver::segments::CompressionLevel;
use lcp_types::{Block, BlockContent, Role, Status};

use super::super::output_detection::{is_noise, is_output};
use super::super::sentences::sentences;
use super::line::{
    EXCERPT_BYTES, Kind, Line, PIECE_BYTES, Piece, first_line, is_command, kind, last_line,
    line_count, message_text, one_line, recency,
};
use super::score::{Features, Scorer, error_line};
use crate::model::{Message, Recorded};

/// Returns the lines of these messages.
///
/// System turns are left out if any other message has content, because the next session has its
/// own. Text without content is left out too: commands of users for the program, banners, and
/// sentences that are mostly punctuation.
pub(super) fn message_lines(messages: &[Recorded], level: CompressionLevel) -> Vec<Line> {
    let scorer = Scorer::new(messages);
    let lines = |system: bool, noise: bool| -> Vec<Line> {
        let is_system = |message: &Message| message.role() == Role::System;
        messages
            .iter()
            .enumerate()
            .filter(|(_, recorded)| is_system(&recorded.message) == system)
            .filter(|(_, recorded)| noise || !is_command(&recorded.message))
            .filter_map(|(at, recorded)| line(&recorded.message, at, &scorer, level, noise))
            .collect()
    };
    let said = [(false, false), (false, true), (true, true)];
    let mut said = said.into_iter().map(|(system, noise)| lines(system, noise));
    said.find(|lines| !lines.is_empty()).unwrap_or_default()
}

/// Returns the line of a message at this level. `noise` includes sentences without content.
fn line(
    message: &Message,
    at: usize,
    scorer: &Scorer,
    level: CompressionLevel,
    noise: bool,
) -> Option<Line> {
    if message.block.content.is_metadata() {
        return None;
    }
    let (text, is_summary) = message_text(message, level)?;
    let pieces = match kind(message) {
        Kind::Turn => {
            let mut pieces = sentence_pieces(&text);
            pieces.retain(|(_, text)| noise || !is_noise(text));
            if pieces.is_empty() {
                return None;
            }
            pieces
        }
        Kind::Call => excerpts(&[first_line(&text)]),
        _ if is_summary => sentence_pieces(&text),
        Kind::Result { failed: true } => excerpts(&[error_line(&text)]),
        // A result of one line is its own summary.
        _ if line_count(&text) == 1 => excerpts(&[first_line(&text)]),
        _ if level == CompressionLevel::Full => excerpts(&[first_line(&text), last_line(&text)]),
        _ => excerpts(&[]),
    };
    let label = label(message);
    // A line with an empty piece still shows that the message existed.
    let pieces = if pieces.is_empty() { vec![(0, String::new())] } else { pieces };
    let pieces = scorer.choose(message, at, pieces, level);
    (!pieces.is_empty()).then(|| Line::new(label, pieces))
}

fn label(message: &Message) -> String {
    let content = &message.block.content;
    let speaker = match content {
        BlockContent::Conversation(turn) => {
            return one_line(turn.role.name().unwrap_or("turn"), EXCERPT_BYTES);
        }
        BlockContent::ToolResult(result) => one_line(&result.tool_name, EXCERPT_BYTES),
        _ => block_label(&message.block),
    };
    let lines = line_count(&message.text());
    let plural = if lines == 1 { "" } else { "s" };
    let ending = match content {
        BlockContent::ToolResult(result) => match result.status {
            Status::Ok => String::new(),
            status => format!(" ({})", status.name().unwrap_or("unknown")),
        },
        _ => String::new(),
    };
    format!("{speaker}: {lines} line{plural}{ending}")
}

fn block_label(block: &Block<'_>) -> String {
    let ty = block.block_type();
    let name = match &block.content {
        BlockContent::Code(code) => &code.path,
        BlockContent::Document(document) => &document.title,
        BlockContent::Diff(diff) => &diff.path,
        BlockContent::FileTree(tree) => &tree.root,
        BlockContent::Image(image) => &image.alt_text,
        _ => return ty.to_string(),
    };
    one_line(&format!("{ty} {name}"), EXCERPT_BYTES)
}

/// Returns the sentences of a text with their positions, or its first line if it has no sentences.
pub(super) fn sentence_pieces(text: &str) -> Vec<(usize, String)> {
    let mut pieces: Vec<_> = sentences(text).map(|it| one_line(it, PIECE_BYTES)).collect();
    if pieces.is_empty() {
        pieces.push(one_line(first_line(text), PIECE_BYTES));
    }
    pieces.into_iter().enumerate().collect()
}

/// Returns lines of a result without duplicates, with positions that are not adjacent.
fn excerpts(lines: &[&str]) -> Vec<(usize, String)> {
    let mut lines: Vec<_> = lines.iter().map(|line| one_line(line, EXCERPT_BYTES)).collect();
    lines.dedup();
    lines.into_iter().enumerate().map(|(at, line)| (2 * at, line)).collect()
}

/// The points of the goal, which ensure that it is included.
const EARLIER_GOAL: i32 = 1_000;
const EARLIER_USER: i32 = 20;

/// Returns the lines of an earlier summary.
///
/// If `text` is a summary of this crate, its lines are restored, and the goal is the first
/// statement of the user. In any other text the goal is the first sentence.
pub(super) fn earlier_lines(text: &str, level: CompressionLevel) -> Vec<Line> {
    let ours = text.lines().any(|line| split_label(line).is_some());
    let mut lines = if ours { parse_summary(text) } else { parse_prose(text) };
    // Pasted output is not a wish of the user.
    let is_wish = |line: &Line| {
        let text = line.pieces.first().map_or("", |piece| piece.text.as_str());
        line.label == USER_LABEL && !is_output(text)
    };
    let goal = lines.iter().position(is_wish).unwrap_or_default();
    let count = lines.len();
    for (at, line) in lines.iter_mut().enumerate() {
        let user = if is_wish(line) { EARLIER_USER } else { 0 };
        let brief = level >= CompressionLevel::Brief;
        for (index, piece) in line.pieces.iter_mut().enumerate() {
            let features = Features::new(&piece.text);
            piece.score = if (at, index) == (goal, 0) {
                EARLIER_GOAL
            } else if brief && !features.matters && at + 1 < count {
                // These pieces are removed below.
                i32::MIN
            } else {
                user + features.points + recency(at, count)
            };
        }
        line.pieces.retain(|piece| piece.score > i32::MIN);
    }
    lines.retain(|line| !line.pieces.is_empty());
    lines
}

const USER_LABEL: &str = "user";

/// Splits a line of a summary of this crate into speaker and text.
fn split_label(line: &str) -> Option<(&str, &str)> {
    let (label, said) = line.split_once(": ")?;
    Role::from_name(label).map(|_| (label, said))
}

fn parse_summary(text: &str) -> Vec<Line> {
    let line = |line: &str| match split_label(line) {
        Some((label, said)) => {
            let mut pieces = Vec::new();
            let mut at = 0;
            for part in said.split(" … ") {
                for (place, text) in sentence_pieces(part) {
                    pieces.push(Piece { text, at: at + place, score: 0 });
                }
                at = pieces.last().map_or(0, |piece| piece.at + 2);
            }
            Line::new(label.to_owned(), pieces)
        }
        None => unlabelled_line(one_line(line, usize::MAX)),
    };
    text.lines().filter(|it| !it.trim().is_empty()).map(line).collect()
}

fn parse_prose(text: &str) -> Vec<Line> {
    let pieces = if text.trim().is_empty() { Vec::new() } else { sentence_pieces(text) };
    pieces.into_iter().map(|(_, text)| unlabelled_line(text)).collect()
}

/// Creates a line that is included as a whole or not at all.
fn unlabelled_line(text: String) -> Line {
    Line::new(String::new(), vec![Piece { text, at: 0, score: 0 }])
}
