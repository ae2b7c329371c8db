//! Line numbers before the lines of a content: `12: let x = 1;` (RFC 0013 §6).

use lcp_types::BlockContent;

use crate::fmt::write_to;

/// The text between a number and its line.
const SEPARATOR: &str = ": ";

/// Returns the number of the first line of a content whose lines have numbers; `None` if users do
/// not refer to the lines of its type by number.
pub(super) fn first_line(content: &BlockContent<'_>) -> Option<u64> {
    match content {
        BlockContent::Code(code) => Some(code.line_start.map_or(1, u64::from)),
        BlockContent::Document(_) => Some(1),
        _ => None,
    }
}

/// Puts a number before each line. The empty text after a final newline is not a line.
pub(super) fn number_lines(text: &str, first: u64) -> String {
    let mut numbered = String::with_capacity(text.len() + text.len() / 4);
    for (number, line) in (first..).zip(text.split_inclusive('\n')) {
        write_to(&mut numbered, format_args!("{number}{SEPARATOR}"));
        numbered.push_str(line);
    }
    numbered
}

/// Returns the length of the number before a line, with its separator.
fn prefix_bytes(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(SEPARATOR)).then_some(digits + SEPARATOR.len())
}

/// Removes the numbers, but not from lines for which `is_marker` holds. Returns `None` if another
/// line has no number.
pub(crate) fn remove_numbers(text: &str, is_marker: impl Fn(&str) -> bool) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match prefix_bytes(line) {
            Some(prefix) => bare.push_str(&line[prefix..]),
            None if is_marker(line) => bare.push_str(line),
            None => return None,
        }
    }
    Some(bare)
}

/// Returns the longest start of `head` whose last line has its number and some text.
pub(crate) fn head_with_numbers(head: &str) -> &str {
    let last = head.rfind('\n').map_or(0, |newline| newline + 1);
    let is_whole = prefix_bytes(&head[last..]).is_some_and(|prefix| last + prefix < head.len());
    if is_whole { head } else { &head[..last] }
}

/// Returns the longest end of `text` that has at most `bytes` bytes and begins with a line.
pub(crate) fn tail_with_numbers(text: &str, bytes: usize) -> &str {
    let at = text.len() - bytes;
    if at == 0 || text[..at].ends_with('\n') {
        return &text[at..];
    }
    text[at..].find('\n').map_or("", |newline| &text[at + newline + 1..])
}
