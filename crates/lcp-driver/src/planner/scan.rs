//! The first pass of planning: the properties and the costs of each block.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockMeta, BlockType, Priority, Replacements, category};

use super::groups::BlockGroups;
use crate::allocate::{Candidate, Eligibility, Excerpter, PerLevel};
use crate::block_view::{BlockView, default_categories};
use crate::config::{DriverConfig, Objective, OutputMode};
use crate::cost::{Counter, DetailCosts, count_blocks};
use crate::detail::{DetailLevel, Excerpt};
use crate::excerpt::{ExcerptBlock, ExcerptKey, KnownExcerpts, PassageCosts};
use crate::fmt::{group_thousands, plural};
use crate::objective::{RankFactors, ValueModel};
use crate::plan::{DecisionReason, PlanItem, RenderDecision};
use crate::prompt_cache::PreviousPart;
use crate::render::envelope;
use crate::shares::Shares;
use crate::warning::{Warning, WarningCode};

/// The blocks with their costs, candidates and groups, independent of the budget.
pub(super) struct Scan<'b, 'c> {
    pub(super) blocks: &'b [Block<'b>],
    pub(super) metas: &'b [BlockMeta<'b>],
    pub(super) config: &'c DriverConfig,
    /// The valid duplicates of the configuration.
    pub(super) duplicates: Option<Cow<'c, Replacements>>,
    pub(super) estimator: &'c dyn TokenEstimator,
    /// The indices of the blocks that can be shown, and their costs.
    pub(super) shown: Vec<(usize, DetailCosts)>,
    pub(super) envelope: u64,
    pub(super) candidates: Vec<Candidate>,
    pub(super) values: Vec<PerLevel>,
    /// The previous text, while the plan keeps it.
    pub(super) previous: Option<PreviousText<'c>>,
    pub(super) groups: BlockGroups,
    /// The facts about each block of the pack.
    pub(super) facts: Vec<BlockFacts>,
}

/// The properties of a block that every plan shares. They are stored together because each plan
/// reads all of them.
pub(super) struct BlockFacts {
    block_type: BlockType,
    priority: Priority,
    pub(super) label: Arc<str>,
    pub(super) category: Arc<str>,
    why: Arc<[Arc<str>]>,
    full_tokens: u32,
    content_tokens: u32,
}

impl BlockFacts {
    /// Returns the plan item of the block. `tokens` is the cost of its part.
    pub(super) fn item(
        &self,
        decision: RenderDecision,
        reason: DecisionReason,
        tokens: u32,
    ) -> PlanItem {
        PlanItem {
            block_type: self.block_type,
            label: Arc::clone(&self.label),
            priority: self.priority,
            category: Arc::clone(&self.category),
            decision,
            reason,
            why: Arc::clone(&self.why),
            tokens,
            full_tokens: self.full_tokens,
            content_tokens: self.content_tokens,
        }
    }
}

impl<'b, 'c> Scan<'b, 'c> {
    pub(super) fn new(
        blocks: &'b [Block<'b>],
        metas: &'b [BlockMeta<'b>],
        config: &'c DriverConfig,
        duplicates: Option<Cow<'c, Replacements>>,
        estimator: &'c dyn TokenEstimator,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        warn_of_counts(estimator, warnings);
        let mut counter = Counter::new(estimator);
        let envelope = envelope_tokens(&mut counter, config.mode);
        let mut scan = Self {
            blocks,
            metas,
            config,
            duplicates,
            estimator,
            shown: Vec::new(),
            envelope,
            candidates: Vec::new(),
            values: Vec::new(),
            previous: None,
            groups: BlockGroups::default(),
            facts: facts(blocks, metas, config.shares.as_ref()),
        };
        let is_shown = |i: &usize| {
            !blocks[*i].content.is_metadata()
                && config.asks_for(&blocks[*i])
                && !scan.duplicates.as_ref().is_some_and(|all| all.is_removed(*i))
        };
        let shown: Vec<_> = (0..blocks.len()).filter(is_shown).collect();
        scan.groups = BlockGroups::new(blocks, metas, &shown);
        let each = count_blocks(&mut counter, blocks, metas, &shown, config.mode);
        for (at, (i, view, costs)) in each.enumerate() {
            warn_of_block(i, &blocks[i], &view, &costs, warnings);
            scan.candidates.push(scan.candidate(at, i, &view, &costs));
            scan.facts[i].full_tokens = costs.cost(DetailLevel::Full);
            scan.facts[i].content_tokens = costs.content;
            scan.shown.push((i, costs));
        }
        if let Objective::Value(values) = config.objective {
            scan.values = level_values(&values, &scan.candidates, &scan.shown);
        }
        scan
    }

    /// Returns the index of the share of block `i`, or the number of shares if its category has no
    /// share.
    fn share(&self, i: usize) -> usize {
        self.config.shares.as_ref().map_or(0, |shares| {
            shares.index_of(&self.facts[i].category).unwrap_or(shares.as_slice().len())
        })
    }

    fn candidate(
        &self,
        at: usize,
        i: usize,
        view: &BlockView<'_>,
        costs: &DetailCosts,
    ) -> Candidate {
        let is_newest = self.groups.newest == Some(at);
        Candidate {
            // Annotations can only give finite ranks, so the newest turn has the highest one.
            rank: if is_newest { Some(f64::INFINITY) } else { self.metas[i].rank },
            may_be_cut: view.content.is_some(),
            has_passages: !view.passages.is_empty(),
            share: self.share(i),
            group: self.groups.group[at],
            ..candidate_from_costs(self.groups.priorities[at], costs, self.config.fill)
        }
    }
}

/// The parts of the previous text, which do not change.
#[derive(Debug)]
pub(super) struct PreviousText<'k> {
    pub(super) parts: &'k [PreviousPart],
    /// The candidate of each part, in the order of the text.
    pub(super) order: Vec<usize>,
    /// The annotations in force in the previous text, by block.
    pub(super) metas: HashMap<usize, BlockMeta<'k>>,
    /// The index of the part of each candidate that has one.
    pub(super) part_of: HashMap<usize, usize>,
    /// Candidates of the previous plan without a part.
    pub(super) excluded: Vec<usize>,
    /// Tokens of the previous text, up to the end of its last part.
    pub(super) tokens: u32,
}

impl PreviousText<'_> {
    pub(super) fn part(&self, at: usize) -> Option<&PreviousPart> {
        self.part_of.get(&at).map(|&part| &self.parts[part])
    }
}

/// Returns the facts about each block, with zero tokens.
fn facts(
    blocks: &[Block<'_>],
    metas: &[BlockMeta<'_>],
    shares: Option<&Shares>,
) -> Vec<BlockFacts> {
    let names = labels(blocks, metas).into_iter().zip(categories(blocks, metas, shares));
    let facts =
        |((block, meta), (label, category)): ((&Block<'_>, &BlockMeta<'_>), _)| BlockFacts {
            block_type: block.block_type(),
            priority: meta.priority,
            label,
            category,
            why: meta.reasons.iter().map(|reason| reason.as_ref().into()).collect(),
            full_tokens: 0,
            content_tokens: 0,
        };
    blocks.iter().zip(metas).zip(names).map(facts).collect()
}

/// Returns the category of each block: from its tag, otherwise the first default category that has
/// a share, otherwise the first default category.
///
/// A known category from a tag gives way to a default category if only the latter has a share
/// (RFC 0012 §9): the writer of the pack could not know the shares.
fn categories(
    blocks: &[Block<'_>],
    metas: &[BlockMeta<'_>],
    shares: Option<&Shares>,
) -> Vec<Arc<str>> {
    // Most blocks have one of a few categories, so equal names share a string.
    let mut known: HashMap<&str, Arc<str>> = HashMap::new();
    let mut categories = Vec::with_capacity(blocks.len());
    for (block, meta) in blocks.iter().zip(metas) {
        let is_share = |name: &&str| shares.is_some_and(|all| all.index_of(name).is_some());
        let tagged = meta.category.as_deref();
        let is_final = |name: &&str| is_share(name) || !category::ALL.contains(name);
        let name = tagged.filter(is_final).unwrap_or_else(|| {
            let defaults = default_categories(&block.content);
            let with_share = defaults.iter().copied().find(is_share);
            with_share.or(tagged).or(defaults.first().copied()).unwrap_or_default()
        });
        categories.push(Arc::clone(known.entry(name).or_insert_with(|| name.into())));
    }
    categories
}

/// Returns the candidate for a priority and costs alone, with SPEC_08's ceilings.
pub(crate) fn candidate_from_costs(
    priority: Priority,
    costs: &DetailCosts,
    fill: bool,
) -> Candidate {
    let level = costs.level();
    let ceiling = match priority {
        _ if fill => DetailLevel::Full,
        Priority::Critical | Priority::High | Priority::Normal => DetailLevel::Full,
        Priority::Low => level.unwrap_or(DetailLevel::Placeholder),
        Priority::Background => DetailLevel::Placeholder,
    };
    let has_content = |(detail, _): &&(DetailLevel, u32)| *detail < DetailLevel::Placeholder;
    Candidate {
        priority,
        rank: None,
        costs: costs.details.iter().map(|&(_, cost)| u64::from(cost)).collect(),
        ceiling: costs.max_level(ceiling),
        content_levels: costs.details.iter().filter(has_content).count(),
        may_grow: priority == Priority::Low && level.is_none(),
        may_be_cut: false,
        has_passages: false,
        share: 0,
        group: None,
        eligibility: Eligibility::Competes,
    }
}

pub(crate) fn envelope_tokens(counter: &mut Counter<'_>, mode: OutputMode) -> u64 {
    let (opening, closing) = envelope(mode);
    u64::from(counter.count(opening)) + u64::from(counter.count(closing))
}

/// Returns the label of each block in reports. Chat turns and tool results have few different
/// labels, so they share strings.
fn labels(blocks: &[Block<'_>], metas: &[BlockMeta<'_>]) -> Vec<Arc<str>> {
    const KNOWN_MAX: usize = 16;
    let mut known: Vec<Arc<str>> = Vec::new();
    let label = |(block, meta): (&Block<'_>, &BlockMeta<'_>)| {
        let label = meta.label(block);
        if !matches!(block.block_type(), BlockType::Conversation | BlockType::ToolResult) {
            return label.into();
        }
        if let Some(known) = known.iter().find(|known| known.as_ref() == label) {
            return Arc::clone(known);
        }
        let label: Arc<str> = label.into();
        if known.len() < KNOWN_MAX {
            known.push(Arc::clone(&label));
        }
        label
    };
    blocks.iter().zip(metas).map(label).collect()
}

fn level_values(
    model: &ValueModel,
    candidates: &[Candidate],
    shown: &[(usize, DetailCosts)],
) -> Vec<PerLevel> {
    // Fixed blocks do not compete, and the newest turn is ranked above all others.
    let competing = candidates.iter().filter(|candidate| !candidate.is_fixed());
    let ranks = competing.filter_map(|candidate| candidate.rank).filter(|rank| rank.is_finite());
    let ranks = RankFactors::from_ranks(ranks, model.highest_factor());
    let values = |(candidate, (_, costs)): (&Candidate, &(usize, DetailCosts))| {
        let factor = ranks.factor(candidate.rank);
        let worth =
            |(detail, _): &(DetailLevel, u32)| model.value(candidate.priority, factor, *detail);
        costs.details.iter().map(worth).collect()
    };
    candidates.iter().zip(shown).map(values).collect()
}

pub(crate) fn warn_of_counts(estimator: &dyn TokenEstimator, warnings: &mut Vec<Warning>) {
    if !estimator.is_exact() {
        let message = format!("token counts are estimates ({})", estimator.name());
        warnings.push(Warning::new(WarningCode::EstimatedCounts, None, message));
    }
    if let Some(caveat) = estimator.caveat() {
        warnings.push(Warning::new(WarningCode::TokenizerFallback, None, caveat));
    }
}

/// Warns of content that cannot be shown exactly, and of levels that are not used.
pub(crate) fn warn_of_block(
    i: usize,
    block: &Block<'_>,
    view: &BlockView<'_>,
    costs: &DetailCosts,
    warnings: &mut Vec<Warning>,
) {
    if view.lossy {
        let message = "content is not valid UTF-8; invalid bytes are shown as U+FFFD";
        warnings.push(Warning::new(WarningCode::NonUtf8Content, Some(i), message));
    }
    if let BlockType::Other(code) = block.block_type() {
        let message =
            format!("unknown block type {code:#04x}; this version cannot interpret its content");
        warnings.push(Warning::new(WarningCode::UnknownBlockType, Some(i), message));
    }
    // The summary of a short turn may well cost more than the turn. That alone is not a mistake.
    if view.detailed.or(view.tags).is_some() {
        for (detail, cost, fuller) in costs.dominated() {
            let name = detail.name();
            let message = format!(
                "ignored level {name}: it costs {}, no less than a fuller level ({})",
                plural(cost, "token"),
                group_thousands(fuller.into())
            );
            warnings.push(Warning::new(WarningCode::CostlyLevel, Some(i), message));
        }
    }
}

/// A cache of the excerpts of a scan's candidates, so that each size is made once.
pub(super) struct ExcerptCache<'s, 'b, 'c> {
    scan: &'s Scan<'b, 'c>,
    counter: Counter<'c>,
    made: KnownExcerpts,
}

impl<'s, 'b, 'c> ExcerptCache<'s, 'b, 'c> {
    pub(super) fn new(scan: &'s Scan<'b, 'c>) -> Self {
        let counter = Counter::new(scan.estimator);
        Self { scan, counter, made: KnownExcerpts::default() }
    }

    pub(super) fn get(&self, i: usize, key: ExcerptKey) -> Option<&(Excerpt, u32)> {
        self.made.get(i, key)
    }

    /// Calls `make` with a candidate.
    fn with<R>(
        &mut self,
        i: usize,
        make: impl FnOnce(&mut KnownExcerpts, ExcerptBlock<'_, '_>, &mut Counter<'_>) -> R,
    ) -> R {
        let scan = self.scan;
        let (block, costs) = &scan.shown[i];
        let view = BlockView::new(&scan.blocks[*block], &scan.metas[*block]);
        let (content_tokens, mode) = (costs.content, scan.config.mode);
        make(&mut self.made, ExcerptBlock { view: &view, content_tokens, mode }, &mut self.counter)
    }
}

impl Excerpter for ExcerptCache<'_, '_, '_> {
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
        self.with(i, |made, block, counter| made.make_passages(i, shown, block, counter))
    }
}
