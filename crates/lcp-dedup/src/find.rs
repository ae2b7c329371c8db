//! Finds what covers what, step by step (RFC 0006 §3).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use foldhash::fast::RandomState;
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockContent, BlockMeta, DataFormat, DuplicateKind, FormatHint, Lang};

use crate::chunks::overlapping;
use crate::error::DedupError;
use crate::near::{self, Terms as NearTerms, Text};
use crate::options::{Keep, Level, Options};
use crate::overlap::BadRange;
use crate::paths::Paths;
use crate::sources::Sources;
use crate::work::{Fate, Place, Work};
use crate::{equal, superseded};

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
    /// Blocks that are near another one, which stays, and differ from it in too
    /// much for a diff: they stay, too.
    pub alike: Vec<(usize, usize)>,
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
    let metas = BlockMeta::resolve_annotated(blocks);
    let mut work = Work::new(blocks, &metas, options);
    let paths = (options.level >= Level::Overlap).then(|| Paths::new(&mut work));
    if let Some(paths) = paths.as_ref().filter(|_| options.keep == Keep::Best) {
        superseded::cover(&mut work, paths);
    }
    equal::cover(&mut work, &RandomState::default());
    let (mut bad_ranges, mut capped, mut alike) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(paths) = paths {
        overlapping(&mut work, &paths);
        bad_ranges = paths.bad_ranges;
    }
    if options.level >= Level::Near {
        near(&mut work, estimator, &mut capped, &mut alike);
    }
    settle(&mut work);
    let shared = work.shared.into_iter().collect();
    Ok(Found { fates: work.fates, shared, bad_ranges, capped, alike })
}

/// What covers may have been covered by a later step: then the last one covers
/// both, and where the lines of the one were divided, so are those of the other.
fn settle(work: &mut Work<'_, '_>) {
    let mut divided: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(index, other) in &work.shared {
        divided.entry(index).or_default().push(other);
    }
    let mut shared = std::mem::take(&mut work.shared);
    let mut settled = Vec::new();
    for (index, fate) in work.fates.iter().enumerate() {
        let Some(before) = fate.as_ref().and_then(Fate::by) else { continue };
        let (root, how) = work.root(before);
        // All that it goes by, the last one included, and who has lines of those.
        let mut others: Vec<usize> = Vec::new();
        for block in work.chain(before) {
            others.extend(divided.get(&block).into_iter().flatten());
            if let Some(Fate::Cut { by, .. }) = &work.fates[block] {
                others.push(*by);
            }
        }
        let is_divided = !others.is_empty();
        shared.extend(others.into_iter().map(|other| (index, other)));
        settled.push((index, root, how, is_divided));
    }
    for (index, root, how, is_divided) in settled {
        match &mut work.fates[index] {
            Some(Fate::Covered { by, relation, place }) => {
                *by = root;
                if *relation == DuplicateKind::Superseded {
                    continue;
                }
                // It stands to that one as what it was equal to does.
                *relation = how.unwrap_or(*relation);
                // A line would send its reader to a block that lacks some of it.
                if is_divided && *place == Place::Reference {
                    work.fates[index] = None;
                }
            }
            Some(Fate::Cut { by, .. }) => *by = root,
            _ => {}
        }
    }
    for (_, other) in &mut shared {
        *other = work.root(*other).0;
    }
    let covered = |pair: &(usize, usize)| work.fates[pair.0].is_some() && pair.0 != pair.1;
    shared.retain(covered);
    work.shared = shared;
}

/// Texts that share nearly all of their lines.
fn near(
    work: &mut Work<'_, '_>,
    estimator: &dyn TokenEstimator,
    capped: &mut Vec<usize>,
    alike: &mut Vec<(usize, usize)>,
) {
    let compared = |index: &usize| {
        let content = &work.blocks[*index].content;
        let is_left = matches!(content, BlockContent::Conversation(_) | BlockContent::Extension(_));
        !is_left && work.text(*index).is_some()
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
        // A program that reads data would not read a diff.
        let is_data = matches!(work.blocks[indices[at]].content, BlockContent::StructuredData(_));
        if is_data || covers.contains(&indices[at]) {
            return false;
        }
        let (at_block, by_block) = (indices[at], indices[by]);
        if work.makes_critical(at_block, by_block) {
            return false;
        }
        let diff = work.target(by_block).diff(by_block < at_block, hunks);
        2 * tokens(estimator, &diff) < tokens(estimator, texts[at].bytes)
    };
    let joined = near::join(&texts, &terms, &mut is_worth_it);
    capped.extend(joined.capped.into_iter().map(|at| indices[at]));
    capped.sort_unstable();
    alike.extend(joined.alike.iter().map(|&(at, other)| (indices[at], indices[other])));
    alike.sort_unstable();
    let later = joined.found.iter().zip(&indices).filter(|(found, _)| found.is_some());
    let sources = Sources::new(work, later.map(|(_, &index)| index));
    for (at, found) in joined.found.into_iter().enumerate() {
        match found {
            Some(near::Found::Contained { by } | near::Found::Delta { by, .. })
                if (indices[by] < indices[at]
                    && sources.changed_between(work, indices[by], indices[at]))
                    || work.makes_critical(indices[at], indices[by]) => {}
            None => {}
            Some(near::Found::Contained { by }) => {
                work.cover(indices[at], indices[by], DuplicateKind::Near);
            }
            Some(near::Found::Delta { by, hunks }) => {
                let place = Place::Hunks(hunks.into());
                let (by, relation) = (indices[by], DuplicateKind::Near);
                work.fates[indices[at]] = Some(Fate::Covered { by, relation, place });
            }
        }
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
