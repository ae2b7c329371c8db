//! The conversion of an allocation to a decision and a reason for each block.

use lcp_types::Priority;

use super::RenderedPlan;
use super::overflow::check_allowed;
use super::scan::{ExcerptCache, Scan};
use super::share_budgets::ShareBudgets;
use crate::allocate::{Allocation, Eligibility, Outcome, Selection};
use crate::assemble::{Layout, MetaLookup, assemble};
use crate::config::{Objective, Verbosity};
use crate::cost::{DetailCosts, recount};
use crate::detail::{DetailLevel, ShownDetail};
use crate::error::DriverError;
use crate::fmt::{group_thousands, plural};
use crate::plan::{DecisionReason, RenderDecision, RollUp};
use crate::warning::{Warning, WarningCode};

/// The decision for a block, its reason, and its tokens before the final text is counted.
pub(super) type BlockDecision = (RenderDecision, DecisionReason, u32);

impl Scan<'_, '_> {
    /// Returns the decision for every block that can be shown.
    pub(super) fn decide(
        &self,
        allocation: &Allocation,
        shares: &ShareBudgets,
        excerpter: &ExcerptCache<'_, '_, '_>,
    ) -> Vec<BlockDecision> {
        let fits = allocation.outcome == Outcome::Fits;
        let cap_left = shares.cap_left(&self.candidates, allocation);
        let decide = |(at, (i, costs)): (usize, &(usize, DetailCosts))| {
            let (candidate, selection) = (&self.candidates[at], allocation.chosen[at]);
            if let Some(part) = self.previous.as_ref().and_then(|previous| previous.part(at)) {
                return (
                    self.decision_for(*i, costs, part.shown.clone()),
                    DecisionReason::Unchanged,
                    part.cost,
                );
            }
            let reason = self.reason(at, selection, allocation, cap_left.get(candidate.share));
            let unseen = if fits && candidate.needs_mention() {
                RenderDecision::RolledUp
            } else {
                RenderDecision::Omit
            };
            match selection {
                None => (unseen, reason, 0),
                Some(Selection::Level(detail)) => {
                    let (detail, cost) = costs.details[detail];
                    (self.decision_for(*i, costs, ShownDetail::Level(detail)), reason, cost)
                }
                Some(Selection::Excerpt { key, .. }) => match excerpter.get(at, key) {
                    Some((excerpt, cost)) => {
                        (RenderDecision::Excerpt(excerpt.clone().into()), reason, *cost)
                    }
                    None => (unseen, reason, 0),
                },
            }
        };
        self.shown.iter().enumerate().map(decide).collect()
    }

    /// Returns the decision that shows block `i` in this detail.
    fn decision_for(&self, i: usize, costs: &DetailCosts, shown: ShownDetail) -> RenderDecision {
        let detail = match shown {
            ShownDetail::Level(detail) => detail,
            ShownDetail::Excerpt(excerpt) => return RenderDecision::Excerpt(excerpt.into()),
        };
        match detail {
            DetailLevel::Full => RenderDecision::Full,
            DetailLevel::Detailed => RenderDecision::Detailed,
            DetailLevel::Summary => RenderDecision::Summary,
            DetailLevel::Tags => RenderDecision::Tags,
            DetailLevel::Placeholder => RenderDecision::Placeholder {
                block_type: self.blocks[i].block_type(),
                description: self.facts[i].label.as_ref().into(),
                omitted_tokens: costs.content,
            },
        }
    }

    /// Plans without a budget, or with a verbosity that ignores it (SPEC_08 §6).
    pub(super) fn plan_without_budget(
        &self,
        budget: Option<u32>,
        warnings: &mut Vec<Warning>,
    ) -> Result<RenderedPlan, DriverError> {
        let decide = |(at, (i, costs)): (usize, &(usize, DetailCosts))| {
            let summary = self.config.verbosity == Verbosity::Summary
                && self.metas[*i].summary.is_some()
                && !self.groups.pinned[at];
            if summary {
                (
                    RenderDecision::Summary,
                    DecisionReason::Verbosity,
                    costs.cost(DetailLevel::Summary),
                )
            } else {
                (RenderDecision::Full, DecisionReason::NoBudget, costs.cost(DetailLevel::Full))
            }
        };
        let decisions: Vec<_> = self.shown.iter().enumerate().map(decide).collect();
        let rendered = self.finalize(decisions, true);
        if let Some(budget) = budget.filter(|budget| rendered.used > *budget) {
            let needed = u64::from(rendered.used);
            check_allowed(self.config.overflow, needed, budget)?;
            let verbosity = self.config.verbosity.name();
            let message = format!(
                "verbosity {verbosity} ignores the budget: the text has {}, {} over the budget of {}",
                plural(needed, "token"),
                group_thousands(needed - u64::from(budget)),
                group_thousands(budget.into()),
            );
            warnings.push(Warning::new(WarningCode::BudgetIgnored, None, message));
        }
        Ok(rendered)
    }

    /// Renders and counts the text of these decisions.
    pub(super) fn finalize(&self, decisions: Vec<BlockDecision>, fits: bool) -> RenderedPlan {
        let previous = self.previous.as_ref().map(|previous| &previous.metas);
        let metas = MetaLookup { own: self.metas, previous };
        let layout = self.layout(&decisions);
        let text = assemble(self.blocks, metas, self.config.mode, &layout);
        // The count of the final text is authoritative, so it never comes from a cache.
        let used = recount(self.estimator, &text.text);
        RenderedPlan {
            decisions,
            text,
            rolled_up: layout.rolled_up,
            used,
            fits,
            optimality: None,
            segments: Vec::new(),
        }
    }

    /// Returns the order of the parts: first those of the previous text, then the others.
    pub(super) fn text_order(&self, decisions: &[BlockDecision]) -> Vec<usize> {
        let previous = self.previous.as_ref();
        let mut order = previous.map_or_else(Vec::new, |previous| previous.order.clone());
        let is_new = |at: &usize| previous.is_none_or(|previous| previous.part(*at).is_none());
        let shown = (0..decisions.len()).filter(|&at| decisions[at].0.is_shown());
        order.extend(shown.filter(is_new));
        order
    }

    fn layout(&self, decisions: &[BlockDecision]) -> Layout {
        let mut rolled_up = RollUp { count: 0, tokens: 0 };
        for ((_, costs), (decision, ..)) in self.shown.iter().zip(decisions) {
            if *decision == RenderDecision::RolledUp {
                rolled_up.count += 1;
                rolled_up.tokens += u64::from(costs.content);
            }
        }
        let shown = self.text_order(decisions).into_iter().filter_map(|at| {
            let (i, costs) = &self.shown[at];
            Some((*i, ShownDetail::from_decision(&decisions[at].0)?, costs.content))
        });
        Layout { shown: shown.collect(), rolled_up: (rolled_up.count > 0).then_some(rolled_up) }
    }

    /// Returns the reason for a decision. `cap_left` has the tokens left under the cap of the
    /// share.
    fn reason(
        &self,
        at: usize,
        selection: Option<Selection>,
        allocation: &Allocation,
        cap_left: Option<&u64>,
    ) -> DecisionReason {
        let candidate = &self.candidates[at];
        let over = || {
            let paid = selection.map_or(0, |selection| selection.cost(candidate));
            let next = candidate.costs.iter().rev().find(|cost| **cost > paid);
            // A larger budget does not help against a cap.
            let capped =
                next.is_some_and(|next| cap_left.is_some_and(|cap_left| next - paid > *cap_left));
            if capped { DecisionReason::ShareCap } else { DecisionReason::OverBudget }
        };
        let strict = self.config.objective == Objective::Strict;
        let waits = strict && !allocation.at_ceiling && !self.config.fill;
        match selection {
            _ if candidate.eligibility == Eligibility::Excluded => DecisionReason::Deferred,
            _ if self.groups.pinned[at] => DecisionReason::Pinned,
            _ if candidate.priority == Priority::Critical => DecisionReason::Critical,
            Some(Selection::Level(0)) => DecisionReason::Fits,
            _ if !candidate.is_cut(selection, waits) => DecisionReason::Ceiling,
            None if candidate.priority == Priority::Background && waits => {
                DecisionReason::Background
            }
            _ => over(),
        }
    }
}
