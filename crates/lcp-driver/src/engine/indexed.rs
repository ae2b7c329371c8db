//! Plans by an index: the walk over what competes, of which only the costs are
//! known, and a text of which only what is shown is read (RFC 0003 §7).
//!
//! `columns.rs` is what is known, `competing.rs` makes the items of the walk from
//! it, `sieve.rs` says which blocks need not be walked, `check.rs` compares what
//! is known with what was read.

mod check;
mod columns;
mod competing;
mod sieve;

use lcp_types::{Block, BlockMeta, BlockSource, SourceError, SourceErrorKind};

use super::finish::cap_warnings;
use super::line_bound;
use super::scan::{envelope_tokens, warn_of_counts};
use super::shortfall::Shortfall;
use crate::budget::TokenEstimator;
use crate::budget::cost::{Costs, Counter, Detail};
use crate::budget::walk::{Allocation, Choice, Cut, Outcome, Terms, walk};
use crate::config::DriverConfig;
use crate::error::DriverError;
use crate::facts::RENDERER_REVISION;
use crate::observe::{self, IndexedRun};
use crate::plan::RollUp;
use crate::source::{FullReadReason, IndexedRender, PlanSource, SourceRenderError};
use crate::text::{self, Layout, Metas, Piece};
use crate::warning::{Warning, WarningCode};
use check::Check;
use columns::Columns;
use competing::Competing;

/// Renders what a source has: by its index if that is enough, else by all
/// blocks.
pub(crate) fn render<S: BlockSource + ?Sized>(
    source: &S,
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<IndexedRender, SourceRenderError> {
    let (why, wrong) = match by_index(source, config, estimator) {
        Ok(rendered) => return Ok(rendered),
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::All(why)) => (why, None),
        Err(Stop::Wrong(wrong)) => (FullReadReason::BadIndex, Some(wrong)),
    };
    let blocks = source.read_all()?;
    let (mut plan, text) = super::planned_text(&blocks, config, estimator)?;
    if let Some(wrong) = wrong {
        let message = format!("the index is not used: {wrong}");
        plan.warnings.insert(0, Warning::new(WarningCode::BadIndex, None, message));
    }
    observe::run(&plan);
    Ok(IndexedRender {
        text,
        used_tokens: plan.used_tokens,
        rolled_up: plan.rolled_up,
        blocks: plan.items.len(),
        shown: plan.items.iter().filter(|item| item.decision.is_shown()).count(),
        warnings: plan.warnings,
        planned: PlanSource::AllBlocks(why),
    })
}

/// Why the index gives no text.
enum Stop {
    /// It cannot: all blocks are read.
    All(FullReadReason),
    /// It does not agree with itself or with the blocks.
    Wrong(String),
    /// Nothing can.
    Failed(SourceRenderError),
}

impl From<SourceError> for Stop {
    fn from(error: SourceError) -> Self {
        match error.kind {
            // A wrong place in the pack may look like anything.
            SourceErrorKind::Mismatch | SourceErrorKind::Malformed => {
                Self::Wrong(error.to_string())
            }
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<DriverError> for Stop {
    fn from(error: DriverError) -> Self {
        Self::Failed(error.into())
    }
}

/// A block that the text shows.
struct Part {
    block: u32,
    costs: Costs,
    detail: Detail,
    cost: u32,
}

fn by_index<S: BlockSource + ?Sized>(
    source: &S,
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<IndexedRender, Stop> {
    let facts = source.block_index().ok_or(Stop::All(FullReadReason::NoIndex))?;
    let by_costs = config.token_budget.filter(|_| config.is_planned_by_costs());
    let budget = by_costs.ok_or(Stop::All(FullReadReason::Asked))?;
    let adds_up = estimator.is_additive() && estimator.is_exact();
    let costs = facts.costs_in(estimator.name(), RENDERER_REVISION).filter(|_| adds_up);
    let costs = costs.and_then(|costs| Some((costs, costs.mode(config.mode.name())?)));
    let (costs, mode) = costs.ok_or(Stop::All(FullReadReason::NoCosts))?;
    let columns = Columns::new(facts, costs, mode).map_err(Stop::Wrong)?;
    let competing = Competing::new(columns, config, budget);

    let mut counter = Counter::new(estimator);
    let envelope = envelope_tokens(&mut counter, config.mode);
    let terms = Terms {
        budget: u64::from(budget),
        envelope,
        line: line_bound(competing.rest, config.mode, estimator),
        fill: config.fill,
        shares: &[],
        excerpts: false,
        groups: &competing.groups,
        first: competing.first,
    };
    let allocation = walk(&competing.items, terms, &mut Whole);
    let parts = parts(columns, &competing, &allocation);
    let rolled_up = competing.rolled_up(&allocation);

    let indices = needed(columns, &parts);
    let blocks = source.read(&indices)?;
    if blocks.len() != indices.len() {
        return Err(Stop::Wrong("the source has not all that it names".to_owned()));
    }
    let mut warnings = Vec::new();
    warn_of_counts(estimator, &mut warnings);
    let read = Read { indices: &indices, blocks: &blocks };
    let mut metas = vec![BlockMeta::default(); blocks.len()];
    let mut shown = Vec::with_capacity(parts.len());
    for part in &parts {
        let (at, meta) = read.said_of(part.block, columns).map_err(Stop::Wrong)?;
        metas[at] = meta;
        shown.push((at, Piece::Detail(part.detail), part.costs.content));
    }
    let mut check = Check::new(columns, config.mode, &mut counter);
    for (part, &(at, ..)) in parts.iter().zip(&shown) {
        check.part(part, &blocks[at], &metas[at], &mut warnings).map_err(Stop::Wrong)?;
    }

    let layout = Layout { shown, rolled_up };
    let own = Metas { own: &metas, kept: None };
    let text = text::render(&blocks, own, config.mode, &layout);
    let used = estimator.recount(&text.text);
    if used > budget {
        if allocation.outcome == Outcome::Fits {
            return Err(Stop::Wrong("the text has more tokens than its parts".to_owned()));
        }
        // That blocks must be shown is believed of pins alone, which nothing takes back: a
        // later annotation that the index does not name may have lowered a priority.
        if !layout.shown.iter().all(|(at, ..)| metas[*at].pinned) {
            return Err(Stop::All(FullReadReason::OverBudget));
        }
    }
    let items = &competing.items;
    Shortfall { overflow: config.overflow, items, blocks: competing.blocks }.warn_of(
        &allocation,
        budget,
        used,
        &mut warnings,
    )?;
    text.warn_of_special(|at| indices[at] as usize, &mut warnings);
    cap_warnings(&mut warnings);
    observe::indexed(&IndexedRun {
        used,
        budget,
        blocks: facts.len(),
        parts: &parts.iter().map(|part| (part.detail, part.cost)).collect::<Vec<_>>(),
        warnings: &warnings,
    });
    Ok(IndexedRender {
        text: text.text,
        used_tokens: used,
        rolled_up,
        blocks: facts.len(),
        shown: parts.len(),
        warnings,
        planned: PlanSource::Index { read: blocks.len(), passed_over: competing.passed_over },
    })
}

/// Blocks are shown whole, or by a level.
struct Whole;

impl Cut for Whole {
    fn cut(&mut self, _: usize, _: u64) -> Option<u64> {
        None
    }
}

/// What the text shows, in its order.
fn parts(columns: Columns<'_>, competing: &Competing, allocation: &Allocation) -> Vec<Part> {
    let part = |(&block, choice): (&u32, &Option<Choice>)| {
        let costs = columns.costs(block);
        let (detail, cost) = *costs.details.get(choice.and_then(Choice::detail)?)?;
        Some(Part { block, costs, detail, cost })
    };
    competing.blocks_of_items.iter().zip(&allocation.chosen).filter_map(part).collect()
}

/// The blocks that are shown and what speaks of them, ascending.
fn needed(columns: Columns<'_>, parts: &[Part]) -> Vec<u32> {
    let mut indices: Vec<u32> = parts.iter().map(|part| part.block).collect();
    indices.extend(parts.iter().flat_map(|part| columns.said(part.block)));
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// What was read, by index.
#[derive(Clone, Copy)]
struct Read<'b> {
    indices: &'b [u32],
    blocks: &'b [Block<'b>],
}

impl<'b> Read<'b> {
    fn at(self, block: u32) -> Result<usize, String> {
        self.indices.binary_search(&block).map_err(|_| format!("block {block} was not read"))
    }

    /// Where a block stands among those that were read, and what is said of it:
    /// all that speaks of it by the index really does.
    fn said_of(self, block: u32, columns: Columns<'_>) -> Result<(usize, BlockMeta<'b>), String> {
        let at = self.at(block)?;
        let mut said = Vec::new();
        for by in columns.said(block) {
            let by_block = &self.blocks[self.at(by)?];
            let target =
                BlockMeta::from_annotation(by_block).and_then(Result::ok).map(|(target, _)| target);
            if target != Some(u64::from(block)) {
                return Err(format!("block {by} says nothing of block {block}"));
            }
            said.push(by_block);
        }
        Ok((at, BlockMeta::resolve(u64::from(block), &self.blocks[at], said)))
    }
}

impl Competing {
    /// What the roll-up line stands for: all that the text must show or count,
    /// and does not show.
    fn rolled_up(&self, allocation: &Allocation) -> Option<RollUp> {
        if allocation.outcome != Outcome::Fits {
            return None;
        }
        let mut rest = self.rest;
        for ((item, content), choice) in
            self.items.iter().zip(&self.contents).zip(&allocation.chosen)
        {
            if item.is_rest() && choice.is_some() {
                rest.count -= 1;
                rest.tokens -= u64::from(*content);
            }
        }
        (rest.count > 0).then_some(rest)
    }
}

#[cfg(test)]
mod laws;
