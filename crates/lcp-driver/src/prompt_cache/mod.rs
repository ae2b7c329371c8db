//! Stable plans: the beginning of the text does not change between turns, so that a prompt cache
//! can reuse it (RFC 0005 §6).
//!
//! The plan of each turn returns in [`Plan::stable`](crate::Plan::stable) the data that the next
//! turn needs. While a text stays under its high watermark, every part of the previous text keeps
//! its bytes and its position, and new blocks follow. A text above the high watermark is repacked
//! once, down to the low watermark.
//!
//! Give newer blocks a higher [rank](lcp_types::Tag::RANK) (in a manifest `"tags": ["rank=12"]`).
//! Within a priority the order is by rank, then by position, so without ranks a repack keeps the
//! oldest blocks.
//!
//! ```
//! use std::sync::Arc;
//!
//! use lcp_driver::prompt_cache::{StableOptions, TextReuse};
//! use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
//! use lcp_types::{Block, Role};
//!
//! let driver = DefaultDriver::default();
//! let mut config = DriverConfig {
//!     token_budget: Some(1_000),
//!     mode: OutputMode::Minimal,
//!     stable: Some(StableOptions::default()),
//!     ..DriverConfig::default()
//! };
//! let mut blocks = vec![Block::conversation(Role::User, "What is a pack?")];
//! let first = driver.run(&blocks, &config)?;
//!
//! let previous = first.plan.stable.map(|stable| Arc::new(stable.next_plan));
//! config.stable = Some(StableOptions { previous, ..StableOptions::default() });
//! blocks.push(Block::conversation(Role::Assistant, "A stream of typed blocks."));
//! let second = driver.run(&blocks, &config)?;
//! assert!(second.text.starts_with(&first.text));
//! assert_eq!(second.plan.stable.unwrap().reuse, TextReuse::Appended);
//! # Ok::<(), lcp_driver::DriverError>(())
//! ```

#[cfg(feature = "serde")]
mod json;
mod previous_plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::fixed_point::{BILLION, billionths};
#[cfg(feature = "serde")]
pub use json::PlanFileError;
pub use previous_plan::PreviousPlan;
pub(crate) use previous_plan::{Fingerprint, PreviousBlock, PreviousPart, block_fingerprint};

/// The options of a stable plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StableOptions {
    /// The watermarks that decide when and how far the text is repacked.
    pub watermarks: Watermarks,
    /// The plan of the previous turn; `None` on the first turn.
    pub previous: Option<Arc<PreviousPlan>>,
}

lcp_types::named_enum! {
    /// The reuse of the previous text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum TextReuse {
        /// There is no previous text, or it could not be used.
        Fresh = "fresh",
        /// All parts of the previous text are unchanged; new parts follow.
        Appended = "appended",
        /// The text was repacked.
        Repacked = "repacked",
    }
}

lcp_types::named_enum! {
    /// The reason why a text was repacked, or why it exceeds its high watermark.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum RepackReason {
        /// The text would have exceeded the high watermark.
        HighWatermark = "high_watermark",
        /// A block that was not shown in full became Critical or pinned.
        BecameCritical = "became_critical",
        /// The newest user turn was not in the text or not in full, and a repacked text shows more
        /// of it.
        NewestUserTurn = "question",
        /// A tool call and its result would have been separated.
        SplitToolCall = "pair",
        /// The text was appended to, up to the budget: Critical and pinned blocks and the newest
        /// user turn alone reach the low watermark, so a repack cannot help.
        CriticalAboveLow = "critical_above_low",
        /// The text was appended to, up to the budget: the new blocks have more tokens than lie
        /// between the watermarks, so every turn would need a repack.
        TurnAboveGap = "turn_above_gap",
    }
}

/// The result of a stable plan: the reuse of the previous text, and the data for the next turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableOutcome {
    /// The reuse of the previous text.
    pub reuse: TextReuse,
    /// The reason for a repack, or for a text above the high watermark.
    pub repack_reason: Option<RepackReason>,
    /// The high watermark, in tokens.
    pub high_tokens: u32,
    /// The low watermark, in tokens.
    pub low_tokens: u32,
    /// The end of the last part of this text, in bytes. A cache may keep the text up to here; the
    /// roll-up line and the end of the envelope follow.
    pub prefix_bytes: usize,
    /// Tokens of the text up to `prefix_bytes`.
    pub prefix_tokens: u32,
    /// Tokens of the previous text up to the end of its last part; 0 without a previous text.
    pub previous_tokens: u32,
    /// The length of the common beginning of this text and the previous one, in bytes, up to the
    /// end of a part.
    pub kept_bytes: usize,
    /// Tokens of the text up to `kept_bytes`.
    pub kept_tokens: u32,
    /// The indices of the blocks that have a part, in the order of the text.
    pub order: Vec<usize>,
    /// The value of [`StableOptions::previous`] for the next turn.
    pub next_plan: PreviousPlan,
}

/// The two fractions of the budget between which a stable text grows (RFC 0005 §6). Default: 0.9
/// and 0.7.
///
/// ```
/// use lcp_driver::prompt_cache::Watermarks;
///
/// assert_eq!(Watermarks::default().tokens(100_000), (90_000, 70_000));
/// assert!(Watermarks::new(0.5, 0.8).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermarks {
    /// The fraction in billionths, like `low`.
    high: u64,
    low: u64,
}

/// The error for invalid watermarks.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("watermarks must satisfy 0 < low < high <= 1, got high {high} and low {low}")]
pub struct WatermarkError {
    /// The given high watermark.
    pub high: f64,
    /// The given low watermark.
    pub low: f64,
}

impl Watermarks {
    /// Creates watermarks from two fractions of the budget.
    ///
    /// # Errors
    ///
    /// Returns a [`WatermarkError`] unless 0 < `low` < `high` ≤ 1. The comparison is in billionths.
    pub fn new(high: f64, low: f64) -> Result<Self, WatermarkError> {
        let (in_billionths, low_billionths) = (billionths(high), billionths(low));
        if !(0.0..=1.0).contains(&high) || low_billionths == 0 || low_billionths >= in_billionths {
            return Err(WatermarkError { high, low });
        }
        Ok(Self { high: in_billionths, low: low_billionths })
    }

    /// Returns the high and the low watermark of a budget, in tokens, rounded down.
    #[must_use]
    pub fn tokens(&self, budget: u32) -> (u32, u32) {
        let of = |part: u64| u32::try_from(u64::from(budget) * part / BILLION).unwrap_or(budget);
        (of(self.high), of(self.low))
    }

    /// Returns the smallest budget whose high watermark is at least this number of tokens.
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
