//! Figures that every form of the report gives.

use crate::append::grouped;
use crate::plan::Plan;
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

    /// A sentence that recommends a larger budget, where this one cut more
    /// than a fifth of the tokens that its blocks may have.
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
        let cut = wanted.saturating_sub(u64::from(self.used_tokens));
        (cut > wanted / 5).then(|| {
            format!(
                "a budget of {} would show everything that priorities allow; {} % of it was cut",
                grouped(wanted),
                percent(cut, wanted).unwrap_or_default()
            )
        })
    }
}

/// A part in percent of the whole, to the nearest; `None` of nothing.
pub(super) fn percent(part: u64, whole: u64) -> Option<u64> {
    (whole > 0).then(|| shares::percent(part, whole))
}
