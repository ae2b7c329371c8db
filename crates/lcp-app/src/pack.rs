//! Packs of folders, git changes and standard input.

use std::path::PathBuf;

use lcp_ingest::{
    FILE_BYTES_MAX, Globs, IngestOptions, IngestResult, Pattern, Rule, Rules, WalkOptions,
};

use crate::config::{Config, PackSettings};
use crate::dedup::{self, DedupOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::pack_output::PackEncoder;
use crate::reporter::Reporter;
use crate::tokenizer::TokenizerOptions;

/// The options of a pack of files. `None` stands for the setting of `lcp.toml`, or the default.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub struct PackOptions {
    /// Files and folders; an empty list means the current folder.
    pub paths: Vec<PathBuf>,
    /// Whether hidden files are packed.
    pub hidden: Option<bool>,
    /// Whether files that ignore files exclude are packed.
    pub ignored: bool,
    /// Whether links are followed.
    pub follow: bool,
    /// Whether folders on other file systems are left out.
    pub one_file_system: bool,
    /// If there are any, only files that match one are packed. They replace those of `lcp.toml`.
    pub include: Vec<Pattern>,
    /// Files that match one are left out.
    pub exclude: Vec<Pattern>,
    /// Bytes of the largest file that is packed.
    pub max_file_bytes: Option<u64>,
    /// Whether the pack begins with a tree of the files.
    pub tree: bool,
    /// Whether pictures are packed.
    pub images: bool,
    /// Priorities, categories, ranks and pins of files; the last match wins.
    pub rules: Vec<Rule>,
    /// Whether the built-in rules apply first.
    pub default_rules: bool,
    /// Only files that differ from this git revision are packed.
    pub since: Option<String>,
    /// The changes since this git revision are added.
    pub diff: Option<String>,
    /// Which duplicates are left out.
    pub dedup: DedupOptions,
    /// The tokenizer that counts duplicates.
    pub tokenizer: TokenizerOptions,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            hidden: None,
            ignored: false,
            follow: false,
            one_file_system: false,
            include: Vec::new(),
            exclude: Vec::new(),
            max_file_bytes: None,
            tree: true,
            images: false,
            rules: Vec::new(),
            default_rules: true,
            since: None,
            diff: None,
            dedup: DedupOptions::default(),
            tokenizer: TokenizerOptions::default(),
        }
    }
}

/// An encoded pack.
#[derive(Debug)]
pub struct EncodedPack {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The number of blocks, annotations included.
    pub blocks: usize,
    /// Warnings of deduplication and of its tokenizer.
    pub warnings: Vec<String>,
}

impl PackOptions {
    /// Returns the options of [`lcp_ingest::ingest`], completed by the settings of `lcp.toml`.
    /// Standard input, progress and summaries are for the caller to add.
    ///
    /// # Errors
    ///
    /// Globs that cannot be compiled.
    pub fn to_ingest_options(&self, settings: &PackSettings) -> Result<IngestOptions<'static>> {
        let wrong = |message: String| Error::new(ErrorKind::Usage, message);
        let include = if self.include.is_empty() { &settings.include } else { &self.include };
        let rules = settings.rules.iter().chain(&self.rules).cloned().collect();
        Ok(IngestOptions {
            paths: self.paths.clone(),
            walk: WalkOptions {
                hidden: self.hidden.unwrap_or(settings.hidden),
                ignored: self.ignored,
                follow: self.follow,
            },
            one_file_system: self.one_file_system,
            include: Globs::new(include).map_err(wrong)?,
            exclude: Globs::new(settings.exclude.iter().chain(&self.exclude)).map_err(wrong)?,
            max_file_bytes: self
                .max_file_bytes
                .or(settings.max_file_size)
                .unwrap_or(FILE_BYTES_MAX),
            tree: self.tree,
            images: self.images,
            rules: Rules::new(rules, self.default_rules).map_err(wrong)?,
            since: self.since.clone(),
            diff: self.diff.clone(),
            ..IngestOptions::default()
        })
    }

    /// Deduplicates ingested blocks as the options and `config` say, and encodes them.
    ///
    /// # Errors
    ///
    /// A tokenizer that cannot be loaded, or a limit of packs.
    pub fn encode(
        &self,
        ingested: &IngestResult,
        config: &Config,
        encoder: &PackEncoder<'_>,
        reporter: &dyn Reporter,
    ) -> Result<EncodedPack> {
        let encode = |blocks: &[_], warnings| {
            let bytes = encoder.encode(blocks, "the pack", reporter)?;
            Ok(EncodedPack { bytes, blocks: blocks.len(), warnings })
        };
        let Some(options) = self.dedup.options(&config.dedup, false) else {
            return encode(&ingested.blocks, Vec::new());
        };
        let (model, unknown) = self.tokenizer.model(config, true)?;
        let mut warnings: Vec<_> = unknown.into_iter().map(|unknown| unknown.to_string()).collect();
        let counter = self.tokenizer.counter(config, model.as_ref(), false, reporter)?;
        let deduped = dedup::pack(&ingested.blocks, &options, &counter.estimator)?;
        warnings.extend(deduped.warnings.iter().map(ToString::to_string));
        let (blocks, saved) = (deduped.duplicates.covered.len(), deduped.duplicates.tokens_saved());
        reporter.note(&format!("{blocks} blocks are covered by others: {saved} tokens saved"));
        counter.save_cache(reporter);
        encode(&deduped.blocks, warnings)
    }
}
