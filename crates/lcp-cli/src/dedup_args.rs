//! Flags of deduplication.

use clap::ValueEnum;
use lcp_app::dedup::DedupOptions;
use lcp_dedup::{DedupLevel as Level, Survivor};

/// Flags of deduplication.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DedupArgs {
    /// Show once what stands twice: equal blocks; `overlap`: also lines of one
    /// file and outdated reads; `near`: also texts that are nearly alike; off
    /// unless lcp.toml says otherwise
    #[arg(long, value_name = "LEVEL")]
    dedup: Option<DedupLevel>,
    /// Which of two stays: the `best` ranked, or the `first`, which keeps a
    /// prompt cache; first with --previous or --plan, else best
    #[arg(long, alias = "dedup-keep", value_name = "WHICH")]
    dedup_prefer: Option<Preference>,
}

/// What is looked for: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum DedupLevel {
    Off,
    Exact,
    Overlap,
    Near,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Preference {
    Best,
    First,
}

impl DedupArgs {
    /// Returns the flags of this level.
    pub fn at_level(level: Option<Option<Level>>) -> Self {
        let dedup = level.map(|level| match level {
            None => DedupLevel::Off,
            Some(Level::Exact) => DedupLevel::Exact,
            Some(Level::Overlap) => DedupLevel::Overlap,
            Some(Level::Near) => DedupLevel::Near,
        });
        Self { dedup, ..Self::default() }
    }

    /// Returns the options that these flags ask for.
    pub fn options(self) -> DedupOptions {
        DedupOptions {
            level: self.dedup.map(|level| match level {
                DedupLevel::Off => None,
                DedupLevel::Exact => Some(Level::Exact),
                DedupLevel::Overlap => Some(Level::Overlap),
                DedupLevel::Near => Some(Level::Near),
            }),
            prefer: self.dedup_prefer.map(|keep| match keep {
                Preference::Best => Survivor::Best,
                Preference::First => Survivor::First,
            }),
        }
    }
}
