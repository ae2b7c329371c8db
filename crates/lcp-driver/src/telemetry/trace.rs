//! Events of `tracing`, all with the target `lcp_driver`.

use std::collections::BTreeMap;

use tracing::{Level, debug, enabled, info, warn};

use super::IndexedPlan;
use crate::block_view::label::{escape_control, push_word};
use crate::dedup::DedupStats;
use crate::fmt::{plural, write_to};
use crate::plan::{OptimalityBound, Plan};
use crate::segments::allocation::LevelAllocation;
use crate::warning::Warning;

const TARGET: &str = "lcp_driver";

pub(super) fn segments(allocation: &LevelAllocation, budget: u32) {
    warnings(&allocation.warnings);
    let (used, count) = (allocation.used_tokens, allocation.segments.len());
    info!(target: TARGET, "[COMP:BUDGET] Allocated {used}/{budget} tokens across {count} segments");
}

pub(super) fn plan(plan: &Plan) {
    if enabled!(target: TARGET, Level::DEBUG) {
        decisions(plan);
    }
    warnings(&plan.warnings);
    if enabled!(target: TARGET, Level::INFO) {
        summary(plan);
    }
}

pub(super) fn indexed(plan: &IndexedPlan<'_>) {
    warnings(plan.warnings);
    let IndexedPlan { used, budget, blocks, parts, .. } = plan;
    let shown = parts.len();
    info!(
        target: TARGET,
        "planned {} by the index: {used}/{budget} tokens; shown {shown}",
        plural(*blocks as u64, "block")
    );
}

fn decisions(plan: &Plan) {
    let mut label = String::new();
    for (index, item) in plan.items.iter().enumerate() {
        label.clear();
        push_word(&mut label, &item.label);
        debug!(
            target: TARGET,
            index,
            label = label.as_str(),
            decision = item.decision.name(),
            reason = item.reason.name(),
            tokens = item.tokens,
            // A block without a replacement has no such field.
            covered_by = plan.replacement(index).map(|covered| covered.by),
            "decided"
        );
    }
}

fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        // A warning without a block has no such field.
        warn!(
            target: TARGET,
            code = warning.code.name(),
            block = warning.block,
            "{}",
            escape_control(&warning.message)
        );
    }
}

fn summary(plan: &Plan) {
    let mut decisions: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &plan.items {
        *decisions.entry(item.decision.name()).or_default() += 1;
    }
    let mut line =
        format!("planned {}: {}", plural(plan.items.len() as u64, "block"), plan.used_tokens);
    if let Some(budget) = plan.budget {
        write_to(&mut line, format_args!("/{budget}"));
    }
    line.push_str(" tokens");
    for (at, (decision, count)) in decisions.into_iter().enumerate() {
        line.push_str(if at == 0 { "; " } else { ", " });
        write_to(&mut line, format_args!("{decision} {count}"));
    }
    if let Some(OptimalityBound { value, bound, .. }) = plan.optimality {
        write_to(&mut line, format_args!("; value {value} of at most {bound}"));
    }
    if let Some(stable) = &plan.stable {
        let (turn, kept, before) =
            (stable.reuse.name(), stable.kept_tokens, stable.previous_tokens);
        write_to(&mut line, format_args!("; {turn}, kept {kept} of {before} tokens"));
    }
    if let Some(DedupStats { removed, merged, superseded, tokens_saved, .. }) = plan.dedup_stats() {
        write_to(
            &mut line,
            format_args!(
                "; saved {tokens_saved} tokens: {removed} removed, {merged} merged, \
                 {superseded} superseded"
            ),
        );
    }
    info!(target: TARGET, "{line}");
}
