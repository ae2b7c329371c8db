//! Where a sentence ends within a paragraph.

use std::ops::Range;

/// What is abbreviated wherever it stands. Lower case.
const ALWAYS: [&str; 15] = [
    "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "approx", "ca", "resp", "incl", "excl", "esp",
    "viz", "misc",
];

/// What is abbreviated before a number.
const BEFORE_NUMBERS: [&str; 11] =
    ["no", "nr", "fig", "eq", "sec", "ch", "vol", "p", "pp", "ver", "art"];

/// What is abbreviated before a word in lower case; else it ends a sentence too.
const BEFORE_LOWER: [&str; 9] = ["etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "ed"];

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
        if let Some(end) = stop(paragraph, c, behind) {
            push(paragraph, base, start..end, &mut found);
            (start, at) = (end, end);
        }
    }
    push(paragraph, base, start..paragraph.len(), &mut found);
    found
}

/// Adds what is between the white space of a range, if it says anything.
fn push(paragraph: &str, base: usize, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let whole = &paragraph[range.clone()];
    let text = whole.trim();
    if text.contains(char::is_alphanumeric) {
        let start = base + range.start + (whole.len() - whole.trim_start().len());
        found.push(start..start + text.len());
    }
}

/// Where the sentence ends, if `c`, which ends at `behind`, ends it: behind marks
/// and brackets that close with it.
fn stop(paragraph: &str, c: char, behind: usize) -> Option<usize> {
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
    is_in(&ALWAYS)
        || is_in(&BEFORE_NUMBERS) && next.starts_with(|c: char| c.is_ascii_digit())
        || is_in(&BEFORE_LOWER) && is_lower(next)
}

/// Whether a text begins in lower case.
fn is_lower(text: &str) -> bool {
    text.starts_with(char::is_lowercase)
}
