//! Rendering by an index: candidates are allocated by their costs, and only shown blocks and blocks
//! that may be shown in part are read (RFC 0003 §7, RFC 0012 §3).
//!
//! `columns.rs` validates the index. `candidates.rs` creates the candidates. `prefilter.rs` drops
//! candidates that cannot be selected. `excerpts.rs` reads blocks that may be shown in part.
//! `check.rs` compares the index with the blocks that were read.

mod candidates;
mod check;
mod columns;
mod excerpts;
mod prefilter;
#[cfg(test)]
mod tests;

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockMeta, BlockSource, BlockSourceError, BlockSourceErrorKind};

use crate::allocate::{Allocation, AllocationInput, Outcome, Selection, allocate_tiers};
use crate::assemble::{Layout, MetaLookup, assemble};
use crate::config::DriverConfig;
use crate::cost::{Counter, DetailCosts};
use crate::detail::{RENDERER_REVISION, ShownDetail};
use crate::error::DriverError;
use crate::plan::RollUp;
use crate::planner::overflow::warn_of_overflow;
use crate::planner::plan_builder::cap_warnings;
use crate::planner::scan::{envelope_tokens, warn_of_counts};
use crate::planner::{plan_and_render, roll_up_bound};
use crate::telemetry::{self, IndexedPlan};
use crate::warning::{Warning, WarningCode};
use candidates::IndexCandidates;
use check::IndexChecksum;
use columns::Columns;
use excerpts::{IndexExcerpter, IndexExcerpts};

/// A rendered pack with summary data, without a plan for every block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedRender {
    /// The rendered text.
    pub text: String,
    /// Tokens of the text.
    pub used_tokens: u32,
    /// The blocks that the roll-up line counts, if the text has that line.
    pub rolled_up: Option<RollUp>,
    /// The number of blocks of the pack, including annotations.
    pub blocks: usize,
    /// The number of blocks that have their own part of the text.
    pub shown: usize,
    /// `true` if the budget gives a block less detail than it may have.
    pub is_cut: bool,
    /// Warnings about the text and the blocks that were read.
    pub warnings: Vec<Warning>,
    /// The source of the plan: the index or all blocks.
    pub source: PlanSource,
}

/// The source of a plan. The text is the same in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSource {
    /// The index. Only blocks that are shown or may be shown in part, and their annotations, were
    /// read.
    Index {
        /// The number of blocks that were read.
        read: usize,
        /// The number of blocks that could not have been shown and were only counted.
        passed_over: usize,
    },
    /// All blocks were read, for this reason.
    AllBlocks(FullReadReason),
}

lcp_types::named_enum! {
    /// The reason why all blocks were read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum FullReadReason {
        /// The source has no index.
        NoIndex = "no_index",
        /// The configuration needs more than costs, see
        /// [`DriverConfig::is_planned_by_costs`](crate::DriverConfig::is_planned_by_costs).
        ConfigNeedsBlocks = "asked",
        /// The index has no costs for this encoding, this mode and this revision, or the counts of
        /// the encoding do not add up.
        NoCosts = "no_costs",
        /// The index is wrong; the warning `bad_index` gives the details.
        BadIndex = "bad_index",
        /// The text must exceed the budget. The index alone is not enough evidence for that.
        OverBudget = "over_budget",
    }
}

/// The error of rendering a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceRenderError {
    /// The blocks cannot be rendered.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The source cannot return its blocks.
    #[error(transparent)]
    Source(#[from] BlockSourceError),
}

/// Renders the pack of a source: by its index if that is enough, else from all blocks.
pub(crate) fn render<S: BlockSource + ?Sized>(
    source: &S,
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<IndexedRender, SourceRenderError> {
    let (why, wrong) = match by_index(source, config, estimator) {
        Ok(rendered) => return Ok(rendered),
        Err(Fallback::Failed(error)) => return Err(error),
        Err(Fallback::All(why)) => (why, None),
        Err(Fallback::Wrong(wrong)) => (FullReadReason::BadIndex, Some(wrong)),
    };
    let blocks = source.read_all()?;
    let (mut plan, text) = plan_and_render(&blocks, config, estimator)?;
    if let Some(wrong) = wrong {
        let message = format!("ignored the index and read all blocks: {wrong}");
        plan.warnings.insert(0, Warning::new(WarningCode::BadIndex, None, message));
    }
    telemetry::record_plan(&plan);
    Ok(IndexedRender {
        text,
        used_tokens: plan.used_tokens,
        rolled_up: plan.rolled_up,
        blocks: plan.items.len(),
        shown: plan.items.iter().filter(|item| item.decision.is_shown()).count(),
        is_cut: plan.is_cut(),
        warnings: plan.warnings,
        source: PlanSource::AllBlocks(why),
    })
}

/// The reason why the index gives no text.
enum Fallback {
    /// All blocks must be read.
    All(FullReadReason),
    /// The index contradicts itself or the blocks.
    Wrong(String),
    /// The render fails.
    Failed(SourceRenderError),
}

impl Fallback {
    fn incomplete() -> Self {
        Self::Wrong("the source did not return all requested blocks".to_owned())
    }
}

impl From<BlockSourceError> for Fallback {
    fn from(error: BlockSourceError) -> Self {
        match error.kind {
            // With a wrong offset, the bytes at that place may fail in any way.
            BlockSourceErrorKind::Mismatch | BlockSourceErrorKind::Malformed => {
                Self::Wrong(error.to_string())
            }
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<DriverError> for Fallback {
    fn from(error: DriverError) -> Self {
        Self::Failed(error.into())
    }
}

/// A block that the text shows.
struct ShownBlock {
    block: u32,
    costs: DetailCosts,
    detail: ShownDetail,
    cost: u32,
}

fn by_index<S: BlockSource + ?Sized>(
    source: &S,
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<IndexedRender, Fallback> {
    let facts = source.block_index().ok_or(Fallback::All(FullReadReason::NoIndex))?;
    let by_costs = config.token_budget.filter(|_| config.is_planned_by_costs());
    let budget = by_costs.ok_or(Fallback::All(FullReadReason::ConfigNeedsBlocks))?;
    let adds_up = estimator.is_additive() && estimator.is_exact();
    let costs = facts.costs_in(estimator.name(), RENDERER_REVISION).filter(|_| adds_up);
    let costs = costs.and_then(|costs| Some((costs, costs.mode(config.mode.name())?)));
    let (costs, mode) = costs.ok_or(Fallback::All(FullReadReason::NoCosts))?;
    let columns = Columns::new(facts, costs, mode).map_err(Fallback::Wrong)?;
    let candidates = IndexCandidates::new(columns, config, budget);

    let mut counter = Counter::new(estimator);
    let envelope = envelope_tokens(&mut counter, config.mode);
    let input = AllocationInput {
        candidates: &candidates.candidates,
        budget: u64::from(budget),
        envelope,
        line: roll_up_bound(candidates.rest, config.mode, estimator),
        fill: config.fill,
        shares: &[],
        excerpts: config.excerpts(),
        groups: &candidates.groups,
        first: candidates.first,
    };
    let block_of = &candidates.block_of;
    let mut excerpter = IndexExcerpter::new(source, columns, block_of, config.mode, estimator);
    let allocation = allocate_tiers(input, &mut excerpter);
    let mut excerpts = excerpter.finish()?;
    let parts = parts(columns, &candidates, &allocation, &excerpts);
    let rolled_up = candidates.rolled_up(&allocation);
    let waits = !allocation.at_ceiling && !config.fill;
    let is_cut = candidates.passed_over > 0
        || candidates
            .candidates
            .iter()
            .zip(&allocation.chosen)
            .any(|(candidate, selection)| candidate.is_cut(*selection, waits));

    let indices = needed(columns, &parts);
    let mut missing = indices.clone();
    missing.retain(|index| !excerpts.read.contains_key(index));
    let others = source.read(&missing)?;
    if others.len() != missing.len() {
        return Err(Fallback::incomplete());
    }
    excerpts.seen.extend(&missing);
    excerpts.read.extend(missing.into_iter().zip(others));
    let read_count = excerpts.seen.len();
    let blocks: Vec<_> = indices.iter().filter_map(|index| excerpts.read.remove(index)).collect();
    let mut warnings = Vec::new();
    warn_of_counts(estimator, &mut warnings);
    let read = ReadBlocks { indices: &indices, blocks: &blocks };
    let mut metas = vec![BlockMeta::default(); blocks.len()];
    let mut shown = Vec::with_capacity(parts.len());
    for part in &parts {
        let (at, meta) = read.locate(part.block, columns).map_err(Fallback::Wrong)?;
        metas[at] = meta;
        shown.push((at, part.detail.clone(), part.costs.content));
    }
    let mut check = IndexChecksum::new(columns, config.mode, &mut counter);
    for (part, &(at, ..)) in parts.iter().zip(&shown) {
        check.part(part, &blocks[at], &metas[at], &mut warnings).map_err(Fallback::Wrong)?;
    }

    let layout = Layout { shown, rolled_up };
    let own = MetaLookup { own: &metas, previous: None };
    let text = assemble(&blocks, own, config.mode, &layout);
    let used = estimator.recount(&text.text);
    if used > budget {
        if allocation.outcome == Outcome::Fits {
            return Err(Fallback::Wrong("the text has more tokens than its parts".to_owned()));
        }
        // Only a pin proves that a block must be shown, because no annotation removes it. A
        // priority may have been lowered by a later annotation that the index lacks.
        if !layout.shown.iter().all(|(at, ..)| metas[*at].pinned) {
            return Err(Fallback::All(FullReadReason::OverBudget));
        }
    }
    warn_of_overflow(
        config.overflow, &candidates.candidates, candidates.blocks, &allocation, budget, used,
        &mut warnings,
    )?;
    text.warn_of_special(|at| indices[at] as usize, &mut warnings);
    cap_warnings(&mut warnings);
    telemetry::record_indexed_plan(&IndexedPlan {
        used,
        budget,
        blocks: facts.len(),
        parts: &parts.iter().map(|part| (part.detail.clone(), part.cost)).collect::<Vec<_>>(),
        warnings: &warnings,
    });
    Ok(IndexedRender {
        text: text.text,
        used_tokens: used,
        rolled_up,
        blocks: facts.len(),
        shown: parts.len(),
        is_cut,
        warnings,
        source: PlanSource::Index { read: read_count, passed_over: candidates.passed_over },
    })
}

/// Returns the parts that the text shows, in order.
fn parts(
    columns: Columns<'_>,
    candidates: &IndexCandidates,
    allocation: &Allocation,
    excerpts: &IndexExcerpts<'_>,
) -> Vec<ShownBlock> {
    let part = |(at, selection): (usize, &Option<Selection>)| {
        let block = candidates.block_of[at];
        let costs = columns.costs(block);
        let (detail, cost) = match (*selection)? {
            Selection::Level(level) => {
                let (detail, cost) = *costs.details.get(level)?;
                (ShownDetail::Level(detail), cost)
            }
            Selection::Excerpt { key, .. } => {
                let (excerpt, cost) = excerpts.get(at, key)?;
                (ShownDetail::Excerpt(excerpt.clone()), *cost)
            }
        };
        Some(ShownBlock { block, costs, detail, cost })
    };
    allocation.chosen.iter().enumerate().filter_map(part).collect()
}

/// Returns the blocks that are shown and their annotations, ascending.
fn needed(columns: Columns<'_>, parts: &[ShownBlock]) -> Vec<u32> {
    let mut indices: Vec<u32> = parts.iter().map(|part| part.block).collect();
    indices.extend(parts.iter().flat_map(|part| columns.annotations_of(part.block)));
    indices.sort_unstable();
    indices.dedup();
    indices
}

#[derive(Clone, Copy)]
struct ReadBlocks<'b> {
    indices: &'b [u32],
    blocks: &'b [Block<'b>],
}

impl<'b> ReadBlocks<'b> {
    fn at(self, block: u32) -> Result<usize, String> {
        self.indices.binary_search(&block).map_err(|_| format!("block {block} was not read"))
    }

    /// Returns the position of a block and its annotations. Fails if the annotations do not target
    /// the block, as the index claims.
    fn locate(self, block: u32, columns: Columns<'_>) -> Result<(usize, BlockMeta<'b>), String> {
        let at = self.at(block)?;
        let mut annotations = Vec::new();
        for by in columns.annotations_of(block) {
            let by_block = &self.blocks[self.at(by)?];
            let target =
                BlockMeta::from_annotation(by_block).and_then(Result::ok).map(|(target, _)| target);
            if target != Some(u64::from(block)) {
                return Err(format!("block {by} does not annotate block {block}"));
            }
            annotations.push(by_block);
        }
        Ok((at, BlockMeta::resolve(u64::from(block), &self.blocks[at], annotations)))
    }
}

impl IndexCandidates {
    /// Returns the blocks that the roll-up line counts; `None` if the text has no such line.
    fn rolled_up(&self, allocation: &Allocation) -> Option<RollUp> {
        if allocation.outcome != Outcome::Fits {
            return None;
        }
        let mut rolled_up = self.rest;
        for ((candidate, content), chosen) in
            self.candidates.iter().zip(&self.contents).zip(&allocation.chosen)
        {
            if candidate.needs_mention() && chosen.is_some() {
                rolled_up.count -= 1;
                rolled_up.tokens -= u64::from(*content);
            }
        }
        (rolled_up.count > 0).then_some(rolled_up)
    }
}
