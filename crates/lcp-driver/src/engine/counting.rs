//! What blocks cost: counted one after the other, or with the feature `rayon` on as many
//! threads as its pool has. The counts are the same.

use lcp_types::{Block, BlockMeta};

use crate::block_view::BlockView;
use crate::budget::cost::{Costs, Counter};
use crate::config::OutputMode;

/// A block by its index, what there is to show of it, and what that costs.
pub(super) type Counted<'b> = (usize, BlockView<'b>, Costs);

/// Counts the blocks of these indices, in their order.
pub(super) fn counted<'b>(
    counter: &mut Counter<'_>,
    blocks: &'b [Block<'b>],
    metas: &'b [BlockMeta<'b>],
    indices: &[usize],
    mode: OutputMode,
) -> impl Iterator<Item = Counted<'b>> {
    each(counter, blocks, indices, move |counter, i| {
        let view = BlockView::new(&blocks[i], &metas[i]);
        let costs = counter.costs(&view, mode);
        (i, view, costs)
    })
}

/// What `count` gives of the blocks of these indices, in their order.
pub(crate) fn each<T: Send>(
    counter: &mut Counter<'_>,
    blocks: &[Block<'_>],
    indices: &[usize],
    count: impl Fn(&mut Counter<'_>, usize) -> T + Copy + Sync,
) -> impl Iterator<Item = T> {
    #[cfg(feature = "rayon")]
    return parallel::each(counter, blocks, indices, count);
    #[cfg(not(feature = "rayon"))]
    {
        let _ = blocks;
        indices.iter().map(move |i| count(counter, *i))
    }
}

#[cfg(feature = "rayon")]
mod parallel {
    use lcp_types::{Block, BlockContent, Bytes};
    use rayon::prelude::*;

    use crate::budget::cost::Counter;

    /// Blocks that are counted before the first of them is used.
    const BATCH_BLOCKS: usize = 4096;
    /// Bytes that are worth to wake other threads: some tenths of a millisecond.
    const SHARED_BYTES_MIN: usize = 64 << 10;
    /// Bytes that a block weighs beside its content: its head, its placeholder.
    const BLOCK_BYTES: usize = 64;

    pub(super) fn each<T: Send>(
        counter: &mut Counter<'_>,
        blocks: &[Block<'_>],
        indices: &[usize],
        count: impl Fn(&mut Counter<'_>, usize) -> T + Copy + Sync,
    ) -> impl Iterator<Item = T> {
        let estimator = counter.estimator();
        indices.chunks(BATCH_BLOCKS).flat_map(move |batch| {
            // Asking for the number of threads starts them.
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

    /// About how many bytes there are to count.
    fn weight(block: &Block<'_>) -> usize {
        let content = match &block.content {
            BlockContent::Diff(diff) => diff.hunks.iter().map(|hunk| hunk.lines.len()).sum(),
            content => content.text().map_or(0, Bytes::len),
        };
        BLOCK_BYTES + content
    }
}
