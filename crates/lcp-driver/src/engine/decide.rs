//! What an allocation means for each block, and why.

use lcp_types::Priority;

use super::Settled;
use super::scan::{Cutter, Scan};
use super::sharing::Sharing;
use crate::budget::RenderDecision;
use crate::budget::cost::{Costs, Detail};
use crate::budget::walk::{Allocation, Choice, Outcome, Standing};
use crate::config::{Objective, Verbosity};
use crate::error::DriverError;
use crate::plan::{Reason, RollUp};
use crate::text::{self, Layout, Metas, Piece};
use crate::warning::{Warning, WarningCode};

/// What a block becomes, why, and its tokens before the final text is counted.
pub(super) type Decided = (RenderDecision, Reason, u32);

impl Scan<'_, '_> {
    /// The decision for every block that can be shown.
    pub(super) fn decide(
        &self,
        allocation: &Allocation,
        sharing: &Sharing,
        cutter: &Cutter<'_, '_, '_>,
    ) -> Vec<Decided> {
        let fits = allocation.outcome == Outcome::Fits;
        let cap_left = sharing.cap_left(&self.items, allocation);
        let decide = |(at, (i, costs)): (usize, &(usize, Costs))| {
            let (item, choice) = (&self.items[at], allocation.chosen[at]);
            if let Some(part) = self.kept.as_ref().and_then(|kept| kept.part(at)) {
                return (self.shows(*i, costs, part.piece), Reason::Kept, part.cost);
            }
            let reason = self.reason(at, choice, allocation, cap_left.get(item.share));
            let unseen = if fits && item.is_rest() {
                RenderDecision::RolledUp
            } else {
                RenderDecision::Omit
            };
            match choice {
                None => (unseen, reason, 0),
                Some(Choice::Detail(detail)) => {
                    let (detail, cost) = costs.details[detail];
                    (self.shows(*i, costs, Piece::Detail(detail)), reason, cost)
                }
                Some(Choice::Excerpt { most, .. }) => match cutter.made(at, most) {
                    Some((excerpt, cost)) => (RenderDecision::Excerpt(excerpt), reason, cost),
                    None => (unseen, reason, 0),
                },
            }
        };
        self.shown.iter().enumerate().map(decide).collect()
    }

    /// The decision that shows this of block `i`.
    fn shows(&self, i: usize, costs: &Costs, piece: Piece) -> RenderDecision {
        let detail = match piece {
            Piece::Detail(detail) => detail,
            Piece::Excerpt(excerpt) => return RenderDecision::Excerpt(excerpt),
        };
        match detail {
            Detail::Full => RenderDecision::Full,
            Detail::Detailed => RenderDecision::Detailed,
            Detail::Summary => RenderDecision::Summary,
            Detail::Tags => RenderDecision::Tags,
            Detail::Placeholder => RenderDecision::Placeholder {
                block_type: self.blocks[i].block_type(),
                description: self.labels[i].as_ref().into(),
                omitted_tokens: costs.content,
            },
        }
    }

    /// Without a budget, or with a verbosity that ignores it (SPEC_08 §6).
    pub(super) fn everything(
        &self,
        budget: Option<u32>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Settled, DriverError> {
        let decide = |(at, (i, costs)): (usize, &(usize, Costs))| {
            let summary = self.config.verbosity == Verbosity::Summary
                && self.metas[*i].summary.is_some()
                && !self.relations.pinned[at];
            if summary {
                (RenderDecision::Summary, Reason::Verbosity, costs.of(Detail::Summary))
            } else {
                (RenderDecision::Full, Reason::NoBudget, costs.of(Detail::Full))
            }
        };
        let decided: Vec<_> = self.shown.iter().enumerate().map(decide).collect();
        let settled = self.settle(decided, true);
        if let Some(budget) = budget.filter(|budget| settled.used > *budget) {
            let needed = u64::from(settled.used);
            self.shortfall().allow(needed, budget)?;
            let verbosity = self.config.verbosity.name();
            let message = format!(
                "verbosity {verbosity} ignores the budget: the text has {needed} tokens, {} over {budget}",
                needed - u64::from(budget),
            );
            warnings.push(Warning::new(WarningCode::BudgetIgnored, None, message));
        }
        Ok(settled)
    }

    /// The text of what was decided, and its count.
    pub(super) fn settle(&self, decided: Vec<Decided>, fits: bool) -> Settled {
        let kept = self.kept.as_ref().map(|kept| &kept.metas);
        let metas = Metas { own: self.metas, kept };
        let layout = self.layout(&decided);
        let text = text::render(self.blocks, metas, self.config.mode, &layout);
        // The figure that counts: never from a cache.
        let used = self.estimator.recount(&text.text);
        Settled { decided, text, rolled_up: layout.rolled_up, used, fits, optimality: None }
    }

    /// The places of the blocks that have a part, in the order of the text:
    /// what stands as in the text before, then the others.
    pub(super) fn text_order(&self, decided: &[Decided]) -> Vec<usize> {
        let kept = self.kept.as_ref();
        let mut order = kept.map_or_else(Vec::new, |kept| kept.order.clone());
        let is_new = |at: &usize| kept.is_none_or(|kept| kept.part(*at).is_none());
        let shown = (0..decided.len()).filter(|&at| decided[at].0.is_shown());
        order.extend(shown.filter(is_new));
        order
    }

    fn layout(&self, decided: &[Decided]) -> Layout {
        let mut rolled_up = RollUp { count: 0, tokens: 0 };
        for ((_, costs), (decision, ..)) in self.shown.iter().zip(decided) {
            if *decision == RenderDecision::RolledUp {
                rolled_up.count += 1;
                rolled_up.tokens += u64::from(costs.content);
            }
        }
        let shown = self.text_order(decided).into_iter().filter_map(|at| {
            let (i, costs) = &self.shown[at];
            Some((*i, Piece::of(&decided[at].0)?, costs.content))
        });
        Layout { shown: shown.collect(), rolled_up: (rolled_up.count > 0).then_some(rolled_up) }
    }

    /// Why a block has what it has. `cap_left` is what the cap of its share
    /// leaves, where it has one.
    fn reason(
        &self,
        at: usize,
        choice: Option<Choice>,
        allocation: &Allocation,
        cap_left: Option<&u64>,
    ) -> Reason {
        let item = &self.items[at];
        let over = || {
            let paid = choice.map_or(0, |choice| choice.cost(item));
            let next = item.costs.iter().rev().find(|cost| **cost > paid);
            // No budget helps against a cap.
            let capped =
                next.is_some_and(|next| cap_left.is_some_and(|cap_left| next - paid > *cap_left));
            if capped { Reason::ShareCap } else { Reason::OverBudget }
        };
        let strict = self.config.objective == Objective::Strict;
        let waits = strict && !allocation.at_ceiling && !self.config.fill;
        match choice {
            _ if item.standing == Standing::Out => Reason::Waits,
            _ if self.relations.pinned[at] => Reason::Pinned,
            _ if item.priority == Priority::Critical => Reason::Critical,
            Some(Choice::Detail(0)) => Reason::Fits,
            Some(Choice::Detail(detail)) if detail <= item.ceiling => {
                // What may grow once all have their ceiling, and does not, lacks room.
                if item.may_grow && !waits { over() } else { Reason::Ceiling }
            }
            None if item.priority == Priority::Background && waits => Reason::Background,
            _ => over(),
        }
    }
}
