//! Lines of a summary, and messages as they are made of them.

use std::borrow::Cow;

use lcp_driver::segments::CompressionLevel;
use lcp_types::{BlockContent, Role, Status};

use super::super::output_detection::{is_noise, is_slash_command};
use crate::model::Message;

/// Bytes of a piece: what is longer is cut.
pub(super) const PIECE_BYTES: usize = 480;
/// Bytes of a line of a tool's result, and of a label.
pub(super) const EXCERPT_BYTES: usize = 160;
pub(super) const CUT: &str = " […]";

pub(super) struct Line {
    /// The speaker; may be empty.
    pub(super) label: String,
    /// What may be chosen of it, in order.
    pub(super) pieces: Vec<Piece>,
    /// What stands between two pieces, and between two with something left out.
    pub(super) between: [&'static str; 2],
}

/// Something that is chosen or not: a sentence.
pub(super) struct Piece {
    /// The words; empty where the label says it all.
    pub(super) text: String,
    /// Its place in the message; a gap is something that was left out.
    pub(super) at: usize,
    pub(super) score: i32,
}

impl Line {
    pub(super) fn new(label: String, pieces: Vec<Piece>) -> Self {
        Self { label, pieces, between: [" ", " … "] }
    }

    /// What stands before the first of its pieces that is chosen.
    pub(super) fn head(&self, piece: usize) -> String {
        let colon = !self.label.is_empty() && !self.pieces[piece].text.is_empty();
        format!("{}{}", self.label, if colon { ": " } else { "" })
    }

    /// What two pieces have alike that say the same.
    pub(super) fn key(&self, piece: usize) -> String {
        match &*self.pieces[piece].text {
            "" => self.label.clone(),
            text => text.to_lowercase(),
        }
    }
}

/// The place of a piece: its line, and which piece of it.
pub(super) type PieceRef = (usize, usize);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Turn,
    Call,
    Result {
        failed: bool,
    },
    /// Anything else: a file that the user handed in.
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

/// Returns the words of a message, or the summary of its block where that is enough, and whether
/// it is that.
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

/// Whether it is what a user types for the program alone: `/clear`.
pub(super) fn is_command(message: &Message) -> bool {
    kind(message) == Kind::Turn && message.role() == Role::User && is_slash_command(&message.text())
}

/// Points that the newest message has more than the oldest.
const RECENCY: usize = 20;

/// Points for the place in a list of `count`: none for the oldest, most for the newest.
pub(super) fn recency(at: usize, count: usize) -> i32 {
    let points = (RECENCY * at).checked_div(count.saturating_sub(1)).unwrap_or(RECENCY);
    i32::try_from(points).unwrap_or_default()
}

/// How many lines say something, or are empty between such.
pub(super) fn line_count(text: &str) -> usize {
    text.trim().lines().count()
}

/// Returns the first line that is neither noise nor opens code, else the first that is not empty.
pub(super) fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| !is_noise(line) && !line.starts_with("```");
    lines.clone().find(says).or_else(|| lines.next()).unwrap_or_default()
}

/// The last line that is neither empty nor noise; the last that is not empty where there is none.
pub(super) fn last_line(text: &str) -> &str {
    let mut lines = text.trim().lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let newest = lines.clone().next().unwrap_or_default();
    lines.find(|line| !is_noise(line)).unwrap_or(newest)
}

/// A text in one line, of at most `most` bytes and the mark of a cut.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let space = usize::from(!line.is_empty());
        if line.len() + space + word.len() > most {
            // A word that would fill it alone is cut itself.
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
