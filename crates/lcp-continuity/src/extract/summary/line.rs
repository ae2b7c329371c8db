//! The lines of a summary, and their conversion from messages.

use std::borrow::Cow;

use lcp_driver::segments::CompressionLevel;
use lcp_types::{BlockContent, Role, Status};

use super::super::output_detection::{is_noise, is_slash_command};
use crate::model::Message;

/// The maximum length of a piece in bytes. Longer pieces are truncated.
pub(super) const PIECE_BYTES: usize = 480;
/// The maximum length in bytes of a line from a tool result, and of a label.
pub(super) const EXCERPT_BYTES: usize = 160;
pub(super) const CUT: &str = " […]";

pub(super) struct Line {
    /// The speaker; may be empty.
    pub(super) label: String,
    /// The pieces that can be selected, in order.
    pub(super) pieces: Vec<Piece>,
    /// The separators between adjacent pieces, and between pieces with a gap.
    pub(super) between: [&'static str; 2],
}

/// A piece that can be selected, usually a sentence.
pub(super) struct Piece {
    /// The text. Empty if the label is sufficient.
    pub(super) text: String,
    /// The position in the message. A gap between positions means omitted text.
    pub(super) at: usize,
    pub(super) score: i32,
}

impl Line {
    pub(super) fn new(label: String, pieces: Vec<Piece>) -> Self {
        Self { label, pieces, between: [" ", " … "] }
    }

    /// Returns the text before the first selected piece.
    pub(super) fn head(&self, piece: usize) -> String {
        let colon = !self.label.is_empty() && !self.pieces[piece].text.is_empty();
        format!("{}{}", self.label, if colon { ": " } else { "" })
    }

    /// Returns a key that is equal for duplicate pieces.
    pub(super) fn key(&self, piece: usize) -> String {
        match &*self.pieces[piece].text {
            "" => self.label.clone(),
            text => text.to_lowercase(),
        }
    }
}

/// The position of a piece: the index of its line, and its index in the line.
pub(super) type PieceRef = (usize, usize);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Turn,
    Call,
    Result {
        failed: bool,
    },
    /// Any other message, such as a file from the user.
    Other,
}

pub(super) fn kind(message: &Message) -> Kind {
    match &message.block.content {
        BlockContent::ToolResult(result) => {
            Kind::Result { failed: matches!(result.status, Status::Error | Status::Timeout) }
        }
        _ if message.is_result() => Kind::Result { failed: false },
        BlockContent::Conversation(turn) if turn.tool_call_id.is_some() => Kind::Call,
        BlockContent::Conversation(_) => Kind::Turn,
        _ => Kind::Other,
    }
}

/// Returns the text of a message, or the summary of its block if that is sufficient at this level.
/// The flag is `true` for a summary.
pub(super) fn message_text(
    message: &Message,
    level: CompressionLevel,
) -> Option<(Cow<'_, str>, bool)> {
    let summary = message.block.summary.as_deref().filter(|text| !text.trim().is_empty());
    let enough = match kind(message) {
        Kind::Result { .. } => level >= CompressionLevel::Detailed,
        _ => level >= CompressionLevel::Brief,
    };
    let text = message.text();
    match summary {
        Some(summary) if enough || text.trim().is_empty() => Some((Cow::Borrowed(summary), true)),
        _ => (!text.trim().is_empty()).then_some((text, false)),
    }
}

/// Returns whether the user typed this message only for the chat program: `/clear`.
pub(super) fn is_command(message: &Message) -> bool {
    kind(message) == Kind::Turn && message.role() == Role::User && is_slash_command(&message.text())
}

/// The points that the newest message gets in addition to the oldest.
const RECENCY: usize = 20;

/// Returns the points for position `at` in a list of `count`, from 0 for the oldest to [`RECENCY`]
/// for the newest.
pub(super) fn recency(at: usize, count: usize) -> i32 {
    let points = (RECENCY * at).checked_div(count.saturating_sub(1)).unwrap_or(RECENCY);
    i32::try_from(points).unwrap_or_default()
}

/// Returns the number of lines, without leading and trailing blank lines.
pub(super) fn line_count(text: &str) -> usize {
    text.trim().lines().count()
}

/// Returns the first line that is neither noise nor a code fence, or else the first line that is
/// not empty.
pub(super) fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| !is_noise(line) && !line.starts_with("```");
    lines.clone().find(says).or_else(|| lines.next()).unwrap_or_default()
}

/// Returns the last line that is neither empty nor noise, or else the last line that is not empty.
pub(super) fn last_line(text: &str) -> &str {
    let mut lines = text.trim().lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let newest = lines.clone().next().unwrap_or_default();
    lines.find(|line| !is_noise(line)).unwrap_or(newest)
}

/// Joins a text to one line of at most `most` bytes, plus a marker if it is truncated.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        if line.len() + space + word.len() > most {
            // A single word that is too long is truncated too.
            if line.is_empty() {
                let end = (0..=most).rev().find(|end| word.is_char_boundary(*end));
                line.push_str(&word[..end.unwrap_or_default()]);
            }
            line.push_str(CUT);
            break;
        }
        if space == 1 {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
