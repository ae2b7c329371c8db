//! What a newer read of a file, or a newer result of a call, replaces (RFC 0006
//! §5).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::{BlockContent, DiffHunk, DuplicateKind, Priority, Status, ToolResult};

use crate::overlap::{Chunk, Lines, agree};
use crate::paths::{Member, Paths};
use crate::work::{Fate, Place, Work};

/// Newer ranges that are tried for a chunk.
const TRIED_MAX: usize = 16;

/// Covers what a newer block of the same path or call replaces.
pub(crate) fn cover(work: &mut Work<'_, '_>, paths: &Paths) {
    for members in paths.several() {
        reads(work, members);
    }
    // Those that take part, oldest first.
    let mut calls: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    let (blocks, metas) = (work.blocks, work.metas);
    let mut positions = work.order.clone();
    positions.retain(|index| metas.get(index).is_some_and(|meta| meta.args.is_some()));
    positions.sort_unstable();
    for index in positions {
        let args = metas.get(&index).and_then(|meta| meta.args.as_deref());
        if let (BlockContent::ToolResult(result), Some(args)) = (&blocks[index].content, args) {
            calls.entry((&result.tool_name, args)).or_default().push(index);
        }
    }
    for call in calls.into_values().filter(|call| call.len() > 1) {
        results(work, &call);
    }
}

fn replace(work: &mut Work<'_, '_>, index: usize, by: usize) {
    let (relation, place) = (DuplicateKind::Superseded, Place::Reference);
    work.fates[index] = Some(Fate::Covered { by, relation, place });
    // The newest of its name stays there under that name.
    work.standings[by].fixed = true;
}

/// The reads and edits of one path, oldest first.
fn reads(work: &mut Work<'_, '_>, members: &[Member]) {
    let old_sides = old_sides(work, members);
    let mut states = states(work, members, &old_sides);
    if !meet(&states) {
        return;
    }
    // The newest first: what stands, by the first line.
    states.reverse();
    let chunks: Vec<_> = states.iter().map(|state| state.chunk).collect();
    let texts = Lines::new(&chunks);
    let mut newer: BTreeMap<(u32, Reverse<usize>), usize> = BTreeMap::new();
    let mut versions = Versions::default();
    for at in 0..chunks.len() {
        let State { index, is_read, is_whole, chunk: Chunk { first, last, text, .. } } = states[at];
        if is_read && !work.standings[index].fixed {
            let upwards = newer.range(..=(first, Reverse(0))).rev().take(TRIED_MAX);
            // A file that was read as a whole again may be shorter now.
            let mut including = upwards
                .map(|(_, newer)| *newer)
                .filter(|&n| chunks[n].last >= last || (is_whole && states[n].is_whole));
            let by = including.find_map(|n| {
                let State { index: by, is_read, .. } = states[n];
                let differs = chunks[n].last < last || !agree(texts.from(n, first), text);
                // An edit replaces what it shows; a read what it shows otherwise, or
                // what it shows again after something else.
                let replaces =
                    if is_read { differs || versions.have((first, last)) } else { !differs };
                let replaces = replaces && !work.makes_critical(index, by);
                replaces.then_some((by, is_read && differs))
            });
            if let Some((by, differs)) = by {
                if differs {
                    versions.add((first, last));
                }
                replace(work, index, by);
                continue;
            }
        }
        newer.insert((first, Reverse(at)), at);
    }
}

/// Lines that were otherwise before, as ranges that do not meet.
#[derive(Debug, Default)]
struct Versions(BTreeMap<u32, u32>);

impl Versions {
    fn have(&self, (first, last): (u32, u32)) -> bool {
        self.0.range(..=last).next_back().is_some_and(|(_, end)| *end >= first)
    }

    fn add(&mut self, (mut first, mut last): (u32, u32)) {
        while let Some((&start, &end)) =
            self.0.range(..=last).next_back().filter(|(_, end)| **end >= first)
        {
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
        }
        self.0.insert(first, last);
    }
}

/// Some lines of a path as one block has them.
#[derive(Clone, Copy)]
struct State<'b> {
    index: usize,
    /// It is the block's text, not the old side of a hunk.
    is_read: bool,
    /// It is all of the file, however long.
    is_whole: bool,
    chunk: Chunk<'b>,
}

/// The old side of a hunk: the block, the lines, the text.
type OldSide = (usize, (u32, u32), Vec<u8>);

/// All states of a path, oldest first.
fn states<'b>(work: &Work<'b, '_>, members: &[Member], old_sides: &'b [OldSide]) -> Vec<State<'b>> {
    let state = |index, is_read, is_whole, (first, last), text| {
        // Only lines and text are asked for.
        let (order, position, priority, fixed) = (0, index, Priority::default(), false);
        let chunk = Chunk { first, last, text, order, position, priority, fixed };
        State { index, is_read, is_whole, chunk }
    };
    let mut edits = old_sides.iter().peekable();
    let mut states = Vec::with_capacity(members.len() + old_sides.len());
    for member in members {
        while let Some((index, range, old)) = edits.next_if(|edit| edit.0 <= member.index) {
            states.push(state(*index, false, false, *range, old.as_slice()));
        }
        let text = work.blocks[member.index].content.text();
        if let Some((range, text)) = member.range.zip(text) {
            states.push(state(member.index, true, member.is_whole, range, text.as_slice()));
        }
    }
    states
}

/// Whether any two have a line in common.
fn meet(states: &[State<'_>]) -> bool {
    let range = |state: &State<'_>| (state.chunk.first, state.chunk.last);
    let mut ranges: Vec<_> = states.iter().map(range).collect();
    ranges.sort_unstable();
    ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1)
}

/// The old side of each hunk of the path's diffs.
fn old_sides(work: &Work<'_, '_>, members: &[Member]) -> Vec<OldSide> {
    let side = |index: usize, hunk: &DiffHunk<'_>| {
        let (mut old, mut count) = (Vec::new(), 0u32);
        for line in hunk.lines.as_slice().split_inclusive(|byte| *byte == b'\n') {
            if let Some((b' ' | b'-', text)) = line.split_first() {
                old.extend_from_slice(text);
                count += 1;
            }
        }
        let last = hunk.old_start.checked_add(count)?.checked_sub(1)?;
        let is_range = hunk.old_start > 0 && count > 0;
        is_range.then_some((index, (hunk.old_start, last), old))
    };
    let mut sides = Vec::new();
    for member in members {
        if let BlockContent::Diff(diff) = &work.blocks[member.index].content {
            sides.extend(diff.hunks.iter().filter_map(|hunk| side(member.index, hunk)));
        }
    }
    sides
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
        let stays = work.standings[index].fixed || work.makes_critical(index, by);
        if by > index && has_versions && !stays {
            replace(work, index, by);
        }
    }
}
