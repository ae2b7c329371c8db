//! The gauges of Token Budget Manager, and similar ones for deduplication.

use metrics::gauge;

use super::IndexedPlan;
use crate::dedup::DedupStats;
use crate::detail::{DetailLevel, EXCERPT, ShownDetail};
use crate::plan::{Plan, RenderDecision};
use crate::segments::allocation::LevelAllocation;
use crate::segments::segment::CompressionLevel;

const TOTAL: &str = "Agents.Compression.Budget.TotalAllocated";
const BY_LEVEL: &str = "Agents.Compression.Budget.ByLevel";

const TOKENS_SAVED: &str = "Agents.Compression.Dedup.TokensSaved";
const REMOVED: &str = "Agents.Compression.Dedup.Removed";
const MERGED: &str = "Agents.Compression.Dedup.Merged";
const SUPERSEDED: &str = "Agents.Compression.Dedup.Superseded";

/// The values of the label `level`. Each allocation sets all of them.
const LEVELS: [&str; 7] = [
    CompressionLevel::Full.name(),
    CompressionLevel::Detailed.name(),
    CompressionLevel::Brief.name(),
    CompressionLevel::Tags.name(),
    "excerpt",
    "placeholder",
    "overhead",
];

pub(super) fn segments(allocation: &LevelAllocation) {
    let by_level = allocation.tokens_by_level.iter();
    set(allocation.used_tokens, by_level.map(|(level, tokens)| (level.name(), *tokens)));
}

pub(super) fn plan(plan: &Plan) {
    let overhead = ("overhead", plan.overhead_tokens);
    let shown = plan.items.iter().filter_map(|item| Some((level(&item.decision)?, item.tokens)));
    set(plan.used_tokens, shown.chain([overhead]));
    deduplicated(plan.dedup_stats().unwrap_or_default());
}

/// Sets the gauges for a text that was planned by an index, which has no deduplication.
pub(super) fn indexed(plan: &IndexedPlan<'_>) {
    let parts: u32 = plan.parts.iter().map(|(_, tokens)| tokens).sum();
    let overhead = ("overhead", plan.used.saturating_sub(parts));
    let name = |detail: &ShownDetail| match detail {
        ShownDetail::Level(DetailLevel::Summary) => CompressionLevel::Brief.name(),
        ShownDetail::Level(detail) => detail.name(),
        ShownDetail::Excerpt(_) => EXCERPT,
    };
    let shown = plan.parts.iter().map(|(detail, tokens)| (name(detail), *tokens));
    set(plan.used, shown.chain([overhead]));
    deduplicated(DedupStats::default());
}

/// Sets the gauges of deduplication, to 0 if it did not run.
fn deduplicated(sums: DedupStats) {
    gauge!(TOKENS_SAVED).set(as_f64(sums.tokens_saved));
    gauge!(REMOVED).set(as_f64(sums.removed));
    gauge!(MERGED).set(as_f64(sums.merged));
    gauge!(SUPERSEDED).set(as_f64(sums.superseded));
}

#[expect(clippy::cast_precision_loss, reason = "a gauge has no larger numbers")]
const fn as_f64(number: u64) -> f64 {
    number as f64
}

fn set(total: u32, parts: impl Iterator<Item = (&'static str, u32)>) {
    let mut tokens = [0u32; LEVELS.len()];
    for (level, part) in parts {
        if let Some(at) = LEVELS.iter().position(|known| *known == level) {
            tokens[at] = tokens[at].saturating_add(part);
        }
    }
    gauge!(TOTAL).set(f64::from(total));
    for (level, tokens) in LEVELS.into_iter().zip(tokens) {
        gauge!(BY_LEVEL, "level" => level).set(f64::from(tokens));
    }
}

/// Returns the label of the level that is shown, if the block is shown.
fn level(decision: &RenderDecision) -> Option<&'static str> {
    let brief = CompressionLevel::Brief.name();
    decision.is_shown().then(|| match decision {
        RenderDecision::Summary => brief,
        other => other.name(),
    })
}
