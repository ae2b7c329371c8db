//! Chunks that are there, and what a further one has that they lack. What is there
//! does not change any more.

use std::collections::BTreeMap;

use lcp_types::DuplicateKind;

use super::lines::{Lines, agree};
use super::range::contains;
use super::{Chunk, Fate, Resolved, TRIED_MAX};

/// The lines of a chunk that another one has for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) by: usize,
    /// All lines that the other has.
    pub(super) has: (u32, u32),
}

/// What is left of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// The lines that nothing else has; `None` if there are none.
    pub(super) range: Option<(u32, u32)>,
    pub(super) given: Vec<Given>,
}

/// A chunk that is there, or what was left of it.
#[derive(Clone, Copy, Debug)]
struct Held {
    first: u32,
    last: u32,
    chunk: usize,
}

/// The end at which a chunk gives lines away.
#[derive(Clone, Copy)]
enum End {
    Front,
    Back,
}

/// The chunks that are there, by their first lines.
pub(super) struct Kept<'c, 't> {
    chunks: &'c [Chunk<'t>],
    lines: &'c Lines<'c, 't>,
    /// In one layer no two share a line; there are [`TRIED_MAX`] at most.
    layers: Vec<BTreeMap<u32, Held>>,
    /// The newest place in the stream of what found no room in them.
    unheld: Option<usize>,
}

impl<'c, 't> Kept<'c, 't> {
    pub(super) fn new(chunks: &'c [Chunk<'t>], lines: &'c Lines<'c, 't>) -> Self {
        Self { chunks, lines, layers: Vec::new(), unheld: None }
    }

    /// Adds what is left of a chunk, unless there are too many versions.
    pub(super) fn hold(&mut self, chunk: usize, (first, last): (u32, u32)) {
        let is_free = |layer: &&mut BTreeMap<u32, Held>| {
            layer.range(..=last).next_back().is_none_or(|(_, held)| held.last < first)
        };
        let held = Held { first, last, chunk };
        if let Some(layer) = self.layers.iter_mut().find(is_free) {
            layer.insert(first, held);
        } else if self.layers.len() < TRIED_MAX {
            self.layers.push(BTreeMap::from([(first, held)]));
        } else {
            self.unheld = self.unheld.max(Some(self.chunks[chunk].position));
        }
    }

    /// The newest place in the stream of what has lines of a chunk otherwise.
    pub(super) fn newest_other(&self, chunk: usize) -> Option<usize> {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let common = |layer: &BTreeMap<u32, Held>| {
            let upwards = layer.range(..=last).rev().map(|(_, held)| *held);
            let common = upwards.take_while(|held| held.last >= first);
            let others = common.filter(|held| !self.agrees(*held, chunk));
            others.map(|held| self.chunks[held.chunk].position).max()
        };
        self.layers.iter().filter_map(common).max().max(self.unheld)
    }

    /// What is left of a chunk without the lines at its ends that are there: in
    /// chunks that agree with it on every common line, and that `may` have them,
    /// of which it is told the range they have.
    pub(super) fn rest(&self, chunk: usize, may: impl Fn(usize, (u32, u32)) -> bool) -> Rest {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let mut rest = Rest { range: Some((first, last)), given: Vec::new() };
        // In each layer, the last one that was refused; what it had lies behind.
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

    /// Of what has the line at this end, the one that has most of the range.
    fn at(
        &self,
        (first, last): (u32, u32),
        end: End,
        refused: &[[Option<usize>; 2]],
    ) -> Option<(usize, Held)> {
        let line = match end {
            End::Front => first,
            End::Back => last,
        };
        let has = |(layer, held): (usize, &BTreeMap<u32, Held>)| {
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

    fn agrees(&self, held: Held, chunk: usize) -> bool {
        let Chunk { first, last, .. } = self.chunks[chunk];
        let common = (held.first.max(first), held.last.min(last));
        agree(self.lines.slice(held.chunk, common), self.lines.slice(chunk, common))
    }
}

impl Rest {
    fn give(&mut self, held: Held, (first, last): (u32, u32)) {
        let (from, to) = (held.first.max(first), held.last.min(last));
        let has = (held.first, held.last);
        self.given.push(Given { first: from, last: to, by: held.chunk, has });
        self.range = match (from == first, to == last) {
            (true, true) => None,
            (true, false) => Some((to + 1, last)),
            (false, _) => Some((first, from - 1)),
        };
    }
}

impl Resolved {
    /// Settles a chunk of which this is left.
    pub(super) fn settle(
        &mut self,
        chunk: usize,
        rest: &Rest,
        chunks: &[Chunk<'_>],
        lines: &Lines<'_, '_>,
    ) {
        let Chunk { first, last, .. } = chunks[chunk];
        let Some(&Given { by, has, .. }) = rest.given.first() else { return };
        let others = rest.given.iter().map(|given| given.by).filter(|other| *other != by);
        self.shared.extend(others.map(|other| (chunk, other)));
        self.fates[chunk] = if let Some(range) = rest.range {
            let text = lines.slice(chunk, range).to_vec();
            Fate::Cut { by, first: range.0, last: range.1, text }
        } else {
            let relation = if contains(has, (first, last)) {
                DuplicateKind::Contained
            } else {
                DuplicateKind::Overlapping
            };
            Fate::Covered { by, relation }
        };
    }
}
