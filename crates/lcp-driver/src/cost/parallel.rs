//! Counting the costs of many blocks: in order, or on all threads of the pool with the feature
//! `rayon`. The counts are the same.

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockMeta};

use super::{Counter, DetailCosts};
use crate::block_view::BlockView;
use crate::detail::OutputMode;

/// Yields each index, the view of the block, and its costs.
pub(crate) fn count_blocks<'b>(
    counter: &mut Counter<'_>,
    blocks: &'b [Block<'b>],
    metas: &'b [BlockMeta<'b>],
    indices: &[usize],
    mode: OutputMode,
) -> impl Iterator<Item = (usize, BlockView<'b>, DetailCosts)> {
    count_each(counter, blocks, indices, move |counter, i| {
        let view = BlockView::new(&blocks[i], &metas[i]);
        let costs = counter.costs(&view, mode);
        (i, view, costs)
    })
}

/// Yields the result of `count` for each index, in order.
pub(super) fn count_each<T: Send>(
    counter: &mut Counter<'_>,
    blocks: &[Block<'_>],
    indices: &[usize],
    count: impl Fn(&mut Counter<'_>, usize) -> T + Copy + Sync,
) -> impl Iterator<Item = T> {
    #[cfg(feature = "rayon")]
    return shared::count_each(counter, blocks, indices, count);
    #[cfg(not(feature = "rayon"))]
    {
        let _ = blocks;
        indices.iter().map(move |i| count(counter, *i))
    }
}

/// Counts a text like [`TokenEstimator::recount`], a long one on two threads.
pub(crate) fn recount(estimator: &dyn TokenEstimator, text: &str) -> u32 {
    #[cfg(feature = "rayon")]
    if let Some((first, second)) = shared::halves(estimator, text) {
        let (first, second) =
            rayon::join(|| estimator.recount(first), || estimator.recount(second));
        return first.saturating_add(second);
    }
    estimator.recount(text)
}

#[cfg(feature = "rayon")]
mod shared {
    use lcp_tokens::{TokenEstimator, split_at_boundary};
    use lcp_types::{Block, BlockContent, CowBytes};
    use rayon::prelude::*;

    use crate::cost::Counter;

    /// The number of blocks that are counted before the first is used.
    const BATCH_BLOCKS: usize = 4096;
    /// The minimum bytes for which it is worth waking other threads. They take some tenths of a
    /// millisecond.
    const SHARED_BYTES_MIN: usize = 64 << 10;
    /// The weight of a block's head and placeholder, in bytes.
    const BLOCK_BYTES: usize = 64;

    pub(super) fn count_each<T: Send>(
        counter: &mut Counter<'_>,
        blocks: &[Block<'_>],
        indices: &[usize],
        count: impl Fn(&mut Counter<'_>, usize) -> T + Copy + Sync,
    ) -> impl Iterator<Item = T> {
        let estimator = counter.estimator();
        indices.chunks(BATCH_BLOCKS).flat_map(move |batch| {
            // The query for the number of threads starts them, so it comes last.
            let is_shared = batch.iter().map(|i| weight(&blocks[*i])).sum::<usize>()
                >= SHARED_BYTES_MIN
                && rayon::current_num_threads() > 1;
            if !is_shared {
                return batch.iter().map(|i| count(counter, *i)).collect::<Vec<_>>();
            }
            let new = || Counter::new(estimator);
            batch.par_iter().map_init(new, |counter, i| count(counter, *i)).collect()
        })
    }

    /// Splits a long text near its middle, if the counts of both parts add up.
    pub(super) fn halves<'t>(
        estimator: &dyn TokenEstimator,
        text: &'t str,
    ) -> Option<(&'t str, &'t str)> {
        let is_shared = text.len() >= 2 * SHARED_BYTES_MIN
            && estimator.is_additive()
            && rayon::current_num_threads() > 1;
        let middle = text.len() / 2;
        let newline = memchr::memchr(b'\n', &text.as_bytes()[middle..]).filter(|_| is_shared)?;
        let (_, second) = split_at_boundary(&text[middle + newline..]);
        (!second.is_empty()).then(|| text.split_at(text.len() - second.len()))
    }

    fn weight(block: &Block<'_>) -> usize {
        let content = match &block.content {
            BlockContent::Diff(diff) => diff.hunks.iter().map(|hunk| hunk.lines.len()).sum(),
            content => content.text().map_or(0, CowBytes::len),
        };
        BLOCK_BYTES + content
    }
}
