//! Pairs tool calls with their results: each result follows the message of its call directly.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::ExportReport;
use super::turn::{CallSyntax, Part, PartKind, Speaker, Turn};
use crate::raw_json::Fields;

/// The index of a turn and the index of a part in it.
type PartIndex = (usize, usize);

/// Returns the turns with exactly one result for each call, directly after its turn. Unpaired calls
/// and results are removed.
pub(super) fn pair_tools<'b>(mut turns: Vec<Turn<'b>>, report: &mut ExportReport) -> Vec<Turn<'b>> {
    let mut answers = match_results(&turns);
    let results: HashSet<PartIndex> = answers.values().copied().collect();
    let mut taken: HashMap<PartIndex, Part<'b>> = HashMap::new();
    for (at, turn) in turns.iter_mut().enumerate() {
        let mut kept = Vec::with_capacity(turn.parts.len());
        for (place, part) in std::mem::take(&mut turn.parts).into_iter().enumerate() {
            let place = (at, place);
            match &part.kind {
                PartKind::ToolResult(_) if results.contains(&place) => {
                    taken.insert(place, part);
                }
                PartKind::ToolResult(_) => report.orphans += 1,
                PartKind::Call(_) if !answers.contains_key(&place) => report.unanswered += 1,
                PartKind::Call(_) => {
                    // Removed parts shift the index of the call.
                    if let Some(answer) = answers.remove(&place) {
                        answers.insert((at, kept.len()), answer);
                    }
                    kept.push(part);
                }
                _ => kept.push(part),
            }
        }
        turn.parts = kept;
    }
    let mut paired = Vec::with_capacity(turns.len());
    for (at, mut turn) in turns.into_iter().enumerate() {
        let parts = results_after(at, &mut turn, &answers, &mut taken, report);
        if turn.speaker != Speaker::Tool {
            paired.push(turn);
        }
        if !parts.is_empty() {
            paired.push(Turn::new(Speaker::Tool, None, parts));
        }
    }
    paired
}

/// Returns the turns with exactly one result for each call, anywhere after it. Unpaired calls and
/// results are removed.
pub(super) fn without_unpaired<'b>(
    mut turns: Vec<Turn<'b>>,
    report: &mut ExportReport,
) -> Vec<Turn<'b>> {
    let answers = match_results(&turns);
    let mut results: HashMap<PartIndex, (CallSyntax, Cow<'b, str>)> = HashMap::new();
    for (at, turn) in turns.iter_mut().enumerate() {
        let mut kept = Vec::with_capacity(turn.parts.len());
        for (place, mut part) in std::mem::take(&mut turn.parts).into_iter().enumerate() {
            match &mut part.kind {
                PartKind::Call(call) => {
                    let Some(answer) = answers.get(&(at, place)) else {
                        report.unanswered += 1;
                        continue;
                    };
                    report.calls += 1;
                    results.insert(*answer, (call.syntax, call.name.clone()));
                }
                PartKind::ToolResult(answer) => {
                    let Some((syntax, name)) = results.remove(&(at, place)) else {
                        report.orphans += 1;
                        continue;
                    };
                    (answer.syntax, answer.name) = (syntax, name);
                }
                _ => {}
            }
            kept.push(part);
        }
        turn.parts = kept;
    }
    turns
}

/// Returns the result of each call: the first one after it, before its id is used again.
fn match_results(turns: &[Turn<'_>]) -> HashMap<PartIndex, PartIndex> {
    let mut open: HashMap<&str, PartIndex> = HashMap::new();
    let mut answers = HashMap::new();
    for (at, turn) in turns.iter().enumerate() {
        for (place, part) in turn.parts.iter().enumerate() {
            match &part.kind {
                PartKind::Call(call) => {
                    open.insert(&call.id, (at, place));
                }
                PartKind::ToolResult(answer) => {
                    if let Some(call) = open.remove(answer.id.as_ref()) {
                        answers.insert(call, (at, place));
                    }
                }
                _ => {}
            }
        }
    }
    answers
}

/// Returns the results of the calls of a turn in their original order.
fn results_after<'b>(
    at: usize,
    turn: &mut Turn<'b>,
    answers: &HashMap<PartIndex, PartIndex>,
    taken: &mut HashMap<PartIndex, Part<'b>>,
    report: &mut ExportReport,
) -> Vec<Part<'b>> {
    let is_call = |part: &&Part<'_>| matches!(part.kind, PartKind::Call(_));
    let is_one = turn.parts.iter().filter(is_call).count() == 1;
    let mut parts = Vec::new();
    for (place, part) in turn.parts.iter_mut().enumerate() {
        let PartKind::Call(call) = &mut part.kind else { continue };
        // A message can hold only one call in the legacy syntax.
        if call.syntax == CallSyntax::Function && !is_one {
            call.syntax = CallSyntax::Tool;
        }
        let Some(stood) = answers.get(&(at, place)) else { continue };
        let Some(mut result) = taken.remove(stood) else { continue };
        if let PartKind::ToolResult(answer) = &mut result.kind {
            answer.syntax = call.syntax;
            answer.name.clone_from(&call.name);
        }
        report.calls += 1;
        parts.push((*stood, result));
    }
    // Parallel calls can finish in any order, so the results keep their original order.
    parts.sort_unstable_by_key(|(stood, _)| *stood);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// The types of items of the responses API that need an output.
const CALL_ITEMS: [&str; 5] =
    ["apply_patch_call", "computer_call", "program", "shell_call", "tool_search_call"];

/// Returns the id of a call or result of a built-in tool, and `true` for a call.
fn server_tool(part: &Fields<'_>) -> Option<(String, bool)> {
    for (key, is_call) in [("toolCall", true), ("toolResponse", false)] {
        if let Some(inner) = part.get(key).and_then(Fields::read) {
            return Some((inner.string("id").unwrap_or_default(), is_call));
        }
    }
    let kind = part.string("type")?;
    let (key, is_call) = match kind.as_str() {
        "mcp_approval_request" => ("id", true),
        "mcp_approval_response" => ("approval_request_id", false),
        kind if CALL_ITEMS.contains(&kind) => ("call_id", true),
        kind if kind.ends_with("_tool_use") => ("id", true),
        kind if kind.ends_with("_tool_result") => ("tool_use_id", false),
        kind if kind.ends_with("_output") => ("call_id", false),
        _ => return None,
    };
    Some((part.string(key).unwrap_or_default(), is_call))
}

/// Removes unpaired calls and results of the built-in tools of a provider.
pub(super) fn pair_server_tools(turns: &mut [Turn<'_>], report: &mut ExportReport) {
    let (mut open, mut kept) = (HashMap::<String, PartIndex>::new(), HashSet::<PartIndex>::new());
    let mut calls = HashSet::<PartIndex>::new();
    let mut results = HashSet::<PartIndex>::new();
    for (at, turn) in turns.iter().enumerate() {
        for (place, part) in turn.parts.iter().enumerate() {
            let PartKind::Raw(json) = &part.kind else { continue };
            let Some(fields) = Fields::parse(json) else { continue };
            let place = (at, place);
            match server_tool(&fields) {
                Some((id, true)) => {
                    calls.insert(place);
                    open.insert(id, place);
                }
                Some((id, false)) => {
                    results.insert(place);
                    let call = open.remove(&id);
                    kept.extend(call.map(|call| [call, place]).into_iter().flatten());
                }
                None => {}
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
