//! Extracts to-do lists that tools write as JSON.

use serde::Deserialize;
use serde_json::Value;

use super::{Step, StepState};

/// The maximum number of positions at which a list is searched in a text that is not JSON as a
/// whole.
const MAX_PLACES: usize = 8;
/// The maximum depth of JSON inside of JSON strings.
const MAX_DEPTH: usize = 3;

/// A to-do list of a tool.
#[derive(Debug)]
pub(super) struct ToolList {
    /// The kind of the list. A later list of the same kind replaces it.
    pub(super) kind: ListKind,
    /// The purpose of the list, if the call contains it.
    pub(super) explanation: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// The JSON key under which a tool writes its list, and the title of a list without an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListKind {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
}

pub(super) const LIST_KINDS: [ListKind; 2] =
    [ListKind { key: "todos", title: "To-do list" }, ListKind { key: "plan", title: "Plan" }];

/// The list of the tasks that a tool creates one by one.
pub(super) const SINGLE_TASKS: ListKind = ListKind { key: "tasks", title: "Task list" };

/// Returns the last list in `text`.
pub(super) fn last_list(text: &str) -> Option<ToolList> {
    // Most texts contain no list, and need not be parsed as JSON.
    if !LIST_KINDS.into_iter().any(|kind| text.contains(kind.key)) {
        return None;
    }
    let whole = text.find('{').and_then(|at| first_value(&text[at..]));
    if let Some(list) = whole.and_then(|value| in_value(&value, 0)) {
        return Some(list);
    }
    LIST_KINDS.into_iter().find_map(|kind| {
        let key = format!("\"{}\"", kind.key);
        text.rmatch_indices(&key).take(MAX_PLACES).find_map(|(at, _)| {
            let array = text[at + key.len()..].trim_start().strip_prefix(':')?.trim_start();
            let steps = steps(&first_value(array)?)?;
            Some(ToolList { kind, explanation: None, steps })
        })
    })
}

fn first_value(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter().next()?.ok()
}

/// Returns the last list in a value, including strings that contain JSON.
fn in_value(value: &Value, depth: usize) -> Option<ToolList> {
    match value {
        Value::Object(fields) => {
            let own = LIST_KINDS.into_iter().find_map(|kind| {
                let explanation = fields.get("explanation").and_then(Value::as_str).map(str::trim);
                let explanation = explanation.filter(|text| !text.is_empty()).map(str::to_owned);
                Some(ToolList { kind, explanation, steps: steps(fields.get(kind.key)?)? })
            });
            own.or_else(|| fields.values().rev().find_map(|value| in_value(value, depth)))
        }
        Value::Array(values) => values.iter().rev().find_map(|value| in_value(value, depth)),
        Value::String(text) if depth < MAX_DEPTH && text.trim_start().starts_with(['{', '[']) => {
            in_value(&first_value(text)?, depth + 1)
        }
        _ => None,
    }
}

#[derive(Deserialize)]
struct Row {
    #[serde(alias = "step", alias = "title")]
    content: String,
    status: String,
}

/// Returns the steps of a list, or `None` if it is not a list of steps.
fn steps(list: &Value) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for row in list.as_array()? {
        let Row { content, status } = Row::deserialize(row).ok()?;
        // A cancelled step is no longer part of the task.
        if ["cancelled", "canceled", "skipped"].contains(&status.as_str()) {
            continue;
        }
        let state = state_of(&status)?;
        let text = content.trim();
        if !text.is_empty() {
            steps.push(Step::new(text, state));
        }
    }
    Some(steps)
}

/// Returns the progress that a status of a tool means.
pub(super) fn state_of(status: &str) -> Option<StepState> {
    let state = match status {
        "pending" | "todo" | "open" | "not_started" => StepState::Open,
        "in_progress" | "in-progress" | "inProgress" | "doing" => StepState::Doing,
        "completed" | "complete" | "done" => StepState::Done,
        "blocked" => StepState::Blocked,
        _ => return None,
    };
    Some(state)
}
