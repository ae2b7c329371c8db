//! Sentences of a text (RFC 0007 §6): what somebody says in it, not what is quoted.

mod lines;

use std::iter;
use std::ops::Range;

pub(crate) use lines::{Line, LineKind, lines};

/// Characters from which on a line is taken to be wrapped.
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

pub(crate) fn sentence_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    paragraphs(text).flat_map(move |paragraph| split(text, paragraph.range))
}

/// Lines that belong together: one, and those that it is wrapped into.
#[derive(Clone, Debug)]
pub(crate) struct Paragraph {
    /// Where it is in the text, in bytes, without its marker and check box.
    pub(crate) range: Range<usize>,
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

/// What is abbreviated wherever it stands. Lower case.
const ABBREVIATIONS: [&str; 15] = [
    "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "approx", "ca", "resp", "incl", "excl", "esp",
    "viz", "misc",
];

/// What is abbreviated before a number.
const ABBREVIATIONS_BEFORE_NUMBERS: [&str; 11] =
    ["no", "nr", "fig", "eq", "sec", "ch", "vol", "p", "pp", "ver", "art"];

/// What is abbreviated before a word in lower case; else it ends a sentence too.
const ABBREVIATIONS_BEFORE_LOWER: [&str; 9] =
    ["etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "ed"];

/// The sentences of the paragraph at `range`, as ranges of `text`.
pub(crate) fn split(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let base = range.start;
    let paragraph = text.get(range).unwrap_or_default();
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut ticks = paragraph.contains('`');
    while let Some(c) = paragraph[at..].chars().next() {
        let behind = at + c.len_utf8();
        if c == '`' && ticks {
            // Code within a line: its stops are none of ours.
            let length = paragraph[behind..].find('`');
            ticks = length.is_some();
            at = length.map_or(behind, |length| behind + length + 1);
            continue;
        }
        at = behind;
        if let Some(end) = sentence_end(paragraph, c, behind) {
            push(paragraph, base, start..end, &mut found);
            (start, at) = (end, end);
        }
    }
    push(paragraph, base, start..paragraph.len(), &mut found);
    found
}

fn push(paragraph: &str, base: usize, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let whole = &paragraph[range.clone()];
    let text = whole.trim();
    if text.contains(char::is_alphanumeric) {
        let start = base + range.start + (whole.len() - whole.trim_start().len());
        found.push(start..start + text.len());
    }
}

/// Returns the end of the sentence, closing marks included, if `c` before `behind` ends it.
fn sentence_end(paragraph: &str, c: char, behind: usize) -> Option<usize> {
    let rest = &paragraph[behind..];
    if matches!(c, '。' | '！' | '？') {
        return Some(behind + (rest.len() - rest.trim_start_matches(['」', '』', '”']).len()));
    }
    if !matches!(c, '.' | '!' | '?' | '…') {
        return None;
    }
    let closing = ['"', '\'', ')', ']', '}', '»', '”', '’', '*', '_'];
    let after = rest.trim_start_matches(closing);
    let end = behind + (rest.len() - after.len());
    let next = after.trim_start();
    if next.len() == after.len() && !after.is_empty() {
        return None;
    }
    let before = &paragraph[..behind - c.len_utf8()];
    let goes_on = match c {
        '.' => before.ends_with('.') && is_lower(next) || is_abbreviated(before, next),
        '…' => is_lower(next),
        _ => false,
    };
    (!goes_on).then_some(end)
}

/// Whether a full stop behind `before` belongs to an abbreviation.
fn is_abbreviated(before: &str, next: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '.';
    let word = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
    let letters = |part: &str| part.chars().count() == 1 && part.contains(char::is_alphabetic);
    if word.contains('.') && word.split('.').all(letters) {
        return true;
    }
    let is_in = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    is_in(&ABBREVIATIONS)
        || is_in(&ABBREVIATIONS_BEFORE_NUMBERS) && next.starts_with(|c: char| c.is_ascii_digit())
        || is_in(&ABBREVIATIONS_BEFORE_LOWER) && is_lower(next)
}

fn is_lower(text: &str) -> bool {
    text.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests;
