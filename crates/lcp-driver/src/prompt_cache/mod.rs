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
//! let previous = first.plan.stable.map(|stable| Arc::new(stable.next));
//! config.stable = Some(StableOptions { previous, ..StableOptions::default() });
//! blocks.push(Block::conversation(Role::Assistant, "A stream of typed blocks."));
//! let second = driver.run(&blocks, &config)?;
//! assert!(second.text.starts_with(&first.text));
//! assert_eq!(second.plan.stable.unwrap().turn, TextReuse::Appended);
//! # Ok::<(), lcp_driver::DriverError>(())
//! ```

#[cfg(feature = "serde")]
mod json;
mod previous_plan;
mod watermarks;

use std::sync::Arc;

#[cfg(feature = "serde")]
pub use json::PlanFileError;
pub use previous_plan::PreviousPlan;
pub(crate) use previous_plan::{Fingerprint, PreviousBlock, PreviousPart, block_fingerprint};
pub use watermarks::{WatermarkError, Watermarks};

/// What a stable plan starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StableOptions {
    /// When to pack anew, and down to where.
    pub watermarks: Watermarks,
    /// The plan of the previous turn; `None` on the first.
    pub previous: Option<Arc<PreviousPlan>>,
}

/// What became of the previous text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextReuse {
    /// There was none that could be used.
    Fresh,
    /// All its parts stand as they were; new ones follow.
    Appended,
    /// Everything was packed anew.
    Repacked,
}

impl TextReuse {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Appended => "appended",
            Self::Repacked => "repacked",
        }
    }
}

/// Why a text was packed anew, or is above its high watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepackReason {
    /// It would have been above the high watermark.
    HighWatermark,
    /// A block became Critical or pinned, and was not in full.
    BecameCritical,
    /// The newest user turn was not in the text, or not in full, and a plan made anew shows more of
    /// it.
    Question,
    /// A tool call and its result would have been torn apart.
    Pair,
    /// Critical and pinned blocks and the newest user turn alone reach the low watermark: packing
    /// anew cannot help, so it was appended up to the budget.
    CriticalAboveLow,
    /// The turn has more tokens than lie between the watermarks: packing anew would be due every
    /// turn, so it was appended up to the budget.
    TurnAboveGap,
}

impl RepackReason {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighWatermark => "high_watermark",
            Self::BecameCritical => "became_critical",
            Self::Question => "question",
            Self::Pair => "pair",
            Self::CriticalAboveLow => "critical_above_low",
            Self::TurnAboveGap => "turn_above_gap",
        }
    }
}

/// What a stable plan kept, and what the next one needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableOutcome {
    /// What became of the previous text.
    pub turn: TextReuse,
    /// Why it was packed anew, or is above the high watermark.
    pub cause: Option<RepackReason>,
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
    pub next: PreviousPlan,
}
