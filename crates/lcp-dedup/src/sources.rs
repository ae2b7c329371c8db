//! What blocks were read from, and whether it was something else in between.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use lcp_types::BlockContent;

use crate::overlap::{agrees, range_of};
use crate::work::Work;

/// Reads that are looked at between two; beyond that they may be of anything.
const BETWEEN_MAX: usize = 64;

/// A file, a document, a tree. Not a call: a result keeps its place, where a line says
/// what it is the same as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source<'b> {
    Path(&'b str),
    Title(&'b str),
    Root(&'b str),
}

/// The blocks of each source, in the order of the stream.
#[derive(Debug)]
pub(crate) struct Sources<'b> {
    of: HashMap<Source<'b>, Vec<usize>, RandomState>,
}

impl<'b> Sources<'b> {
    /// The sources that `wanted` blocks have.
    pub(crate) fn new(work: &Work<'b, '_>, wanted: impl Iterator<Item = usize>) -> Self {
        let mut of: HashMap<_, Vec<usize>, RandomState> = HashMap::default();
        for index in wanted {
            if let Some(source) = source(&work.blocks[index].content) {
                of.entry(source).or_default();
            }
        }
        if of.is_empty() {
            return Self { of };
        }
        let mut blocks = work.order.clone();
        blocks.sort_unstable();
        for index in blocks {
            if let Some(source) = source(&work.blocks[index].content)
                && let Some(all) = of.get_mut(&source)
            {
                all.push(index);
            }
        }
        Self { of }
    }

    /// Whether the source of the later block was read, or edited, otherwise between
    /// these two: then the later one is no copy of the earlier, though it be the same.
    pub(crate) fn changed_between(
        &self,
        work: &Work<'_, '_>,
        earlier: usize,
        later: usize,
    ) -> bool {
        let Some(all) = source(&work.blocks[later].content).and_then(|source| self.of.get(&source))
        else {
            return false;
        };
        let from = all.partition_point(|&index| index <= earlier);
        let to = all.partition_point(|&index| index < later);
        let between = all.get(from..to).unwrap_or_default();
        between.len() > BETWEEN_MAX || between.iter().any(|&other| differs(work, other, later))
    }
}

fn source<'b>(content: &'b BlockContent<'_>) -> Option<Source<'b>> {
    let source = match content {
        BlockContent::Code(code) => Source::Path(&code.path),
        BlockContent::Diff(diff) => Source::Path(&diff.path),
        BlockContent::Document(document) => Source::Title(&document.title),
        BlockContent::FileTree(tree) => Source::Root(&tree.root),
        _ => return None,
    };
    let (Source::Path(name) | Source::Title(name) | Source::Root(name)) = source;
    (!name.is_empty()).then_some(source)
}

/// Whether two blocks of a source say different things of the same.
fn differs(work: &Work<'_, '_>, other: usize, block: usize) -> bool {
    let (other, block) = (&work.blocks[other].content, &work.blocks[block].content);
    match (other, block) {
        (BlockContent::Code(other), BlockContent::Code(code)) => {
            // Most chunks of a file say where they are, and are elsewhere.
            let said = |code: &lcp_types::Code<'_>| code.line_start.zip(code.line_end);
            if said(other).zip(said(code)).is_some_and(|(a, b)| a.1 < b.0 || b.1 < a.0) {
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
        // An edit of the file.
        (BlockContent::Diff(_), BlockContent::Code(_)) => true,
        _ => other != block,
    }
}
