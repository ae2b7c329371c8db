//! Flags of deduplication.

use lcp_app::dedup::DedupOptions;
use lcp_app::names::DEDUP_LEVELS;
use lcp_dedup::{DedupLevel, Survivor};

use crate::arguments::by_name;

/// A level, or `None` for `off`. The alias is needed because clap treats a literal
/// `Option<Option<_>>` as a flag with an optional value.
type LevelOrOff = Option<DedupLevel>;

/// The flags of deduplication.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DedupArgs {
    /// Duplicates to remove [default: off]
    ///
    /// `exact` removes blocks with the same content, `overlap` also overlapping line ranges of a
    /// file and outdated reads, `near` also near-duplicates. `[context.dedup]` of
    /// lcp.toml changes the default.
    #[arg(long, value_name = "LEVEL", value_parser = by_name(DEDUP_LEVELS))]
    dedup: Option<LevelOrOff>,
    /// Duplicate to keep: the highest ranked or the first [default: best]
    ///
    /// With `first`, the beginning of a growing pack stays the same. This is the default for stable
    /// plans, which keep prompt caches valid. `keep` of lcp.toml changes the default.
    #[arg(long, alias = "dedup-keep", value_name = "RULE",
        value_parser = by_name([("best", Survivor::Best), ("first", Survivor::First)]))]
    dedup_prefer: Option<Survivor>,
}

impl DedupArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(self) -> DedupOptions {
        DedupOptions { level: self.dedup, prefer: self.dedup_prefer }
    }
}
