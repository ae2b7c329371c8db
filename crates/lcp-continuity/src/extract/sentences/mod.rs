//! Splits a text into sentences (RFC 0007 §6), without quoted text.

mod lines;

use std::iter;
use std::ops::Range;

pub(crate) use lines::{INTERRUPTED, Line, LineKind, lines};

/// The minimum length in characters of a line that may be wrapped.
const WRAPPED: usize = 50;

/// Returns the sentences and list items of `text`, in order, byte for byte. Surrounding white
/// space, list markers and checkboxes are left out.
///
/// A sentence may span several wrapped lines. Fenced code, edits (`<<<<<<<` to `>>>>>>>`), quoted
/// lines, tags, text that programs put between their own tags, and lines such as `[Request
/// interrupted by user]` are skipped. Run time is linear in the length of the text.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    sentence_ranges(text).filter_map(|range| text.get(range))
}

pub(crate) fn sentence_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    paragraphs(text).flat_map(move |paragraph| split(text, paragraph.range))
}

/// A line together with the lines that it is wrapped into.
#[derive(Clone, Debug)]
pub(crate) struct Paragraph {
    /// The byte range in the text, without the list marker and checkbox.
    pub(crate) range: Range<usize>,
    pub(crate) kind: LineKind,
    /// `true` if it directly follows the previous paragraph.
    pub(crate) follows: bool,
}

/// Returns the paragraphs of `text`, which are divided into [`sentences`].
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

/// Returns whether a line is wrapped, so that `next` continues its sentence.
fn goes_on(line: &Line<'_>, next: &Line<'_>) -> bool {
    next.follows
        && next.kind == LineKind::Text
        && line.kind != LineKind::Heading
        && line.text.chars().nth(WRAPPED - 1).is_some()
        && !line.text.ends_with(':')
        && !is_labelled(next.text)
}

/// Returns whether a line begins with a word and a colon.
fn is_labelled(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '_', '[']);
    let word = line.trim_start_matches(|c: char| c.is_alphabetic());
    word.len() < line.len() && word.trim_start_matches(['*', '_', ']']).starts_with(':')
}

/// Parses a checkbox at the beginning of a text. Returns whether it is checked, and the rest of the
/// text.
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

/// Abbreviations in any context, in lower case.
const ABBREVIATIONS: [&str; 15] = [
    "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "approx", "ca", "resp", "incl", "excl", "esp",
    "viz", "misc",
];

/// Abbreviations only before a number.
const ABBREVIATIONS_BEFORE_NUMBERS: [&str; 11] =
    ["no", "nr", "fig", "eq", "sec", "ch", "vol", "p", "pp", "ver", "art"];

/// Abbreviations before a word in lower case. Elsewhere they end a sentence.
const ABBREVIATIONS_BEFORE_LOWER: [&str; 9] =
    ["etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "ed"];

/// Returns the sentences of the paragraph at `range`, as ranges of `text`.
pub(crate) fn split(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let base = range.start;
    let paragraph = text.get(range).unwrap_or_default();
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut ticks = paragraph.contains('`');
    loop {
        // These characters never end a sentence.
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b' ';
        at += paragraph.as_bytes()[at..].iter().take_while(|byte| is_plain(byte)).count();
        let Some(c) = paragraph[at..].chars().next() else { break };
        let behind = at + c.len_utf8();
        if c == '`' && ticks {
            // Skip inline code, because full stops in it do not end a sentence.
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

/// Returns the end of the sentence, including closing marks, if `c` before `behind` ends it.
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

/// Returns whether a full stop after `before` belongs to an abbreviation.
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
