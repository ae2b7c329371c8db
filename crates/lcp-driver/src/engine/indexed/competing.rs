//! The items of the walk, from the columns of an index.

use lcp_types::{BlockType, Priority, ToolCallEntry};

use super::columns::{Columns, Sparse};
use super::sieve::Sieve;
use crate::budget::walk::Item;
use crate::config::DriverConfig;
use crate::engine::is_first;
use crate::engine::relations::{Relations, groups};
use crate::engine::scan::item_of;
use crate::plan::RollUp;

/// What is walked, and what is known of the rest.
pub(super) struct Competing {
    /// Of the blocks that were not passed over.
    pub(super) items: Vec<Item>,
    /// The block of each item.
    pub(super) blocks_of_items: Vec<u32>,
    /// The tokens of each one's content.
    pub(super) contents: Vec<u32>,
    /// Items that stand or fall together.
    pub(super) groups: Vec<Vec<usize>>,
    /// The item that is served before all others.
    pub(super) first: Option<usize>,
    /// All blocks that a text must show or count, those that were passed over
    /// included.
    pub(super) rest: RollUp,
    /// How many blocks can be shown.
    pub(super) blocks: usize,
    pub(super) passed_over: usize,
}

impl Competing {
    pub(super) fn new(columns: Columns<'_>, config: &DriverConfig, budget: u32) -> Self {
        let facts = columns.facts;
        let wanted = wanted(config);
        let related = Related::new(columns, &wanted);
        let mut competing = Self {
            items: Vec::new(),
            blocks_of_items: Vec::new(),
            contents: Vec::new(),
            groups: vec![Vec::new(); related.relations.groups.len()],
            first: None,
            rest: RollUp { count: 0, tokens: 0 },
            blocks: 0,
            passed_over: 0,
        };
        let mut sieve = Sieve::new(budget);
        // What was decided at the first block of each.
        let mut keeps_group: Vec<Option<bool>> = vec![None; competing.groups.len()];
        let mut metadata = Sparse::new(&facts.metadata, |block| *block);
        let mut priorities = Sparse::new(&facts.priorities, |of| of.0);
        let mut pinned = Sparse::new(&facts.pinned, |block| *block);
        let mut ranks = Sparse::new(&facts.ranks, |of| of.0);
        let mut levels = columns.levels();
        let mut places = (0..).zip(&related.blocks).peekable();
        for (block, code) in (0u32..).zip(&facts.types) {
            let place = places.next_if(|(_, of)| **of == block).map(|(place, _)| place);
            if !wanted[usize::from(*code)] || metadata.at(block).is_some() {
                continue;
            }
            competing.blocks += 1;
            let own = priorities.at(block).map_or_else(Priority::default, |of| of.1);
            let is_pinned = pinned.at(block).is_some();
            let priority = match place {
                Some(place) => related.relations.priorities[place],
                None if is_pinned => Priority::Critical,
                None => own,
            };
            let costs = columns.costs_with(block, levels.at(block));
            let mut item = item_of(priority, &costs, config.fill);
            item.rank = ranks.at(block).map(|of| of.1);
            if item.is_rest() {
                competing.rest.count += 1;
                competing.rest.tokens += u64::from(costs.content);
            }
            let at = competing.items.len();
            let mut competes_alone = !item.is_fixed();
            if let Some(place) = place {
                if related.relations.newest == Some(place) {
                    item.rank = Some(f64::INFINITY);
                    competes_alone = false;
                    competing.first = Some(at).filter(|_| is_first(&item, own));
                }
                item.group = related.relations.group[place];
                if let Some(group) = item.group {
                    competes_alone = false;
                    let decide = || related.keeps(group, priority, columns, config, &mut sieve);
                    if !*keeps_group[group].get_or_insert_with(decide) {
                        continue;
                    }
                    competing.groups[group].push(at);
                }
            }
            // Who is ranked comes before those that are not: those are kept.
            if competes_alone && item.rank.is_none() && !sieve.keeps(&item) {
                continue;
            }
            competing.items.push(item);
            competing.blocks_of_items.push(block);
            competing.contents.push(costs.content);
        }
        competing.passed_over = sieve.passed_over;
        competing
    }
}

/// The codes of types of which blocks can be shown.
fn wanted(config: &DriverConfig) -> [bool; 256] {
    let mut wanted = [false; 256];
    for (code, wanted) in (0..=u8::MAX).zip(&mut wanted) {
        let block_type = BlockType::from_code(code);
        *wanted = block_type != BlockType::Annotation && config.asks_for_type(block_type);
    }
    wanted
}

/// Blocks of tool calls and the newest user turn.
struct Related {
    /// Ascending.
    blocks: Vec<u32>,
    /// By their places in `blocks`.
    relations: Relations,
}

impl Related {
    fn new(columns: Columns<'_>, wanted: &[bool; 256]) -> Self {
        let facts = columns.facts;
        let is_shown = |block: u32| {
            wanted[usize::from(facts.types[block as usize])] && !columns.is_metadata(block)
        };
        let newest = facts.newest_user.filter(|&block| is_shown(block));
        let mut calls: Vec<(u32, Option<&ToolCallEntry>)> = (facts.calls.iter())
            .filter(|call| is_shown(call.block))
            .map(|call| (call.block, Some(call)))
            .collect();
        if let Some(newest) = newest {
            let at = calls.partition_point(|(block, _)| *block < newest);
            if calls.get(at).is_none_or(|(block, _)| *block != newest) {
                calls.insert(at, (newest, None));
            }
        }
        let blocks: Vec<u32> = calls.iter().map(|(block, _)| *block).collect();
        let ids = calls.iter().enumerate();
        let ids = ids.filter_map(|(place, (_, call))| call.map(|of| (place, of.id, of.is_result)));
        let mut priorities = Sparse::new(&facts.priorities, |of| of.0);
        let mut pinned = Sparse::new(&facts.pinned, |block| *block);
        let own = |&block: &u32| {
            let priority = priorities.at(block).map_or_else(Priority::default, |of| of.1);
            (priority, pinned.at(block).is_some())
        };
        let own = blocks.iter().map(own).unzip();
        let newest = newest.and_then(|newest| blocks.binary_search(&newest).ok());
        let relations = Relations::of(own, groups(ids), newest);
        Self { blocks, relations }
    }

    /// Whether a group must be walked.
    fn keeps(
        &self,
        group: usize,
        priority: Priority,
        columns: Columns<'_>,
        config: &DriverConfig,
        sieve: &mut Sieve,
    ) -> bool {
        let members = &self.relations.groups[group];
        let is_ahead = |&place: &usize| {
            self.relations.newest == Some(place) || columns.rank(self.blocks[place]).is_some()
        };
        if priority == Priority::Critical || members.iter().any(is_ahead) {
            return true;
        }
        let item =
            |&place: &usize| item_of(priority, &columns.costs(self.blocks[place]), config.fill);
        sieve.keeps_group(&members.iter().map(item).collect::<Vec<_>>())
    }
}
