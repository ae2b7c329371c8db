//! Resolves overlapping chunks of one path (RFC 0006 §6).
//!
//! These modules do not depend on blocks. `merge.rs` merges chunks into runs (`merged_runs.rs`).
//! `trim.rs` cuts chunks without merging: it removes the lines that are already shown
//! (`intervals.rs`).

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

/// The maximum number of runs of a path to compare with a chunk. Chunks of further versions remain
/// unchanged (RFC 0006 §6).
const TRIED_MAX: usize = 16;

pub use lines::LineRangeError;
pub(crate) use lines::{Lines, agree, range_of};

/// A chunk of a path. All chunks of one call have the same path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'t> {
    /// The first line, counted from 1.
    pub(crate) first: u32,
    /// The last line. The text must have as many lines as the range ([`range_of`]).
    pub(crate) last: u32,
    pub(crate) text: &'t [u8],
    /// The unique position by rank. 0 is the best.
    pub(crate) order: usize,
    /// The unique position in the stream.
    pub(crate) position: usize,
    pub(crate) priority: Priority,
    /// `true` if the chunk must not be covered or changed. It may cover others.
    pub(crate) fixed: bool,
}

/// The options for overlapping chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverlapOptions {
    /// `true` to merge chunks.
    pub(crate) merge: bool,
    /// The minimum overlap at which a chunk is cut, as a fraction of the smaller chunk from 0 to 1.
    /// It applies only without merging.
    pub(crate) threshold: f64,
    /// The maximum size of a merged chunk in bytes.
    pub(crate) merged_bytes: usize,
    /// `true` if the outcome of a chunk must not depend on later chunks of the stream.
    pub(crate) first: bool,
}

/// The outcome for a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChunkOutcome {
    Stays,
    /// It is extended with lines of other chunks.
    Grown {
        first: u32,
        last: u32,
        text: Vec<u8>,
        /// The merged chunks, in line order.
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

/// Returns the relation of a covered chunk. `is_within_one` says whether a single chunk has all of
/// its lines.
pub(crate) const fn relation(is_within_one: bool) -> DuplicateKind {
    if is_within_one { DuplicateKind::Contained } else { DuplicateKind::Overlapping }
}

/// The outcomes for all chunks of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// One outcome for each chunk.
    pub(crate) outcomes: Vec<ChunkOutcome>,
    /// Pairs of a chunk and another one that has some of its lines but that its outcome does not
    /// name. The lines of the first chunk were split.
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

/// A version of the lines of a path: a set of chunks that agree on their common lines.
pub(crate) struct Version<'l, 'c, 't> {
    lines: &'l Lines<'c, 't>,
    /// The disjoint ranges, by first line. The value has the last line and a chunk with these
    /// lines.
    ranges: BTreeMap<u32, (u32, usize)>,
}

impl<'l, 'c, 't> Version<'l, 'c, 't> {
    pub(crate) fn new(lines: &'l Lines<'c, 't>) -> Self {
        Self { lines, ranges: BTreeMap::new() }
    }

    /// Adds a chunk. Returns `false` if the chunk differs in a common line.
    pub(crate) fn add(&mut self, chunk: usize, (first, last): (u32, u32)) -> bool {
        let met = self.ranges.range(..=last).rev().map(|(first, (last, of))| (*first, *last, *of));
        let met: Vec<_> = met.take_while(|(_, end, _)| *end >= first).collect();
        let same = |&(start, end, of): &(u32, u32, usize)| {
            let (from, to) = (start.max(first), end.min(last));
            if to == last.min(self.lines.last(of)) {
                // One of the two chunks ends at `to`.
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
    /// The remaining lines and their text; `None` if no line remains.
    pub(crate) own: Option<((u32, u32), &'t [u8])>,
    /// The chunks that have the other lines.
    pub(crate) by: Vec<usize>,
    /// `true` if one of these chunks has all lines.
    pub(crate) is_within_one: bool,
}

/// Subtracts the lines of the first `held` chunks from each other chunk. The first `held` chunks
/// remain unchanged.
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
    // Most chunks are disjoint, which is quick to check.
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
    /// Creates a chunk with normal priority. The caller must set its order and position.
    pub(crate) const fn new((first, last): (u32, u32), text: &'t [u8]) -> Self {
        let priority = Priority::Normal;
        Self { first, last, text, order: 0, position: 0, priority, fixed: false }
    }

    const fn range(&self) -> (u32, u32) {
        (self.first, self.last)
    }
}
