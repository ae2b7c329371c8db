//! Detects stale reads: file contents that a newer read or edit replaces (RFC 0006 §5).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::{BlockContent, DiffHunk, DuplicateKind};

use crate::overlap::{Chunk, Lines, agree};
use crate::paths::{Member, Paths};
use crate::state::{DedupState, Outcome, StubKind};

/// The maximum number of newer ranges to compare with a chunk.
const TRIED_MAX: usize = 16;

/// Covers blocks that a newer block of the same path replaces.
pub(crate) fn replace_stale(state: &mut DedupState<'_, '_>, paths: &Paths) {
    for members in paths.with_several_blocks() {
        replace_reads(state, members);
    }
}

fn replace(state: &mut DedupState<'_, '_>, index: usize, by: usize) {
    let (relation, stub) = (DuplicateKind::Superseded, StubKind::Reference);
    state.outcomes[index] = Some(Outcome::Covered { by, relation, stub });
    // References name the newest block.
    state.ranks[by].fixed = true;
}

/// Replaces stale reads of one path; `members` are its reads and edits, oldest first.
fn replace_reads(state: &mut DedupState<'_, '_>, members: &[Member]) {
    let old_sides = old_sides(state, members);
    let mut snapshots = snapshots(state, members, &old_sides);
    if !intersects(&snapshots) {
        return;
    }
    // The newest come first. Content that is not replaced is found by its first line.
    snapshots.reverse();
    let chunks: Vec<_> = snapshots.iter().map(|snapshot| snapshot.chunk).collect();
    let texts = Lines::new(&chunks);
    let mut newer: BTreeMap<(u32, Reverse<usize>), usize> = BTreeMap::new();
    let mut changed = ChangedLines::default();
    for at in 0..chunks.len() {
        let Snapshot { index, is_read, is_whole, chunk: Chunk { first, last, text, .. } } =
            snapshots[at];
        if is_read && !state.ranks[index].fixed {
            let upwards = newer.range(..=(first, Reverse(0))).rev().take(TRIED_MAX);
            // A complete file may be shorter now.
            let mut including = upwards
                .map(|(_, newer)| *newer)
                .filter(|&n| chunks[n].last >= last || (is_whole && snapshots[n].is_whole));
            let by = including.find_map(|n| {
                let Snapshot { index: by, is_read, .. } = snapshots[n];
                let differs = chunks[n].last < last || !agree(texts.from(n, first), text);
                // A read is replaced by a newer read that differs, or whose lines were changed in
                // between and restored. It is replaced by the old side of an edit that has the same
                // lines.
                let replaces =
                    if is_read { differs || changed.intersects((first, last)) } else { !differs };
                let replaces = replaces && !state.makes_critical(index, by);
                replaces.then_some((by, is_read && differs))
            });
            if let Some((by, differs)) = by {
                if differs {
                    changed.add((first, last));
                }
                replace(state, index, by);
                continue;
            }
        }
        newer.insert((first, Reverse(at)), at);
    }
}

/// Line ranges that had other content earlier. They are disjoint.
#[derive(Debug, Default)]
struct ChangedLines(BTreeMap<u32, u32>);

impl ChangedLines {
    fn intersects(&self, (first, last): (u32, u32)) -> bool {
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

/// A version of some lines of a path, from one block.
#[derive(Clone, Copy)]
struct Snapshot<'b> {
    index: usize,
    /// `true` if it is the text of the block, not the old side of a hunk.
    is_read: bool,
    /// `true` if it is the complete file.
    is_whole: bool,
    chunk: Chunk<'b>,
}

/// The old side of a hunk: the index of the block, the line range and the text.
type OldSide = (usize, (u32, u32), Vec<u8>);

/// Returns all snapshots of a path, oldest first.
fn snapshots<'b>(
    state: &DedupState<'b, '_>,
    members: &[Member],
    old_sides: &'b [OldSide],
) -> Vec<Snapshot<'b>> {
    let snapshot = |index, is_read, is_whole, range, text| Snapshot {
        index,
        is_read,
        is_whole,
        chunk: Chunk::new(range, text),
    };
    let mut edits = old_sides.iter().peekable();
    let mut snapshots = Vec::with_capacity(members.len() + old_sides.len());
    for member in members {
        while let Some((index, range, old)) = edits.next_if(|edit| edit.0 <= member.index) {
            snapshots.push(snapshot(*index, false, false, *range, old.as_slice()));
        }
        let text = state.blocks[member.index].content.text();
        if let Some((range, text)) = member.range.zip(text) {
            snapshots.push(snapshot(member.index, true, member.is_whole, range, text.as_slice()));
        }
    }
    snapshots
}

/// Returns whether any two snapshots have a common line.
fn intersects(snapshots: &[Snapshot<'_>]) -> bool {
    let range = |snapshot: &Snapshot<'_>| (snapshot.chunk.first, snapshot.chunk.last);
    let mut ranges: Vec<_> = snapshots.iter().map(range).collect();
    ranges.sort_unstable();
    ranges.windows(2).any(|pair| pair[1].0 <= pair[0].1)
}

/// Returns the old side of each hunk in the diffs of the path.
fn old_sides(state: &DedupState<'_, '_>, members: &[Member]) -> Vec<OldSide> {
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
        if let BlockContent::Diff(diff) = &state.blocks[member.index].content {
            sides.extend(diff.hunks.iter().filter_map(|hunk| side(member.index, hunk)));
        }
    }
    sides
}
