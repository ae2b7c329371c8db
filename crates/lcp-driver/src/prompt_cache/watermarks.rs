//! When a stable text is packed anew, and down to where.

#[cfg(test)]
mod tests;

use crate::fixed_point::{BILLION, billionths};

/// Parts of the budget between which a stable text grows (RFC 0005 §6); by default 0.9 and 0.7.
///
/// ```
/// use lcp_driver::prompt_cache::Watermarks;
///
/// assert_eq!(Watermarks::default().tokens(100_000), (90_000, 70_000));
/// assert!(Watermarks::new(0.5, 0.8).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermarks {
    /// In billionths.
    high: u64,
    low: u64,
}

/// Watermarks that are none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the high watermark must be at most 1 and the low one above 0 and below it, they are {high} and {low}"
)]
pub struct WatermarkError {
    /// The high watermark that was given.
    pub high: f64,
    /// The low one.
    pub low: f64,
}

impl Watermarks {
    /// Watermarks as parts of the budget.
    ///
    /// # Errors
    ///
    /// Unless 0 < `low` < `high` ≤ 1.
    pub fn new(high: f64, low: f64) -> Result<Self, WatermarkError> {
        let (in_billionths, low_billionths) = (billionths(high), billionths(low));
        if !(0.0..=1.0).contains(&high) || low_billionths == 0 || low_billionths >= in_billionths {
            return Err(WatermarkError { high, low });
        }
        Ok(Self { high: in_billionths, low: low_billionths })
    }

    /// The high and the low watermark of a budget, in tokens, rounded down.
    #[must_use]
    pub fn tokens(&self, budget: u32) -> (u32, u32) {
        let of = |part: u64| u32::try_from(u64::from(budget) * part / BILLION).unwrap_or(budget);
        (of(self.high), of(self.low))
    }

    /// The smallest budget whose high watermark holds so many tokens.
    pub(crate) fn budget_for(&self, tokens: u64) -> u64 {
        let budget = (u128::from(tokens) * u128::from(BILLION)).div_ceil(u128::from(self.high));
        u64::try_from(budget).unwrap_or(u64::MAX)
    }
}

impl Default for Watermarks {
    fn default() -> Self {
        Self { high: BILLION / 10 * 9, low: BILLION / 10 * 7 }
    }
}
