//! Excerpts for a plan by an index. The costs of a level are in the index, but an excerpt needs the
//! content, so each block that may be shown in part is read when allocation asks for its excerpt.

use std::collections::{BTreeMap, BTreeSet};

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockSource, CowBytes};

use super::columns::Columns;
use super::{Fallback, ReadBlocks};
use crate::allocate::Excerpter;
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::detail::{Excerpt, OutputMode};
use crate::excerpt::{ExcerptBlock, ExcerptKey, KnownExcerpts, PassageCosts};

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
    made: KnownExcerpts,
    /// The first error. After it, no candidate has an excerpt.
    error: Option<Fallback>,
}

/// The excerpts of an allocation, and the blocks that were read for them.
pub(super) struct IndexExcerpts<'s> {
    made: KnownExcerpts,
    /// The indices of all blocks that were read.
    pub(super) seen: BTreeSet<u32>,
    /// The blocks that are in memory.
    pub(super) read: BTreeMap<u32, Block<'s>>,
}

impl IndexExcerpts<'_> {
    /// Returns an excerpt of candidate `i` that was made, and its cost.
    pub(super) fn get(&self, i: usize, key: ExcerptKey) -> Option<&(Excerpt, u32)> {
        self.made.get(i, key)
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
            made: KnownExcerpts::default(),
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
        Ok(IndexExcerpts { made: self.made, seen: self.seen, read: read.collect() })
    }

    /// Calls `make` with a candidate. After an error, or if the block cannot be read, it returns
    /// `None`.
    fn with<R>(
        &mut self,
        i: usize,
        make: impl FnOnce(&mut KnownExcerpts, ExcerptBlock<'_, '_>, &mut Counter<'_>) -> R,
    ) -> Option<R> {
        if self.error.is_some() {
            return None;
        }
        self.try_with(i, make).map_err(|error| self.error = Some(error)).ok()
    }

    fn try_with<R>(
        &mut self,
        i: usize,
        make: impl FnOnce(&mut KnownExcerpts, ExcerptBlock<'_, '_>, &mut Counter<'_>) -> R,
    ) -> Result<R, Fallback> {
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
        let (indices, blocks) = self.read.get(&block).ok_or_else(Fallback::incomplete)?;
        let read = ReadBlocks { indices, blocks };
        let (at, meta) = read.locate(block, columns).map_err(Fallback::Wrong)?;
        let view = BlockView::new(&blocks[at], &meta);
        let costs = columns.costs(block);
        if self.counter.costs(&view, self.mode) != costs {
            return Err(Fallback::Wrong(format!("block {block} has a different cost")));
        }
        let (content_tokens, mode) = (costs.content, self.mode);
        let block = ExcerptBlock { view: &view, content_tokens, mode };
        Ok(make(&mut self.made, block, &mut self.counter))
    }
}

impl<S: BlockSource + ?Sized> Excerpter for IndexExcerpter<'_, '_, S> {
    fn excerpt_cost(&mut self, i: usize, most: u64) -> Option<u64> {
        if !self.made.has_size(i, most) {
            self.with(i, |made, block, counter| made.make_size(i, most, block, counter));
        }
        self.made.cost_of_size(i, most)
    }

    fn passages(&mut self, i: usize) -> PassageCosts {
        if self.made.passages(i).is_none() {
            self.with(i, |made, block, counter| made.count_passages(i, block, counter));
        }
        self.made.passages(i).cloned().unwrap_or_default()
    }

    fn show_passages(&mut self, i: usize, shown: &[usize]) -> Option<(ExcerptKey, u64)> {
        self.with(i, |made, block, counter| made.make_passages(i, shown, block, counter)).flatten()
    }
}
