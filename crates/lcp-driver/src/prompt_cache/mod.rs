//! Plans that keep what stands before, so that a prompt cache keeps it too (RFC 0005 §6).
//!
//! The plan of each turn says in [`Plan::stable`](crate::Plan::stable) what the next one needs.
//! While a text stays under its high watermark, every part of the one before keeps its bytes and
//! its place, and new blocks follow; above it, everything is packed anew, once, down to the low
//! watermark.
//!
//! Give newer blocks a higher [rank](lcp_types::Tag::RANK) (in a manifest `"tags": ["rank=12"]`):
//! within a priority order is by rank, then by position, so without ranks a text that is packed
//! anew keeps the oldest.
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

/// What a stable plan starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StableOptions {
    /// When to pack anew, and down to where.
    pub watermarks: Watermarks,
    /// The plan of the previous turn; `None` on the first.
    pub previous: Option<Arc<PreviousPlan>>,
}

lcp_types::named_enum! {
    /// What became of the previous text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum TextReuse {
        /// There was none that could be used.
        Fresh = "fresh",
        /// All its parts stand as they were; new ones follow.
        Appended = "appended",
        /// Everything was packed anew.
        Repacked = "repacked",
    }
}

lcp_types::named_enum! {
    /// Why a text was packed anew, or is above its high watermark.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum RepackReason {
        /// It would have been above the high watermark.
        HighWatermark = "high_watermark",
        /// A block became Critical or pinned, and was not in full.
        BecameCritical = "became_critical",
        /// The newest user turn was not in the text, or not in full, and a plan made anew shows more of
        /// it.
        NewestUserTurn = "question",
        /// A tool call and its result would have been torn apart.
        SplitToolCall = "pair",
        /// Critical and pinned blocks and the newest user turn alone reach the low watermark: packing
        /// anew cannot help, so it was appended up to the budget.
        CriticalAboveLow = "critical_above_low",
        /// The turn has more tokens than lie between the watermarks: packing anew would be due every
        /// turn, so it was appended up to the budget.
        TurnAboveGap = "turn_above_gap",
    }
}

/// What a stable plan kept, and what the next one needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableOutcome {
    /// What became of the previous text.
    pub reuse: TextReuse,
    /// Why it was packed anew, or is above the high watermark.
    pub repack_reason: Option<RepackReason>,
    /// The high watermark, in tokens.
    pub high_tokens: u32,
    /// The low watermark, in tokens.
    pub low_tokens: u32,
    /// Bytes of this text up to which a cache may keep it: the end of the last part. The roll-up
    /// line and the end of the envelope stand behind.
    pub prefix_bytes: usize,
    /// Tokens up to there.
    pub prefix_tokens: u32,
    /// Tokens of the previous text up to there; 0 without one.
    pub previous_tokens: u32,
    /// Bytes at the front of this text that are those of the previous one, up to the end of a part.
    pub kept_bytes: usize,
    /// Tokens up to there: what survived of the previous prefix.
    pub kept_tokens: u32,
    /// The blocks that have a part, by their index in the pack, in the order of the text.
    pub order: Vec<usize>,
    /// What [`StableOptions::previous`] should be in the next turn.
    pub next_plan: PreviousPlan,
}

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

    /// Returns the smallest budget whose high watermark has so many tokens.
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
