//! The chunks and diffs of each path.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use lcp_types::BlockContent;

use crate::overlap::{BadRange, range_of};
use crate::work::Work;

/// CODE and DIFF blocks by their path, as they stand in the stream.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The members of all paths, one path behind the other.
    members: Vec<Member>,
    /// Where each path begins in them.
    starts: Vec<usize>,
    /// Chunks whose range is not that of their text.
    pub(crate) bad_ranges: Vec<(usize, BadRange)>,
}

/// A block of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) index: usize,
    /// Its lines; `None` of a diff, of a bad range, and of what is alone.
    pub(crate) range: Option<(u32, u32)>,
    /// Whether it is the whole of a file, not a range of its lines.
    pub(crate) is_whole: bool,
}

impl Paths {
    /// Takes chunks with bad ranges out of `work`: they stay as they are, and cover
    /// nothing.
    pub(crate) fn new(work: &mut Work<'_, '_>) -> Self {
        let mut numbers: HashMap<&str, usize, RandomState> = HashMap::default();
        let mut of: Vec<(usize, usize)> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        let mut blocks = work.order.clone();
        blocks.sort_unstable();
        for index in blocks {
            let path = match &work.blocks[index].content {
                BlockContent::Code(code) => code.path.as_ref(),
                BlockContent::Diff(diff) => diff.path.as_ref(),
                _ => continue,
            };
            // Without a path nothing says that two are of one file.
            if path.is_empty() {
                continue;
            }
            let next = numbers.len();
            let path = *numbers.entry(path).or_insert(next);
            if path == counts.len() {
                counts.push(0);
            }
            counts[path] += 1;
            of.push((path, index));
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        starts.push(0);
        for count in &counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        let mut members = vec![Member { index: 0, range: None, is_whole: false }; of.len()];
        let mut free = starts.clone();
        let mut bad_ranges = Vec::new();
        for (path, index) in of {
            let range = match &work.blocks[index].content {
                // A whole file is as long as it is; nobody asks, where it is alone.
                BlockContent::Code(code)
                    if counts[path] > 1 || (code.line_start, code.line_end) != (None, None) =>
                {
                    range_of(code.line_start, code.line_end, code.content.as_slice())
                        .map_err(|bad| bad_ranges.push((index, bad)))
                        .ok()
                }
                _ => None,
            };
            let is_whole = match &work.blocks[index].content {
                BlockContent::Code(code) => (code.line_start, code.line_end) == (None, None),
                _ => false,
            };
            members[free[path]] = Member { index, range, is_whole };
            free[path] += 1;
        }
        bad_ranges.sort_unstable_by_key(|(index, _)| *index);
        if !bad_ranges.is_empty() {
            let bad = |index: &usize| bad_ranges.binary_search_by_key(index, |(bad, _)| *bad);
            work.order.retain(|index| bad(index).is_err());
        }
        Self { members, starts, bad_ranges }
    }

    /// The paths with more than one block.
    pub(crate) fn several(&self) -> impl Iterator<Item = &[Member]> {
        let paths = self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]]);
        paths.filter(|members| members.len() > 1)
    }
}
