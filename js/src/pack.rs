//! Packs.

use std::path::Path;

use lcp_app::budget::BudgetOptions;
use lcp_app::config::Config;
use lcp_app::import::ImportOptions;
use lcp_app::names::MODES;
use lcp_app::pack::PackOptions;
use lcp_app::pack_output::{PackEncoder, PackOutputOptions};
use lcp_app::rank::{HistorySource, QueryOptions};
use lcp_app::render::{RenderJob, RenderOptions};
use lcp_app::tokenizer::TokenizerOptions;
use lcp_app::{Warnings, files};
use lcp_driver::Overflow;
use lcp_ingest::{Input, SecretPolicy};
use lcp_transcripts::Format;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Result, value_of};

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

    /// Returns the pack of the files. With a query, those that it needs come first.
    ///
    /// # Errors
    ///
    /// Returns an error if there is nothing to pack, or if a limit is exceeded.
    pub fn pack(&mut self, query: Option<String>, mentions: Vec<String>) -> Result<Vec<u8>> {
        let query = QueryOptions {
            texts: query.into_iter().collect(),
            mentions,
            history: HistorySource::Off,
            no_cache: true,
        };
        let inputs = std::mem::take(&mut self.inputs);
        let options = PackOptions { inputs, query, ..PackOptions::default() };
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
pub fn pack_transcript(transcript: &[u8], format: Option<String>) -> Result<NativePack> {
    let names = Format::ALL.map(|format| (format.name(), format));
    let format = format.map(|name| value_of("format", &names, &name)).transpose()?;
    let secrets = Some(SecretPolicy::Redact);
    let options = ImportOptions { format, secrets, ..ImportOptions::default() };
    let (config, warnings) = (Config::default(), Warnings::default());
    let imported = options.import(Path::new(TRANSCRIPT), transcript, &config, &warnings)?;
    let (output, tokenizer) = (PackOutputOptions::default(), TokenizerOptions::default());
    let encoder = PackEncoder::new(&output, &tokenizer, &config)?;
    let bytes = encoder.encode(&imported.blocks, TRANSCRIPT, &warnings)?;
    Ok(NativePack { bytes, warnings: warnings.take() })
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
) -> Result<NativeText> {
    let options = RenderOptions {
        budget: BudgetOptions {
            budget,
            overflow: Some(Overflow::Deny),
            ..BudgetOptions::default()
        },
        mode: value_of("mode", &MODES, mode)?,
        tokenizer: TokenizerOptions { encoding, model, count_cache: None },
        ..RenderOptions::default()
    };
    let (config, warnings) = (Config::default(), Warnings::default());
    let job = RenderJob::new(Path::new(NAME), bytes, &options, &config, &warnings)?;
    let rendered = job.render(&warnings)?;
    Ok(NativeText { text: rendered.text, report: lcp_driver::report::to_json(&rendered.plan) })
}
