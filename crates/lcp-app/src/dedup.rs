//! Deduplication of packs and of rendered texts (RFC 0006).

use std::path::Path;

use lcp_dedup::{DedupLevel, DedupResult, Detected, Options, Survivor};
use lcp_driver::{DefaultDriver, DriverConfig, Warning, WarningCode};
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, DuplicateKind, Replacement, Replacements};
use serde_json::{Value, json};

use crate::config::{Config, DedupSettings};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Reporter;
use crate::tokenizer::{LoadedTokenizer, TokenizerOptions};
use lcp_packfile::handoff_index;

/// The options of deduplication. Each takes precedence over the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct DedupOptions {
    /// The level; `Some(None)` turns it off.
    pub level: Option<Option<DedupLevel>>,
    /// The survivor of two duplicates.
    pub prefer: Option<Survivor>,
}

/// Deduplicated blocks.
#[derive(Debug)]
pub struct DedupedPack<'b> {
    /// The blocks, with stubs in place of duplicates or without them.
    pub blocks: Vec<Block<'b>>,
    /// The duplicates, by the indices before deduplication.
    pub duplicates: Replacements,
    /// The number of blocks before deduplication.
    pub blocks_before: usize,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

impl DedupOptions {
    /// Returns the options in force; `None` if deduplication is off. With `stable`, the first of
    /// two duplicates stays, so that cached text doesn't change.
    pub fn effective(self, file: &DedupSettings, stable: bool) -> Option<Options> {
        self.effective_if(file.enabled, file, stable)
    }

    /// Returns the options in force for a command that deduplicates unless the level is off.
    pub fn effective_or_default(self, file: &DedupSettings) -> Option<Options> {
        self.effective_if(true, file, false)
    }

    fn effective_if(self, is_on: bool, file: &DedupSettings, stable: bool) -> Option<Options> {
        let level = self.level.unwrap_or(is_on.then_some(file.options.level))?;
        let mut options = Options { level, ..file.options.clone() };
        match self.prefer {
            Some(keep) => options.survivor = keep,
            // Cached text must not change from turn to turn.
            None if stable && !file.has_keep => options.survivor = Survivor::First,
            None => {}
        }
        Some(options)
    }

    /// Deduplicates a pack that was read from `path`, unless that is turned off, and reports
    /// warnings.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack is malformed, or if the tokenizer or the model is missing.
    pub fn dedup<'b>(
        self,
        path: &Path,
        bytes: &'b [u8],
        tokenizer: &TokenizerOptions,
        config: &Config,
        reporter: &dyn Reporter,
    ) -> Result<DedupedPack<'b>> {
        let blocks = files::decode(path, bytes)?.blocks;
        let (model, unknown) = tokenizer.find_model(config, true)?;
        for warning in unknown.iter().chain(&self.ineffective(&config.dedup)) {
            reporter.warn(warning);
        }
        let counter = tokenizer.load(config, model.as_ref(), false, reporter)?;
        let deduped = match self.effective_or_default(&config.dedup) {
            Some(options) => pack(&blocks, &options, &counter.estimator)?,
            None => DedupedPack::unchanged(blocks),
        };
        for warning in &deduped.warnings {
            reporter.warn(warning);
        }
        counter.save_cache(reporter);
        Ok(deduped)
    }

    /// Returns a warning if `prefer` is set while deduplication is off.
    pub fn ineffective(self, file: &DedupSettings) -> Option<Warning> {
        let is_off = self.effective(file, false).is_none();
        self.prefer.filter(|_| is_off).map(|_| {
            let message = "--dedup-prefer has no effect: deduplication is off";
            Warning::new(WarningCode::NoEffect, None, message)
        })
    }
}

impl<'b> DedupedPack<'b> {
    fn unchanged(blocks: Vec<Block<'b>>) -> Self {
        Self {
            blocks_before: blocks.len(),
            blocks,
            duplicates: Replacements::default(),
            warnings: Vec::new(),
        }
    }

    /// Returns the report as JSON (`lcp.dedup.v1`).
    pub fn to_json(&self) -> Value {
        let duplicates = &self.duplicates;
        let by_relation = DuplicateKind::ALL.map(|relation| {
            let (blocks, tokens) = duplicates.count(relation);
            (relation.name().to_owned(), json!({ "blocks": blocks, "tokens": tokens }))
        });
        let covered = duplicates.covered.iter().map(|(index, covered)| {
            json!({
                "index": index,
                "relation": covered.relation.name(),
                "covered_by": covered.by,
                "in_place": covered.in_place,
                "tokens_saved": covered.tokens_saved,
            })
        });
        json!({
            "schema": "lcp.dedup.v1",
            "blocks": self.blocks_before,
            "blocks_left": self.blocks.len(),
            "tokens_saved": duplicates.tokens_saved(),
            "by_relation": Value::Object(by_relation.into_iter().collect()),
            "covered": covered.collect::<Vec<_>>(),
            "changed": duplicates.changed,
        })
    }
}

/// Replaces duplicates in `blocks` with stubs, in place.
pub fn apply<'b>(
    blocks: Vec<Block<'b>>,
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<DedupedPack<'b>> {
    let blocks_before = blocks.len();
    let (found, deduplicated) = find(&blocks, options, estimator)?;
    let blocks = deduplicated.blocks_with_stubs(blocks);
    let (warnings, duplicates) = (warnings(&found), deduplicated.duplicates);
    Ok(DedupedPack { blocks, duplicates, blocks_before, warnings })
}

/// The maximum number of rounds of [`apply_within_budget`]. Each round leaves fewer references to
/// hidden blocks.
const ROUNDS_MAX: usize = 4;

/// Replaces duplicates like [`apply`], but keeps a duplicate whose survivor is not shown in full
/// within the budget.
pub(crate) fn apply_within_budget<'b>(
    blocks: Vec<Block<'b>>,
    mut options: Options,
    driver: &DefaultDriver,
    config: &DriverConfig,
    counter: &LoadedTokenizer,
) -> Result<DedupedPack<'b>> {
    for _ in 1..ROUNDS_MAX {
        let (_, deduplicated) = find(&blocks, &options, &counter.estimator)?;
        let refers = |covered: &Replacement| {
            covered.in_place && covered.relation != DuplicateKind::Superseded
        };
        if !deduplicated.duplicates.covered.values().any(refers) {
            break;
        }
        let tried = deduplicated.blocks_with_stubs(blocks.clone());
        let duplicates = Some(deduplicated.duplicates);
        let config = DriverConfig { duplicates, ..config.clone() };
        // The run itself reports a denied overflow.
        let Ok(plan) = driver.plan(&tried, &config) else { break };
        let unreadable = plan.dangling_references();
        if unreadable.is_empty() {
            break;
        }
        options.previous_blocks.extend(unreadable.into_iter().map(|index| (index, true)));
    }
    apply(blocks, &options, &counter.estimator)
}

/// Removes duplicates from the blocks of a pack.
pub(crate) fn pack<'b>(
    blocks: &[Block<'b>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<DedupedPack<'b>> {
    if let Some(index) = blocks.iter().position(|block| handoff_index(block).is_some()) {
        let message = "skipped deduplication: the pack contains a hand-off, which refers to its \
                       blocks by index";
        let warnings = vec![Warning::new(WarningCode::NoEffect, Some(index), message)];
        return Ok(DedupedPack { warnings, ..DedupedPack::unchanged(blocks.to_vec()) });
    }
    let (found, deduplicated) = find(blocks, options, estimator)?;
    Ok(DedupedPack {
        blocks_before: blocks.len(),
        blocks: deduplicated.to_pack_blocks(blocks),
        warnings: warnings(&found),
        duplicates: deduplicated.duplicates,
    })
}

fn find<'b>(
    blocks: &[Block<'b>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<(Detected, DedupResult<'b>)> {
    let found = lcp_dedup::detect(blocks, options, estimator).map_err(|error| {
        let code = error.code();
        Error::new(ErrorKind::Usage, format!("{error} [{code}]")).with_code(code)
    })?;
    let deduplicated = found.apply(blocks, estimator);
    Ok((found, deduplicated))
}

fn warnings(found: &Detected) -> Vec<Warning> {
    let bad = found
        .bad_ranges
        .iter()
        .map(|(index, bad)| Warning::new(WarningCode::BadLineRange, Some(*index), bad.to_string()));
    let mut warnings: Vec<_> = bad.collect();
    if !found.limit_reached.is_empty() {
        let message = format!(
            "compared {} only in part (too many similar blocks); near-duplicates may remain",
            lcp_driver::plural(found.limit_reached.len(), "block")
        );
        warnings.push(Warning::new(WarningCode::NearCapped, None, message));
    }
    warnings
}
