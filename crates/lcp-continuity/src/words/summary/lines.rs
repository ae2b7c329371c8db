//! Messages as lines of which pieces may be chosen.

use std::borrow::Cow;

use lcp_driver::segments::CompressionLevel;
use lcp_types::{Block, BlockContent, Role, Status};

use super::super::machine::{is_noise, is_slash_command};
use super::super::sentences::sentences;
use super::score::Place;
use super::signals::error_line;
use crate::model::{Message, Recorded};

/// Bytes of a piece: what is longer is cut.
const PIECE_BYTES: usize = 480;

/// Bytes of a line of a tool's result, and of a label.
const EXCERPT_BYTES: usize = 160;

/// What stands where something is cut.
pub(super) const CUT: &str = " […]";

/// A line that may be in a summary.
pub(super) struct Line {
    /// Who speaks; may be empty.
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
    /// What it is worth.
    pub(super) score: i32,
}

impl Line {
    /// A line of sentences.
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

/// The lines of these messages. System turns are left out where anybody else says
/// something: the next session has its own. So is what says nothing: commands of users
/// for the program, banners, and sentences that are mostly punctuation.
pub(super) fn of(messages: &[Recorded], level: CompressionLevel) -> Vec<Line> {
    let place = Place::of(messages);
    let lines = |system: bool, noise: bool| -> Vec<Line> {
        let is_system = |message: &Message| message.role() == Role::System;
        messages
            .iter()
            .enumerate()
            .filter(|(_, recorded)| is_system(&recorded.message) == system)
            .filter(|(_, recorded)| noise || !is_command(&recorded.message))
            .filter_map(|(at, recorded)| line(&recorded.message, at, &place, level, noise))
            .collect()
    };
    let said = [(false, false), (false, true), (true, true)];
    let mut said = said.into_iter().map(|(system, noise)| lines(system, noise));
    said.find(|lines| !lines.is_empty()).unwrap_or_default()
}

/// Whether it is what a user types for the program alone: `/clear`.
pub(super) fn is_command(message: &Message) -> bool {
    kind(message) == Kind::Turn && message.role() == Role::User && is_slash_command(&message.text())
}

/// The line of a message, if it says anything at this level; `noise` where sentences
/// may stand that say nothing.
fn line(
    message: &Message,
    at: usize,
    place: &Place,
    level: CompressionLevel,
    noise: bool,
) -> Option<Line> {
    if message.block.content.is_metadata() {
        return None;
    }
    let words = words(message, level)?;
    let pieces = match kind(message) {
        Kind::Turn => {
            let mut pieces = from_text(&words.text);
            pieces.retain(|(_, text)| noise || !is_noise(text));
            if pieces.is_empty() {
                return None;
            }
            pieces
        }
        Kind::Call => excerpts(&[first(&words.text)]),
        _ if words.is_summary => from_text(&words.text),
        Kind::Result { failed: true } => excerpts(&[error_line(&words.text)]),
        // A result of one line is its own summary.
        _ if count(&words.text) == 1 => excerpts(&[first(&words.text)]),
        _ if level == CompressionLevel::Full => excerpts(&[first(&words.text), last(&words.text)]),
        _ => excerpts(&[]),
    };
    let label = label(message);
    // A line without a word: that there was something is said too.
    let pieces = if pieces.is_empty() { vec![(0, String::new())] } else { pieces };
    let pieces = place.choose(message, at, pieces, level);
    (!pieces.is_empty()).then(|| Line::new(label, pieces))
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody speaks.
    Turn,
    /// The model calls a tool.
    Call,
    /// What a tool gave back.
    Result {
        /// Whether the call failed.
        failed: bool,
    },
    /// Anything else: a file that the user handed in.
    Other,
}

/// What `message` is.
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

/// The words of a message.
pub(super) struct Words<'a> {
    /// The words.
    pub(super) text: Cow<'a, str>,
    /// Whether they are the summary of its block.
    is_summary: bool,
}

/// What a message says at this level, if it says anything: the summary of its block
/// in place of its content where that is enough, or all there is.
pub(super) fn words(message: &Message, level: CompressionLevel) -> Option<Words<'_>> {
    let summary = message.block.summary.as_deref().filter(|text| !text.trim().is_empty());
    let enough = match kind(message) {
        Kind::Result { .. } => level >= CompressionLevel::Detailed,
        _ => level >= CompressionLevel::Brief,
    };
    let text = message.text();
    match summary {
        Some(summary) if enough || text.trim().is_empty() => {
            Some(Words { text: Cow::Borrowed(summary), is_summary: true })
        }
        _ => (!text.trim().is_empty()).then_some(Words { text, is_summary: false }),
    }
}

/// Who speaks, or what it is.
fn label(message: &Message) -> String {
    let content = &message.block.content;
    let speaker = match content {
        BlockContent::Conversation(turn) => {
            return one_line(turn.role.name().unwrap_or("turn"), EXCERPT_BYTES);
        }
        BlockContent::ToolResult(result) => one_line(&result.tool_name, EXCERPT_BYTES),
        _ => named(&message.block),
    };
    let lines = count(&message.text());
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

/// A block by its type, and its path or title.
fn named(block: &Block<'_>) -> String {
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

/// The sentences of a text with their places; where there is none, its first line.
pub(super) fn from_text(text: &str) -> Vec<(usize, String)> {
    let mut pieces: Vec<_> = sentences(text).map(|it| one_line(it, PIECE_BYTES)).collect();
    if pieces.is_empty() {
        pieces.push(one_line(first(text), PIECE_BYTES));
    }
    pieces.into_iter().enumerate().collect()
}

/// Lines of a result with places that are not next to each other; none twice.
fn excerpts(lines: &[&str]) -> Vec<(usize, String)> {
    let mut lines: Vec<_> = lines.iter().map(|line| one_line(line, EXCERPT_BYTES)).collect();
    lines.dedup();
    lines.into_iter().enumerate().map(|(at, line)| (2 * at, line)).collect()
}

/// How many lines say something, or are empty between such.
fn count(text: &str) -> usize {
    text.trim().lines().count()
}

/// The first line that is neither noise nor opens code; the first that is not empty
/// where there is none.
fn first(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let says = |line: &&str| !is_noise(line) && !line.starts_with("```");
    lines.clone().find(says).or_else(|| lines.next()).unwrap_or_default()
}

/// The last line that is neither empty nor noise; the last that is not empty where
/// there is none.
pub(super) fn last(text: &str) -> &str {
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
