//! Statistics of deduplication in a plan (RFC 0006 §8).

use lcp_types::{DuplicateKind, Replacement, Replacements};

use crate::plan::{Plan, RenderDecision};

/// The statistics of the deduplication that ran before a plan was made.
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
    /// The number of equal, contained and near duplicates.
    pub removed: u64,
    /// The number of blocks that were merged into an overlapping or adjacent block, or cut down to
    /// the lines that no other block has.
    pub merged: u64,
    /// The number of blocks that a newer version replaces.
    pub superseded: u64,
    /// The number of removed or superseded blocks that were replaced by a line or a diff that
    /// refers to the other block.
    pub references: u64,
    /// The number of merged blocks that remain with only their own lines.
    pub cut: u64,
    /// Tokens of content that deduplication saved.
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
    /// Returns the statistics of deduplication; `None` if it did not run.
    #[must_use]
    pub fn dedup_stats(&self) -> Option<DedupStats> {
        self.duplicates.as_ref().map(DedupStats::from)
    }

    /// Returns the indices of blocks whose text only refers to another block that is not shown in
    /// full: a reader cannot find the content in the text (RFC 0006 §8). References to newer
    /// versions are not included, because outdated content is no loss.
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

    /// Returns the replacement of the block at `index`, whether the block was removed or replaced
    /// in place; `None` if no other block covers it.
    #[must_use]
    pub fn replacement(&self, index: usize) -> Option<&Replacement> {
        self.duplicates.as_ref()?.covered.get(&index)
    }
}
