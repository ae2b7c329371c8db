//! Figures that every form of the report gives.

use crate::fmt::group_thousands;
use crate::plan::RenderDecision;
use crate::plan::{Plan, PlanItem, Reason, ShareUsage};
use crate::shares;

impl Plan {
    /// Tokens of the blocks of which some content is shown, tags and all:
    /// placeholders, the roll-up line and the envelope do not count.
    #[must_use]
    pub fn content_tokens_shown(&self) -> u64 {
        let shown = self.items.iter().filter(|item| item.decision.shows_content());
        shown.map(|item| u64::from(item.tokens)).sum()
    }

    /// The part of the budget that shows content, to four decimals: above 1
    /// where the text exceeds the budget; `None` without a budget, or with none
    /// of 0 tokens.
    #[must_use]
    pub fn fill(&self) -> Option<f64> {
        let budget = u64::from(self.budget?);
        let shown = self.content_tokens_shown();
        let parts = (shown * 10_000 + budget / 2).checked_div(budget)?;
        // Beyond 429,496 times the budget, one is as wrong as the other.
        Some(f64::from(u32::try_from(parts).unwrap_or(u32::MAX)) / 10_000.0)
    }

    /// A sentence that recommends a larger budget, where the text lacks more
    /// than a fifth of the tokens that its blocks may have. None where the
    /// previous text was appended to: no budget is wanted there, since none
    /// changes what is kept.
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
                 {} % of it is not shown now",
                group_thousands(wanted),
                percent(cut, wanted).unwrap_or_default()
            )
        })
    }
}

/// A part in percent of the whole, to the nearest; `None` of nothing. Only the
/// whole is 100 %: what lacks anything is less, what exceeds it is more.
pub(super) fn percent(part: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| match shares::percent(part, whole) {
        100 if part < whole => 99,
        100 if part > whole => 101,
        percent => percent,
    })
}

/// Tokens that Critical blocks of a share have beyond its cap.
pub(super) fn over_cap(share: &ShareUsage) -> u32 {
    share.cap.map_or(0, |cap| share.used.saturating_sub(cap))
}

/// A block of which less is shown than it may have, for want of room.
pub(super) struct Cut<'p> {
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) item: &'p PlanItem,
    /// Tokens that it would have in full and does not have.
    pub(super) tokens: u32,
}

/// What the budget and the caps of shares took away, the largest first; equal
/// ones in the order of the plan.
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
    // It is as it was, however much room there is.
    if matches!(item.reason, Reason::Unchanged | Reason::Waits) {
        return false;
    }
    let lacks = matches!(item.reason, Reason::OverBudget | Reason::ShareCap | Reason::Background);
    matches!(item.decision, RenderDecision::Excerpt(_)) || (lacks && item.tokens < item.full_tokens)
}
