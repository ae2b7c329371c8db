//! Encoding of packs, with costs in the index.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "messages")]
use lcp_decoder::PackReader;
use lcp_decoder::{DecodeOptions, Event, EventIter};
use lcp_driver::{IndexCosts, RENDERER_REVISION};
use lcp_encoder::manifest::{Manifest, ManifestErrorKind};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::wire::{MAGIC_BCP, MAGIC_LCP};
use lcp_types::{Block, BlockIndex, BlockSource, EncodingCosts};

use crate::config::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
#[cfg(feature = "messages")]
use crate::pack_file::PackFileWriter;
use crate::reporter::Reporter;
use crate::tokenizer::TokenizerOptions;

/// The options for writing a pack.
#[derive(Clone, Debug, Default)]
pub struct PackOutputOptions {
    /// The options of the encoder.
    pub encode: EncodeOptions,
    /// The encodings of the costs in the index. An empty list means the encoding of the tokenizer
    /// options.
    pub costs: Option<Vec<String>>,
}

/// Warns if the payload of a pack is not compressed although the options ask for it.
pub fn warn_if_uncompressed(pack: &[u8], options: EncodeOptions, reporter: &dyn Reporter) {
    let wanted = options.compression == Compression::Payload;
    let header = EventIter::new(pack, DecodeOptions::default()).next();
    if wanted && matches!(header, Some(Ok(Event::Header(it))) if !it.is_payload_compressed()) {
        reporter.warn(
            &"wrote the pack without compression: readers would reject so many blocks in so few \
             bytes (BLOCK_MEMORY_BYTES_MAX)",
        );
    }
}

/// Encodes a manifest that was read from `path`. Returns the pack and the files that the manifest
/// refers to, whose paths are relative to its folder.
///
/// # Errors
///
/// Returns an error if the manifest is malformed or a file cannot be read.
pub fn encode_manifest(
    path: &Path,
    json: &[u8],
    options: EncodeOptions,
) -> Result<(Vec<u8>, Vec<PathBuf>)> {
    let folder = if path == OsStr::new(files::STANDARD) { None } else { path.parent() };
    let mut parts = Vec::new();
    let mut load = |name: &str| {
        let part = folder.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
        let read = std::fs::read(&part);
        parts.push(part);
        read
    };
    let pack = Manifest::parse(json, &mut load).and_then(|manifest| manifest.to_pack(options));
    let pack = pack.map_err(|error| {
        let kind = match error.kind {
            ManifestErrorKind::Limit => ErrorKind::Limit,
            ManifestErrorKind::Io => ErrorKind::Io,
            _ => ErrorKind::Malformed,
        };
        let failure = Error::new(kind, files::located(&error.to_string(), path));
        match manifest_hint(json, error.kind) {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    })?;
    Ok((pack, parts))
}

/// Returns the hint for bytes that are not a valid manifest.
fn manifest_hint(bytes: &[u8], kind: ManifestErrorKind) -> Option<&'static str> {
    match kind {
        _ if bytes.starts_with(&MAGIC_LCP) || bytes.starts_with(&MAGIC_BCP) => {
            Some("it is a pack already; print its manifest with `lcp decode`")
        }
        #[cfg(feature = "messages")]
        _ if lcp_transcripts::detect(bytes)
            .is_some_and(|format| format != lcp_transcripts::Format::Markdown) =>
        {
            Some("it looks like a transcript; convert it with `lcp import FILE`")
        }
        ManifestErrorKind::Io => Some("correct the path; it is relative to the manifest's folder"),
        ManifestErrorKind::Limit => None,
        _ => Some("correct the manifest; run `lcp decode PACK` to see the manifest of a pack"),
    }
}

/// An encoder of packs that can store token costs in the index.
pub struct PackEncoder<'c> {
    options: EncodeOptions,
    tokenizer: &'c TokenizerOptions,
    /// The estimators of the costs.
    estimators: Vec<Arc<dyn TokenEstimator>>,
}

impl<'c> PackEncoder<'c> {
    /// Checks that the pack can store costs, and loads the tokenizers.
    ///
    /// # Errors
    ///
    /// Returns an error if the pack cannot store costs, or if a tokenizer cannot count them.
    pub fn new(
        options: &PackOutputOptions,
        tokenizer: &'c TokenizerOptions,
        config: &Config,
    ) -> Result<Self> {
        let Some(named) = &options.costs else {
            return Ok(Self { options: options.encode, tokenizer, estimators: Vec::new() });
        };
        if !options.encode.has_index() {
            let message = "--index-costs needs an index, which this pack does not have";
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint("leave out --no-index, --magic bcp and --compress payload"));
        }
        let estimators = tokenizer.load_for_index_costs(named, config)?;
        Ok(Self { options: options.encode, tokenizer, estimators })
    }

    /// Returns whether blocks are counted.
    pub const fn counts(&self) -> bool {
        !self.estimators.is_empty()
    }

    /// Finishes a pack that is written to a file. Returns its size in bytes.
    #[cfg(feature = "messages")]
    pub(crate) fn finish(
        &self,
        pack: &mut PackFileWriter<'_>,
        reporter: &dyn Reporter,
    ) -> Result<u64> {
        let (header, mut len) = pack.finish(&[])?;
        warn_if_uncompressed(&header, self.options, reporter);
        if self.counts() {
            let costs = self.count_written(pack, reporter)?;
            (_, len) = pack.finish(&costs)?;
        }
        Ok(len)
    }

    /// Counts the costs of a pack that is in a file, a few blocks at a time.
    #[cfg(feature = "messages")]
    fn count_written(
        &self,
        pack: &mut PackFileWriter<'_>,
        reporter: &dyn Reporter,
    ) -> Result<Vec<EncodingCosts>> {
        let unread = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Io, format!("cannot read the pack again: {error}"))
        };
        let blocks = usize::try_from(pack.blocks()).unwrap_or(usize::MAX);
        let bar = reporter.begin("counting", blocks.saturating_mul(self.estimators.len()));
        let reader = PackReader::open(pack.written(), DecodeOptions::default());
        let reader = reader.map_err(|error| unread(&error))?;
        let mut costs = Vec::with_capacity(self.estimators.len());
        // An index that is too large was not written.
        let estimators = self.estimators.iter().filter(|_| reader.block_index().is_some());
        for estimator in estimators {
            let counter = self.tokenizer.cached(Arc::clone(estimator), reporter)?;
            let found = IndexCosts::new(&counter.estimator)
                .progress(&mut || bar.step())
                .count_source(&reader)
                .map_err(|error| unread(&error))?;
            costs.extend(found);
            counter.save_cache(reporter);
        }
        Ok(costs)
    }

    /// Encodes a pack of these blocks. `what` is its name in errors.
    pub fn encode(
        &self,
        blocks: &[Block<'_>],
        what: &str,
        reporter: &dyn Reporter,
    ) -> Result<Vec<u8>> {
        let mut costs = Vec::with_capacity(self.estimators.len());
        let bar = reporter.begin("counting", blocks.len() * self.estimators.len());
        for estimator in &self.estimators {
            let counter = self.tokenizer.cached(Arc::clone(estimator), reporter)?;
            costs.extend(
                IndexCosts::new(&counter.estimator).progress(&mut || bar.step()).count(blocks),
            );
            counter.save_cache(reporter);
        }
        drop(bar);
        let pack =
            lcp_encoder::encode_with_costs(blocks, self.options, &costs).map_err(|error| {
                let code = if error.is_limit() { ErrorKind::Limit } else { ErrorKind::Io };
                Error::new(code, format!("{error} ({what})"))
            })?;
        warn_if_uncompressed(&pack, self.options, reporter);
        Ok(pack)
    }
}

/// Counts the costs of all blocks in an encoding, given those of the first `start` blocks
/// (the [`lcp_packfile::CountCosts`] of `append`). Returns `None` if a block cannot be read.
pub fn count_costs(
    facts: &BlockIndex,
    encoding: &str,
    blocks: &dyn BlockSource,
    start: usize,
) -> Option<EncodingCosts> {
    // The index may have an encoding in several revisions.
    let costs = || facts.costs.iter().find(|costs| costs.encoding == encoding);
    let before = facts.costs_in(encoding, RENDERER_REVISION).or_else(costs)?;
    let tokenizer = Tiktoken::new(Encoding::from_name(encoding)?);
    IndexCosts::new(&tokenizer).starting_at(start, before).count_source(blocks).ok()?
}
