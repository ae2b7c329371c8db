//! The flags that say what stands twice, and what is done about it (RFC 0006).

use clap::ValueEnum;
use lcp_dedup::{Deduplicated, Found, Keep, Level, Options};
use lcp_driver::{DefaultDriver, DriverConfig, Warning, WarningCode};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, DuplicateKind, Replacement, Replacements};

use crate::Result;
use crate::config::Dedup;
use crate::counting::Counter;
use crate::failure::{Code, Failure};
use lcp_packfile::handoff_index;

/// The flags that say what stands twice.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Deduping {
    /// Show once what stands twice: equal blocks; `overlap`: also lines of one
    /// file and outdated reads; `near`: also texts that are nearly alike; off
    /// unless lcp.toml says otherwise
    #[arg(long, value_name = "LEVEL")]
    dedup: Option<Wanted>,
    /// Which of two stays: the `best` ranked, or the `first`, which keeps a
    /// prompt cache; first with --previous or --plan, else best
    #[arg(long, value_name = "WHICH")]
    dedup_keep: Option<Which>,
}

/// What is looked for: each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[cfg_attr(feature = "mcp", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "mcp", schemars(inline))]
#[expect(missing_docs, reason = "they say it")]
pub enum Wanted {
    Off,
    Exact,
    Overlap,
    Near,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Best,
    First,
}

/// Blocks, and which of those before others cover.
pub struct Deduped<'b> {
    /// The blocks, each in its place or what is left of them.
    pub blocks: Vec<Block<'b>>,
    /// Which of those before others cover.
    pub duplicates: Replacements,
    /// What is odd about them.
    pub warnings: Vec<Warning>,
}

impl Deduping {
    /// At this level, if it is said.
    pub fn at_level(dedup: Option<Wanted>) -> Self {
        Self { dedup, ..Self::default() }
    }

    /// What is looked for, if anything is. `stable`: a prompt cache is to be
    /// kept.
    pub fn options(self, file: &Dedup, stable: bool) -> Option<Options> {
        let is_on = file.enabled.as_ref().is_some_and(|enabled| enabled.value);
        self.level(file, is_on).map(|level| self.at(level, file, stable))
    }

    /// The same, where it is asked for by the command itself.
    pub fn options_or_default(self, file: &Dedup) -> Option<Options> {
        self.level(file, true).map(|level| self.at(level, file, false))
    }

    fn level(self, file: &Dedup, is_on: bool) -> Option<Level> {
        match self.dedup {
            Some(Wanted::Off) => None,
            Some(Wanted::Exact) => Some(Level::Exact),
            Some(Wanted::Overlap) => Some(Level::Overlap),
            Some(Wanted::Near) => Some(Level::Near),
            None => is_on.then(|| file.level.as_ref().map_or(Dedup::LEVEL, |found| found.value)),
        }
    }

    fn at(self, level: Level, file: &Dedup, stable: bool) -> Options {
        let mut options = file.options(level);
        match self.dedup_keep {
            Some(Which::Best) => options.keep = Keep::Best,
            Some(Which::First) => options.keep = Keep::First,
            // What a cache has seen must not change from turn to turn.
            None if stable && file.keep.is_none() => options.keep = Keep::First,
            None => {}
        }
        options
    }

    /// That `--dedup-keep` decides nothing.
    pub fn idle(self, file: &Dedup) -> Option<Warning> {
        let is_off = self.options(file, false).is_none();
        self.dedup_keep.filter(|_| is_off).map(|_| {
            let message = "--dedup-keep has no effect: nothing is deduplicated";
            Warning::new(WarningCode::NoEffect, None, message)
        })
    }
}

/// Takes what stands twice in `blocks` out of their way: each in its place.
pub fn apply<'b>(
    blocks: Vec<Block<'b>>,
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<Deduped<'b>> {
    let (found, deduplicated) = find(&blocks, options, estimator)?;
    let blocks = deduplicated.in_place(blocks);
    Ok(Deduped { warnings: warnings(&found), blocks, duplicates: deduplicated.duplicates })
}

/// Rounds of [`readable`]: what refers to what is not shown becomes less with each.
const ROUNDS_MAX: usize = 4;

/// The same for a run: what refers to a block that the budget does not show in full
/// is left as it is.
pub fn readable<'b>(
    blocks: Vec<Block<'b>>,
    mut options: Options,
    driver: &DefaultDriver,
    config: &DriverConfig,
    counter: &Counter,
) -> Result<Deduped<'b>> {
    for _ in 1..ROUNDS_MAX {
        let (_, deduplicated) = find(&blocks, &options, &counter.estimator)?;
        let refers = |covered: &Replacement| {
            covered.in_place && covered.relation != DuplicateKind::Superseded
        };
        if !deduplicated.duplicates.covered.values().any(refers) {
            break;
        }
        let tried = deduplicated.in_place(blocks.clone());
        let duplicates = Some(deduplicated.duplicates);
        let config = DriverConfig { duplicates, ..config.clone() };
        // What is denied is said by the run itself.
        let Ok(plan) = driver.plan(&tried, &config) else { break };
        let unreadable = plan.unreadable();
        if unreadable.is_empty() {
            break;
        }
        options.in_text.extend(unreadable.into_iter().map(|index| (index, true)));
    }
    apply(blocks, &options, &counter.estimator)
}

/// The same as a pack of its own, without what was removed.
pub fn pack<'b>(
    blocks: &[Block<'b>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<Deduped<'b>> {
    if let Some(index) = blocks.iter().position(|block| handoff_index(block).is_some()) {
        let message = "the pack holds a hand-off, which names its blocks: nothing is deduplicated";
        let warnings = vec![Warning::new(WarningCode::NoEffect, Some(index), message)];
        return Ok(Deduped {
            warnings,
            blocks: blocks.to_vec(),
            duplicates: Replacements::default(),
        });
    }
    let (found, deduplicated) = find(blocks, options, estimator)?;
    let blocks = deduplicated.pack(blocks);
    Ok(Deduped { warnings: warnings(&found), blocks, duplicates: deduplicated.duplicates })
}

fn find<'b>(
    blocks: &[Block<'b>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<(Found, Deduplicated<'b>)> {
    let found = lcp_dedup::find(blocks, options, estimator)
        .map_err(|error| Failure::new(Code::Usage, format!("{error} [{}]", error.code())))?;
    let deduplicated = found.apply(blocks, estimator);
    Ok((found, deduplicated))
}

fn warnings(found: &Found) -> Vec<Warning> {
    let bad = found
        .bad_ranges
        .iter()
        .map(|(index, bad)| Warning::new(WarningCode::BadLineRange, Some(*index), bad.to_string()));
    let mut warnings: Vec<_> = bad.collect();
    if !found.capped.is_empty() {
        let message = format!(
            "{} blocks are like too many others to be compared with all of them; they are kept",
            found.capped.len()
        );
        warnings.push(Warning::new(WarningCode::NearCapped, None, message));
    }
    warnings
}
