//! Whether blocks that were read are what the index says of them.

use std::collections::HashMap;

use lcp_types::{Block, BlockMeta};

use super::Part;
use super::columns::Columns;
use crate::block_view::BlockView;
use crate::budget::cost::Counter;
use crate::config::OutputMode;
use crate::engine::relations::{Call, call_of, is_user_turn};
use crate::engine::scan::warn_of_block;
use crate::warning::Warning;

/// Compares blocks with columns.
pub(super) struct Check<'c, 'b, 'e> {
    columns: Columns<'c>,
    mode: OutputMode,
    counter: &'c mut Counter<'e>,
    /// Ids of tool calls that were read, by the numbers that stand for them.
    ids: HashMap<u32, &'b str>,
    numbers: HashMap<&'b str, u32>,
}

impl<'c, 'b, 'e> Check<'c, 'b, 'e> {
    pub(super) fn new(
        columns: Columns<'c>,
        mode: OutputMode,
        counter: &'c mut Counter<'e>,
    ) -> Self {
        Self { columns, mode, counter, ids: HashMap::new(), numbers: HashMap::new() }
    }

    /// What the index says of a block that is shown is true, or else what is
    /// not. Tells of what a reader of the text should know.
    pub(super) fn part(
        &mut self,
        part: &Part,
        block: &'b Block<'_>,
        meta: &'b BlockMeta<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), String> {
        let (index, columns) = (part.block, self.columns);
        let wrong = |what: &str| Err(format!("block {index} has another {what}"));
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
        if !self.is_of_its_call(index, block, meta) {
            return wrong("tool call");
        }
        let newest = columns.facts.newest_user;
        let is_newest = newest == Some(index);
        if is_user_turn(block) != is_newest && (is_newest || newest.is_none_or(|of| of < index)) {
            return wrong("place among user turns");
        }
        let view = BlockView::new(block, meta);
        let costs = self.counter.costs(&view, self.mode);
        if costs != part.costs {
            return wrong("cost");
        }
        warn_of_block(index as usize, block, &view, &costs, warnings);
        Ok(())
    }

    /// Whether the block is of the tool call that the index says, and those of the
    /// same number have the same id.
    fn is_of_its_call(
        &mut self,
        index: u32,
        block: &'b Block<'_>,
        meta: &'b BlockMeta<'_>,
    ) -> bool {
        let calls = &self.columns.facts.calls;
        let said = calls.binary_search_by_key(&index, |call| call.block).map(|at| calls[at]);
        match (said, call_of(block, meta)) {
            (Err(_), None) => true,
            (Ok(said), Some(Call { id, is_result })) => {
                said.is_result == is_result
                    && *self.ids.entry(said.id).or_insert(id) == id
                    && *self.numbers.entry(id).or_insert(said.id) == said.id
            }
            _ => false,
        }
    }
}
