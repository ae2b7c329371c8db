//! Chunks of one path: which share lines, and what they become (RFC 0006 §6).
//!
//! Nothing here knows of blocks. `merge.rs` makes runs of them (`runs.rs` is what a
//! run is), `trim.rs` cuts without merging, `first.rs` keeps the earlier one; the last
//! two ask `kept.rs` what is there already.

#[cfg(test)]
mod edges;
mod first;
mod kept;
#[cfg(test)]
mod laws;
mod lines;
mod merge;
mod range;
mod runs;
#[cfg(test)]
mod tests;
mod trim;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Priority};

/// How many runs of a path a chunk is compared with; versions beyond that stay as
/// they are (RFC 0006 §6).
const TRIED_MAX: usize = 16;

pub(crate) use lines::{Lines, agree};
pub use range::BadRange;
pub(crate) use range::range_of;

/// A chunk of the path; all that are given to one call are of the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'t> {
    /// Its first line, from 1.
    pub(crate) first: u32,
    /// Its last line; the text has as many as the range ([`range_of`]).
    pub(crate) last: u32,
    pub(crate) text: &'t [u8],
    /// Its place in the order of rank, 0 the best; no other has it.
    pub(crate) order: usize,
    /// Its place in the stream; no other has it.
    pub(crate) position: usize,
    pub(crate) priority: Priority,
    /// It may cover others, and is never covered or changed.
    pub(crate) fixed: bool,
}

/// What is done with chunks that overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// They become one.
    pub(crate) merge: bool,
    /// Otherwise: the part of the smaller one, 0 to 1, from which on one is cut.
    pub(crate) threshold: f64,
    /// Bytes that a chunk may have by merging.
    pub(crate) merged_bytes: usize,
    /// No chunk depends on one behind it in the stream.
    pub(crate) first: bool,
}

/// What becomes of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stays,
    /// It has the lines of others, too.
    Grown {
        first: u32,
        last: u32,
        text: Vec<u8>,
        /// The chunks that are in it, in the order of lines.
        members: Vec<usize>,
    },
    /// It has only the lines that `by` lacks.
    Cut {
        by: usize,
        first: u32,
        last: u32,
        text: Vec<u8>,
    },
    /// It is not shown; `by` is.
    Covered {
        by: usize,
        relation: DuplicateKind,
    },
}

/// What becomes of all chunks of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// One for each chunk.
    pub(crate) fates: Vec<Fate>,
    /// A chunk, and another that is there and has some of its lines too, where the
    /// fate of the first does not name that: its lines were split.
    pub(crate) shared: Vec<(usize, usize)>,
}

/// Whether two texts with their ranges have the same lines where both have some.
pub(crate) fn agrees(a: ((u32, u32), &[u8]), b: ((u32, u32), &[u8])) -> bool {
    let (first, last) = (a.0.0.max(b.0.0), a.0.1.min(b.0.1));
    if first > last {
        return true;
    }
    let chunks = [a, b].map(|((first, last), text)| Chunk {
        first,
        last,
        text,
        order: 0,
        position: 0,
        priority: Priority::Normal,
        fixed: false,
    });
    let lines = Lines::new(&chunks);
    lines::agree(lines.slice(0, (first, last)), lines.slice(1, (first, last)))
}

/// The lines of a path as chunks that agree have them.
pub(crate) struct Version<'l, 'c, 't> {
    lines: &'l Lines<'c, 't>,
    /// Ranges that do not meet, by their first line: the last one, and a chunk that
    /// has them.
    ranges: BTreeMap<u32, (u32, usize)>,
}

impl<'l, 'c, 't> Version<'l, 'c, 't> {
    pub(crate) fn new(lines: &'l Lines<'c, 't>) -> Self {
        Self { lines, ranges: BTreeMap::new() }
    }

    /// Adds a chunk that has the common lines as they are; `false` where it has
    /// another version of them.
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

/// What is left of a chunk that gave lines away.
pub(crate) struct Left<'t> {
    /// The lines that are its own, and their text; `None` if there are none.
    pub(crate) own: Option<((u32, u32), &'t [u8])>,
    /// The chunks that have the others.
    pub(crate) by: Vec<usize>,
    /// Whether one of them has all.
    pub(crate) is_within_one: bool,
}

/// What each chunk has that the first `held` ones lack, which stand as they are.
pub(crate) fn beside<'t>(chunks: &[Chunk<'t>], held: usize, terms: &Terms) -> Vec<Left<'t>> {
    let lines = Lines::new(chunks);
    let rests = first::beside(chunks, held, terms).into_iter().enumerate();
    let left = rests.map(|(at, rest)| {
        let at = at + held;
        let range = chunks[at].range();
        let all = |given: &kept::Given| range::contains((given.first, given.last), range);
        Left {
            own: rest.range.map(|own| (own, lines.slice(at, own))),
            by: rest.given.iter().map(|given| given.by).collect(),
            is_within_one: rest.given.iter().any(all),
        }
    });
    left.collect()
}

/// What becomes of each chunk, and which others have some of its lines.
pub(crate) fn resolve_all(chunks: &[Chunk<'_>], terms: &Terms) -> Resolved {
    let mut sorted: Vec<_> = (0..chunks.len()).collect();
    sorted.sort_unstable_by_key(|index| {
        let Chunk { first, last, order, fixed, .. } = chunks[*index];
        (first, Reverse(last), !fixed, order)
    });
    // Most chunks have nothing to do with each other.
    let mut end = None;
    let meets = |index: &usize| {
        let Chunk { first, last, .. } = chunks[*index];
        let meets = end.is_some_and(|end| first - u32::from(terms.merge) <= end);
        end = end.max(Some(last));
        meets
    };
    if !sorted.iter().any(meets) {
        Resolved::all_stay(chunks)
    } else if terms.first {
        first::resolve(chunks, terms)
    } else if terms.merge {
        merge::resolve(chunks, &sorted, terms)
    } else {
        trim::resolve(chunks, &sorted, terms)
    }
}

impl Resolved {
    fn all_stay(chunks: &[Chunk<'_>]) -> Self {
        Self { fates: vec![Fate::Stays; chunks.len()], shared: Vec::new() }
    }
}

impl Chunk<'_> {
    const fn range(&self) -> (u32, u32) {
        (self.first, self.last)
    }
}
