//! Outlines of documents: the headings and the first sentence below each.

use lcp_types::Fence;

use super::builder::OutlineBuilder;

/// The maximum number of lines of a sentence.
const SENTENCE_LINES_MAX: usize = 4;

/// The number of characters to include of the line that underlines a heading.
const UNDERLINE_CHARS: usize = 3;

/// Adds the headings and first sentences. Returns whether there is a heading.
pub(super) fn fill(out: &mut OutlineBuilder<'_>) -> bool {
    let (mut next, mut fence) = (after_front_matter(out), None);
    let (mut headings, mut wants) = (0, true);
    while !out.is_full() && next < out.lines() {
        let (at, text, was_fenced) = (next, out.line(next), fence.is_some());
        next += 1;
        fence = fence_after(fence, text);
        if was_fenced || fence.is_some() {
            continue;
        }
        if is_heading(text) {
            out.push_line(at);
        } else if is_text(text) && is_underline(out.line(at + 1)) {
            out.push_line(at);
            let start = out.start(at + 1);
            let under = out.line(at + 1);
            let indent = under.len() - under.trim_start().len();
            out.push_span(start, start + under.len().min(indent + UNDERLINE_CHARS), 1);
            next += 1;
        } else {
            if wants && is_text(text) {
                wants = false;
                push_sentence(out, at);
            }
            continue;
        }
        headings += 1;
        wants = true;
    }
    headings > 0
}

/// Returns the index of the line after the front matter (`---`), or 0 without front matter.
fn after_front_matter(out: &OutlineBuilder<'_>) -> usize {
    if out.line(0) != "---" {
        return 0;
    }
    (1..out.lines()).find(|line| out.line(*line) == "---").map_or(0, |line| line + 1)
}

/// Returns the code fence that is open after a line.
fn fence_after<'t>(open: Option<Fence<'t>>, line: &'t str) -> Option<Fence<'t>> {
    match (open, Fence::parse(line)) {
        (Some(open), Some(fence)) if open.is_closed_by(&fence) => None,
        (Some(open), _) => Some(open),
        (None, fence) => fence,
    }
}

/// Removes the indentation of a line. Returns `None` if the indentation makes the line code.
fn unindented(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(' ');
    (text.len() - rest.len() < 4 && !rest.starts_with('\t')).then_some(rest)
}

fn is_heading(text: &str) -> bool {
    let Some(text) = unindented(text) else { return false };
    let rest = text.trim_start_matches('#');
    (1..=6).contains(&(text.len() - rest.len())) && rest.starts_with([' ', '\t'])
}

/// Returns whether a line underlines a heading.
fn is_underline(text: &str) -> bool {
    let Some(text) = unindented(text) else { return false };
    text.len() >= 2 && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'))
}

/// Returns whether a line is prose, not an image, a table, a heading, markup or a callout.
fn is_text(text: &str) -> bool {
    let text = text.trim_start();
    !text.starts_with(['|', '<', '!'])
        && !text.starts_with("[!")
        && !is_heading(text)
        && text.chars().any(char::is_alphanumeric)
}

/// Adds the sentence that begins in a line. It ends at the latest with its paragraph.
fn push_sentence(out: &mut OutlineBuilder<'_>, first: usize) {
    let from = out.start(first);
    let mut to = from;
    for line in first..(first + SENTENCE_LINES_MAX).min(out.lines()) {
        let text = out.line(line);
        if !is_text(text) || Fence::parse(text).is_some() || is_underline(text) {
            break;
        }
        if let Some(end) = end_of_sentence(text) {
            to = out.start(line) + end;
            break;
        }
        to = out.start(line) + text.len();
    }
    out.push_span(from, to, SENTENCE_LINES_MAX);
}

/// Returns the end of the first sentence in a line, if it ends there. `.`, `!` and `?` end a
/// sentence at the end of the line or before white space, unless a lower-case letter or a digit
/// follows. `。`, `！` and `？` always end a sentence.
fn end_of_sentence(text: &str) -> Option<usize> {
    // The full stop after a list number does not end a sentence.
    let lead = text.find(|c: char| c.is_alphabetic()).unwrap_or(0);
    text.char_indices().skip_while(|(at, _)| *at < lead).find_map(|(at, c)| {
        let end = at + c.len_utf8();
        let rest = text.get(end..)?;
        match c {
            '。' | '！' | '？' => Some(end),
            '.' | '!' | '?' => {
                let next = rest.trim_start();
                let is_apart = rest.is_empty() || next.len() < rest.len();
                let goes_on = next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit());
                if !is_apart || goes_on {
                    return None;
                }
                let before = text.get(..at)?;
                let word = before.rsplit([' ', '(']).next()?;
                // Nor does the full stop of an abbreviation within the line, as in "e.g. This" and
                // "J. Doe".
                let is_short = c == '.' && (word.contains('.') || word.chars().count() < 2);
                (!is_short || rest.is_empty()).then_some(end)
            }
            _ => None,
        }
    })
}
