//! Token costs from one pass over the blocks of a pack.

use std::collections::BTreeSet;

use lcp_tokens::TokenEstimator;
use lcp_types::{
    AlternateLevel, Block, BlockMeta, BlockSource, BlockSourceError, EncodingCosts, ModeCosts,
    Priority,
};

use super::{CostColumns, KnownCosts, count_indexed, known_costs};
use crate::block_view::BlockView;
use crate::cost::Counter;
use crate::cost::parallel::count_each;
use crate::detail::OutputMode;
use crate::planner::scan::warn_of_block;

/// A counter of block costs in one mode. It receives the blocks in batches and does not store them.
///
/// ```
/// # use std::borrow::Cow;
/// use lcp_driver::{OutputMode, ScanCosts};
/// use lcp_tokens::{Encoding, Tiktoken};
/// use lcp_types::{Block, BlockIndex, BlockSource, Role};
/// # use lcp_types::BlockSourceError;
/// # struct Pack(Vec<Block<'static>>, BlockIndex);
/// # impl BlockSource for Pack {
/// #     fn block_index(&self) -> Option<&BlockIndex> {
/// #         Some(&self.1)
/// #     }
/// #     fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
/// #         Ok(indices.iter().map(|at| self.0[*at as usize].clone()).collect())
/// #     }
/// #     fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
/// #         Ok(Cow::Borrowed(&self.0))
/// #     }
/// # }
///
/// let blocks = vec![Block::conversation(Role::User, "hi")];
/// # let index = BlockIndex::from_blocks(&blocks);
/// # let pack = Pack(blocks.clone(), index);
/// let tokenizer = Tiktoken::new(Encoding::O200kBase);
/// let mut costs = ScanCosts::new(&tokenizer, OutputMode::Minimal).unwrap();
/// costs.add(&blocks);
/// // The pack has all blocks, and an index without costs.
/// let costs = costs.finish(&pack)?.unwrap();
/// assert_eq!(costs.mode("minimal").unwrap().full, [4]);
/// # Ok::<(), BlockSourceError>(())
/// ```
pub struct ScanCosts<'a> {
    counter: Counter<'a>,
    mode: OutputMode,
    columns: CostColumns,
    /// The targets of annotations that change the text. [`Self::finish`] counts them again.
    annotated: BTreeSet<u64>,
    /// The highest target of an annotation.
    last_target: Option<u64>,
    /// `true` if a plan of all blocks would warn of a block or an annotation.
    has_warnings: bool,
}

impl<'a> ScanCosts<'a> {
    /// Creates a counter. Returns `None` if the estimator is inexact or not additive, because
    /// planning cannot use such counts.
    #[must_use]
    pub fn new(estimator: &'a dyn TokenEstimator, mode: OutputMode) -> Option<Self> {
        let columns = CostColumns::new(estimator, 0, &[mode])?;
        let counter = Counter::new(estimator);
        let annotated = BTreeSet::new();
        Some(Self { counter, mode, columns, annotated, last_target: None, has_warnings: false })
    }

    /// Counts the next blocks of the pack.
    pub fn add(&mut self, blocks: &[Block<'_>]) {
        // The costs will not be used.
        if self.has_warnings {
            return;
        }
        let mode = self.mode;
        let indices: Vec<usize> = (0..blocks.len()).collect();
        let count = |counter: &mut Counter<'_>, at: usize| {
            let block = blocks.get(at).filter(|block| !block.content.is_metadata())?;
            let meta = BlockMeta::resolve(0, block, []);
            let view = BlockView::new(block, &meta);
            let counted = counter.costs_in(&view, [mode]);
            let mut warnings = Vec::new();
            warn_of_block(at, block, &view, &counted.1[0], &mut warnings);
            Some((counted, !warnings.is_empty()))
        };
        for counted in count_each(&mut self.counter, blocks, &indices, count) {
            let (counted, warns) = counted.unzip();
            self.columns.push(counted.as_ref());
            self.has_warnings |= warns.unwrap_or_default();
        }
        for annotation in blocks.iter().filter_map(BlockMeta::from_annotation) {
            let Ok((target, meta)) = annotation else {
                self.has_warnings = true;
                continue;
            };
            self.last_target = self.last_target.max(Some(target));
            if changes_text(meta) {
                self.annotated.insert(target);
            }
        }
    }

    /// Recounts the blocks whose text an annotation changes, and returns the costs of all blocks.
    /// `source` must contain the added blocks and their index.
    ///
    /// Returns `None` if a plan of all blocks would warn of a block or an annotation. A plan from costs
    /// warns only of shown blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if a block cannot be read or contradicts the index, or if the source has no
    /// index and blocks must be recounted.
    pub fn finish<S: BlockSource + ?Sized>(
        self,
        source: &S,
    ) -> Result<Option<EncodingCosts>, BlockSourceError> {
        let Self { counter, mode, columns: CostColumns { costs }, annotated, .. } = self;
        let (blocks, estimator) = (costs.contents.len(), counter.estimator());
        let is_target_missing = self.last_target.is_some_and(|target| target >= blocks as u64);
        if self.has_warnings || is_target_missing {
            return Ok(None);
        }
        if annotated.is_empty() {
            return Ok(Some(costs));
        }
        let Some(index) = source.block_index() else {
            return Err(BlockSourceError::mismatch("the source has no index".to_owned()));
        };
        let known = KnownCosts::new(blocks, annotated, &costs, estimator.name(), [mode]);
        let counted = count_indexed(source, index, estimator, known.as_ref(), &mut || (), [mode])?;
        Ok(counted.filter(|costs| !has_costly_level(costs)))
    }
}

/// Returns whether an annotation with this metadata changes the text of its target.
fn changes_text(mut meta: BlockMeta<'_>) -> bool {
    (meta.rank, meta.category, meta.args, meta.pinned) = (None, None, None, false);
    meta.reasons.clear();
    meta.passages.clear();
    // The text shows only priorities above Normal.
    if meta.priority >= Priority::Normal {
        (meta.priority, meta.annotated) = (Priority::default(), false);
    }
    meta != BlockMeta::default()
}

/// Returns whether a plan would warn of a level that costs more than a fuller one. Plans do not warn
/// of blocks whose only level is a summary.
fn has_costly_level(costs: &EncodingCosts) -> bool {
    let is_costly = |mode: &ModeCosts| {
        mode.levels.chunk_by(|a, b| a.block == b.block).any(|levels| {
            let block = levels[0].block as usize;
            levels.iter().any(|level| level.level != AlternateLevel::Summary)
                && known_costs(mode, block, levels, costs.contents[block])
                    .dominated()
                    .next()
                    .is_some()
        })
    };
    costs.modes.iter().any(is_costly)
}
