//! Flags of deduplication.

use lcp_app::dedup::DedupOptions;
use lcp_app::names::DEDUP_LEVELS;
use lcp_dedup::{DedupLevel, Survivor};

use crate::arguments::by_name;

/// A level, or none for `off`. (An `Option` of an `Option` would be a flag without a value.)
type LevelOrOff = Option<DedupLevel>;

/// Flags of deduplication.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DedupArgs {
    /// Show once what stands twice: equal blocks; `overlap`: also lines of one
    /// file and outdated reads; `near`: also texts that are nearly alike; off
    /// unless lcp.toml says otherwise
    #[arg(long, value_name = "LEVEL", value_parser = by_name(DEDUP_LEVELS))]
    dedup: Option<LevelOrOff>,
    /// Which of two stays: the `best` ranked, or the `first`, which keeps a
    /// prompt cache; first with --previous or --plan, else best
    #[arg(long, alias = "dedup-keep", value_name = "WHICH",
        value_parser = by_name([("best", Survivor::Best), ("first", Survivor::First)]))]
    dedup_prefer: Option<Survivor>,
}

impl DedupArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(self) -> DedupOptions {
        DedupOptions { level: self.dedup, prefer: self.dedup_prefer }
    }
}
