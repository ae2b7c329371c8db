//! Excerpts for a plan by an index. The costs of a level are in the index, but an excerpt needs the
//! content, so each block that may be shown in part is read when allocation asks for its excerpt.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockSource, CowBytes};

use super::columns::Columns;
use super::{Fallback, ReadBlocks};
use crate::allocate::Excerpter;
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::detail::{Excerpt, OutputMode};
use crate::excerpt;

/// The size of contents in memory from which they are dropped, in bytes.
const BYTES_MAX: usize = 32 << 20;

/// Makes the excerpts of candidates, from blocks of a source.
pub(super) struct IndexExcerpter<'s, 'c, S: ?Sized> {
    source: &'s S,
    columns: Columns<'c>,
    /// The block of each candidate.
    block_of: &'c [u32],
    mode: OutputMode,
    counter: Counter<'c>,
    /// The blocks that are in memory, with the indices of the block and its annotations.
    read: BTreeMap<u32, (Vec<u32>, Vec<Block<'s>>)>,
    /// The size of their contents in bytes.
    bytes: usize,
    /// The indices of all blocks that were read.
    seen: BTreeSet<u32>,
    /// The excerpts and their costs, by candidate and size.
    cuts: HashMap<(usize, u64), Option<(Excerpt, u32)>>,
    /// The first error. After it, no candidate has an excerpt.
    error: Option<Fallback>,
}

/// The excerpts of an allocation, and the blocks that were read for them.
pub(super) struct IndexExcerpts<'s> {
    cuts: HashMap<(usize, u64), Option<(Excerpt, u32)>>,
    /// The indices of all blocks that were read.
    pub(super) seen: BTreeSet<u32>,
    /// The blocks that are in memory.
    pub(super) read: BTreeMap<u32, Block<'s>>,
}

impl IndexExcerpts<'_> {
    /// Returns the excerpt of candidate `i` that was made for this size, and its cost.
    pub(super) fn get(&self, i: usize, most: u64) -> Option<(Excerpt, u32)> {
        self.cuts.get(&(i, most)).copied().flatten()
    }
}

impl<'s, 'c, S: BlockSource + ?Sized> IndexExcerpter<'s, 'c, S> {
    pub(super) fn new(
        source: &'s S,
        columns: Columns<'c>,
        block_of: &'c [u32],
        mode: OutputMode,
        estimator: &'c dyn TokenEstimator,
    ) -> Self {
        Self {
            source,
            columns,
            block_of,
            mode,
            counter: Counter::new(estimator),
            read: BTreeMap::new(),
            bytes: 0,
            seen: BTreeSet::new(),
            cuts: HashMap::new(),
            error: None,
        }
    }

    /// Returns the excerpts that were made.
    ///
    /// # Errors
    ///
    /// Returns the error of the first block that could not be read or contradicts the index.
    pub(super) fn finish(self) -> Result<IndexExcerpts<'s>, Fallback> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let read = self.read.into_values().flat_map(|(at, blocks)| at.into_iter().zip(blocks));
        Ok(IndexExcerpts { cuts: self.cuts, seen: self.seen, read: read.collect() })
    }

    fn cut(&mut self, i: usize, most: u64) -> Result<Option<(Excerpt, u32)>, Fallback> {
        let (block, columns) = (self.block_of[i], self.columns);
        if !self.read.contains_key(&block) {
            let mut indices: Vec<u32> = columns.annotations_of(block).chain([block]).collect();
            indices.sort_unstable();
            let blocks = self.source.read(&indices)?;
            if blocks.len() != indices.len() {
                return Err(Fallback::incomplete());
            }
            if self.bytes >= BYTES_MAX {
                // Blocks that are shown are read again.
                self.read.clear();
                self.bytes = 0;
            }
            let bytes = |block: &Block<'_>| block.content.text().map_or(0, CowBytes::len);
            self.bytes += blocks.iter().map(bytes).sum::<usize>();
            self.seen.extend(&indices);
            self.read.insert(block, (indices, blocks));
        }
        let Some((indices, blocks)) = self.read.get(&block) else { return Ok(None) };
        let read = ReadBlocks { indices, blocks };
        let (at, meta) = read.locate(block, columns).map_err(Fallback::Wrong)?;
        let view = BlockView::new(&blocks[at], &meta);
        let costs = columns.costs(block);
        if self.counter.costs(&view, self.mode) != costs {
            return Err(Fallback::Wrong(format!("block {block} has a different cost")));
        }
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        Ok(excerpt::cut(&view, costs.content, most, self.mode, &mut self.counter))
    }
}

impl<S: BlockSource + ?Sized> Excerpter for IndexExcerpter<'_, '_, S> {
    fn excerpt_cost(&mut self, i: usize, most: u64) -> Option<u64> {
        if self.error.is_some() {
            return None;
        }
        if !self.cuts.contains_key(&(i, most)) {
            match self.cut(i, most) {
                Ok(cut) => drop(self.cuts.insert((i, most), cut)),
                Err(error) => self.error = Some(error),
            }
        }
        let (_, cost) = self.cuts.get(&(i, most)).copied().flatten()?;
        Some(cost.into())
    }
}
