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

use lcp_types::{Priority, Relation};

/// How many runs of a path a chunk is compared with; versions beyond that stay as
/// they are (RFC 0006 §6).
const TRIED_MAX: usize = 16;

pub(crate) use lines::Lines;
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
        relation: Relation,
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
