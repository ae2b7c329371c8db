//! The lines that are already shown, as intervals, and their subtraction from another chunk. An
//! interval does not change after it was added.

use std::collections::BTreeMap;

use super::lines::{Lines, agree, contains};
use super::{Chunk, ChunkOutcome, Resolved, TRIED_MAX, relation};

/// Lines of a chunk that another chunk has.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedLines {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) by: usize,
    /// The complete range of the other chunk.
    pub(super) has: (u32, u32),
}

/// The remainder of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Remainder {
    /// The lines that no other chunk has; `None` if no line remains.
    pub(super) range: Option<(u32, u32)>,
    pub(super) shared_lines: Vec<SharedLines>,
}

/// Lines of a chunk that are shown.
#[derive(Clone, Copy, Debug)]
struct Interval {
    first: u32,
    last: u32,
    chunk: usize,
}

/// An end of a chunk.
#[derive(Clone, Copy)]
enum End {
    Front,
    Back,
}

/// The shown lines of all chunks.
pub(super) struct LineIntervals<'c, 't> {
    chunks: &'c [Chunk<'t>],
    lines: &'c Lines<'c, 't>,
    /// At most [`TRIED_MAX`] layers of disjoint intervals, by first line.
    layers: Vec<BTreeMap<u32, Interval>>,
    /// The newest stream position of a chunk that did not fit into the layers.
    last_uncovered: Option<usize>,
}

impl<'c, 't> LineIntervals<'c, 't> {
    pub(super) fn new(chunks: &'c [Chunk<'t>], lines: &'c Lines<'c, 't>) -> Self {
        Self { chunks, lines, layers: Vec::new(), last_uncovered: None }
    }

    /// Adds lines of a chunk, unless there are too many layers.
    pub(super) fn add(&mut self, chunk: usize, (first, last): (u32, u32)) {
        let is_free = |layer: &&mut BTreeMap<u32, Interval>| {
            layer.range(..=last).next_back().is_none_or(|(_, held)| held.last < first)
        };
        let held = Interval { first, last, chunk };
        if let Some(layer) = self.layers.iter_mut().find(is_free) {
            layer.insert(first, held);
        } else if self.layers.len() < TRIED_MAX {
            self.layers.push(BTreeMap::from([(first, held)]));
        } else {
            self.last_uncovered = self.last_uncovered.max(Some(self.chunks[chunk].position));
        }
    }

    /// Returns the newest stream position of a chunk with another version of these lines.
    pub(super) fn newest_other(&self, chunk: usize) -> Option<usize> {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let common = |layer: &BTreeMap<u32, Interval>| {
            let upwards = layer.range(..=last).rev().map(|(_, held)| *held);
            let common = upwards.take_while(|held| held.last >= first);
            let others = common.filter(|held| !self.agrees(*held, chunk));
            others.map(|held| self.chunks[held.chunk].position).max()
        };
        self.layers.iter().filter_map(common).max().max(self.last_uncovered)
    }

    /// Subtracts the shown lines from both ends of a chunk. Another chunk counts only if it agrees
    /// with this chunk on every common line and if `may(chunk, range)` returns `true` for it.
    pub(super) fn rest(&self, chunk: usize, may: impl Fn(usize, (u32, u32)) -> bool) -> Remainder {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let mut rest = Remainder { range: Some((first, last)), shared_lines: Vec::new() };
        // The last chunk that was refused, for each layer and end.
        let mut refused = [[None; 2]; TRIED_MAX];
        for end in [End::Front, End::Back] {
            while let Some(range) = rest.range {
                let Some((layer, held)) = self.at(range, end, &refused) else { break };
                let takes = may(held.chunk, (held.first, held.last)) && self.agrees(held, chunk);
                if takes {
                    rest.give(held, range);
                } else {
                    refused[layer][end as usize] = Some(held.chunk);
                }
            }
        }
        rest
    }

    /// Returns the interval that contains the line at this end and covers most of the range.
    fn at(
        &self,
        (first, last): (u32, u32),
        end: End,
        refused: &[[Option<usize>; 2]],
    ) -> Option<(usize, Interval)> {
        let line = match end {
            End::Front => first,
            End::Back => last,
        };
        let has = |(layer, held): (usize, &BTreeMap<u32, Interval>)| {
            let (_, held) = held.range(..=line).next_back()?;
            let is_refused = refused[layer].contains(&Some(held.chunk));
            (held.last >= line && !is_refused).then_some((layer, *held))
        };
        let all = self.layers.iter().enumerate().filter_map(has);
        match end {
            End::Front => all.rev().max_by_key(|(_, held)| held.last.min(last)),
            End::Back => all.min_by_key(|(_, held)| held.first.max(first)),
        }
    }

    fn agrees(&self, held: Interval, chunk: usize) -> bool {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let common = (held.first.max(first), held.last.min(last));
        agree(self.lines.slice(held.chunk, common), self.lines.slice(chunk, common))
    }
}

impl Remainder {
    fn give(&mut self, held: Interval, (first, last): (u32, u32)) {
        let (from, to) = (held.first.max(first), held.last.min(last));
        let has = (held.first, held.last);
        self.shared_lines.push(SharedLines { first: from, last: to, by: held.chunk, has });
        self.range = match (from == first, to == last) {
            (true, true) => None,
            (true, false) => Some((to + 1, last)),
            (false, _) => Some((first, from - 1)),
        };
    }
}

impl Resolved {
    /// Sets the outcome of a chunk with this remainder.
    pub(super) fn set_remainder(
        &mut self,
        chunk: usize,
        rest: &Remainder,
        chunks: &[Chunk<'_>],
        lines: &Lines<'_, '_>,
    ) {
        let Chunk { first, last, .. } = chunks[chunk];
        let Some(&SharedLines { by, has, .. }) = rest.shared_lines.first() else { return };
        let others = rest.shared_lines.iter().map(|given| given.by).filter(|other| *other != by);
        self.shared.extend(others.map(|other| (chunk, other)));
        self.outcomes[chunk] = if let Some(range) = rest.range {
            let text = lines.slice(chunk, range).to_vec();
            ChunkOutcome::Cut { by, first: range.0, last: range.1, text }
        } else {
            ChunkOutcome::Covered { by, relation: relation(contains(has, (first, last))) }
        };
    }
}
