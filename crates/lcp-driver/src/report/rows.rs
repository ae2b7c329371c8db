//! Rows of the report that serialize parts of a plan, in the JSON report and in the page.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Replacement, Replacements};
use serde::Serialize;

use super::metrics::{BlockSum, by_relation, covered, over_cap, percent, relative_gap};
use crate::dedup::DedupStats;
use crate::plan::{DecisionReason, OptimalityBound, Plan, PlanSegment, ShareUsage};
use crate::prompt_cache::{RepackReason, StableOutcome};
use crate::segments::{AllocationReason, CompressionLevel};

/// The value of a plan and its distance from the optimum (RFC 0005 §4).
#[derive(Serialize)]
pub(super) struct ValueRow {
    value: u64,
    bound: u64,
    lp_bound: u64,
    gap: f64,
    best: bool,
}

impl From<&OptimalityBound> for ValueRow {
    fn from(optimality: &OptimalityBound) -> Self {
        const MILLION: u32 = 1_000_000;
        Self {
            value: optimality.value,
            bound: optimality.bound,
            lp_bound: optimality.lp_bound,
            gap: f64::from(relative_gap(optimality, MILLION)) / f64::from(MILLION),
            best: optimality.is_optimal(),
        }
    }
}

/// The prompt cache reuse of a stable plan (RFC 0005 §6).
#[derive(Serialize)]
pub(super) struct StableRow {
    turn: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    high_tokens: u32,
    low_tokens: u32,
    prefix_bytes: usize,
    prefix_tokens: u32,
    previous_tokens: u32,
    kept_bytes: usize,
    kept_tokens: u32,
}

impl From<&StableOutcome> for StableRow {
    fn from(stable: &StableOutcome) -> Self {
        Self {
            turn: stable.reuse.name(),
            cause: stable.repack_reason.map(RepackReason::name),
            high_tokens: stable.high_tokens,
            low_tokens: stable.low_tokens,
            prefix_bytes: stable.prefix_bytes,
            prefix_tokens: stable.prefix_tokens,
            previous_tokens: stable.previous_tokens,
            kept_bytes: stable.kept_bytes,
            kept_tokens: stable.kept_tokens,
        }
    }
}

#[derive(Serialize)]
pub(super) struct ShareRow<'p> {
    name: Cow<'p, str>,
    tokens: u32,
    cap: Option<u32>,
    wanted: u64,
    used: u32,
    borrowed: u32,
    over_cap: u32,
    blocks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<u64>,
}

impl<'p> ShareRow<'p> {
    pub(super) fn new(share: &ShareUsage, name: Cow<'p, str>) -> Self {
        Self {
            name,
            tokens: share.tokens,
            cap: share.cap,
            wanted: share.wanted,
            used: share.used,
            borrowed: share.borrowed(),
            over_cap: over_cap(share),
            blocks: share.blocks,
            percent: percent(share.used.into(), share.tokens.into()),
        }
    }
}

/// A segment of the pack; `level` is `null` if it is not shown.
#[derive(Serialize)]
pub(super) struct SegmentRow<'p> {
    id: &'p str,
    first_block: usize,
    last_block: usize,
    level: Option<&'static str>,
    reason: &'static str,
    tokens: u32,
}

impl<'p> From<&'p PlanSegment> for SegmentRow<'p> {
    fn from(segment: &'p PlanSegment) -> Self {
        Self {
            id: &segment.id,
            first_block: segment.blocks.start,
            last_block: segment.blocks.end.saturating_sub(1),
            level: segment.level.map(CompressionLevel::name),
            reason: segment
                .reason
                .map_or(DecisionReason::OverBudget.name(), AllocationReason::name),
            tokens: segment.tokens,
        }
    }
}

#[derive(Serialize)]
pub(super) struct DedupRow {
    removed: u64,
    merged: u64,
    superseded: u64,
    referred: u64,
    cut: u64,
    tokens_saved: u64,
    /// All relations, also those without blocks.
    by_relation: BTreeMap<&'static str, BlockSum>,
}

impl From<&Replacements> for DedupRow {
    fn from(duplicates: &Replacements) -> Self {
        let DedupStats { removed, merged, superseded, references: referred, cut, tokens_saved } =
            duplicates.into();
        let by_relation = by_relation(duplicates).collect();
        Self { removed, merged, superseded, referred, cut, tokens_saved, by_relation }
    }
}

#[derive(Serialize)]
pub(super) struct PageDuplicates {
    removed: u64,
    merged: u64,
    superseded: u64,
    saved: u64,
    /// The relations that have blocks: name, blocks, tokens saved.
    relations: Vec<(&'static str, BlockSum)>,
    /// Index, index of the covering block, position of the relation, tokens saved.
    covered: Vec<(usize, usize, usize, u64)>,
}

impl PageDuplicates {
    pub(super) fn new(plan: &Plan) -> Option<Self> {
        let duplicates = plan.duplicates.as_ref()?;
        let sums = DedupStats::from(duplicates);
        let relations: Vec<_> = by_relation(duplicates).filter(|(_, sum)| sum.blocks > 0).collect();
        let position = |relation: DuplicateKind| {
            relations.iter().position(|(name, _)| *name == relation.name()).unwrap_or_default()
        };
        let row = |(index, covered): (usize, &Replacement)| {
            (index, covered.by, position(covered.relation), covered.tokens_saved)
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
