//! From blocks to a plan: resolve, scan, walk, render once, and check.
//!
//! `duplicates.rs` says which blocks others cover, `scan.rs` finds what each of
//! the others is and could cost (`counting.rs`), `sharing.rs` which share of the budget pays for
//! it, `relations.rs` what blocks are to each other; the walk (`budget/walk.rs`)
//! or the objective value (`budget/value/`) allocates; `decide.rs` says what that
//! means for each block and why, `finish.rs` makes the plan. `stable.rs`
//! keeps what the text before showed. `indexed.rs` plans by an index, without the
//! blocks.

pub(crate) mod counting;
mod decide;
mod duplicates;
mod finish;
pub(crate) mod indexed;
mod relations;
mod scan;
mod sharing;
mod shortfall;
mod stable;

use lcp_types::{Block, Priority};

use crate::budget::TokenEstimator;
use crate::budget::value;
use crate::budget::walk::{Allocation, Item, Outcome, Standing, Terms, fixed_alone, walk};
use crate::config::{DriverConfig, Objective, OutputMode, Verbosity};
use crate::error::DriverError;
use crate::meta::resolve;
use crate::plan::{OptimalityBound, Plan, RollUp};
use crate::prompt_cache::{StableOptions, StableOutcome};
use crate::text::{self, Text};
use crate::warning::{Warning, WarningCode};
use decide::Decided;
use scan::{Cutter, Scan};
use sharing::Sharing;
use shortfall::Shortfall;

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
    let duplicates = duplicates::sound(blocks, config);
    let metas = resolve(blocks, duplicates.as_deref(), &mut warnings);
    let mut scan = Scan::new(blocks, &metas, config, duplicates, estimator, &mut warnings);
    let made = scan.make(config.token_budget, config.stable.as_ref(), &mut warnings)?;
    scan.finish(config.token_budget, made, warnings)
}

/// Plans `blocks` for each of these budgets; they are scanned once.
pub(crate) fn replay(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    budgets: &[u32],
    estimator: &dyn TokenEstimator,
) -> Result<Vec<Plan>, DriverError> {
    let mut warnings = Vec::new();
    let duplicates = duplicates::sound(blocks, config);
    let metas = resolve(blocks, duplicates.as_deref(), &mut warnings);
    let mut scan = Scan::new(blocks, &metas, config, duplicates, estimator, &mut warnings);
    let mut run = |budget: &u32| {
        let mut warnings = warnings.clone();
        let made = scan.make(Some(*budget), None, &mut warnings)?;
        scan.finish(Some(*budget), made, warnings).map(|(plan, _)| plan)
    };
    budgets.iter().map(&mut run).collect()
}

/// What was decided, and the text of it.
#[derive(Debug)]
struct Settled {
    /// For each block that can be shown.
    decided: Vec<Decided>,
    text: Text,
    rolled_up: Option<RollUp>,
    /// The tokens of the text.
    used: u32,
    /// Whether the budget holds more than Critical blocks.
    fits: bool,
    optimality: Option<OptimalityBound>,
}

/// All that a plan is made of.
struct Made {
    settled: Settled,
    sharing: Sharing,
    stable: Option<StableOutcome>,
}

impl<'c> Scan<'_, 'c> {
    fn make(
        &mut self,
        budget: Option<u32>,
        stable: Option<&'c StableOptions>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Made, DriverError> {
        let Some(budget) = budget.filter(|_| self.config.verbosity == Verbosity::Adaptive) else {
            if stable.is_some() {
                let message = "nothing is kept of a text: stable plans need a budget and the \
                               verbosity adaptive";
                warnings.push(Warning::new(WarningCode::NoEffect, None, message));
            }
            let settled = self.everything(budget, warnings)?;
            return Ok(Made { settled, sharing: Sharing::default(), stable: None });
        };
        if let Some(stable) = stable {
            return self.stable(budget, stable, warnings);
        }
        let mut sharing = Sharing::new(self, budget, warnings);
        let settled = self.adaptive(budget, &mut sharing, warnings)?;
        Ok(Made { settled, sharing, stable: None })
    }

    /// The second pass: within the budget.
    fn adaptive(
        &self,
        budget: u32,
        sharing: &mut Sharing,
        warnings: &mut Vec<Warning>,
    ) -> Result<Settled, DriverError> {
        let mut cutter = Cutter::new(self);
        let line = self.roll_up_bound();
        let mut available = u64::from(budget);
        let mut optimality = None;
        // Where the counts of parts add up, the first plan is the last. Where
        // they do not, the excess is taken off and the plan made again.
        for _ in 0..ATTEMPTS_MAX {
            let (allocation, own) = self.allocate(available, line, sharing, &mut cutter);
            // The first knows the whole budget: what it says no plan exceeds.
            optimality = optimality.or(own).zip(own).map(|(first, own)| first.of(own.value));
            let settled = self.attempt(&allocation, sharing, &cutter, optimality);
            let used = settled.used;
            let fits = allocation.outcome == Outcome::Fits;
            let over_caps = self.over_caps(sharing, &settled);
            if fits && used <= budget && over_caps.iter().any(|over| *over > 0) {
                sharing.lower_caps(&over_caps);
                continue;
            }
            if (fits && used <= budget) || (!fits && available == u64::from(budget)) {
                self.shortfall().warn_of(&allocation, budget, used, warnings)?;
                return Ok(settled);
            }
            if !fits {
                break;
            }
            // What the plan left is no part of the excess.
            let spent = available.saturating_sub(allocation.left);
            available = spent.saturating_sub(u64::from(used - budget));
        }
        // Critical blocks and the roll-up line, else Critical blocks alone.
        let optimality = optimality.map(|optimality| optimality.of(0));
        let counted = self.smallest(Outcome::Fits);
        let settled = self.attempt(&counted, sharing, &cutter, optimality);
        if settled.used <= budget {
            self.shortfall().warn_of(&counted, budget, settled.used, warnings)?;
            return Ok(settled);
        }
        let alone = self.smallest(Outcome::BelowFloor);
        let settled = self.attempt(&alone, sharing, &cutter, optimality);
        self.shortfall().warn_of(&alone, budget, settled.used, warnings)?;
        Ok(settled)
    }

    fn allocate(
        &self,
        budget: u64,
        line: u64,
        sharing: &Sharing,
        cutter: &mut Cutter<'_, '_, '_>,
    ) -> (Allocation, Option<OptimalityBound>) {
        let terms = self.terms(budget, line, sharing);
        match self.config.objective {
            Objective::Strict => (walk(&self.items, terms, cutter), None),
            Objective::Value(_) => {
                let (allocation, optimality) =
                    value::allocate(&self.items, &self.worths, terms, cutter);
                (allocation, Some(optimality).filter(|_| self.kept.is_none()))
            }
        }
    }

    fn attempt(
        &self,
        allocation: &Allocation,
        sharing: &Sharing,
        cutter: &Cutter<'_, '_, '_>,
        optimality: Option<OptimalityBound>,
    ) -> Settled {
        let decided = self.decide(allocation, sharing, cutter);
        let fits = allocation.outcome == Outcome::Fits;
        Settled { optimality, ..self.settle(decided, fits) }
    }

    /// What is allocated, and by which rules.
    fn terms<'t>(&'t self, budget: u64, line: u64, sharing: &'t Sharing) -> Terms<'t> {
        Terms {
            budget,
            envelope: self.envelope,
            line,
            fill: self.config.fill,
            shares: &sharing.terms,
            excerpts: self.config.excerpts(),
            groups: &self.relations.groups,
            first: self.first(),
        }
    }

    /// The newest user turn, if it is served first.
    fn first(&self) -> Option<usize> {
        let is_first = |newest: &usize| {
            is_first(&self.items[*newest], self.metas[self.shown[*newest].0].priority)
        };
        self.relations.newest.filter(is_first)
    }

    /// What each share exceeds its cap by, by the count of the final text.
    fn over_caps(&self, sharing: &Sharing, settled: &Settled) -> Vec<u64> {
        if sharing.terms.is_empty() || self.estimator.is_additive() {
            return Vec::new();
        }
        sharing.excess(&self.items, &self.shared_out(settled))
    }

    /// What the roll-up line can cost at most.
    fn roll_up_bound(&self) -> u64 {
        let rest = || self.items.iter().zip(&self.shown).filter(|(item, _)| item.is_rest());
        let tokens = rest().map(|(_, (_, costs))| u64::from(costs.content)).sum();
        line_bound(RollUp { count: rest().count(), tokens }, self.config.mode, self.estimator)
    }

    /// What a text within a budget falls short of.
    fn shortfall(&self) -> Shortfall<'_> {
        let blocks = self.items.len();
        Shortfall { overflow: self.config.overflow, items: &self.items, blocks }
    }

    /// Critical blocks alone: what is left where nothing else helps.
    fn smallest(&self, outcome: Outcome) -> Allocation {
        let chosen = fixed_alone(&self.items);
        Allocation { chosen, outcome, at_ceiling: false, left: 0 }
    }
}

/// Whether the newest user turn is served first: it competes, and its own
/// priority does not say that it can wait.
fn is_first(newest: &Item, own: Priority) -> bool {
    // Who gives it a low one means it, whatever its group has.
    let waits = own > Priority::Normal;
    newest.priority == Priority::High && newest.standing == Standing::Free && !waits
}

/// What the roll-up line can cost at most, where it can stand for all of these.
fn line_bound(all: RollUp, mode: OutputMode, estimator: &dyn TokenEstimator) -> u64 {
    // More blocks and more tokens only add digits, so this is a bound.
    u64::from(estimator.estimate(&text::roll_up_line(all, mode)))
}
