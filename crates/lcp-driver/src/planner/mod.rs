//! The planner, which turns blocks into a plan: scan, allocate, render once, and check the count.
//!
//! `scan.rs` counts the costs of every block. `groups.rs` finds the tool calls and the newest user
//! turn. `share_budgets.rs` assigns blocks to shares. `allocate` chooses levels, or `segmented.rs`
//! if the configuration divides the pack into segments. `decisions.rs`
//! converts the allocation to a decision and a reason for each block, and `plan_builder.rs` builds
//! the [`Plan`]. `prefix_stable.rs` keeps the parts of the previous text.

mod decisions;
pub(crate) mod groups;
pub(crate) mod overflow;
pub(crate) mod plan_builder;
mod prefix_stable;
pub(crate) mod scan;
mod segmented;
mod share_budgets;

use lcp_tokens::TokenEstimator;
use lcp_types::{Block, Priority};

use crate::allocate::knapsack::{ValueBounds, allocate_by_value};
use crate::allocate::{
    Allocation, AllocationInput, Candidate, Eligibility, Outcome, allocate_tiers,
};
use crate::assemble::{Text, roll_up_line};
use crate::config::{DriverConfig, Objective, OutputMode, Verbosity};
use crate::error::DriverError;
use crate::meta::{resolve, valid_duplicates};
use crate::plan::{OptimalityBound, Plan, PlanSegment, RenderDecision, RollUp};
use crate::prompt_cache::{StableOptions, StableOutcome};
use crate::warning::{Warning, WarningCode};
use decisions::BlockDecision;
use overflow::warn_of_overflow;
use scan::{ExcerptCache, Scan};
use share_budgets::ShareBudgets;

/// The maximum number of attempts with estimators whose counts of parts do not add up.
const ATTEMPTS_MAX: u32 = 8;

/// Decides how each block is shown, in pack order (SPEC_08 §3).
///
/// The decisions are those of a plan with [`DriverConfig::default`], this budget and this mode.
/// Blocks adapt to the budget under SPEC_08's ceilings, and Critical blocks are shown in full even
/// if they exceed the budget.
///
/// ```
/// use lcp_driver::budget::{HeuristicEstimator, RenderDecision, allocate_budget};
/// use lcp_driver::OutputMode;
/// use lcp_types::{Block, Lang};
///
/// let code = "let x = 1;\n".repeat(100);
/// let blocks = [Block::code(Lang::Rust, "a.rs", code.as_str()).with_summary("a hundred lets")];
/// let decide = |budget| allocate_budget(&blocks, budget, &HeuristicEstimator, OutputMode::Xml);
/// assert_eq!(decide(1_000), [RenderDecision::Full]);
/// assert_eq!(decide(100), [RenderDecision::Summary]);
/// ```
#[must_use]
pub fn allocate_budget(
    blocks: &[Block<'_>],
    budget: u32,
    estimator: &dyn TokenEstimator,
    mode: OutputMode,
) -> Vec<RenderDecision> {
    let config = DriverConfig { token_budget: Some(budget), mode, ..DriverConfig::default() };
    match plan_and_render(blocks, &config, estimator) {
        Ok((plan, _)) => plan.items.into_iter().map(|item| item.decision).collect(),
        // The default configuration allows overflow and has no shares, so planning cannot fail.
        Err(_) => vec![RenderDecision::Omit; blocks.len()],
    }
}

/// A function that plans the same blocks for different budgets.
pub type Planner<'p> = dyn FnMut(Option<u32>) -> Result<Plan, DriverError> + 'p;

pub(crate) fn plan_and_render(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
) -> Result<(Plan, String), DriverError> {
    let mut warnings = Vec::new();
    let duplicates = valid_duplicates(blocks, config);
    let metas = resolve(blocks, duplicates.as_deref(), config.line_numbers, &mut warnings);
    let mut scan = Scan::new(blocks, &metas, config, duplicates, estimator, &mut warnings);
    let inputs = scan.plan(config.token_budget, config.stable.as_ref(), &mut warnings)?;
    scan.finish(config.token_budget, inputs, warnings)
}

/// Calls `run` with a function that plans `blocks` for a budget. They are scanned once.
pub(crate) fn with_planner<R>(
    blocks: &[Block<'_>],
    config: &DriverConfig,
    estimator: &dyn TokenEstimator,
    run: impl FnOnce(&mut Planner<'_>) -> R,
) -> R {
    let mut warnings = Vec::new();
    let duplicates = valid_duplicates(blocks, config);
    let metas = resolve(blocks, duplicates.as_deref(), config.line_numbers, &mut warnings);
    let mut scan = Scan::new(blocks, &metas, config, duplicates, estimator, &mut warnings);
    run(&mut |budget| {
        let mut warnings = warnings.clone();
        let inputs = scan.plan(budget, None, &mut warnings)?;
        scan.finish(budget, inputs, warnings).map(|(plan, _)| plan)
    })
}

#[derive(Debug)]
struct RenderedPlan {
    decisions: Vec<BlockDecision>,
    text: Text,
    rolled_up: Option<RollUp>,
    /// Tokens of the text.
    used: u32,
    /// `true` if the budget fits more than the Critical blocks.
    fits: bool,
    optimality: Option<OptimalityBound>,
    /// The segments of the configuration, if they decide the levels.
    segments: Vec<PlanSegment>,
}

/// The inputs of a plan.
struct PlanInputs {
    rendered: RenderedPlan,
    shares: ShareBudgets,
    stable: Option<StableOutcome>,
}

impl<'c> Scan<'_, 'c> {
    fn plan(
        &mut self,
        budget: Option<u32>,
        stable: Option<&'c StableOptions>,
        warnings: &mut Vec<Warning>,
    ) -> Result<PlanInputs, DriverError> {
        let Some(budget) = budget.filter(|_| self.config.verbosity == Verbosity::Adaptive) else {
            if stable.is_some() {
                let message = "nothing is kept of a text: stable plans need a budget and the \
                               verbosity adaptive";
                warnings.push(Warning::new(WarningCode::NoEffect, None, message));
            }
            let rendered = self.plan_without_budget(budget, warnings)?;
            return Ok(PlanInputs { rendered, shares: ShareBudgets::default(), stable: None });
        };
        let by_segments = self.config.segments.is_some();
        if let Some(stable) = stable.filter(|_| !by_segments) {
            return self.plan_stable(budget, stable, warnings);
        }
        let mut shares = if by_segments {
            ShareBudgets::default()
        } else {
            ShareBudgets::new(self, budget, warnings)
        };
        let rendered = self.plan_adaptive(budget, &mut shares, warnings)?;
        Ok(PlanInputs { rendered, shares, stable: None })
    }

    fn plan_adaptive(
        &self,
        budget: u32,
        shares: &mut ShareBudgets,
        warnings: &mut Vec<Warning>,
    ) -> Result<RenderedPlan, DriverError> {
        let mut excerpter = ExcerptCache::new(self);
        let line = self.roll_up_bound();
        let mut available = u64::from(budget);
        let mut optimality = None;
        let (allocation, rendered) = 'accepted: {
            // If the counts of parts add up, the first attempt is accepted. Otherwise the excess is
            // subtracted from the budget of the next attempt.
            for _ in 0..ATTEMPTS_MAX {
                let (allocation, own, segments) =
                    self.allocate(available, line, shares, &mut excerpter);
                // The first attempt has the whole budget, so its bound holds for every plan.
                optimality =
                    optimality.or(own).zip(own).map(|(first, own)| first.with_value(own.value));
                let rendered = self.attempt(&allocation, shares, &excerpter, optimality);
                let rendered = RenderedPlan { segments, ..rendered };
                let used = rendered.used;
                let fits = allocation.outcome == Outcome::Fits;
                let over_caps = self.over_caps(shares, &rendered);
                if fits && used <= budget && over_caps.iter().any(|over| *over > 0) {
                    shares.lower_caps(&over_caps);
                    continue;
                }
                if (fits && used <= budget) || (!fits && available == u64::from(budget)) {
                    break 'accepted (allocation, rendered);
                }
                if !fits {
                    break;
                }
                // Tokens that the attempt left unused are not part of the excess.
                let spent = available.saturating_sub(allocation.left);
                available = spent.saturating_sub(u64::from(used - budget));
            }
            // The fallback shows the Critical blocks and the roll-up line, or the Critical blocks
            // alone.
            let optimality = optimality.map(|optimality| optimality.with_value(0));
            let with_line = self.fixed_only(Outcome::Fits);
            let rendered = self.attempt(&with_line, shares, &excerpter, optimality);
            if rendered.used <= budget {
                break 'accepted (with_line, rendered);
            }
            let alone = self.fixed_only(Outcome::BelowFloor);
            let rendered = self.attempt(&alone, shares, &excerpter, optimality);
            (alone, rendered)
        };
        let (overflow, blocks, used) = (self.config.overflow, self.candidates.len(), rendered.used);
        warn_of_overflow(overflow, &self.candidates, blocks, &allocation, budget, used, warnings)?;
        Ok(rendered)
    }

    fn allocate(
        &self,
        budget: u64,
        line: u64,
        shares: &ShareBudgets,
        excerpter: &mut ExcerptCache<'_, '_, '_>,
    ) -> (Allocation, Option<OptimalityBound>, Vec<PlanSegment>) {
        if let Some(segments) = &self.config.segments {
            let (allocation, segments) = self.allocate_segments(segments, budget, line, excerpter);
            return (allocation, None, segments);
        }
        let input = AllocationInput {
            candidates: &self.candidates,
            budget,
            envelope: self.envelope,
            line,
            fill: self.config.fill,
            shares: &shares.limits,
            excerpts: self.config.excerpts(),
            groups: &self.groups.members,
            first: self.first(),
        };
        match self.config.objective {
            Objective::Strict => (allocate_tiers(input, excerpter), None, Vec::new()),
            Objective::Value(_) => {
                let (allocation, bounds) = allocate_by_value(input, &self.values, excerpter);
                let ValueBounds { value, bound, lp_bound } = bounds;
                let optimality = OptimalityBound { value, bound, lp_bound };
                let optimality = Some(optimality).filter(|_| self.previous.is_none());
                (allocation, optimality, Vec::new())
            }
        }
    }

    fn attempt(
        &self,
        allocation: &Allocation,
        shares: &ShareBudgets,
        excerpter: &ExcerptCache<'_, '_, '_>,
        optimality: Option<OptimalityBound>,
    ) -> RenderedPlan {
        let decisions = self.decide(allocation, shares, excerpter);
        let fits = allocation.outcome == Outcome::Fits;
        RenderedPlan { optimality, ..self.finalize(decisions, fits) }
    }

    /// Returns the newest user turn, if it is served first.
    fn first(&self) -> Option<usize> {
        let is_first = |newest: &usize| {
            is_served_first(&self.candidates[*newest], self.metas[self.shown[*newest].0].priority)
        };
        self.groups.newest.filter(is_first)
    }

    /// Returns the tokens of each share over its cap, by the count of the final text.
    fn over_caps(&self, shares: &ShareBudgets, rendered: &RenderedPlan) -> Vec<u64> {
        if shares.limits.is_empty() || self.estimator.is_additive() {
            return Vec::new();
        }
        shares.excess(&self.candidates, &self.apportioned_tokens(rendered))
    }

    /// Returns the maximum cost of the roll-up line.
    fn roll_up_bound(&self) -> u64 {
        let mut rest = RollUp { count: 0, tokens: 0 };
        for (candidate, (_, costs)) in self.candidates.iter().zip(&self.shown) {
            if candidate.needs_mention() {
                rest.count += 1;
                rest.tokens += u64::from(costs.content);
            }
        }
        roll_up_bound(rest, self.config.mode, self.estimator)
    }

    fn fixed_only(&self, outcome: Outcome) -> Allocation {
        let chosen = self.candidates.iter().map(Candidate::fixed_selection).collect();
        Allocation { chosen, outcome, at_ceiling: false, left: 0 }
    }
}

/// Returns whether the newest user turn competes and has no priority below Normal of its own.
pub(crate) fn is_served_first(newest: &Candidate, own: Priority) -> bool {
    let waits = own > Priority::Normal;
    newest.priority == Priority::High && newest.eligibility == Eligibility::Competes && !waits
}

/// Returns the maximum cost of the roll-up line for at most the blocks in `all`.
pub(crate) fn roll_up_bound(all: RollUp, mode: OutputMode, estimator: &dyn TokenEstimator) -> u64 {
    // Fewer blocks or tokens never have more digits.
    u64::from(estimator.estimate(&roll_up_line(all, mode)))
}
