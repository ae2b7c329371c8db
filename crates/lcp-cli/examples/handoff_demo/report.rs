//! Formats the outcome of a conversation as JSON.

use lcp_continuity::coverage::Ratio;
use lcp_tokens::TokenEstimator;
use serde_json::{Value, json};

use super::checks::Checks;
use super::drive::{Compacted, HandedOver, Story};
use super::settings::Settings;

/// Returns the report. The hand-offs in `shown` include their directives.
pub(super) fn json(
    settings: &Settings,
    story: &Story,
    checks: &Checks,
    counter: &dyn TokenEstimator,
    shown: &[HandedOver],
) -> Value {
    let is_shown = |handed: &HandedOver| shown.iter().any(|shown| std::ptr::eq(shown, handed));
    let handed_over = story.handed_over.iter();
    let handed_over = handed_over.map(|handed| handed_over_json(handed, counter, is_shown(handed)));
    let marks = story.marks.iter().map(|mark| {
        json!({ "after_message": mark.after, "what": mark.kind.name(), "tokens": mark.tokens })
    });
    json!({
        "schema": "lcp.handoff.v1",
        "encoding": counter.name(),
        "exact": counter.is_exact(),
        "what": settings.mode.name(),
        "window": settings.window,
        "output_reserve": settings.output_reserve,
        "messages": story.messages.len(),
        "tokens": story.tokens,
        "handoffs": handed_over.collect::<Vec<_>>(),
        "compactions": story.compacted.iter().map(compacted).collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "checks": {
            "anchors": checks.anchors,
            "anchors_identical": checks.anchors_identical,
            "anchors_missing": checks.anchors_missing,
            "tool_pairs": checks.pairs,
            "tool_pairs_split": checks.pairs_split,
            "worst_over_budget": checks.over_budget,
            "miscounted": checks.miscounted,
        },
    })
}

fn handed_over_json(handed: &HandedOver, counter: &dyn TokenEstimator, is_shown: bool) -> Value {
    let HandedOver { after, handoff, pack, directive, resumed_as } = handed;
    let (metadata, fidelity) = (&handoff.metadata, &handoff.metadata.coverage);
    let mut json = json!({
        "id": handoff.handoff_id,
        "previous": handoff.previous_handoff_id,
        "conversation": handoff.conversation_id,
        "resumed_as": resumed_as,
        "epoch": handoff.epoch,
        "after_message": after,
        "messages": metadata.messages,
        "tokens_before": metadata.tokens_before,
        "tokens_after": metadata.tokens_after,
        "target_tokens": metadata.target_tokens,
        "compression_ratio": metadata.compression_ratio,
        "reason": metadata.reason,
        "anchors": ratio(fidelity.anchors),
        "task_steps": ratio(fidelity.task_steps),
        "state": ratio(fidelity.state),
        "score": fidelity.score,
        "ok": fidelity.ok,
        "lost": fidelity.lost,
        "summarizer": metadata.summarizer,
        "summary_tokens": counter.estimate(&handoff.summary),
        "pack_bytes": pack.len(),
        "warnings": metadata.warnings,
    });
    if is_shown {
        json["directive"] = directive.text.as_str().into();
    }
    json
}

fn ratio(kept: Ratio) -> Value {
    json!({ "kept": kept.retained, "of": kept.total })
}

fn compacted(compacted: &Compacted) -> Value {
    let Compacted { after, compaction } = compacted;
    let warnings = compaction.warnings.iter().map(ToString::to_string);
    json!({
        "after_message": after,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "target_tokens": compaction.target_tokens,
        "memory_tokens": compaction.memory.as_ref().map_or(0, |memory| memory.tokens),
        "archived_chunks": compaction.archived.len(),
        "lines": compaction.lines(),
        "warnings": warnings.collect::<Vec<_>>(),
    })
}
