//! Packs.

use std::path::Path;

use lcp_app::budget::BudgetOptions;
use lcp_app::config::{Config, NamedShares};
use lcp_app::dedup::DedupOptions;
use lcp_app::import::ImportOptions;
use lcp_app::inspect::BlockReader;
use lcp_app::names::{DEDUP_LEVELS, MODES};
use lcp_app::pack::PackOptions;
use lcp_app::pack_output::encode_manifest;
use lcp_app::rank::{HistorySource, QueryOptions};
use lcp_app::render::{RenderJob, RenderOptions};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Warnings, content_bytes, files};
use lcp_driver::Overflow;
use lcp_driver::shares::Shares;
use lcp_encoder::EncodeOptions;
use lcp_ingest::{BlockAttributes, Input, Pattern, Rule, SecretPolicy};
use lcp_transcripts::Format;
use lcp_types::{BlockContent, BlockMeta, Priority};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Failure, Result, value_of};

/// The name of a pack in errors.
const NAME: &str = "bytes";

/// Checks that bytes are a pack.
///
/// # Errors
///
/// Returns an error if the pack is malformed.
#[wasm_bindgen(js_name = checkPack)]
pub fn check_pack(bytes: &[u8]) -> Result<()> {
    Ok(files::decode(Path::new(NAME), bytes).map(drop)?)
}

/// Files that will be packed.
#[wasm_bindgen]
#[derive(Default)]
pub struct PackFiles {
    inputs: Vec<Input>,
    rules: Vec<Rule>,
    warnings: Vec<String>,
}

#[wasm_bindgen]
impl PackFiles {
    /// Creates an empty list.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn add(&mut self, path: String, bytes: Vec<u8>) {
        self.inputs.push(Input { name: Some(path), bytes });
    }

    /// Gives the files that match a glob a priority.
    ///
    /// # Errors
    ///
    /// Returns an error if the glob is malformed, or if there is no such priority.
    #[wasm_bindgen(js_name = addPriority)]
    pub fn add_priority(&mut self, glob: &str, priority: &str) -> Result<()> {
        let names = Priority::ALL.map(|priority| (priority.name(), priority));
        let priority = Some(value_of("priorities", &names, priority)?);
        let pattern =
            Pattern::parse(glob).map_err(|error| Failure::usage(format!("priorities: {error}")))?;
        let attributes = BlockAttributes { priority, ..BlockAttributes::default() };
        self.rules.push(Rule { pattern, attributes });
        Ok(())
    }

    /// Returns the pack of the files. With a query, those that it needs come first.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing to pack, a name is unknown, or a limit is exceeded.
    pub fn pack(
        &mut self,
        query: Option<String>,
        mentions: Vec<String>,
        dedup: Option<String>,
        secrets: Option<String>,
    ) -> Result<Vec<u8>> {
        let secrets = secret_policy(secrets)?;
        let dedup = dedup_options(dedup)?;
        let query = QueryOptions {
            texts: query.into_iter().collect(),
            mentions,
            history: HistorySource::Off,
            no_cache: true,
        };
        let inputs = std::mem::take(&mut self.inputs);
        let rules = std::mem::take(&mut self.rules);
        let options =
            PackOptions { inputs, rules, query, dedup, secrets, ..PackOptions::default() };
        let warnings = Warnings::default();
        let (bytes, _) = options.pack(&Config::default(), &warnings)?;
        self.warnings = warnings.take();
        Ok(bytes)
    }

    /// The warnings of packing.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// The name of a transcript in errors.
const TRANSCRIPT: &str = "transcript";

/// A pack with the warnings about its content.
#[wasm_bindgen(getter_with_clone)]
pub struct NativePack {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The warnings.
    pub warnings: Vec<String>,
}

/// Returns the pack of a transcript. Without a format, it is detected.
///
/// # Errors
///
/// Returns an error if the transcript is malformed, or of an unknown format.
#[wasm_bindgen(js_name = packTranscript)]
pub fn pack_transcript(
    transcript: &[u8],
    format: Option<String>,
    secrets: Option<String>,
) -> Result<NativePack> {
    let names = Format::ALL.map(|format| (format.name(), format));
    let format = format.map(|name| value_of("format", &names, &name)).transpose()?;
    let secrets = secret_policy(secrets)?.or(Some(SecretPolicy::Redact));
    let options = ImportOptions { format, secrets, ..ImportOptions::default() };
    let (config, warnings) = (Config::default(), Warnings::default());
    let bytes = options.pack(TRANSCRIPT, transcript, &config, &warnings)?;
    Ok(NativePack { bytes, warnings: warnings.take() })
}

/// The name of a manifest in errors.
const MANIFEST: &str = "blocks";

/// Returns the pack of the blocks of a manifest.
///
/// # Errors
///
/// Returns an error if the manifest is malformed, or a limit is exceeded.
#[wasm_bindgen(js_name = packManifest)]
pub fn pack_manifest(manifest: &str) -> Result<Vec<u8>> {
    let options = EncodeOptions::default();
    Ok(encode_manifest(Path::new(MANIFEST), manifest.as_bytes(), options)?.0)
}

/// Returns the manifest of a pack.
///
/// # Errors
///
/// Returns an error if the pack is malformed.
#[wasm_bindgen]
pub fn manifest(bytes: &[u8]) -> Result<String> {
    let pack = files::decode(Path::new(NAME), bytes)?;
    Ok(lcp_encoder::manifest::to_json(&pack.blocks))
}

/// A rendered text.
#[wasm_bindgen(getter_with_clone)]
pub struct NativeText {
    /// The text.
    pub text: String,
    /// The plan as JSON: the decision for each block.
    pub report: String,
}

/// Renders a pack within a budget, or in full without one.
///
/// # Errors
///
/// Returns an error for unknown modes, and for blocks that must be shown and exceed the budget.
#[wasm_bindgen]
pub fn render(
    bytes: &[u8],
    budget: Option<u32>,
    mode: &str,
    model: Option<String>,
    encoding: Option<String>,
    shares: Option<String>,
    dedup: Option<String>,
) -> Result<NativeText> {
    let shares = shares.map(|name| {
        NamedShares::preset(&name).ok_or_else(|| {
            let expected = Shares::PRESETS.join(", ");
            Failure::usage(format!("shares: expected one of {expected}, got {name:?}"))
        })
    });
    let options = RenderOptions {
        budget: BudgetOptions {
            budget,
            shares: shares.transpose()?,
            overflow: Some(Overflow::Deny),
            ..BudgetOptions::default()
        },
        mode: value_of("mode", &MODES, mode)?,
        tokenizer: TokenizerOptions { encoding, model, count_cache: None },
        dedup: dedup_options(dedup)?,
        ..RenderOptions::default()
    };
    let (config, warnings) = (Config::default(), Warnings::default());
    let job = RenderJob::new(Path::new(NAME), bytes, &options, &config, &warnings)?;
    let rendered = job.render(&warnings)?;
    Ok(NativeText { text: rendered.text, report: lcp_driver::report::to_json(&rendered.plan) })
}

/// A block of a pack. It has a text or bytes.
#[wasm_bindgen(getter_with_clone)]
pub struct NativeBlock {
    /// The type.
    #[wasm_bindgen(js_name = type)]
    pub block_type: String,
    /// The label.
    pub label: String,
    /// The priority, unless the block is metadata.
    pub priority: Option<String>,
    /// The tokens of the content, unless the block is metadata.
    pub tokens: Option<u32>,
    /// The text.
    pub text: Option<String>,
    /// The bytes of an image, or of other data that is not text.
    pub bytes: Option<Vec<u8>>,
}

/// Returns the blocks of a pack.
///
/// # Errors
///
/// Returns an error if the pack is malformed, or if the tokenizer is unknown.
#[wasm_bindgen]
pub fn blocks(
    bytes: &[u8],
    model: Option<String>,
    encoding: Option<String>,
) -> Result<Vec<NativeBlock>> {
    let estimator = TokenizerOptions { encoding, model, count_cache: None }.load_by_name()?;
    let pack = files::decode(Path::new(NAME), bytes)?;
    let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
    let blocks = pack.blocks.iter().zip(&metas).map(|(block, meta)| {
        let content = content_bytes(block).into_owned();
        let (text, bytes) = match String::from_utf8(content) {
            Ok(text) if !matches!(block.content, BlockContent::Image(_)) => (Some(text), None),
            Ok(text) => (None, Some(text.into_bytes())),
            Err(error) => (None, Some(error.into_bytes())),
        };
        let priority = (!block.content.is_metadata()).then(|| meta.priority.name().to_owned());
        NativeBlock {
            block_type: block.block_type().label().to_owned(),
            label: meta.label(block).into_owned(),
            priority,
            tokens: BlockReader::count_tokens(block, &*estimator),
            text,
            bytes,
        }
    });
    Ok(blocks.collect())
}

fn secret_policy(name: Option<String>) -> Result<Option<SecretPolicy>> {
    let policies = SecretPolicy::ALL.map(|policy| (policy.name(), policy));
    name.map(|name| value_of("secrets", &policies, &name)).transpose()
}

fn dedup_options(level: Option<String>) -> Result<DedupOptions> {
    let level = level.map(|name| value_of("dedup", &DEDUP_LEVELS, &name)).transpose()?;
    Ok(DedupOptions { level, ..DedupOptions::default() })
}
