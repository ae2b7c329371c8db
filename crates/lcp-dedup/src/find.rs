//! Finds what covers what, step by step (RFC 0006 §3).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockContent, DataFormat, FormatHint, Lang, Meta, Relation};

use crate::error::DedupError;
use crate::near::{self, Terms as NearTerms, Text};
use crate::options::{Keep, Level, Options};
use crate::overlap::{self, BadRange, Chunk};
use crate::paths::{Member, Paths};
use crate::work::{Fate, Lines, Place, Work};
use crate::{equal, reference, superseded};

/// Places that are remembered for a line.
const POSTINGS_MAX: usize = 512;
/// Candidates that are verified for a text.
const VERIFICATIONS_MAX: usize = 64;

/// Which blocks cover which, before any token was counted for it.
#[derive(Clone, Debug)]
pub struct Found {
    /// One for each block.
    pub(crate) fates: Vec<Option<Fate>>,
    /// Chunks, and further ones that have some of their lines.
    pub(crate) shared: BTreeSet<(usize, usize)>,
    /// The chunks whose range is not that of their text: they were kept as they
    /// are.
    pub bad_ranges: Vec<(usize, BadRange)>,
    /// The blocks that were kept because comparing them further would take more
    /// work than it may (RFC 0006 §7).
    pub capped: Vec<usize>,
}

/// Finds which of `blocks` cover others. `estimator` is asked only whether a
/// diff is worth its place, at [`Level::Near`].
///
/// # Errors
///
/// [`DedupError`] if an option is out of its range.
pub fn find(
    blocks: &[Block<'_>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<Found, DedupError> {
    options.check()?;
    let metas = Meta::of_annotated(blocks, &mut |_, _| {});
    let mut work = Work::new(blocks, &metas, options);
    let paths = (options.level >= Level::Overlap).then(|| Paths::new(&work));
    if let Some(paths) = paths.as_ref().filter(|_| options.keep == Keep::Best) {
        superseded::cover(&mut work, paths, &metas);
    }
    equal::cover(&mut work, &metas, &RandomState::default());
    let (mut bad_ranges, mut capped) = (Vec::new(), Vec::new());
    if let Some(mut paths) = paths {
        overlapping(&mut work, &paths);
        // What is covered all the same was not left as it is.
        paths.bad_ranges.retain(|(index, _)| work.fates[*index].is_none());
        bad_ranges = paths.bad_ranges;
    }
    if options.level >= Level::Near {
        near(&mut work, estimator, &mut capped);
    }
    settle(&mut work);
    let shared = work.shared.into_iter().collect();
    Ok(Found { fates: work.fates, shared, bad_ranges, capped })
}

/// What covers may have been covered by a later step: then the last one covers
/// both.
fn settle(work: &mut Work<'_, '_>) {
    for index in 0..work.fates.len() {
        let Some(before) = work.fates[index].as_ref().and_then(Fate::by) else { continue };
        let root = work.root(before);
        if root == before {
            continue;
        }
        match &mut work.fates[index] {
            Some(Fate::Covered { by, relation, .. }) => {
                // It is equal to what lies within that one.
                if *relation == Relation::Equal {
                    *relation = Relation::Contained;
                }
                *by = root;
            }
            Some(Fate::Cut { by, .. }) => *by = root,
            _ => {}
        }
    }
    let mut shared = std::mem::take(&mut work.shared);
    for (_, other) in &mut shared {
        *other = work.root(*other);
    }
    work.shared = shared;
}

/// Chunks of one path.
fn overlapping(work: &mut Work<'_, '_>, paths: &Paths) {
    let options = work.options;
    let terms = overlap::Terms {
        merge: options.merge_overlapping,
        threshold: options.overlap_threshold,
        merged_bytes: options.merged_bytes,
        first: options.keep == Keep::First,
    };
    let (mut chunks, mut indices) = (Vec::new(), Vec::new());
    for members in paths.several() {
        chunks.clear();
        indices.clear();
        for &Member { index, range } in members {
            let text = work.blocks[index].content.text().filter(|_| work.fates[index].is_none());
            if let Some(((first, last), text)) = range.zip(text) {
                let standing = work.standings[index];
                let (priority, fixed) = (standing.priority, standing.fixed);
                let (text, position) = (text.as_slice(), index);
                chunks.push(Chunk { first, last, text, order: 0, position, priority, fixed });
                indices.push(index);
            }
        }
        if chunks.len() < 2 {
            continue;
        }
        let mut ranked: Vec<_> = (0..chunks.len()).collect();
        // Members stand in the order of the stream.
        ranked.sort_by(|&a, &b| work.standings[indices[a]].cmp(&work.standings[indices[b]]));
        for (order, chunk) in ranked.into_iter().enumerate() {
            chunks[chunk].order = order;
        }
        let resolved = overlap::resolve_all(&chunks, &terms);
        let shared = resolved.shared.into_iter();
        work.shared.extend(shared.map(|(chunk, other)| (indices[chunk], indices[other])));
        for (at, fate) in resolved.fates.into_iter().enumerate() {
            let fate = match fate {
                overlap::Fate::Stays => continue,
                overlap::Fate::Grown { first, last, text, members } => {
                    let members = members.into_iter().map(|member| indices[member]).collect();
                    Fate::Grown(Box::new(Lines { first, last, text, members }))
                }
                overlap::Fate::Cut { by, first, last, text } => {
                    let (by, members) = (indices[by], vec![indices[at]]);
                    Fate::Cut { by, lines: Box::new(Lines { first, last, text, members }) }
                }
                overlap::Fate::Covered { by, relation } => {
                    Fate::Covered { by: indices[by], relation, place: Place::Nothing }
                }
            };
            work.fates[indices[at]] = Some(fate);
        }
    }
}

/// Texts that share nearly all of their lines.
fn near(work: &mut Work<'_, '_>, estimator: &dyn TokenEstimator, capped: &mut Vec<usize>) {
    let compared = |index: &usize| {
        !matches!(work.blocks[*index].content, BlockContent::Conversation(_))
            && work.text(*index).is_some()
    };
    let indices: Vec<_> = work.order.iter().copied().filter(compared).collect();
    let text = |&index: &usize| Text {
        bytes: work.text(index).unwrap_or_default(),
        exact: has_meaning_in_space(&work.blocks[index].content),
        // A text that is not that of the pack stays as it is.
        fixed: work.standings[index].fixed || work.fates[index].is_some(),
    };
    let texts: Vec<_> = indices.iter().map(text).collect();
    let terms = NearTerms {
        threshold: work.options.near_threshold,
        postings_max: POSTINGS_MAX,
        verifications_max: VERIFICATIONS_MAX,
    };
    // What covers others stands as it is; with `first`, what it covers comes after
    // it and may not decide that.
    let covers: HashSet<usize, RandomState> = match work.options.keep {
        Keep::Best => work.fates.iter().flatten().filter_map(Fate::by).collect(),
        Keep::First => HashSet::default(),
    };
    let mut is_worth_it = |at: usize, by: usize, hunks: &[u8]| {
        if covers.contains(&indices[at]) {
            return false;
        }
        let (at_block, by_block) = (indices[at], indices[by]);
        let diff = reference::diff(&work.blocks[by_block], by_block < at_block, hunks);
        2 * tokens(estimator, &diff) < tokens(estimator, texts[at].bytes)
    };
    let joined = near::join(&texts, &terms, &mut is_worth_it);
    capped.extend(joined.capped.into_iter().map(|at| indices[at]));
    capped.sort_unstable();
    let reads = Reads::new(work);
    for (at, found) in joined.found.into_iter().enumerate() {
        match found {
            Some(near::Found::Contained { by } | near::Found::Delta { by, .. })
                if reads.are_between(work.blocks, indices[by], indices[at]) => {}
            None => {}
            Some(near::Found::Contained { by }) => {
                work.cover(indices[at], indices[by], Relation::Near);
            }
            Some(near::Found::Delta { by, hunks }) => {
                let place = Place::Hunks(hunks.into());
                let (by, relation) = (indices[by], Relation::Near);
                work.fates[indices[at]] = Some(Fate::Covered { by, relation, place });
            }
        }
    }
}

/// Where each source was read, where that matters: with `first`, what stands
/// below another read of the same is no copy of one above it.
struct Reads<'b> {
    of: HashMap<&'b str, Vec<usize>, RandomState>,
}

impl<'b> Reads<'b> {
    fn new(work: &Work<'b, '_>) -> Self {
        let mut of: HashMap<_, Vec<_>, _> = HashMap::default();
        if work.options.keep == Keep::First {
            for &index in &work.order {
                if let Some(source) = source(&work.blocks[index].content) {
                    of.entry(source).or_default().push(index);
                }
            }
        }
        Self { of }
    }

    fn are_between(&self, blocks: &[Block<'_>], earlier: usize, later: usize) -> bool {
        let reads = source(&blocks[later].content).and_then(|source| self.of.get(source));
        // With `first` the order is that of the stream.
        reads.is_some_and(|reads| {
            let behind = reads.partition_point(|&read| read <= earlier);
            reads.get(behind).is_some_and(|&read| read < later)
        })
    }
}

/// What was read: a path or a tool.
fn source<'b>(content: &'b BlockContent<'_>) -> Option<&'b str> {
    match content {
        BlockContent::Code(code) => Some(&code.path),
        BlockContent::ToolResult(result) => Some(&result.tool_name),
        _ => None,
    }
}

/// Whether lines that differ in white space alone are different lines.
fn has_meaning_in_space(content: &BlockContent<'_>) -> bool {
    match content {
        BlockContent::Code(code) => !matches!(
            code.lang,
            Lang::Rust
                | Lang::TypeScript
                | Lang::JavaScript
                | Lang::Go
                | Lang::Java
                | Lang::C
                | Lang::Cpp
        ),
        BlockContent::Document(document) => document.format_hint != FormatHint::Html,
        BlockContent::StructuredData(data) => data.format != DataFormat::Json,
        // What tools print is often numbered.
        BlockContent::ToolResult(_) => false,
        _ => true,
    }
}

/// The tokens of a content, with one newline at its end.
pub(crate) fn tokens(estimator: &dyn TokenEstimator, content: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(content);
    let text = if text.ends_with('\n') { text } else { Cow::Owned(text.into_owned() + "\n") };
    estimator.estimate(&text).into()
}
