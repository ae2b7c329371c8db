//! The duplicates in a pack and the blocks that replace them: the result of deduplication as plain
//! data.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Block, BlockMeta};

crate::named_enum! {
    /// The kind of a duplicate: its relation to the block that replaces it (RFC 0006 §3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum DuplicateKind {
        /// The content is equal.
        Equal = "equal",
        /// All lines of the block are in a chunk with the same path.
        Contained = "contained",
        /// The block shares lines with a chunk of the same path. It was merged with that chunk, or
        /// cut down to the lines that only it has.
        Overlapping = "overlapping",
        /// The block was merged with a chunk of the same path that begins at its end.
        Adjacent = "adjacent",
        /// There is a newer read of the same lines, or a newer result of the same call.
        Superseded = "superseded",
        /// The lines are nearly the same.
        Near = "near",
    }
}

/// A duplicate: a block that another block replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Replacement {
    /// The index of the block that replaces it. That block is not replaced itself, or is still
    /// partly shown ([`Self::in_place`]).
    pub by: usize,
    /// The relation to that block.
    pub relation: DuplicateKind,
    /// `true` if the duplicate is still partly shown: as a line that refers to the other block, as
    /// a diff against it, or as the lines that only the duplicate has.
    pub in_place: bool,
    /// The number of content tokens saved, by exact count. If the replacing block grew, its
    /// additional tokens are subtracted.
    pub tokens_saved: u64,
}

/// The duplicates in a pack and the blocks that replace them (RFC 0006 §8), by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Replacements {
    /// The duplicates, by index.
    pub covered: BTreeMap<usize, Replacement>,
    /// Pairs of a duplicate or shortened chunk and an additional block that has some of its lines.
    /// The main replacement is in [`Self::covered`].
    pub shared: BTreeSet<(usize, usize)>,
    /// The blocks whose text differs from that in the pack. Annotations and alternate texts that
    /// describe their content no longer apply.
    pub changed: BTreeSet<usize>,
}

impl Replacements {
    /// The maximum number of links followed from a duplicate to the block that finally has its
    /// lines.
    const LINKS_MAX: usize = 4;

    /// Returns whether the block is not shown at all.
    #[must_use]
    pub fn is_removed(&self, index: usize) -> bool {
        self.covered.get(&index).is_some_and(|covered| !covered.in_place)
    }

    /// Returns the number of duplicates of this kind, and the tokens that they save in total.
    #[must_use]
    pub fn count(&self, kind: DuplicateKind) -> (usize, u64) {
        let duplicates = self.covered.values().filter(|covered| covered.relation == kind);
        duplicates
            .fold((0, 0), |(blocks, tokens), covered| (blocks + 1, tokens + covered.tokens_saved))
    }

    /// Returns the tokens that all duplicates save in total.
    #[must_use]
    pub fn tokens_saved(&self) -> u64 {
        self.covered.values().map(|covered| covered.tokens_saved).sum()
    }

    /// Updates metadata after deduplication:
    ///
    /// - Blocks inherit the highest priority, the highest rank and the pin of the blocks that they
    ///   replace.
    /// - Blocks without passages inherit the passages and the reasons of equal blocks that they
    ///   replace.
    /// - Summaries from annotations, alternate texts and passages of changed blocks are dropped.
    pub fn inherit_metadata<'b>(&self, blocks: &'b [Block<'_>], metas: &mut [BlockMeta<'b>]) {
        for (&index, covered) in &self.covered {
            let Some(from) = metas.get(index).filter(|from| !from.passages.is_empty()) else {
                continue;
            };
            let (passages, reasons) = (from.passages.clone(), from.reasons.clone());
            if let Some(meta) = metas.get_mut(covered.by)
                && covered.relation == DuplicateKind::Equal
                && meta.passages.is_empty()
            {
                (meta.passages, meta.reasons) = (passages, reasons);
            }
        }
        let named = self.covered.iter().map(|(&index, covered)| (index, covered.by));
        let pairs: Vec<_> = named.chain(self.shared.iter().copied()).collect();
        // A block that replaces another may itself be shortened or shown as a diff, so links can
        // form chains.
        for _ in 0..Self::LINKS_MAX {
            let mut has_changed = false;
            for &(index, by) in &pairs {
                let Some(from) = metas.get(index) else { continue };
                let (priority, rank, pinned) = (from.priority, from.rank, from.pinned);
                let Some(meta) = metas.get_mut(by) else { continue };
                if priority < meta.priority {
                    (meta.priority, meta.annotated) = (priority, true);
                    has_changed = true;
                }
                if rank.is_some_and(|rank| meta.rank.is_none_or(|own| own < rank)) {
                    meta.rank = rank;
                    has_changed = true;
                }
                has_changed |= pinned && !meta.pinned;
                meta.pinned |= pinned;
            }
            if !has_changed {
                break;
            }
        }
        for &index in &self.changed {
            let (Some(meta), Some(block)) = (metas.get_mut(index), blocks.get(index)) else {
                continue;
            };
            let summary = block.summary.as_deref().filter(|summary| !summary.is_empty());
            meta.summary = summary.map(Into::into);
            (meta.detailed, meta.tags) = (None, None);
            meta.passages.clear();
        }
    }
}
