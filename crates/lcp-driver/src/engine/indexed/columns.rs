//! The columns of an index, as far as plans need them.

use lcp_types::{AlternateCost, BlockIndex, BlockType, EncodingCosts, ModeCosts, Priority};

use crate::budget::cost::Costs;
use crate::facts::{known_costs, levels_of};

/// Columns that agree with each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'f> {
    pub(super) facts: &'f BlockIndex,
    contents: &'f [u32],
    mode: &'f ModeCosts,
}

impl<'f> Columns<'f> {
    /// The columns, or what is wrong with them.
    pub(super) fn new(
        facts: &'f BlockIndex,
        costs: &'f EncodingCosts,
        mode: &'f ModeCosts,
    ) -> Result<Self, String> {
        let blocks = facts.len();
        let dense = [
            ("contents", costs.contents.len(), blocks),
            ("joins", costs.joins.len(), blocks.div_ceil(8)),
            ("full", mode.full.len(), blocks),
            ("line", mode.line.len(), blocks),
        ];
        for (name, len, expected) in dense {
            if len != expected {
                return Err(format!("its column {name} has {len} entries in place of {expected}"));
            }
        }
        let ascends = [
            ("priorities", ascend(&facts.priorities, |of| of.0, blocks)),
            ("metadata", ascend(&facts.metadata, |of| *of, blocks)),
            ("pinned", ascend(&facts.pinned, |of| *of, blocks)),
            ("ranks", ascend(&facts.ranks, |of| of.0, blocks)),
            ("calls", ascend(&facts.calls, |of| of.block, blocks)),
            ("said", said_ascends(&facts.annotations, blocks)),
            ("levels", levels_ascend(&mode.levels, blocks)),
        ];
        if let Some((name, _)) = ascends.into_iter().find(|(_, ascends)| !ascends) {
            return Err(format!("its column {name} is out of order"));
        }
        if !facts.ranks.iter().all(|(_, rank)| rank.is_finite()) {
            return Err("a rank is not finite".to_owned());
        }
        if let Some(newest) = facts.newest_user
            && facts.types.get(newest as usize) != Some(&BlockType::Conversation.code())
        {
            return Err(format!("its newest user turn, block {newest}, is no turn"));
        }
        Ok(Self { facts, contents: &costs.contents, mode })
    }

    /// Tokens of a block's content.
    pub(super) fn content(&self, block: u32) -> u32 {
        self.contents[block as usize]
    }

    /// What a block could cost, of which these are the levels.
    pub(super) fn costs_with(&self, block: u32, levels: &[AlternateCost]) -> Costs {
        known_costs(self.mode, block as usize, levels, self.content(block))
    }

    /// What a block could cost.
    pub(super) fn costs(&self, block: u32) -> Costs {
        self.costs_with(block, levels_of(&self.mode.levels, block as usize))
    }

    /// What speaks of a block, in the order of the stream.
    pub(super) fn said(&self, block: u32) -> impl Iterator<Item = u32> {
        let said = &self.facts.annotations;
        let start = said.partition_point(|(target, _)| *target < block);
        said[start..].iter().take_while(move |(target, _)| *target == block).map(|(_, by)| *by)
    }

    /// The priority that annotations give a block.
    pub(super) fn priority(&self, block: u32) -> Priority {
        let priorities = &self.facts.priorities;
        let at = priorities.binary_search_by_key(&block, |of| of.0);
        at.map_or_else(|_| Priority::default(), |at| priorities[at].1)
    }

    pub(super) fn is_pinned(&self, block: u32) -> bool {
        self.facts.pinned.binary_search(&block).is_ok()
    }

    pub(super) fn rank(&self, block: u32) -> Option<f64> {
        let ranks = &self.facts.ranks;
        ranks.binary_search_by_key(&block, |of| of.0).ok().map(|at| ranks[at].1)
    }

    pub(super) fn is_metadata(&self, block: u32) -> bool {
        self.facts.metadata.binary_search(&block).is_ok()
    }

    /// The levels of blocks, for whoever goes through all.
    pub(super) fn levels(&self) -> Levels<'f> {
        Levels { rest: &self.mode.levels }
    }
}

/// The levels that were not come to yet.
pub(super) struct Levels<'f> {
    rest: &'f [AlternateCost],
}

impl<'f> Levels<'f> {
    /// Those of a block: one behind those that were asked for before.
    pub(super) fn at(&mut self, block: u32) -> &'f [AlternateCost] {
        let before = self.rest.iter().take_while(|level| level.block < block).count();
        let of_it = self.rest[before..].iter().take_while(|level| level.block == block).count();
        let (levels, rest) = self.rest[before..].split_at(of_it);
        self.rest = rest;
        levels
    }
}

/// A sparse column that is gone through once.
pub(super) struct Sparse<'f, T> {
    rest: &'f [T],
    block: fn(&T) -> u32,
}

impl<'f, T> Sparse<'f, T> {
    pub(super) fn new(rest: &'f [T], block: fn(&T) -> u32) -> Self {
        Self { rest, block }
    }

    /// What is said of a block: one behind those that were asked for before.
    pub(super) fn at(&mut self, block: u32) -> Option<&'f T> {
        while let [first, rest @ ..] = self.rest {
            let of = (self.block)(first);
            if of > block {
                break;
            }
            self.rest = rest;
            if of == block {
                return Some(first);
            }
        }
        None
    }
}

/// Whether each entry is of a later block than the one before, and all are of
/// blocks that there are.
fn ascend<T>(column: &[T], block: impl Fn(&T) -> u32, blocks: usize) -> bool {
    column.windows(2).all(|two| block(&two[0]) < block(&two[1]))
        && column.last().is_none_or(|last| (block(last) as usize) < blocks)
}

fn said_ascends(said: &[(u32, u32)], blocks: usize) -> bool {
    said.is_sorted()
        && said.last().is_none_or(|(target, _)| (*target as usize) < blocks)
        && said.iter().all(|(_, by)| (*by as usize) < blocks)
}

fn levels_ascend(levels: &[AlternateCost], blocks: usize) -> bool {
    let key = |level: &AlternateCost| (level.block, level.level);
    levels.windows(2).all(|two| key(&two[0]) < key(&two[1]))
        && levels.last().is_none_or(|last| (last.block as usize) < blocks)
}
