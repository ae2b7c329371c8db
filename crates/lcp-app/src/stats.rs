//! Statistics of packs: tokens by type and mode, bytes, duplicates.

use std::collections::BTreeMap;
use std::sync::Arc;

use lcp_driver::OutputMode;
use lcp_packfile::PackScan;
use lcp_tokens::TokenEstimator;
use lcp_types::{BlockMeta, DuplicateKind};
use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::token_tree::{self, TreeEntry};
use crate::{costs, dedup, naive_markdown};

/// Statistics of a pack. They serialize as the report `lcp.stats.v1`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "lcp.stats.v1")]
pub struct Stats {
    /// The name of the encoding that counts.
    pub encoding: String,
    /// `true` if its counts are exact.
    pub exact: bool,
    /// The size of the pack in bytes.
    pub bytes: u64,
    /// The size without compression in bytes.
    pub unpacked_bytes: u64,
    /// The name of the compression.
    pub compression: &'static str,
    /// The ratio of unpacked bytes to stored bytes, to four decimals.
    pub compression_ratio: f64,
    /// The number of annotations and other metadata blocks.
    pub metadata_blocks: u64,
    /// The number of blocks in a content store. Their tokens are not counted.
    pub references: usize,
    /// The blocks of each type by its name, in the order of the type codes.
    #[serde(serialize_with = "as_map")]
    pub by_type: Vec<(String, BlockStats)>,
    /// The totals. The tokens of a mode are those of the whole text.
    #[serde(rename = "whole")]
    pub total: BlockStats,
    /// The duplicates that `--dedup overlap` removes.
    pub duplicates: DuplicateStats,
    /// The tokens of folders and files, if they are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Vec<TreeEntry>>,
}

/// The number of blocks, and their tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockStats {
    /// The number of blocks.
    pub blocks: u64,
    /// Tokens of their contents.
    pub content_tokens: u64,
    /// Tokens in XML.
    pub xml_tokens: u64,
    /// Tokens in Markdown.
    pub markdown_tokens: u64,
    /// Tokens in the minimal mode.
    pub minimal_tokens: u64,
    /// Tokens in naive Markdown.
    pub naive_markdown_tokens: u64,
}

/// The number of duplicates, and the tokens that their removal saves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DuplicateStats {
    /// The number of duplicates.
    pub blocks: usize,
    /// Tokens saved.
    pub tokens_saved: u64,
    /// The statistics by name of the relation between the blocks.
    #[serde(serialize_with = "as_map")]
    pub by_relation: Vec<(&'static str, RelationStats)>,
}

/// The number of duplicates of one kind, and the tokens that their removal saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RelationStats {
    /// The number of duplicates.
    pub blocks: usize,
    /// Tokens saved.
    pub tokens: u64,
}

impl Stats {
    /// Counts the blocks of a pack with this size in bytes. With `tree_levels`, also sums up
    /// the tokens of folders and files, and lists this number of levels of them.
    ///
    /// # Errors
    ///
    /// Returns an error if the blocks cannot be planned or compared.
    pub fn new(
        pack: &PackScan<'_>,
        bytes: u64,
        estimator: &Arc<dyn TokenEstimator>,
        tree_levels: Option<usize>,
    ) -> Result<Self> {
        let plans = costs::full_costs(&pack.blocks, &OutputMode::ALL, estimator)?;
        let (encoding, exact) = (plans[0].encoding.clone(), plans[0].exact);
        let mut by_type: BTreeMap<u8, (String, BlockStats)> = BTreeMap::new();
        let mut total = BlockStats::default();
        let mut markdown = String::new();
        let mut metadata_blocks = 0;
        let mut files = Vec::new();
        let metas = BlockMeta::resolve_all(&pack.blocks, &mut |_, _| {});
        for (index, (block, frame)) in pack.blocks.iter().zip(&pack.frames).enumerate() {
            if block.content.is_metadata() {
                metadata_blocks += u64::from(frame.problem.is_none());
                continue;
            }
            let text = naive_markdown::block_to_markdown(block, &metas[index]);
            let (_, row) = by_type
                .entry(frame.block_type.code())
                .or_insert_with(|| (frame.block_type.to_string(), BlockStats::default()));
            let content_tokens =
                plans[0].items.get(index).map_or(0, |item| item.content_tokens.into());
            if tree_levels.is_some() {
                let path = token_tree::file_path(block, &metas[index]);
                files.extend(path.map(|path| (path, content_tokens)));
            }
            for row in [&mut *row, &mut total] {
                row.blocks += 1;
                row.content_tokens += content_tokens;
            }
            row.naive_markdown_tokens += u64::from(estimator.estimate(&text));
            for plan in &plans {
                *row.mode_mut(plan.mode) +=
                    plan.items.get(index).map_or(0, |item| u64::from(item.tokens));
            }
            markdown += &text;
        }
        total.naive_markdown_tokens = estimator.estimate(&markdown).into();
        for plan in &plans {
            *total.mode_mut(plan.mode) = plan.used_tokens.into();
        }
        // The index is not compressed.
        let index_bytes = (bytes - pack.unpacked_len().min(bytes))
            * u64::from(pack.compression_name() != "payload");
        let unpacked_bytes = unpacked_bytes(pack) + index_bytes;
        #[expect(clippy::cast_precision_loss, reason = "to four decimals")]
        let ratio = unpacked_bytes as f64 / bytes.max(1) as f64;
        Ok(Self {
            encoding,
            exact,
            bytes,
            unpacked_bytes,
            compression: pack.compression_name(),
            compression_ratio: (ratio * 1e4).round() / 1e4,
            metadata_blocks,
            references: pack.references().count(),
            by_type: by_type.into_values().collect(),
            total,
            duplicates: DuplicateStats::new(pack, estimator)?,
            tree: tree_levels.map(|levels| {
                let mut tree = token_tree::token_tree(files);
                tree.retain(|entry| entry.depth < levels);
                tree
            }),
        })
    }
}

impl BlockStats {
    /// Returns the tokens in a mode.
    pub fn tokens(mut self, mode: OutputMode) -> u64 {
        *self.mode_mut(mode)
    }

    fn mode_mut(&mut self, mode: OutputMode) -> &mut u64 {
        match mode {
            OutputMode::Xml => &mut self.xml_tokens,
            OutputMode::Markdown => &mut self.markdown_tokens,
            OutputMode::Minimal => &mut self.minimal_tokens,
        }
    }
}

impl DuplicateStats {
    fn new(pack: &PackScan<'_>, estimator: &Arc<dyn TokenEstimator>) -> Result<Self> {
        let options = lcp_dedup::Options::new(lcp_dedup::DedupLevel::Overlap);
        let duplicates = dedup::apply(pack.blocks.clone(), &options, estimator)?.duplicates;
        let by_relation = DuplicateKind::ALL.map(|relation| {
            let (blocks, tokens) = duplicates.count(relation);
            (relation.name(), RelationStats { blocks, tokens })
        });
        Ok(Self {
            blocks: duplicates.covered.len(),
            tokens_saved: duplicates.tokens_saved(),
            by_relation: by_relation.to_vec(),
        })
    }
}

/// Returns the bytes of the pack without compression.
fn unpacked_bytes(pack: &PackScan<'_>) -> u64 {
    // The header and END of a pack with one block.
    const AROUND: u64 = 12;
    let mut bytes = pack.unpacked_len();
    for (block, frame) in pack.blocks.iter().zip(&pack.frames).filter(|(_, of)| of.is_compressed) {
        let of_frame = varint_bytes(frame.body_len) + frame.body_len;
        let head = varint_bytes(frame.block_type.code().into()) + 1;
        let alone = lcp_encoder::encode(
            [block],
            lcp_encoder::EncodeOptions { index: false, ..Default::default() },
        );
        let alone =
            alone.map_or(of_frame, |pack| (pack.len() as u64).saturating_sub(AROUND + head));
        bytes = (bytes + alone).saturating_sub(of_frame);
    }
    bytes
}

fn varint_bytes(number: u64) -> u64 {
    u64::from((u64::BITS - number.leading_zeros()).div_ceil(7).max(1))
}

/// Serializes pairs as a map.
fn as_map<K: Serialize, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}
