//! The costs of blocks in every mode, for the index of a pack (RFC 0003 §4).

mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use lcp_tokens::TokenEstimator;
use lcp_types::{
    AlternateCost, Block, BlockIndex, BlockMeta, BlockSource, BlockSourceError, BlockType,
    CowBytes, EncodingCosts, ModeCosts,
};

use super::parallel::count_each;
use super::{Body, Counter, DetailCosts};
use crate::block_view::BlockView;
use crate::detail::{DetailLevel, OutputMode, RENDERER_REVISION};
pub use scan::ScanCosts;

/// A counter of the costs of blocks in every mode, for an index (RFC 0003 §4).
///
/// ```
/// use lcp_driver::IndexCosts;
/// use lcp_tokens::{Encoding, Tiktoken};
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi")];
/// let costs = IndexCosts::new(&Tiktoken::new(Encoding::O200kBase)).count(&blocks).unwrap();
/// assert_eq!((costs.encoding.as_str(), &costs.contents[..]), ("o200k_base", &[2][..]));
/// assert_eq!(costs.mode("minimal").unwrap().full, [4]);
/// ```
pub struct IndexCosts<'a> {
    estimator: &'a dyn TokenEstimator,
    progress: Option<&'a mut dyn FnMut()>,
    known: Option<(usize, &'a EncodingCosts)>,
}

impl<'a> IndexCosts<'a> {
    /// Creates a counter that counts with `estimator`.
    pub fn new(estimator: &'a dyn TokenEstimator) -> Self {
        Self { estimator, progress: None, known: None }
    }

    /// Calls `progress` after each block.
    #[must_use]
    pub fn progress(self, progress: &'a mut dyn FnMut()) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Takes the costs of the blocks before `start` from `known`. Of these blocks, only those that
    /// an annotation from `start` on targets are counted again.
    ///
    /// If `known` has another encoding or revision, or lacks some blocks, all blocks are counted.
    /// The numbers in `known` are not checked. The levels of its modes must ascend by block, as in
    /// every result of [`Self::count`] and in every accepted index.
    #[must_use]
    pub fn starting_at(self, start: usize, known: &'a EncodingCosts) -> Self {
        Self { known: Some((start, known)), ..self }
    }

    /// Counts the costs of `blocks`, which are all blocks of a pack, including annotations.
    ///
    /// Returns `None` if the estimator is inexact or not additive, because planning cannot use such
    /// counts.
    #[must_use]
    pub fn count(self, blocks: &[Block<'_>]) -> Option<EncodingCosts> {
        let Self { estimator, progress, known } = self;
        let mut ignore = || ();
        let progress = progress.unwrap_or(&mut ignore);
        let usable = known.and_then(|(start, known)| {
            let start = start.min(blocks.len());
            let annotations =
                blocks[start..].iter().filter_map(|by| BlockMeta::from_annotation(by)?.ok());
            let annotated = annotations.map(|(target, _)| target).collect();
            KnownCosts::new(start, annotated, known, estimator.name(), OutputMode::ALL)
        });
        let known = |index| usable.as_ref()?.costs(index);
        count_all(blocks, estimator, known, progress)
    }

    /// Counts the costs of all blocks of a source like [`Self::count`]. If the source has an index, a
    /// few blocks are in memory at a time, and blocks with known costs are not read.
    ///
    /// # Errors
    ///
    /// Returns the error of the source if a block cannot be read or contradicts the index.
    pub fn count_source<S: BlockSource + ?Sized>(
        self,
        source: &S,
    ) -> Result<Option<EncodingCosts>, BlockSourceError> {
        let Some(index) = source.block_index() else {
            return Ok(self.count(&source.read_all()?));
        };
        let Self { estimator, progress, known } = self;
        let mut ignore = || ();
        let each = progress.unwrap_or(&mut ignore);
        let known = known.and_then(|(start, known)| {
            let new = index.annotations.iter().filter(|(_, by)| *by as usize >= start);
            let annotated = new.map(|(target, _)| u64::from(*target)).collect();
            let start = start.min(index.len());
            KnownCosts::new(start, annotated, known, estimator.name(), OutputMode::ALL)
        });
        count_indexed(source, index, estimator, known.as_ref(), each, OutputMode::ALL)
    }
}

/// Counts the blocks of a source with this index, except metadata and those with `known` costs, in
/// each mode. Calls `each` after each block. Returns `None` if planning cannot use the counts.
fn count_indexed<S: BlockSource + ?Sized, const N: usize>(
    source: &S,
    index: &BlockIndex,
    estimator: &dyn TokenEstimator,
    known: Option<&KnownCosts<'_, N>>,
    each: &mut dyn FnMut(),
    modes: [OutputMode; N],
) -> Result<Option<EncodingCosts>, BlockSourceError> {
    let Some(mut columns) = CostColumns::new(estimator, index.len(), &modes) else {
        return Ok(None);
    };
    let mut counter = Counter::new(estimator);
    let known_of = |block: u32| known?.costs(block as usize);
    let all = 0..u32::try_from(index.len()).unwrap_or(u32::MAX);
    let unknown: Vec<u32> = all.clone().filter(|block| known_of(*block).is_none()).collect();
    // Metadata has no costs, even if all costs are known.
    let push_known = |columns: &mut CostColumns, blocks: std::ops::Range<u32>| {
        for block in blocks {
            let is_metadata = index.metadata.binary_search(&block).is_ok()
                || index.types[block as usize] == BlockType::Annotation.code();
            columns.push(known_of(block).filter(|_| !is_metadata).as_ref());
        }
    };
    let mut next = 0;
    let mut batch = Batch::default();
    let mut annotations = index.annotations.iter().peekable();
    for part in unknown.chunks(SOURCE_BLOCKS) {
        let mut indices = part.to_vec();
        // They are sorted by their target, which comes first.
        while let Some((target, by)) =
            annotations.next_if(|(target, _)| part.last() >= Some(target))
        {
            if part.binary_search(target).is_ok() {
                indices.push(*by);
            }
        }
        indices.sort_unstable();
        indices.dedup();
        let blocks = source.read(&indices)?;
        batch.add(part, indices, blocks);
        if batch.bytes >= BATCH_BYTES || part.last() == unknown.last() {
            for (block, costs) in std::mem::take(&mut batch).count(&mut counter, each, modes) {
                push_known(&mut columns, next..block);
                columns.push(costs.as_ref());
                next = block + 1;
            }
        }
    }
    push_known(&mut columns, next..all.end);
    Ok(Some(columns.costs))
}

/// The number of blocks of a source that are read at once, not counting annotations.
const SOURCE_BLOCKS: usize = 16;

/// The minimum size of the contents that are counted at once, in bytes.
const BATCH_BYTES: usize = 8 << 20;

/// Blocks of a source, with their annotations.
#[derive(Default)]
struct Batch<'b> {
    /// The index of each block in the pack. An annotation can occur several times.
    indices: Vec<u32>,
    blocks: Vec<Block<'b>>,
    /// The positions of the blocks to count.
    counted: Vec<usize>,
    bytes: usize,
}

impl<'b> Batch<'b> {
    /// Adds the blocks of `part` and their annotations, whose indices are `indices`.
    fn add(&mut self, part: &[u32], indices: Vec<u32>, blocks: Vec<Block<'b>>) {
        let is_counted = |at: &usize| part.binary_search(&indices[*at]).is_ok();
        let start = self.blocks.len();
        self.counted.extend((0..indices.len()).filter(is_counted).map(|at| start + at));
        let bytes = |block: &Block<'_>| block.content.text().map_or(0, CowBytes::len);
        self.bytes += blocks.iter().map(bytes).sum::<usize>();
        self.indices.extend(indices);
        self.blocks.extend(blocks);
    }

    /// Returns the index and the costs of each block to count.
    fn count<const N: usize>(
        self,
        counter: &mut Counter<'_>,
        each: &mut dyn FnMut(),
        modes: [OutputMode; N],
    ) -> Vec<(u32, Option<Counted<N>>)> {
        let Self { indices, blocks, counted, .. } = &self;
        let mut statements: Vec<_> = indices
            .iter()
            .zip(blocks)
            .filter_map(|(index, block)| Some((block.target_index()?, *index, block)))
            .collect();
        statements.sort_by_key(|(target, by, _)| (*target, *by));
        statements.dedup_by_key(|(_, by, _)| *by);
        let count = |counter: &mut Counter<'_>, at: usize| {
            let block = blocks.get(at).filter(|block| !block.content.is_metadata())?;
            let target = u64::from(indices[at]);
            let start = statements.partition_point(|(other, ..)| *other < target);
            let own = statements[start..].iter().take_while(|(other, ..)| *other == target);
            let meta = BlockMeta::resolve(target, block, own.map(|(_, _, by)| *by));
            Some(counter.costs_in(&BlockView::new(block, &meta), modes))
        };
        let costs = count_each(counter, blocks, counted, &count);
        let indices = counted.iter().map(|at| indices[*at]);
        indices.zip(costs.inspect(|_| each())).collect()
    }
}

struct KnownCosts<'a, const N: usize> {
    costs: &'a EncodingCosts,
    modes: [&'a ModeCosts; N],
    /// The index of the first block without known costs.
    start: usize,
    /// The blocks that later annotations target.
    annotated: BTreeSet<u64>,
}

impl<'a, const N: usize> KnownCosts<'a, N> {
    fn new(
        start: usize,
        annotated: BTreeSet<u64>,
        costs: &'a EncodingCosts,
        encoding: &str,
        modes: [OutputMode; N],
    ) -> Option<Self> {
        let modes: Option<Vec<_>> = modes.iter().map(|mode| costs.mode(mode.name())).collect();
        let modes: [_; N] = modes?.try_into().ok()?;
        let is_usable = costs.encoding == encoding
            && costs.revision == RENDERER_REVISION
            && costs.contents.len() >= start
            && costs.joins.len() >= start.div_ceil(8)
            && modes.iter().all(|mode| mode.full.len() >= start && mode.line.len() >= start);
        is_usable.then_some(Self { costs, modes, start, annotated })
    }

    /// Returns the known costs of a block.
    fn costs(&self, index: usize) -> Option<Counted<N>> {
        let is_known = index < self.start && !self.annotated.contains(&(index as u64));
        let tokens = *self.costs.contents.get(index).filter(|_| is_known)?;
        let joins = self.costs.joins.get(index / 8)? >> (index % 8) & 1 == 1;
        let in_mode =
            |mode: &ModeCosts| known_costs(mode, index, levels_of(&mode.levels, index), tokens);
        Some((Body { tokens, joins }, self.modes.map(in_mode)))
    }
}

/// Returns the costs of a block in a mode of an index. `levels` are those of this block.
pub(crate) fn known_costs(
    costs: &ModeCosts,
    index: usize,
    levels: &[AlternateCost],
    content: u32,
) -> DetailCosts {
    let mut all = [None; DetailLevel::ALL.len()];
    all[DetailLevel::Full as usize] = costs.full.get(index).copied();
    all[DetailLevel::Placeholder as usize] = costs.line.get(index).copied();
    for level in levels {
        all[DetailLevel::from_cost_level(level.level) as usize] = Some(level.tokens);
    }
    DetailCosts::new(content, all)
}

pub(crate) fn levels_of(levels: &[AlternateCost], index: usize) -> &[AlternateCost] {
    let start = levels.partition_point(|level| (level.block as usize) < index);
    let end = levels[start..].partition_point(|level| level.block as usize == index);
    &levels[start..start + end]
}

/// The count of the content of a block, and its costs in each mode.
type Counted<const N: usize> = (Body, [DetailCosts; N]);

/// Counts all blocks except metadata and those with `known` costs. Calls `each` after each block.
/// Returns `None` if planning cannot use the counts.
fn count_all(
    blocks: &[Block<'_>],
    estimator: &dyn TokenEstimator,
    known: impl Fn(usize) -> Option<Counted<{ OutputMode::ALL.len() }>> + Sync,
    each: &mut dyn FnMut(),
) -> Option<EncodingCosts> {
    let mut columns = CostColumns::new(estimator, blocks.len(), &OutputMode::ALL)?;
    let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
    let mut counter = Counter::new(estimator);
    let indices: Vec<usize> = (0..blocks.len()).collect();
    let count = |counter: &mut Counter<'_>, index: usize| {
        let block = &blocks[index];
        if block.content.is_metadata() {
            return None;
        }
        let view = BlockView::new(block, &metas[index]);
        Some(known(index).unwrap_or_else(|| counter.costs_in(&view, OutputMode::ALL)))
    };
    for counted in count_each(&mut counter, blocks, &indices, &count) {
        each();
        columns.push(counted.as_ref());
    }
    Some(columns.costs)
}

/// The costs of the blocks so far.
struct CostColumns {
    costs: EncodingCosts,
}

impl CostColumns {
    /// Returns `None` if planning cannot use the counts.
    fn new(estimator: &dyn TokenEstimator, blocks: usize, modes: &[OutputMode]) -> Option<Self> {
        if !estimator.is_additive() || !estimator.is_exact() {
            return None;
        }
        let in_mode =
            |mode: &OutputMode| ModeCosts { mode: mode.name().to_owned(), ..ModeCosts::default() };
        let costs = EncodingCosts {
            encoding: estimator.name().to_owned(),
            revision: RENDERER_REVISION,
            contents: Vec::with_capacity(blocks),
            joins: Vec::with_capacity(blocks.div_ceil(8)),
            modes: modes.iter().map(in_mode).collect(),
        };
        Some(Self { costs })
    }

    /// Adds the costs of the next block; `None` for metadata.
    fn push<const N: usize>(&mut self, counted: Option<&Counted<N>>) {
        let costs = &mut self.costs;
        let index = costs.contents.len();
        if index.is_multiple_of(8) {
            costs.joins.push(0);
        }
        let Some((body, all)) = counted else {
            costs.contents.push(0);
            for mode in &mut costs.modes {
                mode.full.push(0);
                mode.line.push(0);
            }
            return;
        };
        costs.contents.push(body.tokens);
        if let Some(joins) = costs.joins.get_mut(index / 8) {
            *joins |= u8::from(body.joins) << (index % 8);
        }
        // Packs have at most 2²⁴ blocks.
        let block = u32::try_from(index).unwrap_or(u32::MAX);
        for (mode, all) in costs.modes.iter_mut().zip(all) {
            push(mode, block, all);
        }
    }
}

/// Adds the costs of the next block.
fn push(mode: &mut ModeCosts, block: u32, costs: &DetailCosts) {
    mode.full.push(costs.cost(DetailLevel::Full));
    mode.line.push(costs.cost(DetailLevel::Placeholder));
    let levels = costs.all().filter_map(|(detail, tokens)| {
        Some(AlternateCost { block, level: detail.cost_level()?, tokens })
    });
    mode.levels.extend(levels);
}
