//! Detects exact duplicates (RFC 0006 §4).

use std::hash::BuildHasher;

use lcp_types::{BlockContent, DuplicateKind};

use crate::options::Survivor;
use crate::origin::Origins;
use crate::state::DedupState;

/// The key of a block. Blocks with equal keys are duplicates.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'b, 'a> {
    /// The text of a block of any other type. The types may differ.
    Text(&'b [u8]),
    /// The namespace, type name and text of an extension.
    Extension(&'b str, &'b str, &'b [u8]),
    /// The complete content of a block without text.
    Content(&'b BlockContent<'a>),
}

impl<'b, 'a> Key<'b, 'a> {
    fn new(content: &'b BlockContent<'a>) -> Self {
        match (content, content.text()) {
            (BlockContent::Extension(extension), _) => Self::Extension(
                &extension.namespace,
                &extension.type_name,
                extension.content.as_slice(),
            ),
            (_, Some(text)) => Self::Text(text.as_slice()),
            (_, None) => Self::Content(content),
        }
    }

    /// Returns a hash of the length and both ends of the text, or of the complete content if there is
    /// no text. Only keys with equal samples are hashed in full.
    fn hash_sample<S: BuildHasher>(&self, hashes: &S) -> u64 {
        let (names, text) = match self {
            Self::Text(text) => (None, text),
            Self::Extension(namespace, type_name, text) => (Some((namespace, type_name)), text),
            Self::Content(content) => return hashes.hash_one(content),
        };
        let end = text.len().saturating_sub(SAMPLE_BYTES);
        let ends = (&text[..text.len().min(SAMPLE_BYTES)], &text[end..]);
        hashes.hash_one((names, text.len(), ends))
    }
}

/// The number of bytes at each end of a text that are hashed first.
const SAMPLE_BYTES: usize = 64;

/// The maximum number of texts with equal samples that are compared without a hash.
const COMPARED_MAX: usize = 4;

/// Covers every block whose content a preferred block has. The result does not depend on `hashes`.
/// A random hash key prevents attacks with colliding hashes.
pub(crate) fn replace_exact<S: BuildHasher>(state: &mut DedupState<'_, '_>, hashes: &S) {
    let copies = copies(state, hashes);
    let origins = Origins::new(state, copies.iter().flatten().copied());
    for alike in copies {
        for mut alike in split_at_changes(state, &origins, alike) {
            // Fixed blocks come first, even if their rank is lower.
            if state.options.survivor == Survivor::Best {
                alike.sort_by_key(|&index| !state.ranks[index].fixed);
            }
            let Some((&best, others)) = alike.split_first() else { continue };
            for &index in others {
                let first = state.options.survivor == Survivor::First;
                // An earlier block must not change because of a later one.
                let stays =
                    state.ranks[index].fixed || (first && state.makes_critical(index, best));
                if !stays {
                    state.cover(index, best, DuplicateKind::Equal);
                }
            }
        }
    }
}

/// Splits blocks with equal content where their origin had other content in between. Restored
/// content is not a copy of the earlier content. The blocks are ordered best first.
fn split_at_changes(
    state: &DedupState<'_, '_>,
    origins: &Origins<'_>,
    alike: Vec<usize>,
) -> Vec<Vec<usize>> {
    let mut stream = alike.clone();
    stream.sort_unstable();
    let changed = |pair: &&[usize]| origins.changed_between(state, pair[0], pair[1]);
    // The first block of each segment after the first segment.
    let begins: Vec<_> = stream.windows(2).filter(changed).map(|pair| pair[1]).collect();
    if begins.is_empty() {
        return vec![alike];
    }
    let mut segments = vec![Vec::new(); begins.len() + 1];
    for index in alike {
        segments[begins.partition_point(|&begin| begin <= index)].push(index);
    }
    segments
}

/// Returns groups of blocks with equal content, each group best first.
fn copies<S: BuildHasher>(state: &DedupState<'_, '_>, hashes: &S) -> Vec<Vec<usize>> {
    let key = |at: usize| Key::new(&state.blocks[state.order[at]].content);
    // A repeated edit is not redundant, because the file was edited twice.
    let is_edit =
        |at: usize| matches!(state.blocks[state.order[at]].content, BlockContent::Diff(_));
    let is_there = |at: &usize| state.outcomes[state.order[*at]].is_none() && !is_edit(*at);
    // Sorting needs less memory than a hash table of a million entries.
    let all = (0..state.order.len()).filter(is_there);
    let mut sampled: Vec<_> = all.map(|at| (key(at).hash_sample(hashes), at)).collect();
    sampled.sort_unstable_by_key(|(sample, _)| *sample);
    let mut copies = Vec::new();
    for similar in groups_of_equal(&sampled) {
        // Comparing a few texts takes less time than hashing them.
        let hash = |at| if similar.len() > COMPARED_MAX { hashes.hash_one(key(at)) } else { 0 };
        let mut keyed: Vec<_> = similar.iter().map(|(_, at)| (hash(*at), *at)).collect();
        keyed.sort_unstable();
        for alike in groups_of_equal(&keyed) {
            let mut groups: Vec<Vec<usize>> = Vec::new();
            for &(_, at) in alike {
                match groups.iter_mut().find(|group| key(group[0]) == key(at)) {
                    Some(group) => group.push(at),
                    None => groups.push(vec![at]),
                }
            }
            copies.extend(groups.into_iter().filter(|group| group.len() > 1));
        }
    }
    // The result must not depend on the hash key.
    copies.sort_unstable();
    for at in copies.iter_mut().flatten() {
        *at = state.order[*at];
    }
    copies
}

/// Returns the groups of two or more entries with the same hash. `sorted` must be sorted.
fn groups_of_equal(sorted: &[(u64, usize)]) -> impl Iterator<Item = &[(u64, usize)]> {
    sorted.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1)
}

#[cfg(test)]
mod tests;
