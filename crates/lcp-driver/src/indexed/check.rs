//! Checks of the index against the blocks that were read.

use std::collections::HashMap;

use lcp_types::{Block, BlockMeta};

use super::ShownBlock;
use super::columns::Columns;
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::detail::OutputMode;
use crate::planner::groups::{ToolCall, is_user_turn, tool_call};
use crate::planner::scan::warn_of_block;
use crate::warning::Warning;

/// Compares blocks with the columns of an index.
pub(super) struct IndexChecksum<'c, 'b, 'e> {
    columns: Columns<'c>,
    mode: OutputMode,
    counter: &'c mut Counter<'e>,
    /// The ids of tool calls that were read, by their numbers in the index.
    ids: HashMap<u32, &'b str>,
    numbers: HashMap<&'b str, u32>,
}

impl<'c, 'b, 'e> IndexChecksum<'c, 'b, 'e> {
    pub(super) fn new(
        columns: Columns<'c>,
        mode: OutputMode,
        counter: &'c mut Counter<'e>,
    ) -> Self {
        Self { columns, mode, counter, ids: HashMap::new(), numbers: HashMap::new() }
    }

    /// Checks the entries of the index for a shown block, and adds the warnings of a full read.
    pub(super) fn part(
        &mut self,
        part: &ShownBlock,
        block: &'b Block<'_>,
        meta: &'b BlockMeta<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), String> {
        let (index, columns) = (part.block, self.columns);
        let wrong = |what: &str| Err(format!("block {index} has a different {what}"));
        if columns.facts.types[index as usize] != block.block_type().code()
            || block.content.is_metadata()
        {
            return wrong("type");
        }
        if columns.priority(index) != meta.priority {
            return wrong("priority");
        }
        if columns.is_pinned(index) != meta.pinned {
            return wrong("pin");
        }
        if columns.rank(index).map(f64::to_bits) != meta.rank.map(f64::to_bits) {
            return wrong("rank");
        }
        if columns.has_passages(index) == meta.passages.is_empty() {
            return wrong("list of passages");
        }
        if !self.is_of_its_call(index, block, meta) {
            return wrong("tool call");
        }
        let newest = columns.facts.newest_user;
        let is_newest = newest == Some(index);
        if is_user_turn(block) != is_newest
            && (is_newest || newest.is_none_or(|newest| newest < index))
        {
            return wrong("position among user turns");
        }
        let view = BlockView::new(block, meta);
        let costs = self.counter.costs(&view, self.mode);
        if costs != part.costs {
            return wrong("cost");
        }
        warn_of_block(index as usize, block, &view, &costs, warnings);
        Ok(())
    }

    /// Returns whether the tool call of a block matches the index.
    fn is_of_its_call(
        &mut self,
        index: u32,
        block: &'b Block<'_>,
        meta: &'b BlockMeta<'_>,
    ) -> bool {
        let calls = &self.columns.facts.calls;
        let known = calls.binary_search_by_key(&index, |call| call.block).map(|at| calls[at]);
        match (known, tool_call(block, meta)) {
            (Err(_), None) => true,
            (Ok(known), Some(ToolCall { id, is_result })) => {
                known.is_result == is_result
                    && *self.ids.entry(known.id).or_insert(id) == id
                    && *self.numbers.entry(id).or_insert(known.id) == known.id
            }
            _ => false,
        }
    }
}
