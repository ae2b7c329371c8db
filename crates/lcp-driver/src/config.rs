//! The configuration of a rendering.

use lcp_types::{Block, BlockType, Replacements};

pub use crate::detail::{OutputMode, Verbosity};
pub use crate::objective::Objective;
use crate::prompt_cache::StableOptions;
use crate::segments::pack::PackSegments;
use crate::shares::Shares;

/// The behavior if the text must exceed the budget: Critical blocks do not fit, or the verbosity
/// ignores the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Render the text, with a warning.
    #[default]
    Allow,
    /// Fail with an error that states the excess.
    Deny,
}

/// The conditions under which a block may be shown in part (RFC 0004 §7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Excerpts {
    /// Only with [`DriverConfig::fill`].
    #[default]
    WithFill,
    /// Always.
    On,
    /// Never: a block is shown in full, by a level that it carries, or by one line.
    Off,
}

/// The format, the budget and the further options of a rendering.
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
    /// The format of the text. Default: XML.
    pub mode: OutputMode,
    /// If `true`, each line of code and documents begins with its number, as in `12: let x = 1;`
    /// (RFC 0013 §6). The numbers count as tokens. Default: `false`.
    pub line_numbers: bool,
    /// The maximum tokens of the whole text; 0 is valid. `None` shows every block in full.
    pub token_budget: Option<u32>,
    /// The amount of detail of each block. Default: as much as the budget allows.
    pub verbosity: Verbosity,
    /// The types of blocks to render; `None` renders all. Blocks of other types are treated as if
    /// they were not in the pack.
    pub types: Option<Vec<BlockType>>,
    /// If `true`, leftover budget shows Low and then Background blocks in full, beyond SPEC_08's
    /// ceilings. Default: `false`.
    pub fill: bool,
    /// The condition under which a block may be shown in part if neither it nor its summary fits.
    /// Default: only with `fill`.
    pub excerpts: Excerpts,
    /// The rule by which blocks compete for the budget. Default: tiers.
    pub objective: Objective,
    /// Options to keep the previous text unchanged, so that prompt caches stay valid (RFC 0005 §6).
    /// They need a budget and the verbosity `Adaptive`. `None` makes every plan from scratch.
    pub stable: Option<StableOptions>,
    /// The shares of the budget, one for each named category. With `None` all blocks compete for
    /// the whole budget.
    pub shares: Option<Shares>,
    /// The segments of the pack, each of which is shown at one level (RFC 0012). Priorities only
    /// matter for Critical and pinned blocks then, and for Background blocks, which are not shown.
    /// Shares, `fill`, the objective and stable plans have no effect. If the levels leave tokens,
    /// excerpts show more of single blocks. Segments need a budget and the verbosity `Adaptive`.
    pub segments: Option<PackSegments>,
    /// The duplicates that `lcp-dedup` found among the blocks (RFC 0006 §8). `None` means that
    /// deduplication did not run.
    pub duplicates: Option<Replacements>,
    /// The behavior if the text must exceed the budget.
    pub overflow: Overflow,
}

impl DriverConfig {
    /// Returns whether an index with costs can replace the blocks in a plan (RFC 0003 §7). All of
    /// these conditions must hold:
    ///
    /// - There is a budget, the verbosity is `Adaptive`, and the objective is `Strict`.
    /// - Stable plans, shares, segments, duplicates and line numbers are not set.
    ///
    /// ```
    /// use lcp_driver::{DriverConfig, Verbosity};
    ///
    /// let config = DriverConfig { token_budget: Some(5_000), ..DriverConfig::default() };
    /// assert!(config.is_planned_by_costs());
    /// let full = DriverConfig { verbosity: Verbosity::Full, ..config };
    /// assert!(!full.is_planned_by_costs());
    /// ```
    #[must_use]
    pub fn is_planned_by_costs(&self) -> bool {
        self.token_budget.is_some()
            && self.verbosity == Verbosity::Adaptive
            && self.objective == Objective::Strict
            && self.stable.is_none()
            && self.shares.is_none()
            && self.segments.is_none()
            && self.duplicates.is_none()
            && !self.line_numbers
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
