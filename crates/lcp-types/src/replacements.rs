//! The blocks of a pack that other blocks replace: the result of deduplication, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Block, BlockMeta};

crate::named_enum! {
    /// The kind of a duplicate: its relation to the block that replaces it (RFC 0006 §3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum DuplicateKind {
        /// The same content.
        Equal = "equal",
        /// All of its lines stand in a chunk of the same path.
        Contained = "contained",
        /// It was merged with a chunk of the same path with which it shares lines,
        /// or cut down to the lines that are its own.
        Overlapping = "overlapping",
        /// It was merged with a chunk of the same path that begins where it ends.
        Adjacent = "adjacent",
        /// A newer read of the same lines, or a newer result of the same call.
        Superseded = "superseded",
        /// Nearly the same lines.
        Near = "near",
    }
}

/// A block that is replaced by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Replacement {
    /// The index of the block that replaces it; that one is not replaced itself, or has
    /// something of its own in its place.
    pub by: usize,
    /// The relation to that block.
    pub relation: DuplicateKind,
    /// Whether something still stands in its place: a line that refers to the
    /// other block, a diff against it, or the lines that are its own.
    pub in_place: bool,
    /// Tokens of content that this saves: counted, with those of the covering
    /// block where it grew.
    pub tokens_saved: u64,
}

/// The blocks of a pack that other blocks replace (RFC 0006 §8), by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Replacements {
    /// The replaced blocks, by index.
    pub covered: BTreeMap<usize, Replacement>,
    /// Chunks whose lines stand in several blocks: a covered or cut one, and a
    /// block that has some of its lines besides the one that is named above.
    pub shared: BTreeSet<(usize, usize)>,
    /// The blocks whose text is not that of the pack any more: what annotations
    /// and levels say of their content does not hold.
    pub changed: BTreeSet<usize>,
}

impl Replacements {
    /// How many blocks one may go by to the one that has its lines in the end.
    const LINKS_MAX: usize = 4;

    /// Whether nothing of the block is shown.
    #[must_use]
    pub fn is_removed(&self, index: usize) -> bool {
        self.covered.get(&index).is_some_and(|covered| !covered.in_place)
    }

    /// Returns the number of duplicates of this kind, and the tokens that they save.
    #[must_use]
    pub fn count(&self, kind: DuplicateKind) -> (usize, u64) {
        let duplicates = self.covered.values().filter(|covered| covered.relation == kind);
        duplicates
            .fold((0, 0), |(blocks, tokens), covered| (blocks + 1, tokens + covered.tokens_saved))
    }

    /// Returns the tokens that all of them save.
    #[must_use]
    pub fn tokens_saved(&self) -> u64 {
        self.covered.values().map(|covered| covered.tokens_saved).sum()
    }

    /// Updates metadata: blocks inherit the best priority and rank, and a pin, of those that
    /// they replace; summaries and alternate texts of changed contents are dropped.
    pub fn inherit_metadata<'b>(&self, blocks: &'b [Block<'_>], metas: &mut [BlockMeta<'b>]) {
        let named = self.covered.iter().map(|(&index, covered)| (index, covered.by));
        let pairs: Vec<_> = named.chain(self.shared.iter().copied()).collect();
        // A block that covers may be cut or a diff itself, and so on.
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
        }
    }
}
