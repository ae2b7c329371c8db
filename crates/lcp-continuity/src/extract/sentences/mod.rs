//! Sentences of a text (RFC 0007 §6): what somebody says in it, not what is quoted.

mod lines;
mod stops;

use std::iter;
use std::ops::Range;

pub(crate) use lines::{Line, LineKind, lines};
pub(crate) use stops::split;

/// Characters from which on a line is taken to be wrapped: what follows it goes on
/// with its sentence.
const WRAPPED: usize = 50;

/// The sentences and list items of `text`, in order, byte for byte: white space
/// around them, list markers and check boxes are left out, nothing within them is.
///
/// A sentence may go over lines where these are wrapped. Fenced code, edits
/// (`<<<<<<<` to `>>>>>>>`), quoted lines, tags, and what programs put into turns between tags of theirs are no sentences.
/// The work grows with the text.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    sentence_ranges(text).filter_map(|range| text.get(range))
}

/// Where the sentences are, in bytes.
pub(crate) fn sentence_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    paragraphs(text).flat_map(move |paragraph| split(text, paragraph.range))
}

/// Lines that belong together: one, and those that it is wrapped into.
#[derive(Clone, Debug)]
pub(crate) struct Paragraph {
    /// Where it is in the text, in bytes, without its marker and check box.
    pub(crate) range: Range<usize>,
    /// What its first line is.
    pub(crate) kind: LineKind,
    /// Whether nothing is between it and the one before it.
    pub(crate) follows: bool,
}

/// The paragraphs of `text`, of which [`sentences`] are the parts.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = Paragraph> {
    let mut lines = lines(text).peekable();
    iter::from_fn(move || {
        let first = lines.next()?;
        let unboxed = check_box(first.text).map_or(first.text, |(_, step)| step);
        let start = first.start + (first.text.len() - unboxed.len());
        let mut end = first.end();
        let mut line = first;
        while let Some(next) = lines.next_if(|next| goes_on(&line, next)) {
            end = next.end();
            line = next;
        }
        Some(Paragraph { range: start..end, kind: first.kind, follows: first.follows })
    })
}

/// Whether a line is wrapped, so that `next` goes on with its sentence.
fn goes_on(line: &Line<'_>, next: &Line<'_>) -> bool {
    next.follows
        && next.kind == LineKind::Text
        && line.kind != LineKind::Heading
        && line.text.chars().nth(WRAPPED - 1).is_some()
        && !line.text.ends_with(':')
        && !is_labelled(next.text)
}

/// Whether a line begins with a word and a colon.
fn is_labelled(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '_', '[']);
    let word = line.trim_start_matches(|c: char| c.is_alphabetic());
    word.len() < line.len() && word.trim_start_matches(['*', '_', ']']).starts_with(':')
}

/// The check box that a text begins with, and what follows it: whether it is ticked.
pub(crate) fn check_box(text: &str) -> Option<(bool, &str)> {
    let (ticked, step) = if let Some(step) = text.strip_prefix(['☐', '□']) {
        (false, step)
    } else if let Some(step) = text.strip_prefix(['☑', '☒']) {
        (true, step)
    } else {
        let (mark, step) = text.strip_prefix('[')?.split_once(']')?;
        match mark {
            " " | "" => (false, step),
            "x" | "X" | "✓" | "✔" => (true, step),
            _ => return None,
        }
    };
    let trimmed = step.trim_start();
    (trimmed.len() < step.len()).then_some((ticked, trimmed))
}

#[cfg(test)]
mod tests;
