//! Sets properties of selected blocks of a pack (RFC 0012 §9).

use std::path::Path;

use lcp_decoder::{ReadAt, SourceReader};
use lcp_ingest::{Globs, Pattern};
use lcp_packfile::{AppendResult, Error as PackError, PackScan, Properties};
use lcp_types::{Block, BlockContent, BlockMeta, BlockType};
use serde_json::{Value, json};

use crate::append::pack_error;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::pack_output::count_costs;

/// A range of block indices, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// The first index.
    pub first: usize,
    /// The last index; `None` for the last block of the pack.
    pub last: Option<usize>,
}

impl IndexRange {
    /// Parses `7`, `7-9` or `7-`.
    ///
    /// # Errors
    ///
    /// Returns a message for users if the text is not such a range.
    pub fn parse(text: &str) -> Result<Self, String> {
        let index = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
        let range = match text.split_once('-') {
            None => index(text).map(|only| Self { first: only, last: Some(only) }),
            Some((first, "")) => index(first).map(|first| Self { first, last: None }),
            Some((first, last)) => index(first)
                .zip(index(last))
                .filter(|(first, last)| first <= last)
                .map(|(first, last)| Self { first, last: Some(last) }),
        };
        range.ok_or_else(|| "expected an index or a range, such as 7, 7-9 or 7-".to_owned())
    }

    fn contains(&self, index: usize) -> bool {
        index >= self.first && self.last.is_none_or(|last| index <= last)
    }
}

/// The selection of blocks. A block must match one item of each list that is not empty. Metadata,
/// such as annotations, is never selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockSelection {
    /// Globs for the paths of CODE, DIFF and FILE_TREE blocks and the titles of DOCUMENT blocks.
    pub paths: Vec<Pattern>,
    /// Types.
    pub types: Vec<BlockType>,
    /// Indices.
    pub indices: Vec<IndexRange>,
}

/// The options of an annotation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnnotateOptions {
    /// The blocks.
    pub selection: BlockSelection,
    /// The properties to set on them.
    pub properties: Properties,
    /// `true` if the end of the pack will be replaced (see
    /// [`LockedPack::write`](crate::append::LockedPack::write)), `false` for a new file.
    pub in_place: bool,
}

/// An annotated pack.
#[derive(Debug)]
pub struct AnnotatedPack {
    /// The new pack.
    pub appended: AppendResult,
    /// The indices of the selected blocks.
    pub selected: Vec<usize>,
}

impl AnnotateOptions {
    /// Annotates a pack that was read from `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if no block is selected, or if the pack is malformed, damaged or cannot be
    /// changed.
    pub fn annotate(&self, path: &Path, pack: &dyn ReadAt) -> Result<AnnotatedPack> {
        let scan = SourceReader::new(pack).and_then(PackScan::without_content);
        let scan = scan.map_err(|error| Error::io("read", path.display(), &error))?;
        if let Some(error) = scan.problems().next() {
            return Err(files::malformed(path, &files::beginning(pack), error));
        }
        let blocks = scan.blocks;
        let selected = self.selection.select(path, &blocks)?;
        let annotations =
            self.properties.annotations(&blocks, |index| selected.binary_search(&index).is_ok());
        let options = lcp_packfile::AnnotateOptions {
            in_place: self.in_place,
            count_costs: Some(&count_costs),
        };
        let appended = lcp_packfile::annotate(pack, annotations, &options).map_err(|error| {
            let failure = pack_error(path, pack, &error);
            match error {
                PackError::NotAppendable(_) if self.in_place => {
                    failure.with_hint("pass -o NEW to write a new pack")
                }
                _ => failure,
            }
        })?;
        Ok(AnnotatedPack { appended, selected })
    }
}

impl BlockSelection {
    /// Returns the indices of the selected blocks in order.
    fn select(&self, path: &Path, blocks: &[Block<'_>]) -> Result<Vec<usize>> {
        let globs = Globs::new(&self.paths).map_err(|error| Error::new(ErrorKind::Usage, error))?;
        let metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
        let content = |index: &usize| !blocks[*index].content.is_metadata();
        for range in &self.indices {
            let mut indices = (range.first..blocks.len()).take_while(|at| range.contains(*at));
            if !indices.any(|at| content(&at)) {
                return Err(nothing_selected(path, blocks, Some(range)));
            }
        }
        let is_selected = |index: &usize| {
            let block = &blocks[*index];
            let is_at = |range: &IndexRange| range.contains(*index);
            content(index)
                && (self.paths.is_empty()
                    || path_of(block, &metas[*index]).is_some_and(|at| globs.is_match(at)))
                && (self.types.is_empty() || self.types.contains(&block.block_type()))
                && (self.indices.is_empty() || self.indices.iter().any(is_at))
        };
        let selected: Vec<_> = (0..blocks.len()).filter(is_selected).collect();
        if selected.is_empty() { Err(nothing_selected(path, blocks, None)) } else { Ok(selected) }
    }
}

/// Returns the error about a range without blocks, or about lists that together select no block.
fn nothing_selected(path: &Path, blocks: &[Block<'_>], range: Option<&IndexRange>) -> Error {
    let name = files::display_name(path);
    let message = match range {
        Some(IndexRange { first, .. }) if *first >= blocks.len() => {
            let blocks = lcp_driver::plural(blocks.len(), "block");
            format!("block {first} does not exist (the pack has {blocks}) ({name})")
        }
        Some(IndexRange { first, last }) if *last == Some(*first) => {
            format!("block {first} is metadata, which cannot be annotated ({name})")
        }
        Some(IndexRange { first, .. }) => {
            format!("the range from block {first} has only metadata ({name})")
        }
        None => format!("no block matches all of the given filters ({name})"),
    };
    Error::new(ErrorKind::Usage, message)
        .with_hint("run `lcp inspect` to list the blocks with their indices, types and labels")
}

/// Returns the path of a block that has one.
fn path_of<'b>(block: &'b Block<'_>, meta: &'b BlockMeta<'_>) -> Option<&'b str> {
    match &block.content {
        BlockContent::Code(code) => Some(&code.path),
        BlockContent::Diff(diff) => Some(&diff.path),
        BlockContent::FileTree(tree) => Some(&tree.root),
        BlockContent::Document(document) => Some(&document.title),
        BlockContent::StructuredData(_) => meta.path.as_deref(),
        _ => None,
    }
}

impl AnnotatedPack {
    /// Returns the number of annotations that were added. Properties that blocks had already need
    /// no annotation.
    pub fn annotations(&self) -> u64 {
        let (before, after) = self.appended.blocks;
        after - before
    }

    /// Returns the report on the pack of this name as JSON (`lcp.annotate.v1`).
    pub fn to_json(&self, name: &str) -> Value {
        json!({
            "schema": "lcp.annotate.v1",
            "file": name,
            "blocks": self.appended.blocks.1,
            "selected": self.selected,
            "annotations": self.annotations(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_ranges_are_parsed() {
        let range = |first, last| Ok(IndexRange { first, last });
        assert_eq!(IndexRange::parse("7"), range(7, Some(7)));
        assert_eq!(IndexRange::parse("7-9"), range(7, Some(9)));
        assert_eq!(IndexRange::parse("7-"), range(7, None));
        for text in ["", "-", "-7", "9-7", "+7", "a", "7-9-", "1.5"] {
            assert!(IndexRange::parse(text).is_err(), "{text}");
        }
    }
}
