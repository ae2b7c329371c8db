//! What a caller asks for.

use lcp_types::{Block, BlockType, Replacements};

pub use crate::detail::{OutputMode, Verbosity};
pub use crate::objective::Objective;
use crate::prompt_cache::StableOptions;
use crate::shares::Shares;

/// What to do where the text must be larger than the budget: Critical blocks that do not fit, or a
/// verbosity that ignores the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Render it, with a warning.
    #[default]
    Allow,
    /// Fail, and say by how much.
    Deny,
}

/// When a block may be shown in part (RFC 0004 §7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Excerpts {
    /// With [`DriverConfig::fill`].
    #[default]
    WithFill,
    /// Always.
    On,
    /// Never: a block is shown whole, by a level that it carries, or by a line.
    Off,
}

/// What to render, how, and within which budget.
///
/// ```
/// use lcp_driver::{DriverConfig, OutputMode};
///
/// let config = DriverConfig {
///     token_budget: Some(8_000),
///     mode: OutputMode::Markdown,
///     ..DriverConfig::default()
/// };
/// assert!(!config.fill);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriverConfig {
    /// The format; XML by default.
    pub mode: OutputMode,
    /// Tokens that the whole text may have, 0 included. `None`: every block in full.
    pub token_budget: Option<u32>,
    /// How much of each block; what the budget allows by default.
    pub verbosity: Verbosity,
    /// Only blocks of these types; `None` for all. The others are left out as if they were not in
    /// the pack.
    pub types: Option<Vec<BlockType>>,
    /// Lift SPEC_08's ceilings: what is left of the budget shows Low and then Background blocks in
    /// full. Off by default.
    pub fill: bool,
    /// Whether blocks that do not fit, and have no summary that does, may be shown in part; with
    /// `fill` by default.
    pub excerpts: Excerpts,
    /// How blocks compete; tiers by default.
    pub objective: Objective,
    /// Keep what the previous text showed, for the sake of prompt caches (RFC 0005 §6). Needs a
    /// budget and the verbosity `Adaptive`. `None`: every plan is made afresh.
    pub stable: Option<StableOptions>,
    /// Named parts of the budget that blocks of a category share; `None`: all blocks compete for
    /// the whole.
    pub shares: Option<Shares>,
    /// Which of the blocks others cover: what `lcp-dedup` found in them (RFC 0006 §8). `None`:
    /// nothing was looked for.
    pub duplicates: Option<Replacements>,
    /// What to do where the text must be larger than the budget.
    pub overflow: Overflow,
}

impl DriverConfig {
    /// Whether what blocks cost is all that a plan needs of them, so that an index may stand for
    /// blocks (RFC 0003 §7): there is a budget, the verbosity is `Adaptive`, the objective
    /// `Strict`, and nothing is excerpted, kept from a text before, shared out or deduplicated.
    /// With `fill` blocks are excerpted, unless `excerpts` is off.
    ///
    /// ```
    /// use lcp_driver::{DriverConfig, Excerpts};
    ///
    /// let config = DriverConfig { token_budget: Some(5_000), ..DriverConfig::default() };
    /// assert!(config.is_planned_by_costs());
    /// let filled = DriverConfig { fill: true, ..config };
    /// assert!(!filled.is_planned_by_costs());
    /// assert!(DriverConfig { excerpts: Excerpts::Off, ..filled }.is_planned_by_costs());
    /// ```
    #[must_use]
    pub fn is_planned_by_costs(&self) -> bool {
        self.token_budget.is_some()
            && self.verbosity == Verbosity::Adaptive
            && self.objective == Objective::Strict
            && !self.excerpts()
            && self.stable.is_none()
            && self.shares.is_none()
            && self.duplicates.is_none()
    }

    pub(crate) fn asks_for(&self, block: &Block<'_>) -> bool {
        self.asks_for_type(block.block_type())
    }

    pub(crate) fn asks_for_type(&self, block_type: BlockType) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(&block_type))
    }

    pub(crate) fn excerpts(&self) -> bool {
        match self.excerpts {
            Excerpts::WithFill => self.fill,
            Excerpts::On => true,
            Excerpts::Off => false,
        }
    }
}
