//! Excerpts: a part of a content, and a line that counts the omitted rest (RFC 0004 §7).

mod encoded;
mod known;
mod passages;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use lcp_tokens::TokenEstimator;
use lcp_types::RecordForm;

use crate::block_view::line_numbers::{head_with_numbers, tail_with_numbers};
use crate::block_view::{BlockView, ExcerptFocus};
use crate::cost::Counter;
use crate::detail::{Excerpt, OutputMode};
use crate::fmt::{group_thousands, write_to};
use crate::render::{Shown, part_with_body};
use encoded::{Shortened, shorten};
pub(crate) use known::{ExcerptBlock, ExcerptKey, KnownExcerpts};
pub(crate) use passages::PassageCosts;

/// The first character of the line that counts the omitted rest.
pub(crate) const OMISSION: char = '…';

/// The line that marks a gap between two shown ranges of lines.
const GAP: &str = "…\n";

/// The maximum number of attempts at a cut of the right size. They are necessary because the counts
/// of parts do not add up.
const TRIES_MAX: u32 = 24;

/// Returns the largest excerpt of both ends that costs at most `most` tokens, and its cost.
fn cut(
    view: &BlockView<'_>,
    content_tokens: u32,
    most: u32,
    mode: OutputMode,
    counter: &mut Counter<'_>,
) -> Option<(Excerpt, u32)> {
    let content = ExcerptSource::new(view, content_tokens)?;
    let nothing = content.excerpt(0, 0, 0);
    let frame = cost(view, &content, &nothing, mode, counter);
    let first = most.checked_sub(frame).filter(|tokens| *tokens > 0)?;
    // The size is searched between `fits`, at first nothing, and `too_much`.
    let (mut best, mut fits, mut too_much, mut tokens) = (None, 0, first + 1, first);
    for _ in 0..TRIES_MAX {
        let excerpt = fit(&content, tokens, view.excerpt_focus, counter.estimator());
        let cut = excerpt.map(|excerpt| {
            let cost = cost(view, &content, &excerpt, mode, counter);
            (excerpt, cost)
        });
        let mut over = 0;
        match cut {
            // A cut that omits nothing is not an excerpt. It can cost less than the full content,
            // if a fence made that more expensive.
            Some((excerpt, cost)) if cost <= most && content.omits_something(&excerpt) => {
                (best, fits) = (Some((excerpt, cost)), tokens);
            }
            Some((_, cost)) => (too_much, over) = (tokens, cost.saturating_sub(most)),
            // This size is too small to show anything.
            None => fits = tokens,
        }
        // The excerpt is large enough: two successive excerpt sizes differ by about a 32nd.
        if too_much - fits <= 1 + most / 64 {
            break;
        }
        let middle = fits + (too_much - fits) / 2;
        // If the excess is only a few tokens, its subtraction converges faster than bisection.
        let less = too_much - over.clamp(1, too_much);
        tokens = if over > 0 { middle.max(less) } else { middle };
    }
    best
}

/// The content of a block, as excerpts show it.
pub(crate) struct ExcerptSource<'v> {
    /// The content, with markers in place of encoded runs.
    text: Cow<'v, str>,
    /// The byte ranges of the markers. No cut is within one.
    markers: Vec<Range<usize>>,
    /// Tokens of the whole content.
    tokens: u32,
    /// The form of the records, if the content is a table or a list.
    form: Option<RecordForm>,
    /// The end of each record, with the separator behind it.
    record_ends: Vec<usize>,
    /// `true` if each line begins with its number.
    numbered: bool,
}

impl<'v> ExcerptSource<'v> {
    /// Returns the content of a view, or `None` if it has none.
    pub(crate) fn new(view: &'v BlockView<'_>, tokens: u32) -> Option<Self> {
        let Shortened { text, markers } = shorten(view.content.as_deref()?, view.may_be_minified);
        let form = view.data_format.and_then(|format| RecordForm::detect(format, &text));
        let record_ends = form.map(|form| record_ends(form, &text)).unwrap_or_default();
        Some(Self { text, markers, tokens, form, record_ends, numbered: view.numbered })
    }

    /// Returns whether an excerpt shows less than the content.
    fn omits_something(&self, excerpt: &Excerpt) -> bool {
        excerpt.omitted_lines > 0 || !self.markers.is_empty()
    }

    /// Returns the marker that a cut at this byte would split.
    fn marker_at(&self, cut: usize) -> Option<&Range<usize>> {
        let next = self.markers.partition_point(|marker| marker.end <= cut);
        self.markers.get(next).filter(|marker| marker.start < cut)
    }

    /// Returns the excerpt with these bytes from both ends, which have `shown_tokens` tokens.
    fn excerpt(&self, head_bytes: usize, tail_bytes: usize, shown_tokens: u32) -> Excerpt {
        let omitted_lines = if let Some(form) = self.form {
            let shown = self.records_within(head_bytes).max(form.header_records());
            self.record_ends.len() - shown
        } else {
            let middle = &self.text[head_bytes..self.text.len() - tail_bytes];
            let newlines = middle.bytes().filter(|byte| *byte == b'\n').count();
            newlines + usize::from(!middle.is_empty() && !middle.ends_with('\n'))
        };
        let omitted_tokens = self.tokens.saturating_sub(shown_tokens).max(1);
        Excerpt { head_bytes, tail_bytes, omitted_lines, omitted_tokens, lines: Vec::new() }
    }

    /// Returns the number of complete records within the first bytes.
    fn records_within(&self, bytes: usize) -> usize {
        self.record_ends.partition_point(|end| *end <= bytes)
    }

    /// Returns the longest start of `text` that ends with a record. If that has no record, it ends
    /// as in other content.
    fn start_at_boundary<'t>(&self, text: &'t str) -> &'t str {
        let text = self.marker_at(text.len()).map_or(text, |marker| &text[..marker.start]);
        match self.records_within(text.len()).checked_sub(1) {
            Some(last) => &text[..self.record_ends[last]],
            None => start_at_boundary(text),
        }
    }

    /// Returns the text of an excerpt, without a final newline.
    pub(crate) fn body(&self, excerpt: &Excerpt) -> String {
        if excerpt.omitted_lines == 0 {
            return self.text.clone().into_owned();
        }
        let (mut text, tail) = if excerpt.lines.is_empty() {
            let head = self.text.get(..excerpt.head_bytes).unwrap_or_default();
            let tail_at = self.text.len().saturating_sub(excerpt.tail_bytes);
            (head.to_owned(), self.text.get(tail_at..).unwrap_or_default())
        } else {
            (self.lines(&excerpt.lines), "")
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let lines = excerpt.omitted_lines;
        let unit = match self.form {
            Some(RecordForm::Table { .. }) => "more row",
            Some(RecordForm::JsonLines | RecordForm::JsonArray) => "more record",
            None => "line",
        };
        let plural = if lines == 1 { "" } else { "s" };
        let (lines, tokens) =
            (group_thousands(lines as u64), group_thousands(excerpt.omitted_tokens.into()));
        write_to(
            &mut text,
            format_args!("{OMISSION} {lines} {unit}{plural}, ~{tokens} tokens omitted …"),
        );
        if !tail.is_empty() {
            text.push('\n');
            text.push_str(tail);
        }
        text
    }
}

impl ExcerptSource<'_> {
    /// Returns these ranges of lines, with a marker in place of the lines before and between them.
    fn lines(&self, ranges: &[(u32, u32)]) -> String {
        let mut text = String::new();
        let mut ranges = ranges.iter().peekable();
        let mut follows_gap = false;
        for (number, line) in (1..).zip(self.text.split_inclusive('\n')) {
            while ranges.next_if(|(_, last)| *last < number).is_some() {}
            let Some((first, _)) = ranges.peek() else { break };
            if *first > number {
                follows_gap = true;
                continue;
            }
            if std::mem::take(&mut follows_gap) {
                text.push_str(GAP);
            }
            text.push_str(line);
        }
        text
    }
}

/// Returns the end of each record with the separator behind it, but without the indentation of the
/// next one.
fn record_ends(form: RecordForm, text: &str) -> Vec<usize> {
    let starts = form.records(text).map(|record| record.start).skip(1);
    let mut ends: Vec<_> =
        starts.map(|start| text[..start].trim_end_matches([' ', '\t']).len()).collect();
    ends.push(text.len());
    ends
}

/// Returns the cost of the part of an excerpt.
fn cost(
    view: &BlockView<'_>,
    content: &ExcerptSource<'_>,
    excerpt: &Excerpt,
    mode: OutputMode,
    counter: &mut Counter<'_>,
) -> u32 {
    let body = content.body(excerpt);
    counter.part(&part_with_body(view, Shown::Excerpt, Some(&body), mode)).1
}

/// Returns the excerpt of about `tokens` tokens; `None` if it would show no content.
fn fit(
    content: &ExcerptSource<'_>,
    tokens: u32,
    focus: ExcerptFocus,
    estimator: &dyn TokenEstimator,
) -> Option<Excerpt> {
    let of_head = match focus {
        ExcerptFocus::Head => tokens,
        ExcerptFocus::MostlyTail => tokens / 3,
        ExcerptFocus::Both => tokens / 2,
    };
    // A beginning of blank lines has no information, so the excerpt then shows the end instead.
    let text: &str = &content.text;
    let head = content.start_at_boundary(estimator.truncate_to(text, of_head));
    let head = if head.trim().is_empty() { "" } else { head };
    let head = if is_in_crlf(text, head.len()) { &head[..head.len() - 1] } else { head };
    let head = if content.numbered { head_with_numbers(head) } else { head };
    let head_tokens = estimator.estimate(head);
    let rest = &text[head.len()..];
    let head_only = focus == ExcerptFocus::Head && !head.is_empty();
    let of_tail = if head_only { 0 } else { tokens.saturating_sub(head_tokens) };
    let tail = estimator.truncate_front_to(rest, of_tail);
    let split = content.marker_at(text.len() - tail.len());
    let tail = end_at_boundary(split.map_or(tail, |marker| &text[marker.end..]));
    let tail = if is_in_crlf(text, text.len() - tail.len()) { &tail[1..] } else { tail };
    let tail = if content.numbered { tail_with_numbers(text, tail.len()) } else { tail };
    if head.trim().is_empty() && tail.trim().is_empty() {
        return None;
    }
    let shown = head_tokens + estimator.estimate(tail);
    Some(content.excerpt(head.len(), tail.len(), shown))
}

/// Returns whether a cut at this byte is within a line break.
fn is_in_crlf(content: &str, at: usize) -> bool {
    content[..at].ends_with('\r') && content[at..].starts_with('\n')
}

/// Returns the longest start of `text` that ends with a line or a sentence, if that is at least
/// half of `text`; otherwise all of it.
fn start_at_boundary(text: &str) -> &str {
    let lines = text.rfind('\n').map(|newline| newline + 1);
    let sentences = || sentence_ends(text).last();
    let enough = |end: &usize| *end >= text.len().div_ceil(2);
    let end = lines.filter(enough).or_else(|| sentences().filter(enough));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the longest end of `text` that begins with a line or a sentence, if that is at least
/// half of `text`; otherwise all of it.
fn end_at_boundary(text: &str) -> &str {
    let lines = text.find('\n').map(|newline| newline + 1);
    let sentences = || sentence_ends(text).next();
    let enough = |start: &usize| *start <= text.len() / 2;
    let start = lines.filter(enough).or_else(|| sentences().filter(enough));
    &text[start.unwrap_or(0)..]
}

/// Returns the offsets after sentences: after `.` and white space, or `。`, and the like.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(move |(at, mark)| {
        let behind = at + mark.len_utf8();
        match mark {
            '。' | '！' | '？' => Some(behind),
            '.' | '!' | '?' => {
                let space = text[behind..].chars().next().filter(|space| space.is_whitespace())?;
                Some(behind + space.len_utf8())
            }
            _ => None,
        }
    })
}
