//! What an allocation means for each block, and why.

use lcp_types::Priority;

use super::scan::{Cutter, Scan};
use super::sharing::Sharing;
use super::{Settled, scan};
use crate::budget::RenderDecision;
use crate::budget::cost::{Costs, Detail};
use crate::budget::walk::{Allocation, Choice, Item, Outcome};
use crate::config::Verbosity;
use crate::error::DriverError;
use crate::plan::{Reason, RolledUp};
use crate::text::{self, Layout, Piece};
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
            let reason = self.reason(item, choice, allocation, cap_left.get(item.share));
            let unseen = if fits && scan::is_rest(item) {
                RenderDecision::RolledUp
            } else {
                RenderDecision::Omit
            };
            match choice {
                None => (unseen, reason, 0),
                Some(Choice::Detail(detail)) => {
                    let (detail, cost) = costs.details[detail];
                    (self.decision(*i, costs, detail), reason, cost)
                }
                Some(Choice::Excerpt { most, .. }) => match cutter.made(at, most) {
                    Some((excerpt, cost)) => (RenderDecision::Excerpt(excerpt), reason, cost),
                    None => (unseen, reason, 0),
                },
            }
        };
        self.shown.iter().enumerate().map(decide).collect()
    }

    fn decision(&self, i: usize, costs: &Costs, detail: Detail) -> RenderDecision {
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
        let decide = |(i, costs): &(usize, Costs)| {
            let summary =
                self.config.verbosity == Verbosity::Summary && self.metas[*i].summary.is_some();
            if summary {
                (RenderDecision::Summary, Reason::Verbosity, costs.of(Detail::Summary))
            } else {
                (RenderDecision::Full, Reason::NoBudget, costs.of(Detail::Full))
            }
        };
        let decided: Vec<_> = self.shown.iter().map(decide).collect();
        let text = self.text(&decided);
        let used = self.estimator.recount(&text);
        if let Some(budget) = budget.filter(|budget| used > *budget) {
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

    pub(super) fn text(&self, decided: &[Decided]) -> String {
        text::render(self.blocks, self.metas, self.config.mode, &self.layout(decided))
    }

    pub(super) fn layout(&self, decided: &[Decided]) -> Layout {
        let mut layout = Layout { shown: Vec::new(), rolled_up: None };
        let mut rolled_up = RolledUp { count: 0, tokens: 0 };
        for ((i, costs), (decision, ..)) in self.shown.iter().zip(decided) {
            if *decision == RenderDecision::RolledUp {
                rolled_up.count += 1;
                rolled_up.tokens += u64::from(costs.content);
            }
            layout.shown.extend(Piece::of(decision).map(|piece| (*i, piece, costs.content)));
        }
        layout.rolled_up = (rolled_up.count > 0).then_some(rolled_up);
        layout
    }

    /// Why a block has what it has. `cap_left` is what the cap of its share
    /// leaves, where it has one.
    fn reason(
        &self,
        item: &Item,
        choice: Option<Choice>,
        allocation: &Allocation,
        cap_left: Option<&u64>,
    ) -> Reason {
        let over = || {
            let paid = choice.map_or(0, |choice| choice.cost(item));
            let next = item.costs.iter().rev().find(|cost| **cost > paid);
            // No budget helps against a cap.
            let capped =
                next.is_some_and(|next| cap_left.is_some_and(|cap_left| next - paid > *cap_left));
            if capped { Reason::ShareCap } else { Reason::OverBudget }
        };
        let waits = !allocation.at_ceiling && !self.config.fill;
        match choice {
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
