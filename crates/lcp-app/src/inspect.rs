//! Inspection of the blocks of a pack, even if it is damaged: their offsets, types and costs.

mod block_reader;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, IndexError, PackIndex, PackReader, ReadAt as _, SourceReader};
use lcp_driver::{IndexCosts, OutputMode, WarningCode};
use lcp_packfile::{PackScan, is_reference};
use lcp_tokens::TokenEstimator;
use lcp_types::wire::{BLOCK_HAS_SUMMARY, BLOCK_RESERVED, FOOTER_BYTES};
use lcp_types::{BlockMeta, BlockSource as _, BlockType};
use serde::Serialize;

use crate::costs;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::names::serialize_label;
pub use block_reader::BlockReader;

/// An inspected pack. It serializes as the report `lcp.inspect.v1`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "lcp.inspect.v1")]
pub struct Inspection {
    /// The name of its magic.
    pub magic: Option<&'static str>,
    /// Its version.
    pub version: Option<String>,
    /// The name of its compression.
    pub compression: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes from the header to END, before the payload was compressed.
    pub unpacked_bytes: u64,
    /// The name of the encoding, if tokens are counted.
    pub encoding: Option<String>,
    /// `true` if the counts are exact.
    pub exact: Option<bool>,
    /// Its blocks in order.
    pub blocks: Vec<InspectedBlock>,
    /// Its index, if it has one.
    #[serde(rename = "trailer")]
    pub index: Option<InspectedIndex>,
    /// Warnings, including one for an index that is not accepted.
    pub warnings: Vec<InspectionWarning>,
    /// The errors for all unreadable parts.
    pub errors: Vec<InspectionError>,
    /// Tokens of all contents, if they are counted.
    #[serde(skip)]
    pub content_tokens: Option<u64>,
}

/// A block of an inspected pack.
#[derive(Clone, Debug, Serialize)]
pub struct InspectedBlock {
    /// Its index.
    pub index: usize,
    /// Its type.
    #[serde(rename = "type", serialize_with = "serialize_label")]
    pub block_type: BlockType,
    /// Its label; empty if it cannot be read.
    pub label: String,
    /// The offset of its frame in bytes.
    pub offset: u64,
    /// Bytes of its body as stored.
    pub length: u64,
    /// Its flags as stored.
    pub flags: u8,
    /// `true` if its body is compressed.
    pub compressed: bool,
    /// `true` if its body is in a content store.
    pub reference: bool,
    /// The name of its priority; `None` for metadata.
    pub priority: Option<&'static str>,
    /// `true` if it has a summary.
    #[serde(rename = "summary")]
    pub has_summary: bool,
    /// Its tokens, if they are counted and the block is not metadata.
    pub tokens: Option<BlockTokens>,
    /// The names of its flags and annotations: `summary`, `detailed`, `tags`, `pinned`,
    /// `compressed`,
    /// `reference`, `reserved`, `malformed`.
    #[serde(skip)]
    pub properties: Vec<&'static str>,
}

/// The tokens of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockTokens {
    /// Tokens of its content.
    pub content: u32,
    /// Tokens of its summary, if they are counted.
    pub summary: Option<u32>,
    /// Tokens in full, by the names of the counted modes.
    #[serde(flatten)]
    pub modes: BTreeMap<&'static str, u32>,
}

/// The index of an inspected pack.
#[derive(Clone, Debug, Serialize)]
pub struct InspectedIndex {
    /// `true` if it is used.
    pub accepted: bool,
    /// Its size with the footer in bytes. If it is not accepted, the number of bytes after END.
    pub bytes: u64,
    /// The encodings of its costs.
    pub costs: Vec<StoredCosts>,
    /// The reason for not accepting it.
    pub problem: Option<IndexProblem>,
}

/// Costs in an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredCosts {
    /// The encoding.
    pub encoding: String,
    /// The revision of the renderer.
    pub revision: u32,
}

/// The reason for not accepting an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexProblem {
    /// The reason.
    pub message: String,
    /// Its offset in bytes.
    pub offset: u64,
}

/// A warning about an inspected pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InspectionWarning {
    /// Its stable name.
    pub code: &'static str,
    /// The warning.
    pub message: String,
}

/// An error in an inspected pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InspectionError {
    /// Its stable name.
    pub code: &'static str,
    /// The error.
    pub message: String,
    /// The index of the block.
    pub block: Option<u64>,
    /// Its offset in bytes.
    pub offset: u64,
}

impl Inspection {
    /// Lists the blocks of a pack without counting tokens. `bytes` is the scanned pack.
    pub fn new(pack: &PackScan<'_>, bytes: &[u8]) -> Self {
        let index = PackIndex::find(bytes);
        Self::with_index(pack, index.as_ref().map(Result::as_ref), bytes.len() as u64)
    }

    /// Lists the blocks of a pack with this index, if it announces one, and this size in bytes.
    fn with_index(
        pack: &PackScan<'_>,
        index: Option<Result<&PackIndex, &IndexError>>,
        bytes: u64,
    ) -> Self {
        let mut warnings: Vec<_> = pack
            .warnings
            .iter()
            .map(|warning| InspectionWarning { code: warning.code(), message: warning.to_string() })
            .collect();
        warnings.extend(index.and_then(Result::err).map(|error| InspectionWarning {
            code: WarningCode::BadIndex.name(),
            message: error.to_string(),
        }));
        let errors = pack.problems().map(|error| InspectionError {
            code: error.code(),
            message: error.kind().to_string(),
            block: error.block(),
            offset: error.offset(),
        });
        let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
        let blocks = metas.iter().enumerate().map(|(index, meta)| block(pack, index, meta));
        Self {
            magic: pack.magic_name(),
            version: pack.header.map(|header| format!("1.{}", header.minor)),
            compression: pack.compression_name(),
            bytes,
            unpacked_bytes: pack.unpacked_len(),
            encoding: None,
            exact: None,
            blocks: blocks.collect(),
            index: index.map(|index| InspectedIndex::new(index, pack, bytes)),
            warnings,
            errors: errors.collect(),
            content_tokens: None,
        }
    }

    /// Counts the tokens of the contents of `pack`. With `is_detailed`, also counts those of
    /// summaries and of all modes.
    ///
    /// # Errors
    ///
    /// Returns an error if the blocks cannot be planned.
    pub fn count_tokens(
        &mut self,
        pack: &PackScan<'_>,
        estimator: &Arc<dyn TokenEstimator>,
        is_detailed: bool,
    ) -> Result {
        let modes = if is_detailed { &OutputMode::ALL[..] } else { &[OutputMode::Minimal] };
        let plans = costs::full_costs(&pack.blocks, modes, estimator)?;
        let Some(plan) = plans.first() else { return Ok(()) };
        (self.encoding, self.exact) = (Some(plan.encoding.clone()), Some(plan.exact));
        let contents = plan.items.iter().map(|item| u64::from(item.content_tokens));
        self.content_tokens = Some(contents.sum());
        let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
        for ((block, meta), item) in self.blocks.iter_mut().zip(&metas).zip(&plan.items) {
            let index = block.index;
            let summary = meta.summary.as_deref().filter(|_| is_detailed);
            let summary = summary.map(|summary| estimator.estimate(summary));
            if !pack.blocks[index].content.is_metadata() {
                let modes = plans.iter().map(|plan| (plan.mode.name(), plan.items[index].tokens));
                let modes = modes.collect();
                block.tokens = Some(BlockTokens { content: item.content_tokens, summary, modes });
            }
        }
        Ok(())
    }
}

/// An undamaged pack that is too large for memory.
pub struct LargePack {
    /// Its blocks, without contents.
    scan: PackScan<'static>,
    reader: PackReader<'static, File>,
    bytes: u64,
}

impl LargePack {
    /// Opens a pack. Returns `None` if the pack should be read as a whole.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let Some(file) = files::open_large(path) else { return Ok(None) };
        let unread = |error| Error::io("read", path.display(), &error);
        let bytes = file.size().map_err(unread)?;
        let scan = SourceReader::new(&file).and_then(PackScan::without_content).map_err(unread)?;
        let reader = PackReader::open(file, DecodeOptions::default()).ok();
        let reader = reader.filter(|_| scan.problems().next().is_none());
        Ok(reader.map(|reader| Self { scan, reader, bytes }))
    }

    /// Lists the blocks without counting tokens.
    pub fn inspect(&self) -> Inspection {
        Inspection::with_index(&self.scan, self.reader.index(), self.bytes)
    }

    /// Counts tokens like [`Inspection::count_tokens`], a few blocks at a time. Returns `false` if
    /// all blocks are needed for that, or some cannot be read.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn count_tokens(
        &self,
        inspection: &mut Inspection,
        estimator: &dyn TokenEstimator,
        is_detailed: bool,
    ) -> Result<bool> {
        if self.reader.block_index().is_none() {
            return Ok(false);
        }
        let Ok(Some(costs)) = IndexCosts::new(estimator).count_source(&self.reader) else {
            return Ok(false);
        };
        let modes = if is_detailed { &OutputMode::ALL[..] } else { &[OutputMode::Minimal] };
        let metas = BlockMeta::resolve_all(&self.scan.blocks, &mut |_, _| {});
        for ((block, meta), content) in
            inspection.blocks.iter_mut().zip(&metas).zip(&costs.contents)
        {
            if self.scan.blocks[block.index].content.is_metadata() {
                continue;
            }
            let tokens = |mode: &OutputMode| {
                Some((mode.name(), *costs.mode(mode.name())?.full.get(block.index)?))
            };
            let summary = if is_detailed { self.summary(block, meta)? } else { None };
            block.tokens = Some(BlockTokens {
                content: *content,
                summary: summary.map(|summary| estimator.estimate(&summary)),
                modes: modes.iter().filter_map(tokens).collect(),
            });
        }
        (inspection.encoding, inspection.exact) = (Some(costs.encoding), Some(true));
        inspection.content_tokens =
            Some(costs.contents.iter().map(|tokens| u64::from(*tokens)).sum());
        Ok(true)
    }

    /// Returns the summary of a block, which the scan does not have.
    fn summary(&self, block: &InspectedBlock, meta: &BlockMeta<'_>) -> Result<Option<String>> {
        if block.flags & BLOCK_HAS_SUMMARY == 0 {
            return Ok(meta.summary.as_deref().map(str::to_owned));
        }
        let index = u32::try_from(block.index).unwrap_or(u32::MAX);
        let read = self.reader.read(&[index]);
        let read = read.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let own = read.into_iter().next().and_then(|block| block.summary);
        Ok(own.map(Cow::into_owned).filter(|summary| !summary.is_empty()))
    }
}

impl InspectedIndex {
    fn new(index: Result<&PackIndex, &IndexError>, pack: &PackScan<'_>, bytes: u64) -> Self {
        let length = match index {
            Ok(index) => index.footer().index_len + FOOTER_BYTES as u64,
            Err(_) if pack.compression_name() != "payload" => {
                bytes.saturating_sub(pack.unpacked_len())
            }
            Err(_) => 0,
        };
        let costs = index.iter().flat_map(|index| &index.block_index().costs);
        let costs = costs.map(|costs| StoredCosts {
            encoding: costs.encoding.clone(),
            revision: costs.revision,
        });
        let problem = index.err();
        let problem = problem.map(|error| IndexProblem {
            message: error.kind().to_string(),
            offset: error.offset(),
        });
        Self { accepted: index.is_ok(), bytes: length, costs: costs.collect(), problem }
    }
}

/// Returns the entry of a block.
fn block(pack: &PackScan<'_>, index: usize, meta: &BlockMeta<'_>) -> InspectedBlock {
    let (block, frame) = (&pack.blocks[index], &pack.frames[index]);
    let has_summary = frame.flags & BLOCK_HAS_SUMMARY != 0 || meta.summary.is_some();
    let properties = [
        (has_summary, "summary"),
        (meta.detailed.is_some(), "detailed"),
        (meta.tags.is_some(), "tags"),
        (meta.pinned, "pinned"),
        (frame.is_compressed, "compressed"),
        (frame.is_reference, "reference"),
        (frame.flags & BLOCK_RESERVED != 0, "reserved"),
        (frame.problem.as_ref().is_some_and(|error| !is_reference(error)), "malformed"),
    ];
    let has_priority = !block.content.is_metadata() || frame.problem.is_some();
    InspectedBlock {
        index,
        block_type: frame.block_type,
        label: pack.readable(index).map(|block| meta.label(block).into_owned()).unwrap_or_default(),
        offset: frame.range.start,
        length: frame.body_len,
        flags: frame.flags,
        compressed: frame.is_compressed,
        reference: frame.is_reference,
        priority: has_priority.then(|| meta.priority.name()),
        has_summary,
        tokens: None,
        properties: properties
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, name)| name)
            .collect(),
    }
}
