//! The texts of the blocks of a pack, read in batches.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use lcp_decoder::{DecodeOptions, ReadAt, SourceReader, StreamDecoder, StreamError};
use lcp_ingest::FileType;
use lcp_ingest::outline::InputKind;
use lcp_rank::Document;
use lcp_types::{Block, BlockContent, BlockMeta, FormatHint, Lang, Passage};
use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::find_block::content_bytes;

/// The maximum number of bytes of blocks that are in memory at once.
const BATCH_BYTES: usize = 8 << 20;

/// The text of a block.
pub(super) struct Text<'b> {
    pub(super) label: &'b str,
    pub(super) content: Cow<'b, str>,
    pub(super) kind: InputKind,
}

impl<'b> Text<'b> {
    /// Returns the text of a block that can be ranked.
    pub(super) fn new(block: &'b Block<'_>, meta: Option<&'b BlockMeta<'_>>) -> Option<Self> {
        let (label, bytes, kind) = match &block.content {
            BlockContent::Code(code) => {
                let kind = match FileType::Code(code.lang).tagged_lang(&code.path) {
                    Some(tag) => InputKind::TaggedCode(tag),
                    None if code.lang == Lang::Markdown => InputKind::Document,
                    None => InputKind::Code(code.lang),
                };
                (code.path.as_ref(), code.content.as_slice(), kind)
            }
            BlockContent::Document(document) => {
                let kind = match document.format_hint {
                    FormatHint::Markdown => InputKind::Document,
                    _ => InputKind::Text,
                };
                (document.title.as_ref(), document.content.as_slice(), kind)
            }
            BlockContent::StructuredData(data) => {
                let path = meta.and_then(|meta| meta.path.as_deref())?;
                (path, data.content.as_slice(), InputKind::Records(data.format))
            }
            BlockContent::ToolResult(result) => {
                (result.tool_name.as_ref(), result.content.as_slice(), InputKind::Text)
            }
            _ => return None,
        };
        // Checking is faster than replacing.
        let valid = std::str::from_utf8(bytes).map(Cow::Borrowed);
        let content = valid.unwrap_or_else(|_| String::from_utf8_lossy(bytes));
        Some(Self { label, content, kind })
    }

    pub(super) fn document(&self) -> Document<'_> {
        Document { path: self.label, text: &self.content, kind: self.kind }
    }
}

/// Blocks with their indices in the pack, and the annotations that follow them.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) blocks: Vec<(usize, Block<'static>)>,
    pub(super) annotations: Vec<Block<'static>>,
    bytes: usize,
}

impl Batch {
    /// Adds a block, if it can be ranked or is a tree. Returns the batch before it, if that is full.
    pub(super) fn push(&mut self, index: usize, block: Block<'static>) -> Option<Self> {
        if block.content.is_metadata() {
            self.annotations.push(block);
            return None;
        }
        let bytes = content_len(&block);
        if bytes == 0 && !matches!(block.content, BlockContent::FileTree(_)) {
            return None;
        }
        let is_full = self.bytes > BATCH_BYTES;
        let full = is_full.then(|| std::mem::take(self));
        self.bytes += bytes;
        self.blocks.push((index, block));
        full
    }

    /// Returns whether a block has a secret.
    pub(super) fn has_secret(&self) -> bool {
        let has_secret =
            |(_, block): &(usize, Block<'_>)| !lcp_secrets::find(&content_bytes(block)).is_empty();
        self.blocks.par_iter().any(has_secret)
    }

    /// Returns the metadata of the annotated blocks, by their position in the batch.
    pub(super) fn metas(&self) -> BTreeMap<usize, BlockMeta<'_>> {
        let mut about: BTreeMap<u64, Vec<&Block<'_>>> = BTreeMap::new();
        for annotation in &self.annotations {
            if let Some(target) = annotation.target_index() {
                about.entry(target).or_default().push(annotation);
            }
        }
        let mut metas = BTreeMap::new();
        for (at, (index, block)) in self.blocks.iter().enumerate() {
            let target = *index as u64;
            if let Some(about) = about.get(&target) {
                metas.insert(at, BlockMeta::resolve(target, block, about.iter().copied()));
            }
        }
        metas
    }
}

/// Reads the wanted blocks of a pack in batches.
pub(super) fn for_each_batch(
    path: &Path,
    pack: &dyn ReadAt,
    is_wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(&Batch),
) -> Result {
    let unread = |error: &std::io::Error| Error::io("read", path.display(), error);
    let reader = SourceReader::new(pack).map_err(|error| unread(&error))?;
    let mut decoder = StreamDecoder::new(reader, DecodeOptions::default());
    let mut batch = Batch::default();
    for index in 0.. {
        let block = decoder.next_block().map_err(|error| match error {
            StreamError::Read { source, .. } => unread(&source),
            StreamError::Decode(error) => files::malformed(path, &files::beginning(pack), &error),
            error => Error::new(ErrorKind::Io, error.to_string()),
        })?;
        let Some(block) = block else { break };
        if !block.content.is_metadata() && !is_wanted(index) {
            continue;
        }
        if let Some(full) = batch.push(index, block) {
            each(&full);
        }
    }
    each(&batch);
    Ok(())
}

/// The maximum number of lines of a tree in an overview.
const TREE_LINES_MAX: usize = 80;

/// Returns the lines of a tree of files that are nearest to the top.
pub(super) fn top_lines(tree: &[u8]) -> Vec<Passage> {
    let text = String::from_utf8_lossy(tree);
    let depths: Vec<_> =
        text.lines().map(|line| line.len() - line.trim_start_matches(' ').len()).collect();
    let mut sorted = depths.clone();
    sorted.sort_unstable();
    // The deepest level of which all lines can be shown, or else a part of the first one.
    let too_deep = sorted.get(TREE_LINES_MAX).copied().unwrap_or(usize::MAX);
    let is_shown = |depth: usize| depth < too_deep || depth == 0;
    let mut passages: Vec<Passage> = Vec::new();
    let shown = depths.iter().zip(1..).filter(|(depth, _)| is_shown(**depth));
    for (_, line) in shown.take(TREE_LINES_MAX) {
        match passages.last_mut() {
            Some(last) if last.last + 1 == line => last.last = line,
            _ => passages.push(Passage { first: line, last: line, score: Passage::SCORE_MAX }),
        }
    }
    passages
}

fn content_len(block: &Block<'_>) -> usize {
    match &block.content {
        BlockContent::Code(code) => code.content.as_slice().len(),
        BlockContent::Document(document) => document.content.as_slice().len(),
        BlockContent::StructuredData(data) => data.content.as_slice().len(),
        BlockContent::ToolResult(result) => result.content.as_slice().len(),
        _ => 0,
    }
}
