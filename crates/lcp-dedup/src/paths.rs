//! Groups chunks, data and diffs by path.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use lcp_types::BlockContent;

use crate::overlap::{LineRangeError, range_of};
use crate::state::DedupState;

/// The CODE, STRUCTURED_DATA and DIFF blocks of each path, in stream order.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The members of all paths, grouped by path.
    members: Vec<Member>,
    /// The start of each path in `members`.
    starts: Vec<usize>,
    /// The chunks whose line range does not fit their text, with the error.
    pub(crate) bad_ranges: Vec<(usize, LineRangeError)>,
}

/// A block with a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) index: usize,
    /// The line range; `None` for a diff, for a bad range, and for the only block of its path if it
    /// is a complete file.
    pub(crate) range: Option<(u32, u32)>,
    /// `true` if the block is a complete file, not a range of lines.
    pub(crate) is_whole: bool,
}

impl Paths {
    /// Groups blocks by path. Removes chunks with bad ranges from the order of `state`: they remain
    /// unchanged and cover nothing.
    pub(crate) fn new(state: &mut DedupState<'_, '_>) -> Self {
        let mut numbers: HashMap<&str, usize, RandomState> = HashMap::default();
        let mut path_members: Vec<(usize, usize)> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        for index in state.stream_order() {
            let path = match &state.blocks[index].content {
                BlockContent::Code(code) => code.path.as_ref(),
                BlockContent::Diff(diff) => diff.path.as_ref(),
                BlockContent::StructuredData(_) => state.data_path(index).unwrap_or_default(),
                _ => continue,
            };
            // Blocks without a path cannot be assigned to a file.
            if path.is_empty() {
                continue;
            }
            let next = numbers.len();
            let path = *numbers.entry(path).or_insert(next);
            if path == counts.len() {
                counts.push(0);
            }
            counts[path] += 1;
            path_members.push((path, index));
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        starts.push(0);
        for count in &counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        let mut members =
            vec![Member { index: 0, range: None, is_whole: false }; path_members.len()];
        let mut free = starts.clone();
        let mut bad_ranges = Vec::new();
        for (path, index) in path_members {
            let range = match &state.blocks[index].content {
                // The range of a single complete file is not needed.
                BlockContent::Code(code)
                    if counts[path] > 1 || (code.line_start, code.line_end) != (None, None) =>
                {
                    range_of(code.line_start, code.line_end, code.content.as_slice())
                        .map_err(|bad| bad_ranges.push((index, bad)))
                        .ok()
                }
                BlockContent::StructuredData(data) if counts[path] > 1 => {
                    range_of(None, None, data.content.as_slice()).ok()
                }
                _ => None,
            };
            let is_whole = match &state.blocks[index].content {
                BlockContent::Code(code) => (code.line_start, code.line_end) == (None, None),
                BlockContent::StructuredData(_) => true,
                _ => false,
            };
            members[free[path]] = Member { index, range, is_whole };
            free[path] += 1;
        }
        bad_ranges.sort_unstable_by_key(|(index, _)| *index);
        if !bad_ranges.is_empty() {
            let bad = |index: &usize| bad_ranges.binary_search_by_key(index, |(bad, _)| *bad);
            state.order.retain(|index| bad(index).is_err());
        }
        Self { members, starts, bad_ranges }
    }

    /// Returns the members of each path with more than one block.
    pub(crate) fn with_several_blocks(&self) -> impl Iterator<Item = &[Member]> {
        let paths = self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]]);
        paths.filter(|members| members.len() > 1)
    }
}
