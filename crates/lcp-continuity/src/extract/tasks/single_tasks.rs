//! Extracts tasks that a tool creates and updates one by one.

use serde_json::Value;

use super::super::tool_calls::{Call, CallResults, name_words, tool_of};
use super::todo_tool::state_of;
use super::{Step, StepState, comparison_key};
use crate::model::Recorded;

/// The maximum number of single tasks. The oldest are removed first, so that each change is quick.
const MAX_STEPS: usize = 1_000;

/// The id that the tool gives to the first task of a list.
const FIRST_ID: &str = "1";

/// A change of single tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TaskChange {
    /// A new task. The id is `None` if the call has no result.
    Create { tool_id: Option<String>, subject: String },
    /// New values of one task.
    Update { tool_id: String, subject: Option<String>, progress: Option<Progress> },
    /// A list of all tasks: id, progress, and the subject with notes behind it.
    List(Vec<(String, StepState, String)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    State(StepState),
    Deleted,
}

/// Returns the change that the message at `at` makes: a call of `TaskCreate` or `TaskUpdate` that
/// did not fail, or a result of `TaskList`.
pub(super) fn change_at(
    messages: &[Recorded],
    results: &CallResults<'_>,
    at: usize,
) -> Option<TaskChange> {
    let message = &messages.get(at)?.message;
    let text = message.text();
    if message.is_result() {
        // Most results contain no list, and their calls need not be parsed.
        if !text.trim_start().starts_with('#') {
            return None;
        }
        let tool = tool_of(message).map(name_words);
        let tool = tool.or_else(|| Some(results.succeeded(at)?.tool))?;
        return (tool == ["task", "list"]).then(|| TaskChange::List(listed(&text)));
    }
    if !["subject", "taskId"].into_iter().any(|key| text.contains(key)) {
        return None;
    }
    let call = results.call(at)?;
    let is_create = call.tool == ["task", "create"];
    if !is_create && call.tool != ["task", "update"] || results.has_failed(at) {
        return None;
    }
    if is_create {
        let result = results.result(at).map(|message| message.text());
        let tool_id = result.and_then(|text| created_id(&text).map(str::to_owned));
        return Some(TaskChange::Create { tool_id, subject: subject(&call)? });
    }
    let tool_id = match call.argument(&["taskId"])? {
        Value::String(id) => id.trim().trim_start_matches('#').to_owned(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    let progress = call.argument(&["status"]).and_then(Value::as_str).and_then(|status| {
        if status == "deleted" {
            return Some(Progress::Deleted);
        }
        state_of(status).map(Progress::State)
    });
    Some(TaskChange::Update { tool_id, subject: subject(&call), progress })
}

fn subject(call: &Call) -> Option<String> {
    let subject = call.argument(&["subject"])?.as_str()?.trim();
    (!subject.is_empty()).then(|| subject.to_owned())
}

/// Returns the id in the result of a call that created a task: `Task #3 created …`.
fn created_id(result: &str) -> Option<&str> {
    let (_, rest) = result.split_once("Task #")?;
    let is_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let id = &rest[..rest.len() - rest.trim_start_matches(is_id).len()];
    (!id.is_empty()).then_some(id)
}

/// Parses the lines `#3 [pending] subject`.
fn listed(text: &str) -> Vec<(String, StepState, String)> {
    let parse = |line: &str| {
        let (id, rest) = line.trim().strip_prefix('#')?.split_once(" [")?;
        let (status, subject) = rest.split_once("] ")?;
        let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
        let subject = subject.trim();
        let task = (id.to_owned(), state_of(status)?, subject.to_owned());
        (is_id && !subject.is_empty()).then_some(task)
    };
    text.lines().filter_map(parse).collect()
}

/// Applies a change to the steps of the list. Returns whether a step changed.
pub(super) fn apply(steps: &mut Vec<Step>, change: TaskChange) -> bool {
    match change {
        TaskChange::Create { tool_id, subject } => return create(steps, tool_id, subject),
        TaskChange::Update { tool_id, subject, progress } => {
            let by_id = position_of_id(steps, &tool_id);
            let by_subject = || position_without_id(steps, subject.as_deref()?);
            let Some(at) = by_id.or_else(by_subject) else { return false };
            if progress == Some(Progress::Deleted) {
                steps.remove(at);
                return true;
            }
            let step = &mut steps[at];
            step.tool_id = Some(tool_id);
            if let Some(subject) = subject {
                step.text = subject;
            }
            if let Some(Progress::State(state)) = progress {
                step.state = state;
            }
        }
        TaskChange::List(tasks) => {
            if tasks.is_empty() {
                return false;
            }
            for (tool_id, state, subject) in tasks {
                list(steps, tool_id, state, &subject);
            }
        }
    }
    true
}

fn create(steps: &mut Vec<Step>, tool_id: Option<String>, subject: String) -> bool {
    if let Some(id) = tool_id.as_deref() {
        match position_of_id(steps, id) {
            Some(at) if comparison_key(&steps[at].text) == comparison_key(&subject) => {
                // The same call was recorded twice.
                return false;
            }
            Some(_) => steps.clear(),
            // The tool began a new list. Calls side by side may return in another order, so steps
            // with ids are part of it.
            None if id == FIRST_ID => steps.retain(|step| step.tool_id.is_some()),
            None => {}
        }
    }
    if steps.iter().all(|step| step.state == StepState::Done) {
        steps.clear();
    }
    if tool_id.is_some()
        && let Some(at) = position_without_id(steps, &subject)
    {
        steps[at] = Step { text: subject, state: StepState::Open, tool_id };
    } else {
        push(steps, Step { text: subject, state: StepState::Open, tool_id });
    }
    true
}

/// Updates the step with this id, or else the step without an id that `subject` begins with.
fn list(steps: &mut Vec<Step>, tool_id: String, state: StepState, subject: &str) {
    let by_id = position_of_id(steps, &tool_id);
    let begins = |step: &Step| {
        let rest = subject.strip_prefix(step.text.as_str());
        step.tool_id.is_none()
            && rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(" (") || rest.starts_with(" [")
            })
    };
    if let Some(at) = by_id.or_else(|| steps.iter().position(begins)) {
        steps[at].state = state;
        steps[at].tool_id = Some(tool_id);
        return;
    }
    let text = subject.split_once(" [blocked by ").map_or(subject, |(subject, _)| subject);
    push(steps, Step { text: text.to_owned(), state, tool_id: Some(tool_id) });
}

fn push(steps: &mut Vec<Step>, step: Step) {
    if steps.len() >= MAX_STEPS {
        steps.remove(0);
    }
    steps.push(step);
}

fn position_of_id(steps: &[Step], id: &str) -> Option<usize> {
    steps.iter().position(|step| step.tool_id.as_deref() == Some(id))
}

fn position_without_id(steps: &[Step], subject: &str) -> Option<usize> {
    let key = comparison_key(subject);
    steps.iter().position(|step| step.tool_id.is_none() && comparison_key(&step.text) == key)
}
