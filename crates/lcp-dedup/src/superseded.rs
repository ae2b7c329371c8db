//! What a newer read of a file, or a newer result of a call, replaces (RFC 0006
//! §5).

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use lcp_types::{BlockContent, Diff, Relation, Status, ToolResult};

use crate::lines;
use crate::overlap::range_of;
use crate::work::{Fate, Place, Work};

/// Newer ranges that are tried for a chunk.
const TRIED_MAX: usize = 16;

/// Covers what a newer block of the same path or call replaces.
pub(crate) fn cover(work: &mut Work<'_, '_>, args: &[Option<&str>]) {
    let blocks = work.blocks;
    let mut positions = work.order.clone();
    positions.sort_unstable();
    let mut paths: HashMap<&str, Vec<usize>, RandomState> = HashMap::default();
    let mut calls: HashMap<(&str, &str), Vec<usize>, RandomState> = HashMap::default();
    for index in positions {
        match &blocks[index].content {
            BlockContent::Code(code) => paths.entry(&code.path).or_default().push(index),
            BlockContent::Diff(diff) => paths.entry(&diff.path).or_default().push(index),
            BlockContent::ToolResult(result) => {
                if let Some(args) = args[index] {
                    calls.entry((&result.tool_name, args)).or_default().push(index);
                }
            }
            _ => {}
        }
    }
    let several = |of: &Vec<usize>| of.len() > 1;
    for path in paths.into_values().filter(several) {
        reads(work, &path);
    }
    for call in calls.into_values().filter(several) {
        results(work, &call);
    }
}

fn replace(work: &mut Work<'_, '_>, index: usize, by: usize) {
    let (relation, place) = (Relation::Superseded, Place::Reference);
    work.fates[index] = Some(Fate::Covered { by, relation, place });
}

/// A newer state of some lines of a path.
struct Newer<'b> {
    last: u32,
    index: usize,
    /// Its lines, or the old side of a hunk.
    text: Cow<'b, [u8]>,
    is_read: bool,
    /// Where its lines begin, once that was asked.
    starts: OnceCell<Vec<usize>>,
}

impl Newer<'_> {
    /// Lines `start` to `end` of it, counted from 0.
    fn slice(&self, start: u32, end: u32) -> &[u8] {
        let starts = self.starts.get_or_init(|| lines::starts(&self.text));
        let at = |line: u32| starts.get(line as usize).copied().unwrap_or(self.text.len());
        &self.text[at(start)..at(end)]
    }
}

/// The reads and edits of one path, oldest first.
fn reads(work: &mut Work<'_, '_>, path: &[usize]) {
    let blocks = work.blocks;
    // What stands, by the first line; of the same, newer ones behind older ones.
    let mut newer: BTreeMap<(u32, usize), Newer<'_>> = BTreeMap::new();
    let add = |newer: &mut BTreeMap<_, _>, first, last, index, text, is_read| {
        let starts = OnceCell::new();
        let key = (first, usize::MAX - newer.len());
        newer.insert(key, Newer { last, index, text, is_read, starts });
    };
    let mut has_versions = false;
    for &index in path.iter().rev() {
        let code = match &blocks[index].content {
            BlockContent::Code(code) => code,
            BlockContent::Diff(diff) => {
                for (first, last, old) in old_sides(diff) {
                    add(&mut newer, first, last, index, Cow::Owned(old), false);
                }
                continue;
            }
            _ => continue,
        };
        let text = code.content.as_slice();
        let Ok((first, last)) = range_of(code.line_start, code.line_end, text) else { continue };
        let below = newer.range(..=(first, usize::MAX)).rev().take(TRIED_MAX);
        let mut including = below.filter(|(_, newer)| newer.last >= last);
        let by = including.find_map(|((from, _), newer)| {
            let differs = !same(newer.slice(first - from, last - from + 1), text);
            // An edit replaces what it shows, a read what it shows otherwise.
            let replaces = if newer.is_read { differs || has_versions } else { !differs };
            replaces.then_some((newer.index, newer.is_read && differs))
        });
        match by {
            Some((by, differs)) if !work.standings[index].fixed => {
                has_versions |= differs;
                replace(work, index, by);
            }
            _ => {
                add(&mut newer, first, last, index, Cow::Borrowed(text), true);
            }
        }
    }
}

/// Whether two texts have the same lines.
fn same(a: &[u8], b: &[u8]) -> bool {
    lines::without_end(a) == lines::without_end(b)
}

/// The old side of each hunk: its first and last line, and the text.
fn old_sides(diff: &Diff<'_>) -> Vec<(u32, u32, Vec<u8>)> {
    let side = |hunk: &lcp_types::DiffHunk<'_>| {
        let (mut old, mut count) = (Vec::new(), 0u32);
        for line in hunk.lines.as_slice().split_inclusive(|byte| *byte == b'\n') {
            if let Some((b' ' | b'-', text)) = line.split_first() {
                old.extend_from_slice(text);
                count += 1;
            }
        }
        let last = hunk.old_start.checked_add(count)?.checked_sub(1)?;
        (hunk.old_start > 0 && count > 0).then_some((hunk.old_start, last, old))
    };
    diff.hunks.iter().filter_map(side).collect()
}

/// The results of one call, oldest first.
fn results(work: &mut Work<'_, '_>, call: &[usize]) {
    let blocks = work.blocks;
    let result = |index: usize| match &blocks[index].content {
        BlockContent::ToolResult(result) => Some(result),
        _ => None,
    };
    // The newest, and the newest that succeeded: a failed one replaces no
    // successful one.
    let newest = |wanted: &dyn Fn(&ToolResult<'_>) -> bool| {
        call.iter().rev().copied().find(|&index| result(index).is_some_and(wanted))
    };
    let any = newest(&|_| true);
    let good = newest(&|result| result.status == Status::Ok);
    let mut has_versions = false;
    for &index in call.iter().rev() {
        let Some(own) = result(index) else { continue };
        let by = if own.status == Status::Ok { good } else { any };
        let Some((by, newer)) = by.and_then(|by| Some((by, result(by)?))) else { continue };
        let differs = newer.content != own.content || newer.status != own.status;
        has_versions |= differs && by > index;
        if by > index && has_versions && !work.standings[index].fixed {
            replace(work, index, by);
        }
    }
}
