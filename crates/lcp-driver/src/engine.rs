//! From blocks to a plan: resolve, scan, walk, render once, and check.

use lcp_types::{Block, BlockType, Priority};

use crate::budget::cost::{Costs, Counter, Detail};
use crate::budget::walk::{Allocation, Item, Outcome, Terms, walk};
use crate::budget::{RenderDecision, TokenEstimator};
use crate::config::{DriverConfig, Overflow, Verbosity};
use crate::error::DriverError;
use crate::meta::{Meta, resolve};
use crate::plan::{Plan, PlanItem, Reason, RolledUp};
use crate::render::envelope;
use crate::text::{self, Layout};
use crate::view::{self, Head, View};
use crate::warning::{Warning, WarningCode};

/// How often a plan is made anew where counts of parts do not add up.
const ATTEMPTS_MAX: u32 = 8;

/// Plans `blocks`; the text is rendered once, to count it.
pub(crate) fn plan(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<Plan, DriverError> {
    planned_text(blocks, config, estimator).map(|(plan, _)| plan)
}

/// Plans `blocks`, and gives the text that the plan makes.
pub(crate) fn planned_text(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<(Plan, String), DriverError> {
    let mut warnings = Vec::new();
    let metas = resolve(blocks, &mut warnings);
    let scan = Scan::new(blocks, &metas, config, estimator, &mut warnings);
    let (decided, text, used) = match (config.token_budget, config.verbosity) {
        (Some(budget), Verbosity::Adaptive) => scan.adaptive(budget, &mut warnings)?,
        _ => scan.everything(&mut warnings)?,
    };
    cap_warnings(&mut warnings);
    Ok((scan.plan(decided, used, warnings), text))
}

/// The first pass: what each block is and what it could cost.
struct Scan<'b, 'c> {
    blocks: &'b [Block<'b>],
    metas: &'b [Meta<'b>],
    config: &'c DriverConfig,
    estimator: &'c dyn TokenEstimator,
    /// The indices of the blocks that can be shown, and their costs.
    shown: Vec<(usize, Costs)>,
    /// The envelope's tokens.
    envelope: u64,
    /// What the walk needs of each shown block.
    items: Vec<Item>,
}

/// What a block becomes, before the costs of the final text are known.
type Decided = (RenderDecision, Reason);

impl<'b, 'c> Scan<'b, 'c> {
    fn new(
        blocks: &'b [Block<'b>],
        metas: &'b [Meta<'b>],
        config: &'c DriverConfig,
        estimator: &'c dyn TokenEstimator,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        if !estimator.is_exact() {
            let message = format!("token counts are estimates ({})", estimator.name());
            warnings.push(Warning::new(WarningCode::EstimatedCounts, None, message));
        }
        if let Some(caveat) = estimator.caveat() {
            warnings.push(Warning::new(WarningCode::TokenizerFallback, None, caveat));
        }
        let mut counter = Counter::new(estimator);
        let (opening, closing) = envelope(config.mode);
        let envelope = u64::from(counter.count(opening)) + u64::from(counter.count(closing));
        let mut scan = Self {
            blocks,
            metas,
            config,
            estimator,
            shown: Vec::new(),
            envelope,
            items: Vec::new(),
        };
        for (i, block) in blocks.iter().enumerate() {
            if !view::is_metadata(block) && scan.asked_for(block) {
                let view = View::new(block, &metas[i]);
                warn_of_block(i, block, &view, warnings);
                let costs = counter.costs(&view, config.mode);
                scan.items.push(scan.item(&metas[i], &costs));
                scan.shown.push((i, costs));
            }
        }
        scan
    }

    fn asked_for(&self, block: &Block<'_>) -> bool {
        self.config.types.as_ref().is_none_or(|types| types.contains(&block.block_type()))
    }

    fn item(&self, meta: &Meta<'_>, costs: &Costs) -> Item {
        let has_summary = meta.summary.is_some();
        let ceiling = match meta.priority {
            _ if self.config.fill => Detail::Full,
            Priority::Critical | Priority::High | Priority::Normal => Detail::Full,
            Priority::Low if has_summary => Detail::Summary,
            Priority::Low | Priority::Background => Detail::Placeholder,
        };
        Item {
            priority: meta.priority,
            rank: meta.rank,
            costs: costs.details.iter().map(|&(_, cost)| u64::from(cost)).collect(),
            ceiling: costs.ceiling(ceiling),
            telling: costs
                .details
                .iter()
                .filter(|(detail, _)| *detail < Detail::Placeholder)
                .count(),
            may_grow: meta.priority == Priority::Low && !has_summary,
        }
    }

    /// The second pass: within the budget.
    fn adaptive(
        &self,
        budget: u32,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Decided>, String, u32), DriverError> {
        let attempt = |allocation: &Allocation| {
            let decided = self.decide(allocation);
            let text = self.text(&decided);
            // The figure that counts: never from a cache.
            let used = self.estimator.recount(&text);
            (decided, text, used)
        };
        let mut available = u64::from(budget);
        // Where the counts of parts add up, the first plan is the last. Where
        // they do not, the excess is taken off and the plan made again.
        for _ in 0..ATTEMPTS_MAX {
            let allocation = self.walk(available);
            let (decided, text, used) = attempt(&allocation);
            let fits = allocation.outcome == Outcome::Fits;
            if (fits && used <= budget) || (!fits && available == u64::from(budget)) {
                self.warn_of(&allocation, budget, used, warnings)?;
                return Ok((decided, text, used));
            }
            if !fits {
                break;
            }
            // What the plan left is no part of the excess.
            let spent = available.saturating_sub(allocation.left);
            available = spent.saturating_sub(u64::from(used - budget));
        }
        // Critical blocks and the roll-up line, else Critical blocks alone.
        let counted = self.smallest(Outcome::Fits);
        let (decided, text, used) = attempt(&counted);
        if used <= budget {
            return Ok((decided, text, used));
        }
        let alone = self.smallest(Outcome::BelowFloor);
        let (decided, text, used) = attempt(&alone);
        self.warn_of(&alone, budget, used, warnings)?;
        Ok((decided, text, used))
    }

    fn walk(&self, budget: u64) -> Allocation {
        let rest: Vec<_> =
            self.items.iter().zip(&self.shown).filter(|(item, _)| is_rest(item)).collect();
        let tokens = rest.iter().map(|(_, (_, costs))| u64::from(costs.content)).sum();
        // More blocks and more tokens only add digits, so this is a bound.
        let all = RolledUp { count: rest.len(), tokens };
        let line = text::roll_up_line(all, self.config.mode);
        let line = u64::from(self.estimator.estimate(&line));
        let terms = Terms { budget, envelope: self.envelope, line, fill: self.config.fill };
        walk(&self.items, terms)
    }

    /// Critical blocks alone: what is left where nothing else helps.
    fn smallest(&self, outcome: Outcome) -> Allocation {
        let chosen =
            self.items.iter().map(|item| (item.priority == Priority::Critical).then_some(0));
        Allocation { chosen: chosen.collect(), outcome, left: 0 }
    }

    /// The decision for every block of the pack, and its reason.
    fn decide(&self, allocation: &Allocation) -> Vec<Decided> {
        let mut decided = self.undecided();
        let fits = allocation.outcome == Outcome::Fits;
        let shown = self.shown.iter().zip(&self.items).zip(&allocation.chosen);
        for (((i, costs), item), chosen) in shown {
            decided[*i] = match *chosen {
                None if fits && item.priority != Priority::Background => {
                    (RenderDecision::RolledUp, Reason::OverBudget)
                }
                None => (RenderDecision::Omit, Reason::OverBudget),
                Some(detail) => {
                    let reason = reason(item, detail);
                    (self.decision(*i, costs, costs.details[detail].0), reason)
                }
            };
        }
        decided
    }

    fn decision(&self, i: usize, costs: &Costs, detail: Detail) -> RenderDecision {
        match detail {
            Detail::Full => RenderDecision::Full,
            Detail::Summary => RenderDecision::Summary,
            Detail::Placeholder => RenderDecision::Placeholder {
                block_type: self.blocks[i].block_type(),
                description: self.label(i),
                omitted_tokens: costs.content,
            },
        }
    }

    /// What is decided without a budget: metadata and what was not asked for.
    fn undecided(&self) -> Vec<Decided> {
        let decide = |block: &Block<'_>| {
            if view::is_metadata(block) {
                (RenderDecision::Metadata, Reason::Metadata)
            } else {
                (RenderDecision::Filtered, Reason::Filtered)
            }
        };
        self.blocks.iter().map(decide).collect()
    }

    /// Without a budget, or with a verbosity that ignores it (SPEC_08 §6).
    fn everything(
        &self,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Vec<Decided>, String, u32), DriverError> {
        let mut decided = self.undecided();
        for (i, _) in &self.shown {
            let summary =
                self.config.verbosity == Verbosity::Summary && self.metas[*i].summary.is_some();
            decided[*i] = if summary {
                (RenderDecision::Summary, Reason::Verbosity)
            } else {
                (RenderDecision::Full, Reason::NoBudget)
            };
        }
        let text = text::render(self.blocks, self.metas, self.config.mode, &self.layout(&decided));
        let used = self.estimator.recount(&text);
        if let Some(budget) = self.config.token_budget.filter(|budget| used > *budget) {
            let needed = u64::from(used);
            self.allow(needed, budget)?;
            let verbosity = self.config.verbosity.name();
            let message = format!(
                "verbosity {verbosity} ignores the budget: the text has {needed} tokens, {} over {budget}",
                needed - u64::from(budget),
            );
            warnings.push(Warning::new(WarningCode::BudgetIgnored, None, message));
        }
        Ok((decided, text, used))
    }

    fn allow(&self, needed: u64, budget: u32) -> Result<(), DriverError> {
        match self.config.overflow {
            Overflow::Allow => Ok(()),
            Overflow::Deny => {
                let excess = needed - u64::from(budget);
                Err(DriverError::OverBudget { needed, budget, excess })
            }
        }
    }

    fn warn_of(
        &self,
        allocation: &Allocation,
        budget: u32,
        used: u32,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), DriverError> {
        if used > budget {
            self.allow(u64::from(used), budget)?;
            let message = format!(
                "the critical blocks alone have {used} tokens, {} over the budget of {budget}",
                used - budget,
            );
            warnings.push(Warning::new(WarningCode::OverBudget, None, message));
        } else if allocation.outcome != Outcome::Fits && self.items.iter().any(is_rest) {
            let message = format!(
                "a budget of {budget} is too small for even a line that says what is omitted"
            );
            warnings.push(Warning::new(WarningCode::BelowFloor, None, message));
        }
        Ok(())
    }

    fn text(&self, decided: &[Decided]) -> String {
        text::render(self.blocks, self.metas, self.config.mode, &self.layout(decided))
    }

    fn layout(&self, decided: &[Decided]) -> Layout {
        let mut rolled_up = RolledUp { count: 0, tokens: 0 };
        for (i, costs) in &self.shown {
            if decided[*i].0 == RenderDecision::RolledUp {
                rolled_up.count += 1;
                rolled_up.tokens += u64::from(costs.content);
            }
        }
        Layout {
            shown: self
                .shown
                .iter()
                .filter_map(|(i, costs)| Some((*i, Detail::of(&decided[*i].0)?, costs.content)))
                .collect(),
            rolled_up: (rolled_up.count > 0).then_some(rolled_up),
        }
    }

    /// The plan of what was decided, each block with what it costs.
    fn plan(&self, decided: Vec<Decided>, used: u32, warnings: Vec<Warning>) -> Plan {
        let layout = self.layout(&decided);
        let mut items: Vec<_> = decided
            .into_iter()
            .enumerate()
            .map(|(i, (decision, reason))| PlanItem {
                block_type: self.blocks[i].block_type(),
                label: self.label(i),
                priority: self.metas[i].priority,
                category: self.category(i),
                decision,
                reason,
                tokens: 0,
                full_tokens: 0,
                content_tokens: 0,
            })
            .collect();
        for (i, costs) in &self.shown {
            let item = &mut items[*i];
            item.tokens = costs.of(&item.decision);
            item.full_tokens = costs.full;
            item.content_tokens = costs.content;
        }
        let roll_up = layout.rolled_up.map_or(0, |rolled_up| {
            self.estimator.estimate(&text::roll_up_line(rolled_up, self.config.mode))
        });
        // An empty text pays nothing: `share_out` shares its zero tokens.
        let overhead_tokens = share_out(&mut items, self.envelope + u64::from(roll_up), used);
        Plan {
            mode: self.config.mode,
            verbosity: self.config.verbosity,
            budget: self.config.token_budget,
            encoding: self.estimator.name().to_owned(),
            exact: self.estimator.is_exact(),
            items,
            rolled_up: layout.rolled_up,
            used_tokens: used,
            overhead_tokens,
            warnings,
        }
    }

    fn label(&self, i: usize) -> String {
        Head::new(&self.blocks[i], None).label().to_owned()
    }

    fn category(&self, i: usize) -> String {
        match &self.metas[i].category {
            Some(category) => category.to_string(),
            None => view::default_category(self.blocks[i].block_type()).to_owned(),
        }
    }
}

/// Whether a block is one that a text must show or count.
fn is_rest(item: &Item) -> bool {
    !matches!(item.priority, Priority::Critical | Priority::Background)
}

/// Warnings of one kind that are given one by one; the rest is counted.
const WARNINGS_OF_A_KIND_MAX: usize = 50;

/// Keeps the first warnings of each kind, and says how many more there are.
fn cap_warnings(warnings: &mut Vec<Warning>) {
    let mut counts: Vec<(WarningCode, usize)> = Vec::new();
    warnings.retain(|warning| {
        let known = counts.iter().position(|(code, _)| *code == warning.code);
        let at = known.unwrap_or_else(|| {
            counts.push((warning.code, 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
        counts[at].1 <= WARNINGS_OF_A_KIND_MAX
    });
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > WARNINGS_OF_A_KIND_MAX) {
        let message = format!("and {} more of this kind", count - WARNINGS_OF_A_KIND_MAX);
        warnings.push(Warning::new(code, None, message));
    }
}

/// What a reader of the text should know of a block.
fn warn_of_block(i: usize, block: &Block<'_>, view: &View<'_>, warnings: &mut Vec<Warning>) {
    if view.lossy {
        let message = "the content is not UTF-8; U+FFFD stands for what is not";
        warnings.push(Warning::new(WarningCode::NonUtf8Content, Some(i), message));
    }
    if let BlockType::Other(code) = block.block_type() {
        let message = format!("blocks of type {code:#04x} are unknown to this version");
        warnings.push(Warning::new(WarningCode::UnknownBlockType, Some(i), message));
    }
}

/// Why a block has the detail that it has.
fn reason(item: &Item, detail: usize) -> Reason {
    match detail {
        _ if item.priority == Priority::Critical => Reason::Critical,
        0 => Reason::Fits,
        detail if detail <= item.ceiling => Reason::Ceiling,
        _ => Reason::OverBudget,
    }
}

/// Makes the tokens of the items and the overhead add up to `used`, and gives
/// the overhead.
///
/// For additive estimators they do already. For others the difference is
/// spread in proportion, each part rounded so that the sums up to it are.
fn share_out(items: &mut [PlanItem], overhead: u64, used: u32) -> u32 {
    let parts = items.iter().map(|item| u64::from(item.tokens)).sum::<u64>() + overhead;
    let used = u64::from(used);
    let (mut sum, mut given) = (0u64, 0u64);
    let mut share = |tokens: u64| {
        sum += tokens;
        // At most two factors of 32 and 54 bits: a u128 holds them.
        let up_to = u128::from(sum) * u128::from(used) / u128::from(parts.max(1));
        let up_to = u64::try_from(up_to).unwrap_or(used);
        let share = up_to - given;
        given = up_to;
        u32::try_from(share).unwrap_or(u32::MAX)
    };
    let overhead = share(overhead);
    for item in items {
        item.tokens = share(u64::from(item.tokens));
    }
    overhead
}
