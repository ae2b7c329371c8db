//! The origins of blocks (files, documents, trees), and whether they changed between two reads.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use lcp_types::BlockContent;

use crate::overlap::{agrees, range_of};
use crate::state::DedupState;

/// The maximum number of reads to compare between two blocks. More reads count as a change.
const BETWEEN_MAX: usize = 64;

/// The origin of a block: a file, a document or a tree. Tool calls are not origins, because their
/// results always remain, at least as a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin<'b> {
    Path(&'b str),
    Title(&'b str),
    Root(&'b str),
}

/// The blocks of each origin, in the order of the stream.
#[derive(Debug)]
pub(crate) struct Origins<'b> {
    blocks: HashMap<Origin<'b>, Vec<usize>, RandomState>,
}

impl<'b> Origins<'b> {
    /// Collects the blocks that share an origin with one of the `wanted` blocks.
    pub(crate) fn new(state: &DedupState<'b, '_>, wanted: impl Iterator<Item = usize>) -> Self {
        let mut by_origin: HashMap<_, Vec<usize>, RandomState> = HashMap::default();
        for index in wanted {
            if let Some(origin) = origin(state, index) {
                by_origin.entry(origin).or_default();
            }
        }
        if by_origin.is_empty() {
            return Self { blocks: by_origin };
        }
        for index in state.stream_order() {
            if let Some(origin) = origin(state, index)
                && let Some(all) = by_origin.get_mut(&origin)
            {
                all.push(index);
            }
        }
        Self { blocks: by_origin }
    }

    /// Returns whether the origin of the later block was edited, or read with other content,
    /// between the two blocks. If so, the later block is not a copy of the earlier one, even if
    /// they are equal.
    pub(crate) fn changed_between(
        &self,
        state: &DedupState<'_, '_>,
        earlier: usize,
        later: usize,
    ) -> bool {
        let Some(all) = origin(state, later).and_then(|origin| self.blocks.get(&origin)) else {
            return false;
        };
        let from = all.partition_point(|&index| index <= earlier);
        let to = all.partition_point(|&index| index < later);
        let between = all.get(from..to).unwrap_or_default();
        between.len() > BETWEEN_MAX || between.iter().any(|&other| differs(state, other, later))
    }
}

fn origin<'b>(state: &DedupState<'b, '_>, index: usize) -> Option<Origin<'b>> {
    let origin = match &state.blocks[index].content {
        BlockContent::Code(code) => Origin::Path(&code.path),
        BlockContent::Diff(diff) => Origin::Path(&diff.path),
        BlockContent::Document(document) => Origin::Title(&document.title),
        BlockContent::FileTree(tree) => Origin::Root(&tree.root),
        BlockContent::StructuredData(_) => Origin::Path(state.data_path(index)?),
        _ => return None,
    };
    let (Origin::Path(name) | Origin::Title(name) | Origin::Root(name)) = origin;
    (!name.is_empty()).then_some(origin)
}

/// Returns whether two blocks of an origin contradict each other.
fn differs(state: &DedupState<'_, '_>, other: usize, block: usize) -> bool {
    let (other, block) = (&state.blocks[other].content, &state.blocks[block].content);
    match (other, block) {
        (BlockContent::Code(other), BlockContent::Code(code)) => {
            // Chunks with disjoint line ranges cannot contradict each other. Most chunks of a file
            // are disjoint.
            let range = |code: &lcp_types::Code<'_>| code.line_start.zip(code.line_end);
            if range(other).zip(range(code)).is_some_and(|(a, b)| a.1 < b.0 || b.1 < a.0) {
                return false;
            }
            let text = |code: &lcp_types::Code<'_>| {
                let range = range_of(code.line_start, code.line_end, code.content.as_slice());
                range.ok()
            };
            match (text(other), text(code)) {
                (Some(a), Some(b)) => {
                    !agrees((a, other.content.as_slice()), (b, code.content.as_slice()))
                }
                _ => other.content != code.content,
            }
        }
        // A diff edits the file.
        (BlockContent::Diff(_), BlockContent::Code(_) | BlockContent::StructuredData(_)) => true,
        _ => other != block,
    }
}
