//! The costs of blocks in every mode, for the index of a pack (RFC 0003 §4).

use std::collections::BTreeSet;

use lcp_tokens::TokenEstimator;
use lcp_types::{AlternateCost, Block, BlockMeta, EncodingCosts, ModeCosts};

use super::parallel::count_each;
use super::{Body, Counter, DetailCosts};
use crate::block_view::BlockView;
use crate::detail::{DetailLevel, OutputMode, RENDERER_REVISION};

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
            KnownCosts::new(blocks, start.min(blocks.len()), known, estimator.name())
        });
        count_all(blocks, estimator, |index| usable.as_ref()?.of_block(index), progress)
    }
}

struct KnownCosts<'a> {
    costs: &'a EncodingCosts,
    modes: [&'a ModeCosts; OutputMode::ALL.len()],
    /// The index of the first block without known costs.
    start: usize,
    /// The blocks that later annotations target.
    annotated: BTreeSet<u64>,
}

impl<'a> KnownCosts<'a> {
    fn new(
        blocks: &[Block<'_>],
        start: usize,
        costs: &'a EncodingCosts,
        encoding: &str,
    ) -> Option<Self> {
        let [xml, markdown, minimal] = OutputMode::ALL.map(|mode| costs.mode(mode.name()));
        let modes = [xml?, markdown?, minimal?];
        let is_usable = costs.encoding == encoding
            && costs.revision == RENDERER_REVISION
            && costs.contents.len() >= start
            && costs.joins.len() >= start.div_ceil(8)
            && modes.iter().all(|mode| mode.full.len() >= start && mode.line.len() >= start);
        let annotations =
            blocks[start..].iter().filter_map(|by| BlockMeta::from_annotation(by)?.ok());
        is_usable.then(|| {
            let annotated = annotations.map(|(target, _)| target).collect();
            Self { costs, modes, start, annotated }
        })
    }

    fn of_block(&self, index: usize) -> Option<Counted> {
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

type Counted = (Body, [DetailCosts; OutputMode::ALL.len()]);

/// Counts all blocks except metadata and those with `known` costs. Calls `each` after each block.
fn count_all(
    blocks: &[Block<'_>],
    estimator: &dyn TokenEstimator,
    known: impl Fn(usize) -> Option<Counted> + Sync,
    each: &mut dyn FnMut(),
) -> Option<EncodingCosts> {
    if !estimator.is_additive() || !estimator.is_exact() {
        return None;
    }
    let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
    let mut counter = Counter::new(estimator);
    let of_mode =
        |mode: OutputMode| ModeCosts { mode: mode.name().to_owned(), ..ModeCosts::default() };
    let mut costs = EncodingCosts {
        encoding: estimator.name().to_owned(),
        revision: RENDERER_REVISION,
        contents: Vec::with_capacity(blocks.len()),
        joins: vec![0; blocks.len().div_ceil(8)],
        modes: OutputMode::ALL.map(of_mode).into(),
    };
    let indices: Vec<usize> = (0..blocks.len()).collect();
    let count = |counter: &mut Counter<'_>, index: usize| {
        let block = &blocks[index];
        if block.content.is_metadata() {
            return None;
        }
        let view = BlockView::new(block, &metas[index]);
        Some(known(index).unwrap_or_else(|| counter.costs_in(&view, OutputMode::ALL)))
    };
    let counts = count_each(&mut counter, blocks, &indices, &count);
    for (index, counted) in counts.enumerate() {
        each();
        let Some((body, all)) = counted else {
            costs.contents.push(0);
            for mode in &mut costs.modes {
                mode.full.push(0);
                mode.line.push(0);
            }
            continue;
        };
        costs.contents.push(body.tokens);
        costs.joins[index / 8] |= u8::from(body.joins) << (index % 8);
        for (mode, all) in costs.modes.iter_mut().zip(&all) {
            push(mode, u32::try_from(index).ok()?, all);
        }
    }
    Some(costs)
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

#[cfg(test)]
mod tests;
