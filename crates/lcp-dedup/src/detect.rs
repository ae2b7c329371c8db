//! Detection of duplicates, step by step (RFC 0006 §3).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use foldhash::fast::RandomState;
use lcp_tokens::TokenEstimator;
use lcp_types::{Block, BlockContent, BlockMeta, DuplicateKind};

use crate::chunks::resolve_overlaps;
use crate::languages::{comment_syntax, has_meaning_in_space};
use crate::near::{self, Changes, Document, JoinLimits};
use crate::options::{DedupError, DedupLevel, Options, Survivor};
use crate::origin::Origins;
use crate::overlap::LineRangeError;
use crate::paths::Paths;
use crate::state::{DedupState, Outcome, StubKind, combine};
use crate::{exact, repeated_calls, stale};

/// The maximum number of texts to index per line.
const POSTINGS_MAX: usize = 512;
/// The maximum number of candidates to compare with a text.
const VERIFICATIONS_MAX: usize = 64;

/// The detected duplicates, before tokens are counted.
#[derive(Clone, Debug)]
pub struct Detected {
    /// One entry for each block.
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// Pairs of a chunk and another one that has some of its lines.
    pub(crate) shared: BTreeSet<(usize, usize)>,
    /// The chunks whose line range does not fit their text, with the error. They remain unchanged.
    pub bad_ranges: Vec<(usize, LineRangeError)>,
    /// The blocks that remain because a limit of comparisons was reached (RFC 0006 §7).
    pub limit_reached: Vec<usize>,
    /// Pairs of a block and a near one. The first remains because a description of the changes would
    /// be too long or is not allowed.
    pub near_unreplaced: Vec<(usize, usize)>,
}

/// Detects which of `blocks` cover others. `estimator` is used only at [`DedupLevel::Near`], to
/// decide whether a stub is much shorter than the text.
///
/// # Errors
///
/// Returns a [`DedupError`] if an option is out of range.
pub fn detect(
    blocks: &[Block<'_>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<Detected, DedupError> {
    options.check()?;
    let metas = BlockMeta::resolve_annotated(blocks);
    let mut state = DedupState::new(blocks, &metas, options);
    let paths = (options.level >= DedupLevel::Overlap).then(|| Paths::new(&mut state));
    if let Some(paths) = paths.as_ref().filter(|_| options.survivor == Survivor::Best) {
        stale::replace_stale(&mut state, paths);
        repeated_calls::replace_repeated_calls(&mut state);
    }
    exact::replace_exact(&mut state, &RandomState::default());
    let (mut bad_ranges, mut capped, mut alike) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(paths) = paths {
        resolve_overlaps(&mut state, &paths);
        bad_ranges = paths.bad_ranges;
    }
    if options.level >= DedupLevel::Near {
        detect_near(&mut state, estimator, &mut capped, &mut alike);
    }
    resolve_chains(&mut state);
    let shared = state.shared.into_iter().collect();
    Ok(Detected {
        outcomes: state.outcomes,
        shared,
        bad_ranges,
        limit_reached: capped,
        near_unreplaced: alike,
    })
}

/// Resolves chains of covering blocks. If a block's cover was itself covered by a later step, the
/// root covers the block. The blocks that share lines of the chain then share lines of the block.
fn resolve_chains(state: &mut DedupState<'_, '_>) {
    let mut divided: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(index, other) in &state.shared {
        divided.entry(index).or_default().push(other);
    }
    let mut shared = std::mem::take(&mut state.shared);
    let mut settled = Vec::new();
    for (index, outcome) in state.outcomes.iter().enumerate() {
        let Some(before) = outcome.as_ref().and_then(Outcome::by) else { continue };
        let (root, how) = state.root(before);
        // Collect the other blocks that have lines of a block on the way to the root.
        let mut others: Vec<usize> = Vec::new();
        for block in state.chain(before) {
            others.extend(divided.get(&block).into_iter().flatten());
            if let Some(Outcome::Cut { by, .. }) = &state.outcomes[block] {
                others.push(*by);
            }
        }
        let is_divided = !others.is_empty();
        shared.extend(others.into_iter().map(|other| (index, other)));
        settled.push((index, root, how, is_divided));
    }
    for (index, root, how, is_divided) in settled {
        match &mut state.outcomes[index] {
            Some(Outcome::Covered { by, relation, stub }) => {
                *by = root;
                if *relation == DuplicateKind::Superseded {
                    continue;
                }
                *relation = how.map_or(*relation, |how| combine(Some(*relation), how));
                // A reference would name a block that lacks some of the lines.
                if is_divided && *stub == StubKind::Reference {
                    state.outcomes[index] = None;
                }
            }
            Some(Outcome::Cut { by, .. }) => *by = root,
            _ => {}
        }
    }
    for (_, other) in &mut shared {
        *other = state.root(*other).0;
    }
    let covered = |pair: &(usize, usize)| state.outcomes[pair.0].is_some() && pair.0 != pair.1;
    shared.retain(covered);
    state.shared = shared;
}

/// Detects texts that share nearly all of their lines, apart from white space and comments.
fn detect_near(
    state: &mut DedupState<'_, '_>,
    estimator: &dyn TokenEstimator,
    capped: &mut Vec<usize>,
    alike: &mut Vec<(usize, usize)>,
) {
    let compared = |index: &usize| {
        let content = &state.blocks[*index].content;
        let is_left = matches!(content, BlockContent::Conversation(_) | BlockContent::Extension(_));
        !is_left && state.text(*index).is_some()
    };
    let indices: Vec<_> = state.order.iter().copied().filter(compared).collect();
    let text = |&index: &usize| Document {
        bytes: state.text(index).unwrap_or_default(),
        exact: has_meaning_in_space(&state.blocks[index].content),
        comments: comment_syntax(&state.blocks[index].content),
        // A text that was already changed must not change again.
        fixed: state.ranks[index].fixed || state.outcomes[index].is_some(),
    };
    let texts: Vec<_> = indices.iter().map(text).collect();
    let limits = JoinLimits {
        threshold: state.options.near_threshold,
        postings_max: POSTINGS_MAX,
        verifications_max: VERIFICATIONS_MAX,
    };
    // A block that covers others must not become a diff. With `first`, only later blocks refer to
    // an earlier one, and these must not influence it.
    let covers: HashSet<usize, RandomState> = match state.options.survivor {
        Survivor::Best => state.outcomes.iter().flatten().filter_map(Outcome::by).collect(),
        Survivor::First => HashSet::default(),
    };
    let mut is_worth_it = |at: usize, by: usize, changes: &Changes| {
        // Data becomes a reference, but never a diff.
        let is_data = matches!(state.blocks[indices[at]].content, BlockContent::StructuredData(_));
        if (is_data && !changes.hunks.is_empty()) || covers.contains(&indices[at]) {
            return false;
        }
        let (at_block, by_block) = (indices[at], indices[by]);
        if state.makes_critical(at_block, by_block) {
            return false;
        }
        let stub = state.target(by_block).changes(by_block < at_block, changes);
        2 * tokens(estimator, &stub) < tokens(estimator, texts[at].bytes)
    };
    let matches = near::join(&texts, &limits, &mut is_worth_it);
    capped.extend(matches.capped.into_iter().map(|at| indices[at]));
    capped.sort_unstable();
    alike.extend(matches.alike.iter().map(|&(at, other)| (indices[at], indices[other])));
    alike.sort_unstable();
    let later = matches.covers.iter().zip(&indices).filter(|(found, _)| found.is_some());
    let origins = Origins::new(state, later.map(|(_, &index)| index));
    for (at, found) in matches.covers.into_iter().enumerate() {
        match found {
            Some(near::Match::Contained { by } | near::Match::Changed { by, .. })
                if (indices[by] < indices[at]
                    && origins.changed_between(state, indices[by], indices[at]))
                    || state.makes_critical(indices[at], indices[by]) => {}
            None => {}
            Some(near::Match::Contained { by }) => {
                state.cover(indices[at], indices[by], DuplicateKind::Near);
            }
            Some(near::Match::Changed { by, changes }) => {
                let stub = StubKind::Changes(changes.into());
                let (by, relation) = (indices[by], DuplicateKind::Near);
                state.outcomes[indices[at]] = Some(Outcome::Covered { by, relation, stub });
            }
        }
    }
}

/// Counts the tokens of a content that ends with a newline. A missing newline is added.
pub(crate) fn tokens(estimator: &dyn TokenEstimator, content: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(content);
    let text = if text.ends_with('\n') { text } else { Cow::Owned(text.into_owned() + "\n") };
    estimator.estimate(&text).into()
}
