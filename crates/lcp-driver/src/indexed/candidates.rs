//! The candidates of an allocation, from the columns of an index.

use lcp_types::{BlockType, Priority, ToolCallEntry};

use super::columns::{Columns, SparseColumn};
use super::prefilter::Prefilter;
use crate::allocate::Candidate;
use crate::config::DriverConfig;
use crate::plan::RollUp;
use crate::planner::groups::{BlockGroups, group_tool_calls};
use crate::planner::is_served_first;
use crate::planner::scan::candidate_from_costs;

/// The candidates that may be selected, and totals for the rest.
pub(super) struct IndexCandidates {
    /// The candidates, without those that were dropped.
    pub(super) candidates: Vec<Candidate>,
    pub(super) block_of: Vec<u32>,
    pub(super) contents: Vec<u32>,
    /// Candidates that are shown together or not at all.
    pub(super) groups: Vec<Vec<usize>>,
    /// The candidate that is served before all others.
    pub(super) first: Option<usize>,
    /// The count and content tokens of all blocks that a text must show or count, including dropped
    /// ones.
    pub(super) rest: RollUp,
    /// The number of blocks that can be shown.
    pub(super) blocks: usize,
    pub(super) passed_over: usize,
}

impl IndexCandidates {
    pub(super) fn new(columns: Columns<'_>, config: &DriverConfig, budget: u32) -> Self {
        let facts = columns.facts;
        let wanted = wanted_types(config);
        let related = RelatedBlocks::new(columns, &wanted);
        let mut candidates = Self {
            candidates: Vec::new(),
            block_of: Vec::new(),
            contents: Vec::new(),
            groups: vec![Vec::new(); related.groups.members.len()],
            first: None,
            rest: RollUp { count: 0, tokens: 0 },
            blocks: 0,
            passed_over: 0,
        };
        let mut prefilter = Prefilter::new(budget);
        // Decided at the first block of each group.
        let mut keeps_group: Vec<Option<bool>> = vec![None; candidates.groups.len()];
        let mut metadata = SparseColumn::new(&facts.metadata, |block| *block);
        let mut priorities = SparseColumn::new(&facts.priorities, |entry| entry.0);
        let mut pinned = SparseColumn::new(&facts.pinned, |block| *block);
        let mut ranks = SparseColumn::new(&facts.ranks, |entry| entry.0);
        let mut passages = SparseColumn::new(&facts.passages, |block| *block);
        let mut levels = columns.levels();
        let mut places = (0..).zip(&related.blocks).peekable();
        for (block, code) in (0u32..).zip(&facts.types) {
            let place = places.next_if(|(_, related)| **related == block).map(|(place, _)| place);
            if !wanted[usize::from(*code)] || metadata.at(block).is_some() {
                continue;
            }
            candidates.blocks += 1;
            let own = priorities.at(block).map_or_else(Priority::default, |entry| entry.1);
            let is_pinned = pinned.at(block).is_some();
            let priority = match place {
                Some(place) => related.groups.priorities[place],
                None if is_pinned => Priority::Critical,
                None => own,
            };
            let costs = columns.costs_with(block, levels.at(block));
            let mut candidate = candidate_from_costs(priority, &costs, config.fill);
            candidate.rank = ranks.at(block).map(|entry| entry.1);
            if candidate.needs_mention() {
                candidates.rest.count += 1;
                candidates.rest.tokens += u64::from(costs.content);
            }
            let at = candidates.candidates.len();
            let mut competes_alone = !candidate.is_fixed();
            if let Some(place) = place {
                if related.groups.newest == Some(place) {
                    candidate.rank = Some(f64::INFINITY);
                    competes_alone = false;
                    candidates.first = Some(at).filter(|_| is_served_first(&candidate, own));
                }
                candidate.group = related.groups.group[place];
                if let Some(group) = candidate.group {
                    competes_alone = false;
                    let decide = || {
                        config.excerpts()
                            || related.keeps(group, priority, columns, config, &mut prefilter)
                    };
                    if !*keeps_group[group].get_or_insert_with(decide) {
                        continue;
                    }
                    candidates.groups[group].push(at);
                }
            }
            // Any block may be shown in part.
            candidate.may_be_cut = config.excerpts();
            candidate.has_passages = passages.at(block).is_some();
            // Ranked candidates come before all others, so they are never dropped.
            let may_be_dropped =
                competes_alone && candidate.rank.is_none() && !candidate.may_be_cut;
            if may_be_dropped && !prefilter.keeps(&candidate) {
                continue;
            }
            candidates.candidates.push(candidate);
            candidates.block_of.push(block);
            candidates.contents.push(costs.content);
        }
        candidates.passed_over = prefilter.passed_over;
        candidates
    }
}

fn wanted_types(config: &DriverConfig) -> [bool; 256] {
    let mut wanted = [false; 256];
    for (code, wanted) in (0..=u8::MAX).zip(&mut wanted) {
        let block_type = BlockType::from_code(code);
        *wanted = block_type != BlockType::Annotation && config.asks_for_type(block_type);
    }
    wanted
}

struct RelatedBlocks {
    /// Ascending.
    blocks: Vec<u32>,
    /// By position in `blocks`.
    groups: BlockGroups,
}

impl RelatedBlocks {
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
        let ids =
            ids.filter_map(|(place, (_, call))| call.map(|call| (place, call.id, call.is_result)));
        let mut priorities = SparseColumn::new(&facts.priorities, |entry| entry.0);
        let mut pinned = SparseColumn::new(&facts.pinned, |block| *block);
        let own = |&block: &u32| {
            let priority = priorities.at(block).map_or_else(Priority::default, |entry| entry.1);
            (priority, pinned.at(block).is_some())
        };
        let own = blocks.iter().map(own).unzip();
        let newest = newest.and_then(|newest| blocks.binary_search(&newest).ok());
        let groups = BlockGroups::from_parts(own, group_tool_calls(ids), newest);
        Self { blocks, groups }
    }

    /// Returns whether a group may be selected.
    fn keeps(
        &self,
        group: usize,
        priority: Priority,
        columns: Columns<'_>,
        config: &DriverConfig,
        prefilter: &mut Prefilter,
    ) -> bool {
        let members = &self.groups.members[group];
        let is_ahead = |&place: &usize| {
            self.groups.newest == Some(place) || columns.rank(self.blocks[place]).is_some()
        };
        if priority == Priority::Critical || members.iter().any(is_ahead) {
            return true;
        }
        let candidate = |&place: &usize| {
            candidate_from_costs(priority, &columns.costs(self.blocks[place]), config.fill)
        };
        prefilter.keeps_group(&members.iter().map(candidate).collect::<Vec<_>>())
    }
}
