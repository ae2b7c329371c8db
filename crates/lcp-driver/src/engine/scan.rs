//! The first pass: what each block is and what it could cost.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use lcp_types::{Block, BlockMeta, BlockType, Priority, Replacements};

use super::counting::counted;
use super::relations::Relations;
use super::sharing;
use super::stable::Kept;
use crate::block_view::BlockView;
use crate::budget::cost::{Costs, Counter, Detail};
use crate::budget::walk::{Cut, Item, Ladder, Standing};
use crate::budget::{Excerpt, TokenEstimator};
use crate::config::{DriverConfig, Objective, OutputMode};
use crate::excerpt;
use crate::render::envelope;
use crate::values::{Ranks, ValueModel};
use crate::warning::{Warning, WarningCode};

/// What is known of the blocks before a budget is.
pub(super) struct Scan<'b, 'c> {
    pub(super) blocks: &'b [Block<'b>],
    pub(super) metas: &'b [BlockMeta<'b>],
    pub(super) config: &'c DriverConfig,
    /// Which of them others cover, where that was looked for.
    pub(super) duplicates: Option<Cow<'c, Replacements>>,
    pub(super) estimator: &'c dyn TokenEstimator,
    /// The indices of the blocks that can be shown, and their costs.
    pub(super) shown: Vec<(usize, Costs)>,
    /// The envelope's tokens.
    pub(super) envelope: u64,
    /// What the walk needs of each shown block.
    pub(super) items: Vec<Item>,
    /// What the details of each are worth, where that decides.
    pub(super) worths: Vec<Ladder>,
    /// What stands as in the text before, while it does.
    pub(super) kept: Option<Kept<'c>>,
    /// What they are to each other.
    pub(super) relations: Relations,
    /// What reports call each block.
    pub(super) labels: Vec<Arc<str>>,
    /// The category of each block.
    pub(super) categories: Vec<Arc<str>>,
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
            items: Vec::new(),
            worths: Vec::new(),
            kept: None,
            relations: Relations::default(),
            labels: labels(blocks),
            categories: sharing::categories(blocks, metas, config.shares.as_ref()),
        };
        let is_shown = |i: &usize| {
            !blocks[*i].content.is_metadata()
                && config.asks_for(&blocks[*i])
                && !scan.duplicates.as_ref().is_some_and(|all| all.is_removed(*i))
        };
        let shown: Vec<_> = (0..blocks.len()).filter(is_shown).collect();
        scan.relations = Relations::new(blocks, metas, &shown);
        let each = counted(&mut counter, blocks, metas, &shown, config.mode);
        for (at, (i, view, costs)) in each.enumerate() {
            warn_of_block(i, &blocks[i], &view, &costs, warnings);
            scan.items.push(scan.item(at, i, &view, &costs));
            scan.shown.push((i, costs));
        }
        if let Objective::Value(values) = config.objective {
            scan.worths = worths(&values, &scan.items, &scan.shown);
        }
        scan
    }

    /// Block `i`, the one at `at` of those that can be shown.
    fn item(&self, at: usize, i: usize, view: &BlockView<'_>, costs: &Costs) -> Item {
        let is_newest = self.relations.newest == Some(at);
        Item {
            // Annotations can only give finite ones.
            rank: if is_newest { Some(f64::INFINITY) } else { self.metas[i].rank },
            may_be_cut: view.content.is_some(),
            share: self.share(i),
            group: self.relations.group[at],
            ..item_of(self.relations.priorities[at], costs, self.config.fill)
        }
    }
}

/// What priority and costs alone say of a block: SPEC_08's ceilings.
pub(super) fn item_of(priority: Priority, costs: &Costs, fill: bool) -> Item {
    let level = costs.level();
    let ceiling = match priority {
        _ if fill => Detail::Full,
        Priority::Critical | Priority::High | Priority::Normal => Detail::Full,
        Priority::Low => level.unwrap_or(Detail::Placeholder),
        Priority::Background => Detail::Placeholder,
    };
    let is_telling = |(detail, _): &&(Detail, u32)| *detail < Detail::Placeholder;
    Item {
        priority,
        rank: None,
        costs: costs.details.iter().map(|&(_, cost)| u64::from(cost)).collect(),
        ceiling: costs.ceiling(ceiling),
        telling: costs.details.iter().filter(is_telling).count(),
        may_grow: priority == Priority::Low && level.is_none(),
        may_be_cut: false,
        share: 0,
        group: None,
        standing: Standing::Free,
    }
}

/// What the envelope of a mode costs.
pub(super) fn envelope_tokens(counter: &mut Counter<'_>, mode: OutputMode) -> u64 {
    let (opening, closing) = envelope(mode);
    u64::from(counter.count(opening)) + u64::from(counter.count(closing))
}

/// What reports call each block. Those of a chat have few names, and one string
/// serves them all.
fn labels(blocks: &[Block<'_>]) -> Vec<Arc<str>> {
    const KNOWN_MAX: usize = 16;
    let mut known: Vec<Arc<str>> = Vec::new();
    let label = |block: &Block<'_>| {
        let label = block.label();
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
    blocks.iter().map(label).collect()
}

/// What the details of each item are worth, beside their costs.
fn worths(values: &ValueModel, items: &[Item], shown: &[(usize, Costs)]) -> Vec<Ladder> {
    // Fixed blocks do not compete. The newest turn is ranked above all.
    let competing = items.iter().filter(|item| !item.is_fixed());
    let ranks = competing.filter_map(|item| item.rank).filter(|rank| rank.is_finite());
    let ranks = Ranks::of(ranks, values.highest_factor());
    let worths = |(item, (_, costs)): (&Item, &(usize, Costs))| {
        let factor = ranks.factor(item.rank);
        let worth = |(detail, _): &(Detail, u32)| values.of(item.priority, factor, *detail);
        costs.details.iter().map(worth).collect()
    };
    items.iter().zip(shown).map(worths).collect()
}

/// What a reader of the text should know of its counts.
pub(super) fn warn_of_counts(estimator: &dyn TokenEstimator, warnings: &mut Vec<Warning>) {
    if !estimator.is_exact() {
        let message = format!("token counts are estimates ({})", estimator.name());
        warnings.push(Warning::new(WarningCode::EstimatedCounts, None, message));
    }
    if let Some(caveat) = estimator.caveat() {
        warnings.push(Warning::new(WarningCode::TokenizerFallback, None, caveat));
    }
}

/// What a reader of the text should know of a block.
pub(super) fn warn_of_block(
    i: usize,
    block: &Block<'_>,
    view: &BlockView<'_>,
    costs: &Costs,
    warnings: &mut Vec<Warning>,
) {
    if view.lossy {
        let message = "the content is not UTF-8; U+FFFD stands for what is not";
        warnings.push(Warning::new(WarningCode::NonUtf8Content, Some(i), message));
    }
    if let BlockType::Other(code) = block.block_type() {
        let message = format!("blocks of type {code:#04x} are unknown to this version");
        warnings.push(Warning::new(WarningCode::UnknownBlockType, Some(i), message));
    }
    // A summary alone may well be dearer than a short turn: no mistake.
    if view.detailed.or(view.tags).is_some() {
        for (detail, cost, fuller) in costs.costly() {
            let name = detail.shown().and_then(crate::render::Shown::name).unwrap_or_default();
            let message = format!(
                "its level {name} costs {cost} tokens, a fuller one {fuller}; it is not used"
            );
            warnings.push(Warning::new(WarningCode::CostlyLevel, Some(i), message));
        }
    }
}

/// Cuts blocks of a scan, each to each size once.
pub(super) struct Cutter<'s, 'b, 'c> {
    scan: &'s Scan<'b, 'c>,
    counter: Counter<'c>,
    /// By item and size.
    cuts: HashMap<(usize, u64), Option<(Excerpt, u32)>>,
}

impl<'s, 'b, 'c> Cutter<'s, 'b, 'c> {
    pub(super) fn new(scan: &'s Scan<'b, 'c>) -> Self {
        Self { scan, counter: Counter::new(scan.estimator), cuts: HashMap::new() }
    }

    /// The excerpt that was made of item `i` at this size.
    pub(super) fn made(&self, i: usize, most: u64) -> Option<(Excerpt, u32)> {
        self.cuts.get(&(i, most)).copied().flatten()
    }
}

impl Cut for Cutter<'_, '_, '_> {
    fn cut(&mut self, i: usize, most: u64) -> Option<u64> {
        let (scan, counter) = (self.scan, &mut self.counter);
        let cut = *self.cuts.entry((i, most)).or_insert_with(|| {
            let (block, costs) = &scan.shown[i];
            let view = BlockView::new(&scan.blocks[*block], &scan.metas[*block]);
            let most = u32::try_from(most).unwrap_or(u32::MAX);
            excerpt::cut(&view, costs.content, most, scan.config.mode, counter)
        });
        cut.map(|(_, cost)| u64::from(cost))
    }
}
