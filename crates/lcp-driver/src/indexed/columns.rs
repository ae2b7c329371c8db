//! The columns of an index that plans need.

use lcp_types::{AlternateCost, BlockIndex, BlockType, EncodingCosts, ModeCosts, Priority};

use crate::cost::{DetailCosts, known_costs, levels_of};

/// Columns that were checked for consistency.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'f> {
    pub(super) facts: &'f BlockIndex,
    contents: &'f [u32],
    mode: &'f ModeCosts,
}

impl<'f> Columns<'f> {
    /// Checks the columns; the error describes the inconsistency.
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
                return Err(format!("column {name} has {len} entries, expected {expected}"));
            }
        }
        let sorted = [
            ("priorities", is_sorted(&facts.priorities, |entry| entry.0, blocks)),
            ("metadata", is_sorted(&facts.metadata, |entry| *entry, blocks)),
            ("pinned", is_sorted(&facts.pinned, |entry| *entry, blocks)),
            ("ranks", is_sorted(&facts.ranks, |entry| entry.0, blocks)),
            ("passages", is_sorted(&facts.passages, |entry| *entry, blocks)),
            ("calls", is_sorted(&facts.calls, |entry| entry.block, blocks)),
            ("said", annotations_sorted(&facts.annotations, blocks)),
            ("levels", levels_sorted(&mode.levels, blocks)),
        ];
        if let Some((name, _)) = sorted.into_iter().find(|(_, sorted)| !sorted) {
            return Err(format!("column {name} is out of order or out of range"));
        }
        if !facts.ranks.iter().all(|(_, rank)| rank.is_finite()) {
            return Err("a rank is not finite".to_owned());
        }
        if let Some(newest) = facts.newest_user
            && facts.types.get(newest as usize) != Some(&BlockType::Conversation.code())
        {
            return Err(format!(
                "the newest user turn, block {newest}, is not a conversation block"
            ));
        }
        Ok(Self { facts, contents: &costs.contents, mode })
    }

    pub(super) fn content(&self, block: u32) -> u32 {
        self.contents[block as usize]
    }

    pub(super) fn costs_with(&self, block: u32, levels: &[AlternateCost]) -> DetailCosts {
        known_costs(self.mode, block as usize, levels, self.content(block))
    }

    pub(super) fn costs(&self, block: u32) -> DetailCosts {
        self.costs_with(block, levels_of(&self.mode.levels, block as usize))
    }

    /// Returns the annotations of a block, in the order of the stream.
    pub(super) fn annotations_of(&self, block: u32) -> impl Iterator<Item = u32> {
        let annotations = &self.facts.annotations;
        let start = annotations.partition_point(|(target, _)| *target < block);
        annotations[start..]
            .iter()
            .take_while(move |(target, _)| *target == block)
            .map(|(_, by)| *by)
    }

    pub(super) fn priority(&self, block: u32) -> Priority {
        let priorities = &self.facts.priorities;
        let at = priorities.binary_search_by_key(&block, |entry| entry.0);
        at.map_or_else(|_| Priority::default(), |at| priorities[at].1)
    }

    pub(super) fn is_pinned(&self, block: u32) -> bool {
        self.facts.pinned.binary_search(&block).is_ok()
    }

    pub(super) fn has_passages(&self, block: u32) -> bool {
        self.facts.passages.binary_search(&block).is_ok()
    }

    pub(super) fn rank(&self, block: u32) -> Option<f64> {
        let ranks = &self.facts.ranks;
        ranks.binary_search_by_key(&block, |entry| entry.0).ok().map(|at| ranks[at].1)
    }

    pub(super) fn is_metadata(&self, block: u32) -> bool {
        self.facts.metadata.binary_search(&block).is_ok()
    }

    pub(super) fn levels(&self) -> Levels<'f> {
        Levels { rest: &self.mode.levels }
    }
}

pub(super) struct Levels<'f> {
    rest: &'f [AlternateCost],
}

impl<'f> Levels<'f> {
    /// Returns the levels of a block. Calls must be in ascending order of blocks.
    pub(super) fn at(&mut self, block: u32) -> &'f [AlternateCost] {
        let before = self.rest.iter().take_while(|level| level.block < block).count();
        let own = self.rest[before..].iter().take_while(|level| level.block == block).count();
        let (levels, rest) = self.rest[before..].split_at(own);
        self.rest = rest;
        levels
    }
}

/// A sparse column that is read once, in ascending order.
pub(super) struct SparseColumn<'f, T> {
    rest: &'f [T],
    block: fn(&T) -> u32,
}

impl<'f, T> SparseColumn<'f, T> {
    pub(super) fn new(rest: &'f [T], block: fn(&T) -> u32) -> Self {
        Self { rest, block }
    }

    /// Returns the entry of a block. Calls must be in ascending order of blocks.
    pub(super) fn at(&mut self, block: u32) -> Option<&'f T> {
        while let [first, rest @ ..] = self.rest {
            let entry = (self.block)(first);
            if entry > block {
                break;
            }
            self.rest = rest;
            if entry == block {
                return Some(first);
            }
        }
        None
    }
}

/// Returns whether the blocks of the entries ascend and exist.
fn is_sorted<T>(column: &[T], block: impl Fn(&T) -> u32, blocks: usize) -> bool {
    column.windows(2).all(|two| block(&two[0]) < block(&two[1]))
        && column.last().is_none_or(|last| (block(last) as usize) < blocks)
}

fn annotations_sorted(annotations: &[(u32, u32)], blocks: usize) -> bool {
    annotations.is_sorted()
        && annotations.last().is_none_or(|(target, _)| (*target as usize) < blocks)
        && annotations.iter().all(|(_, by)| (*by as usize) < blocks)
}

fn levels_sorted(levels: &[AlternateCost], blocks: usize) -> bool {
    let key = |level: &AlternateCost| (level.block, level.level);
    levels.windows(2).all(|two| key(&two[0]) < key(&two[1]))
        && levels.last().is_none_or(|last| (last.block as usize) < blocks)
}
