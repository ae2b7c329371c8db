//! What deduplication did to the blocks of a plan, in figures (RFC 0006 §8).

use lcp_types::{DuplicateKind, Replacement, Replacements};

use crate::plan::{Plan, RenderDecision};

/// What deduplication did before a plan was made.
///
/// ```
/// use lcp_driver::DedupStats;
/// use lcp_types::{Replacement, Replacements, DuplicateKind};
///
/// let equal = Replacement { by: 0, relation: DuplicateKind::Equal, in_place: false, tokens_saved: 40 };
/// let duplicates = Replacements { covered: [(2, equal)].into(), ..Replacements::default() };
/// let sums = DedupStats::from(&duplicates);
/// assert_eq!((sums.removed, sums.tokens_saved), (1, 40));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DedupStats {
    /// Blocks that another one holds: equal, contained and near ones.
    pub removed: u64,
    /// Blocks merged with one that overlaps or adjoins, or cut down to the lines that are their
    /// own.
    pub merged: u64,
    /// Blocks of which a newer one takes the place.
    pub superseded: u64,
    /// Those of all these in whose place a line or a diff stands that refers to the other block.
    pub references: u64,
    /// Those of the merged that are still there with the lines of their own.
    pub cut: u64,
    /// Tokens of contents that all of this saved.
    pub tokens_saved: u64,
}

impl From<&Replacements> for DedupStats {
    fn from(duplicates: &Replacements) -> Self {
        let mut sums = Self::default();
        for covered in duplicates.covered.values() {
            let in_place = u64::from(covered.in_place);
            match covered.relation {
                DuplicateKind::Overlapping | DuplicateKind::Adjacent => {
                    sums.merged += 1;
                    sums.cut += in_place;
                }
                DuplicateKind::Superseded => {
                    sums.superseded += 1;
                    sums.references += in_place;
                }
                _ => {
                    sums.removed += 1;
                    sums.references += in_place;
                }
            }
        }
        Self { tokens_saved: duplicates.tokens_saved(), ..sums }
    }
}

impl Plan {
    /// What deduplication did; `None` where nothing was looked for.
    #[must_use]
    pub fn dedup_stats(&self) -> Option<DedupStats> {
        self.duplicates.as_ref().map(DedupStats::from)
    }

    /// Blocks that are shown by a line or a diff that refers to another one, of which the text
    /// shows less than all: nobody can read there what they stand for (RFC 0006 §8). Not those that
    /// a newer one replaces: what is outdated is no loss.
    #[must_use]
    pub fn dangling_references(&self) -> Vec<usize> {
        let shown = |index: usize| self.items.get(index).map(|item| &item.decision);
        let refers = |(&index, covered): (&usize, &Replacement)| {
            let is_copy = !matches!(
                covered.relation,
                DuplicateKind::Superseded | DuplicateKind::Overlapping | DuplicateKind::Adjacent
            );
            let is_shown = shown(index).is_some_and(RenderDecision::has_content);
            let is_there = shown(covered.by) == Some(&RenderDecision::Full);
            (covered.in_place && is_copy && is_shown && !is_there).then_some(index)
        };
        let covered = self.duplicates.iter().flat_map(|duplicates| &duplicates.covered);
        covered.filter_map(refers).collect()
    }

    /// Which block covers the one at `index`, removed or with something in its place; `None` where
    /// none does.
    #[must_use]
    pub fn replacement(&self, index: usize) -> Option<&Replacement> {
        self.duplicates.as_ref()?.covered.get(&index)
    }
}
