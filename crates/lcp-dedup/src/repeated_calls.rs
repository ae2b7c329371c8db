//! Results of repeated calls: the same tool, called with the same arguments (RFC 0012 §1).
//!
//! A later result replaces an earlier one only in two cases:
//!
//! - It contains all lines of the earlier one, in order.
//! - Both are complete reads of a file, with a number before each line, and the later one covers at
//!   least the same lines.
//!
//! In all other cases both remain. The later result may be the next part of an output, an error, or
//! a message that refers back to the earlier result.

use std::collections::BTreeMap;

use lcp_types::{BlockContent, DuplicateKind, Status, ToolResult, normalize_tool_name};

use crate::near::{split_lines, split_number, without_newline};
use crate::state::{DedupState, Outcome, StubKind};

/// The maximum number of later results to compare with a result.
const TRIED_MAX: usize = 16;

/// Tools that print a file or resource, by their [normalized names](normalize_tool_name).
const READ_TOOLS: [&str; 15] = [
    "cat", "fsread", "getfilecontents", "openfile", "read", "readfile", "readfilev2",
    "readmcpresource", "readmediafile", "readresource", "readtextfile", "strreplacebasededittool",
    "strreplaceeditor", "view", "viewfile",
];

/// Covers the results that a later result of the same call replaces.
pub(crate) fn replace_repeated_calls(state: &mut DedupState<'_, '_>) {
    // The results of each call, oldest first.
    let mut calls: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    let (blocks, metas) = (state.blocks, state.metas);
    for index in state.stream_order() {
        if let BlockContent::ToolResult(result) = &blocks[index].content
            && let Some(args) = metas.get(&index).and_then(|meta| meta.args.as_deref())
        {
            calls.entry((&result.tool_name, args)).or_default().push(index);
        }
    }
    for ((tool, _), call) in calls {
        if call.len() > 1 {
            replace_results(state, is_read_tool(tool), &call);
        }
    }
}

/// Replaces earlier results of one call. `call` lists its results, oldest first.
fn replace_results(state: &mut DedupState<'_, '_>, is_read: bool, call: &[usize]) {
    // The results that remain, newest last.
    let mut remaining: Vec<(usize, Content<'_>)> = Vec::new();
    // Whether two results in the sequence differ. Equal results are left to the search for equal
    // blocks, unless the content changed in between and was restored.
    let mut has_changed = false;
    for &index in call.iter().rev() {
        let BlockContent::ToolResult(result) = &state.blocks[index].content else { continue };
        let content = Content::new(result, is_read);
        let is_fixed = state.ranks[index].fixed;
        let newest_first = remaining.iter().map(|(by, newer)| (*by, newer));
        let replacement = newest_first.take(TRIED_MAX).find_map(|(by, newer)| {
            let relation = newer.replaces(&content, has_changed)?;
            (!is_fixed && !state.makes_critical(index, by)).then_some((by, relation))
        });
        has_changed |= remaining.first().is_some_and(|(_, newest)| !newest.equals(&content));
        match replacement {
            Some((by, DuplicateKind::Superseded)) => {
                let (relation, stub) = (DuplicateKind::Superseded, StubKind::Reference);
                state.outcomes[index] = Some(Outcome::Covered { by, relation, stub });
                // References name the newest block.
                state.ranks[by].fixed = true;
            }
            Some((by, relation)) => state.cover(index, by, relation),
            None => {}
        }
        if state.outcomes[index].is_none() {
            remaining.push((index, content));
        }
    }
}

/// The content of a result.
struct Content<'b> {
    text: &'b [u8],
    status: Status,
    /// The numbered lines, if the result is a complete read.
    numbered: Option<NumberedLines>,
}

impl<'b> Content<'b> {
    fn new(result: &'b ToolResult<'_>, is_read: bool) -> Self {
        let text = result.content.as_slice();
        let is_complete = is_read && result.status == Status::Ok;
        let numbered = is_complete.then(|| NumberedLines::parse(text)).flatten();
        Self { text, status: result.status, numbered }
    }

    fn equals(&self, other: &Self) -> bool {
        self.text == other.text && self.status == other.status
    }

    /// Returns the relation by which this result replaces an `earlier` one of the same call.
    fn replaces(&self, earlier: &Self, has_changed: bool) -> Option<DuplicateKind> {
        if self.equals(earlier) && !has_changed {
            return None;
        }
        let numbered = self.numbered.as_ref().zip(earlier.numbered.as_ref());
        if numbered.is_some_and(|(newer, older)| newer.covers(older)) {
            return Some(DuplicateKind::Superseded);
        }
        let contains = self.status == earlier.status
            && !self.equals(earlier)
            && contains_lines(self.text, earlier.text);
        contains.then_some(DuplicateKind::Contained)
    }
}

/// Returns whether a text has all lines of `part`, in the same order.
fn contains_lines(text: &[u8], part: &[u8]) -> bool {
    if part.len() > text.len() {
        return false;
    }
    let mut lines = lines(text);
    self::lines(part).all(|wanted| lines.any(|line| line == wanted))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    split_lines(text).map(without_newline)
}

/// A text in which each line has a number, as `cat -n` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberedLines {
    first: u64,
    last: u64,
    /// `true` if the last line ends with a newline.
    has_newline: bool,
}

impl NumberedLines {
    /// Returns `None` if a line has no number or is out of sequence. Such a line may report that the
    /// read is incomplete.
    fn parse(text: &[u8]) -> Option<Self> {
        let first = number(text)?;
        let mut next = first;
        for line in lines(text) {
            if number(line) != Some(next) {
                return None;
            }
            next += 1;
        }
        Some(Self { first, last: next - 1, has_newline: text.ends_with(b"\n") })
    }

    /// Returns whether this read shows all lines of the `older` one in a newer state. A read with
    /// fewer lines or another ending does not, because it may have been cut.
    fn covers(&self, older: &Self) -> bool {
        self.first == older.first
            && self.last >= older.last
            && self.has_newline == older.has_newline
    }
}

/// Returns the number at the start of a line.
fn number(line: &[u8]) -> Option<u64> {
    let (digits, _) = split_number(line)?;
    // A number near the maximum is no line number, and the next one must exist.
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|number| *number < u64::from(u32::MAX))
}

/// Returns whether a tool prints a file or resource.
fn is_read_tool(name: &str) -> bool {
    READ_TOOLS.binary_search(&normalize_tool_name(name).as_str()).is_ok()
}

#[cfg(test)]
mod tests;
