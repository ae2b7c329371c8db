//! To-do lists that tools keep, as JSON.

use serde::Deserialize;
use serde_json::Value;

use super::{Step, StepState};

/// Places in a text that is no JSON as a whole where a list is looked for.
const MAX_PLACES: usize = 8;
/// JSON in strings of JSON in strings …: how often.
const MAX_DEPTH: usize = 3;

/// A list of a tool.
#[derive(Debug)]
pub(super) struct ToolList {
    /// Which it is: a later list of the same key replaces it.
    pub(super) kind: ListKind,
    /// What it is for, if the call says so.
    pub(super) explanation: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// Under which key a tool keeps its list, and the title of one that does not say what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListKind {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
}

pub(super) const LIST_KINDS: [ListKind; 2] =
    [ListKind { key: "todos", title: "To-do list" }, ListKind { key: "plan", title: "Plan" }];

/// The last list in `text`.
pub(super) fn last_list(text: &str) -> Option<ToolList> {
    // Most texts have none, and need not be read as JSON.
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

/// The last list in a value; in its strings too, where they are JSON.
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

/// The steps of a list; `None` if it is none.
fn steps(list: &Value) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for row in list.as_array()? {
        let Row { content, status } = Row::deserialize(row).ok()?;
        let state = match status.as_str() {
            "pending" | "todo" | "open" | "not_started" => StepState::Open,
            "in_progress" | "in-progress" | "inProgress" | "doing" => StepState::Doing,
            "completed" | "complete" | "done" => StepState::Done,
            "blocked" => StepState::Blocked,
            // It will not be done: no step any more.
            "cancelled" | "canceled" | "skipped" => continue,
            _ => return None,
        };
        let text = content.trim();
        if !text.is_empty() {
            steps.push(Step { text: text.to_owned(), state });
        }
    }
    Some(steps)
}
