//! Calls that a provider's own server answers: parts of its messages as they stood, which
//! are nevertheless pairs.

use std::collections::{HashMap, HashSet};

use super::ExportReport;
use super::turn::{Turn, What};
use crate::json::Fields;

/// A part by the indices of its turn and itself.
type Place = (usize, usize);

/// Leaves out calls without a result behind them, and results without a call.
pub(super) fn pair(turns: &mut [Turn<'_>], report: &mut ExportReport) {
    let (mut open, mut kept) = (HashMap::<String, Place>::new(), HashSet::<Place>::new());
    let mut calls = HashSet::<Place>::new();
    let mut results = HashSet::<Place>::new();
    for (at, turn) in turns.iter().enumerate() {
        for (place, part) in turn.parts.iter().enumerate() {
            let What::Raw(json) = &part.what else { continue };
            let Some(fields) = Fields::parse(json) else { continue };
            let place = (at, place);
            let kind = fields.string("type").unwrap_or_default();
            if kind.ends_with("_tool_use") {
                calls.insert(place);
                open.insert(fields.string("id").unwrap_or_default(), place);
            } else if kind.ends_with("_tool_result") {
                results.insert(place);
                let call = fields.string("tool_use_id").and_then(|id| open.remove(&id));
                kept.extend(call.map(|call| [call, place]).into_iter().flatten());
            }
        }
    }
    for (at, turn) in turns.iter_mut().enumerate() {
        let mut place = 0;
        turn.parts.retain(|_| {
            let here = (at, place);
            place += 1;
            let is_left_out = !kept.contains(&here);
            report.unanswered += u64::from(is_left_out && calls.contains(&here));
            report.orphans += u64::from(is_left_out && results.contains(&here));
            !is_left_out || !(calls.contains(&here) || results.contains(&here))
        });
    }
}
