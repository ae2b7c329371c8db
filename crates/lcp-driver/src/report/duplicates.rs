//! What a report says of duplicates: which blocks others cover, and what that
//! saves (RFC 0006 §8).

use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Replacement, Replacements};
use serde::Serialize;

use super::json::Sum;
use crate::dedup::DedupSums;
use crate::plan::Plan;

#[derive(Serialize)]
pub(super) struct DedupRow {
    removed: u64,
    merged: u64,
    superseded: u64,
    referred: u64,
    cut: u64,
    tokens_saved: u64,
    /// All relations, whatever was found.
    by_relation: BTreeMap<&'static str, Sum>,
}

impl From<&Replacements> for DedupRow {
    fn from(duplicates: &Replacements) -> Self {
        let DedupSums { removed, merged, superseded, referred, cut, tokens_saved } =
            duplicates.into();
        let by_relation = by_relation(duplicates).collect();
        Self { removed, merged, superseded, referred, cut, tokens_saved, by_relation }
    }
}

/// The blocks of each relation, and the tokens that it saves.
fn by_relation(duplicates: &Replacements) -> impl Iterator<Item = (&'static str, Sum)> {
    DuplicateKind::ALL.into_iter().map(|relation| {
        let (blocks, tokens) = duplicates.count(relation);
        (relation.name(), Sum { blocks: blocks as u64, tokens })
    })
}

/// The blocks of a plan that others of it cover, in its order.
pub(super) fn covered(plan: &Plan) -> impl Iterator<Item = (usize, &Replacement)> {
    let all = plan.duplicates.iter().flat_map(|duplicates| &duplicates.covered);
    let is_there = |index: usize| index < plan.items.len();
    all.map(|(&index, covered)| (index, covered))
        .filter(move |(index, covered)| is_there(*index) && is_there(covered.by))
}

/// What each covering block covers, in the order of the plan.
pub(super) fn covers(plan: &Plan) -> BTreeMap<usize, Vec<usize>> {
    let mut covers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, covered) in covered(plan) {
        covers.entry(covered.by).or_default().push(index);
    }
    covers
}

/// What the page has of duplicates.
#[derive(Serialize)]
pub(super) struct PageRow {
    removed: u64,
    merged: u64,
    superseded: u64,
    saved: u64,
    /// The relations that there are: name, blocks, tokens saved.
    relations: Vec<(&'static str, Sum)>,
    /// Index, that of the covering block, the place of the relation, tokens
    /// saved, for each covered block.
    covered: Vec<(usize, usize, usize, u64)>,
}

impl PageRow {
    /// `None` where nothing was looked for.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let duplicates = plan.duplicates.as_ref()?;
        let sums = DedupSums::from(duplicates);
        let relations: Vec<_> = by_relation(duplicates).filter(|(_, sum)| sum.blocks > 0).collect();
        let place = |relation: DuplicateKind| {
            relations.iter().position(|(name, _)| *name == relation.name()).unwrap_or_default()
        };
        let row = |(index, covered): (usize, &Replacement)| {
            (index, covered.by, place(covered.relation), covered.tokens_saved)
        };
        Some(Self {
            removed: sums.removed,
            merged: sums.merged,
            superseded: sums.superseded,
            saved: sums.tokens_saved,
            covered: covered(plan).map(row).collect(),
            relations,
        })
    }
}
