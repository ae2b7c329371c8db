//! Metrics of a plan that every form of the report has.

use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Replacement, Replacements};
use serde::Serialize;

use crate::fmt::group_thousands;
use crate::plan::{DecisionReason, OptimalityBound, Plan, PlanItem, RenderDecision, ShareUsage};
use crate::shares;

impl Plan {
    /// Returns the tokens of all blocks whose content is shown at some level. Placeholders, the
    /// roll-up line and the envelope do not count.
    #[must_use]
    pub fn content_tokens_shown(&self) -> u64 {
        let shown = self.items.iter().filter(|item| item.decision.has_content());
        shown.map(|item| u64::from(item.tokens)).sum()
    }

    /// Returns the fraction of the budget that shows content, to four decimals: above 1 if the text
    /// exceeds the budget; `None` without a budget or with a budget of 0.
    #[must_use]
    pub fn fill(&self) -> Option<f64> {
        let budget = u64::from(self.budget?);
        let shown = self.content_tokens_shown();
        let parts = (shown * 10_000 + budget / 2).checked_div(budget)?;
        // The conversion saturates above 429,496 times the budget, where the exact value does not
        // matter.
        Some(f64::from(u32::try_from(parts).unwrap_or(u32::MAX)) / 10_000.0)
    }

    /// Returns a sentence that recommends a larger budget, if the text lacks more than a fifth of
    /// the tokens that its blocks may have. `None` if the plan continues a previous text, which no
    /// budget would change.
    ///
    /// ```
    /// use lcp_driver::{DefaultDriver, DriverConfig};
    /// use lcp_types::{Block, Lang};
    ///
    /// let code = "let x = 1;\n".repeat(100);
    /// let blocks = [Block::code(Lang::Rust, "a.rs", code.as_str())];
    /// let plan = |budget| {
    ///     let config = DriverConfig { token_budget: budget, ..DriverConfig::default() };
    ///     DefaultDriver::default().plan(&blocks, &config)
    /// };
    /// assert!(plan(Some(60))?.suggestion().unwrap().starts_with("a budget of "));
    /// assert_eq!(plan(None)?.suggestion(), None);
    /// # Ok::<(), lcp_driver::DriverError>(())
    /// ```
    #[must_use]
    pub fn suggestion(&self) -> Option<String> {
        let wanted = self.wanted_budget?;
        if wanted <= u64::from(self.budget?) {
            return None;
        }
        let cut = wanted.saturating_sub(u64::from(self.used_tokens));
        (cut > wanted / 5).then(|| {
            format!(
                "a budget of {} would show everything that priorities and caps allow; \
                 {}% of it is cut now",
                group_thousands(wanted),
                percent(cut, wanted).unwrap_or_default()
            )
        })
    }
}

/// Returns a part in percent, rounded to nearest. Only the exact whole is 100 %.
pub(super) fn percent(part: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| match shares::percent(part, whole) {
        100 if part < whole => 99,
        100 if part > whole => 101,
        percent => percent,
    })
}

/// Returns the tokens of Critical blocks that exceed the cap of a share.
pub(super) fn over_cap(share: &ShareUsage) -> u32 {
    share.cap.map_or(0, |cap| share.used.saturating_sub(cap))
}

/// A block that is shown in less detail than allowed, for lack of budget.
pub(super) struct Cut<'p> {
    pub(super) index: usize,
    pub(super) item: &'p PlanItem,
    /// The tokens that it lacks compared to its full form.
    pub(super) tokens: u32,
}

/// Returns the cuts by the budget and the caps of shares, the largest first.
pub(super) fn cuts(plan: &Plan) -> Vec<Cut<'_>> {
    let items = plan.items.iter().enumerate();
    let mut cuts: Vec<_> = items
        .filter(|(_, item)| is_cut(item))
        .map(|(index, item)| {
            let tokens = item.full_tokens.saturating_sub(item.tokens);
            Cut { index, item, tokens }
        })
        .collect();
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.tokens));
    cuts
}

fn is_cut(item: &PlanItem) -> bool {
    // These decisions do not depend on the budget.
    if matches!(item.reason, DecisionReason::Unchanged | DecisionReason::Deferred) {
        return false;
    }
    let lacks = matches!(
        item.reason,
        DecisionReason::OverBudget | DecisionReason::ShareCap | DecisionReason::Background
    );
    matches!(item.decision, RenderDecision::Excerpt(_)) || (lacks && item.tokens < item.full_tokens)
}

#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct BlockSum {
    pub(super) blocks: u64,
    pub(super) tokens: u64,
}

impl BlockSum {
    pub(super) fn add(&mut self, item: &PlanItem) {
        self.blocks += 1;
        self.tokens += u64::from(item.tokens);
    }
}

/// Returns the number of blocks of each relation and the tokens that it saves.
pub(super) fn by_relation(
    duplicates: &Replacements,
) -> impl Iterator<Item = (&'static str, BlockSum)> {
    DuplicateKind::ALL.into_iter().map(|relation| {
        let (blocks, tokens) = duplicates.count(relation);
        (relation.name(), BlockSum { blocks: blocks as u64, tokens })
    })
}

/// Returns the covered blocks of a plan, in its order.
pub(super) fn covered(plan: &Plan) -> impl Iterator<Item = (usize, &Replacement)> {
    let all = plan.duplicates.iter().flat_map(|duplicates| &duplicates.covered);
    let is_there = |index: usize| index < plan.items.len();
    all.map(|(&index, covered)| (index, covered))
        .filter(move |(index, covered)| is_there(*index) && is_there(covered.by))
}

/// Returns the blocks that each covering block covers, in the order of the plan.
pub(super) fn covers(plan: &Plan) -> BTreeMap<usize, Vec<usize>> {
    let mut covers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, covered) in covered(plan) {
        covers.entry(covered.by).or_default().push(index);
    }
    covers
}

/// Returns the gap in `parts` of the bound, rounded up: only an optimal plan has 0.
pub(super) fn relative_gap(optimality: &OptimalityBound, parts: u32) -> u32 {
    let OptimalityBound { value, bound, .. } = *optimality;
    let missing = u128::from(bound.saturating_sub(value)) * u128::from(parts);
    let gap = missing.div_ceil(u128::from(bound.max(1)));
    u32::try_from(gap).unwrap_or(parts)
}
