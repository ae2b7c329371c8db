//! Overlapping chunks of one path (RFC 0006 §6).
//!
//! These modules do not depend on blocks. `merge.rs` merges chunks into runs (`merged_runs.rs`),
//! `trim.rs` cuts without merging, by `intervals.rs`, the lines that are shown already.

mod intervals;
mod lines;
mod merge;
mod merged_runs;
#[cfg(test)]
mod tests;
mod trim;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Priority};

/// Maximum number of runs of a path that a chunk is compared with; further versions stay unchanged
/// (RFC 0006 §6).
const TRIED_MAX: usize = 16;

pub use lines::LineRangeError;
pub(crate) use lines::{Lines, agree, range_of};

/// A chunk of a path. All chunks of one call have the same path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'t> {
    /// Its first line, from 1.
    pub(crate) first: u32,
    /// Its last line; the text has as many lines as the range ([`range_of`]).
    pub(crate) last: u32,
    pub(crate) text: &'t [u8],
    /// Its unique position by rank, 0 is the best.
    pub(crate) order: usize,
    /// Its unique position in the stream.
    pub(crate) position: usize,
    pub(crate) priority: Priority,
    /// Whether it must not be covered or changed; it may cover others.
    pub(crate) fixed: bool,
}

/// The options for overlapping chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlapOptions {
    /// Whether they are merged.
    pub(crate) merge: bool,
    /// Without merging: the minimum fraction of the smaller chunk, 0 to 1, at which one is cut.
    pub(crate) threshold: f64,
    /// Maximum size of a merged chunk in bytes.
    pub(crate) merged_bytes: usize,
    /// Whether no chunk may depend on a later one in the stream.
    pub(crate) first: bool,
}

/// The outcome for a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChunkOutcome {
    Stays,
    /// It is extended by lines of others.
    Grown {
        first: u32,
        last: u32,
        text: Vec<u8>,
        /// The merged chunks, in the order of lines.
        members: Vec<usize>,
    },
    /// It is reduced to the lines that `by` lacks.
    Cut {
        by: usize,
        first: u32,
        last: u32,
        text: Vec<u8>,
    },
    /// It is covered by `by`.
    Covered {
        by: usize,
        relation: DuplicateKind,
    },
}

/// Returns the relation of a chunk whose lines all stand in others.
pub(crate) const fn relation(is_within_one: bool) -> DuplicateKind {
    if is_within_one { DuplicateKind::Contained } else { DuplicateKind::Overlapping }
}

/// The outcomes for all chunks of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// One for each chunk.
    pub(crate) outcomes: Vec<ChunkOutcome>,
    /// A chunk and another one that has some of its lines, if the outcome of the first does not name
    /// it: its lines were split.
    pub(crate) shared: Vec<(usize, usize)>,
}

/// Returns whether two texts have equal lines where their ranges overlap.
pub(crate) fn agrees(a: ((u32, u32), &[u8]), b: ((u32, u32), &[u8])) -> bool {
    let (first, last) = (a.0.0.max(b.0.0), a.0.1.min(b.0.1));
    if first > last {
        return true;
    }
    let chunks = [a, b].map(|(range, text)| Chunk::new(range, text));
    let lines = Lines::new(&chunks);
    lines::agree(lines.slice(0, (first, last)), lines.slice(1, (first, last)))
}

/// One version of the lines of a path: chunks that agree.
pub(crate) struct Version<'l, 'c, 't> {
    lines: &'l Lines<'c, 't>,
    /// Disjoint ranges, by their first line: the last line, and a chunk that has them.
    ranges: BTreeMap<u32, (u32, usize)>,
}

impl<'l, 'c, 't> Version<'l, 'c, 't> {
    pub(crate) fn new(lines: &'l Lines<'c, 't>) -> Self {
        Self { lines, ranges: BTreeMap::new() }
    }

    /// Adds a chunk; returns `false` if it has another version of the common lines.
    pub(crate) fn add(&mut self, chunk: usize, (first, last): (u32, u32)) -> bool {
        let met = self.ranges.range(..=last).rev().map(|(first, (last, of))| (*first, *last, *of));
        let met: Vec<_> = met.take_while(|(_, end, _)| *end >= first).collect();
        let same = |&(start, end, of): &(u32, u32, usize)| {
            let (from, to) = (start.max(first), end.min(last));
            if to == last.min(self.lines.last(of)) {
                // One of them ends there.
                return lines::agree(self.lines.from(of, from), self.lines.from(chunk, from));
            }
            lines::agree(self.lines.slice(of, (from, to)), self.lines.slice(chunk, (from, to)))
        };
        if !met.iter().all(same) {
            return false;
        }
        for (start, end, of) in met {
            self.ranges.remove(&start);
            if start < first {
                self.ranges.insert(start, (first - 1, of));
            }
            if end > last {
                self.ranges.insert(last + 1, (end, of));
            }
        }
        self.ranges.insert(first, (last, chunk));
        true
    }
}

/// The remainder of a chunk after other chunks took over lines.
pub(crate) struct ChunkRemainder<'t> {
    /// The remaining lines and their text; `None` if there are none.
    pub(crate) own: Option<((u32, u32), &'t [u8])>,
    /// The chunks that have the other lines.
    pub(crate) by: Vec<usize>,
    /// Whether one of them has all lines.
    pub(crate) is_within_one: bool,
}

/// Subtracts the lines of the first `held` chunks, which stay unchanged, from each other chunk.
pub(crate) fn subtract<'t>(
    chunks: &[Chunk<'t>],
    held: usize,
    options: &OverlapOptions,
) -> Vec<ChunkRemainder<'t>> {
    let lines = Lines::new(chunks);
    let rests = trim::subtract(chunks, held, options).into_iter().enumerate();
    let left = rests.map(|(at, rest)| {
        let at = at + held;
        let range = chunks[at].range();
        let all =
            |given: &intervals::SharedLines| lines::contains((given.first, given.last), range);
        ChunkRemainder {
            own: rest.range.map(|own| (own, lines.slice(at, own))),
            by: rest.shared_lines.iter().map(|given| given.by).collect(),
            is_within_one: rest.shared_lines.iter().any(all),
        }
    });
    left.collect()
}

/// Decides the outcome for each chunk.
pub(crate) fn resolve_all(chunks: &[Chunk<'_>], options: &OverlapOptions) -> Resolved {
    let mut sorted: Vec<_> = (0..chunks.len()).collect();
    sorted.sort_unstable_by_key(|index| {
        let Chunk { first, last, order, fixed, .. } = chunks[*index];
        (first, Reverse(last), !fixed, order)
    });
    // Most chunks are disjoint.
    let mut end = None;
    let meets = |index: &usize| {
        let Chunk { first, last, .. } = chunks[*index];
        let meets = end.is_some_and(|end| first - u32::from(options.merge) <= end);
        end = end.max(Some(last));
        meets
    };
    if !sorted.iter().any(meets) {
        Resolved::all_stay(chunks)
    } else if options.first {
        trim::keep_earliest(chunks, options)
    } else if options.merge {
        merge::resolve(chunks, &sorted, options)
    } else {
        trim::keep_best(chunks, &sorted, options)
    }
}

impl Resolved {
    fn all_stay(chunks: &[Chunk<'_>]) -> Self {
        Self { outcomes: vec![ChunkOutcome::Stays; chunks.len()], shared: Vec::new() }
    }
}

impl<'t> Chunk<'t> {
    /// Creates a chunk of normal priority; its order and position are to be set.
    pub(crate) const fn new((first, last): (u32, u32), text: &'t [u8]) -> Self {
        let priority = Priority::Normal;
        Self { first, last, text, order: 0, position: 0, priority, fixed: false }
    }

    const fn range(&self) -> (u32, u32) {
        (self.first, self.last)
    }
}
