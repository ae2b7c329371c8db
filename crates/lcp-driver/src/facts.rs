//! What blocks cost, for an index that is kept with them (RFC 0003 §4).

use std::collections::BTreeSet;

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, CostLevel, CostsOf, LevelCost, Meta, ModeCosts};

use crate::budget::cost::{Body, Costs, Counter, Detail};
use crate::config::OutputMode;
use crate::engine::counting;
use crate::view::View;

/// The revision of the renderer: costs of another one are not used. It is
/// raised when the text of any part changes.
pub const REVISION: u32 = 3;

impl Detail {
    /// The level of an index that it is, if it is one.
    const fn cost_level(self) -> Option<CostLevel> {
        match self {
            Self::Detailed => Some(CostLevel::Detailed),
            Self::Summary => Some(CostLevel::Summary),
            Self::Tags => Some(CostLevel::Tags),
            Self::Full | Self::Placeholder => None,
        }
    }

    /// The detail that a level of an index is.
    pub(crate) const fn of_level(level: CostLevel) -> Self {
        match level {
            CostLevel::Detailed => Self::Detailed,
            CostLevel::Summary => Self::Summary,
            CostLevel::Tags => Self::Tags,
        }
    }
}

/// Counts what blocks cost in every mode, as plans do, for an index (RFC 0003
/// §4). Blocks are all those of a pack, annotations included.
///
/// `None` where counts do not add up or are estimates: they are of no use to
/// plan by.
///
/// ```
/// use lcp_driver::index_costs;
/// use lcp_tokens::{Encoding, Tiktoken};
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi")];
/// let costs = index_costs(&blocks, &Tiktoken::new(Encoding::O200kBase)).unwrap();
/// assert_eq!((costs.encoding.as_str(), &costs.contents[..]), ("o200k_base", &[2][..]));
/// assert_eq!(costs.mode("minimal").unwrap().full, [4]);
/// ```
#[must_use]
pub fn index_costs(blocks: &[Block<'_>], estimator: &dyn TokenEstimator) -> Option<CostsOf> {
    index_costs_watched(blocks, estimator, &mut || ())
}

/// As [`index_costs`], and `None` where that gives none; `each` is called after each
/// block, for who shows how far it is.
#[must_use]
pub fn index_costs_watched(
    blocks: &[Block<'_>],
    estimator: &dyn TokenEstimator,
    each: &mut dyn FnMut(),
) -> Option<CostsOf> {
    counted(blocks, estimator, |_| None, each)
}

/// As [`index_costs`] where the blocks before `start` were counted before, which
/// `old` says: of these only those are counted again of which one from `start` on
/// says something. All are where `old` is of another encoding or revision, or
/// has not all of them. `None` where [`index_costs`] gives none.
///
/// The figures of `old` are taken as they are: they must be those of the blocks
/// before `start`. The levels of its modes must ascend by block, as they do in what
/// [`index_costs`] gives and in an index that was accepted; of others some are not
/// found.
#[must_use]
pub fn index_costs_from(
    blocks: &[Block<'_>],
    start: usize,
    old: &CostsOf,
    estimator: &dyn TokenEstimator,
) -> Option<CostsOf> {
    let start = start.min(blocks.len());
    let modes = OutputMode::ALL.map(|mode| old.mode(mode.name()));
    let has_all = |costs: Option<&ModeCosts>| {
        costs.is_some_and(|costs| costs.full.len() >= start && costs.line.len() >= start)
    };
    let is_usable = old.encoding == estimator.name()
        && old.revision == REVISION
        && old.contents.len() >= start
        && old.joins.len() >= start.div_ceil(8)
        && modes.into_iter().all(has_all);
    if !is_usable {
        return index_costs(blocks, estimator);
    }
    let said = blocks[start..].iter().filter_map(|by| Meta::said_by(by)?.ok());
    let spoken_of: BTreeSet<u64> = said.map(|(target, _)| target).collect();
    let known = |index: usize| {
        let is_known = index < start && !spoken_of.contains(&(index as u64));
        let tokens = *old.contents.get(index).filter(|_| is_known)?;
        let joins = old.joins.get(index / 8)? >> (index % 8) & 1 == 1;
        let costs = modes.map(|costs| match costs {
            Some(costs) => known_costs(costs, index, levels_of(&costs.levels, index), tokens),
            None => Costs::new(tokens, [None; Detail::ALL.len()]),
        });
        Some((Body { tokens, joins }, costs))
    };
    counted(blocks, estimator, known, &mut || ())
}

/// What an index says that a block costs in a mode, of which these are the levels.
pub(crate) fn known_costs(
    costs: &ModeCosts,
    index: usize,
    levels: &[LevelCost],
    content: u32,
) -> Costs {
    let mut all = [None; Detail::ALL.len()];
    all[Detail::Full as usize] = costs.full.get(index).copied();
    all[Detail::Placeholder as usize] = costs.line.get(index).copied();
    for level in levels {
        all[Detail::of_level(level.level) as usize] = Some(level.tokens);
    }
    Costs::new(content, all)
}

/// The levels of a block, among those of all.
pub(crate) fn levels_of(levels: &[LevelCost], index: usize) -> &[LevelCost] {
    let start = levels.partition_point(|level| (level.block as usize) < index);
    let end = levels[start..].partition_point(|level| level.block as usize == index);
    &levels[start..start + end]
}

/// The count of a content, and the costs in each mode.
type Counted = (Body, [Costs; OutputMode::ALL.len()]);

/// Counts all blocks but metadata and those of which `known` gives the costs; calls `each`
/// after each.
fn counted(
    blocks: &[Block<'_>],
    estimator: &dyn TokenEstimator,
    known: impl Fn(usize) -> Option<Counted> + Sync,
    each: &mut dyn FnMut(),
) -> Option<CostsOf> {
    if !estimator.is_additive() || !estimator.is_exact() {
        return None;
    }
    let metas = Meta::of_all(blocks, &mut |_, _| {});
    let mut counter = Counter::new(estimator);
    let of_mode =
        |mode: OutputMode| ModeCosts { mode: mode.name().to_owned(), ..ModeCosts::default() };
    let mut costs = CostsOf {
        encoding: estimator.name().to_owned(),
        revision: REVISION,
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
        let view = View::new(block, &metas[index]);
        Some(known(index).unwrap_or_else(|| counter.costs_in(&view, OutputMode::ALL)))
    };
    let found = counting::each(&mut counter, blocks, &indices, &count);
    for (index, found) in found.enumerate() {
        each();
        let Some((body, all)) = found else {
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

/// Adds what the next block costs.
fn push(mode: &mut ModeCosts, block: u32, costs: &Costs) {
    mode.full.push(costs.of(Detail::Full));
    mode.line.push(costs.of(Detail::Placeholder));
    let levels = costs.all().filter_map(|(detail, tokens)| {
        Some(LevelCost { block, level: detail.cost_level()?, tokens })
    });
    mode.levels.extend(levels);
}

#[cfg(test)]
mod golden;
