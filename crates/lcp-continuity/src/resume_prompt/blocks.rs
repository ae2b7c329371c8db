//! Conversion of the parts of a hand-off to blocks, for packs and directives.

use lcp_types::{Block, FormatHint};

use super::quoting::{inline, push_item, truncate_inline};
use crate::model::{AnchorPoint, PendingTask, SessionState, TaskStatus};

/// The maximum length in characters of a description used as a title.
const TITLE_CHARS_MAX: usize = 120;

/// Creates the block of an anchor. The kind is the title and the text is the content, byte for
/// byte.
pub(crate) fn anchor_block(anchor: &AnchorPoint) -> Block<'static> {
    Block::document(anchor.kind.title(), anchor.text.clone(), FormatHint::Plain)
}

/// Creates the block of a task. The description is the title and the steps are checkboxes.
pub(crate) fn task_block(task: &PendingTask) -> Block<'static> {
    short_task_block(task, true)
}

/// Creates the block of a task. Without `with_done`, finished steps are only counted.
pub(super) fn short_task_block(task: &PendingTask, with_done: bool) -> Block<'static> {
    let title = truncate_inline(&task.description, TITLE_CHARS_MAX);
    let mut content = String::new();
    if title != task.description {
        push_item(&mut content, "", &task.description);
    }
    push_item(&mut content, "status:", &status_line(task));
    push_steps(&mut content, task, with_done);
    Block::document(title, lines(content), FormatHint::Markdown)
}

/// Formats the status of a task, and the user's approval if known.
pub(super) fn status_line(task: &PendingTask) -> String {
    let status = match task.status {
        TaskStatus::Pending => "not started",
        TaskStatus::InProgress => "in progress",
        TaskStatus::Blocked => "blocked",
    };
    let approval = match task.approved {
        Some(true) => ", the user agreed",
        Some(false) => ", the user did not agree",
        None => "",
    };
    format!("{status}{approval}")
}

/// Appends steps as checkboxes, and the acceptance criterion. Without `with_done`, finished steps
/// are only counted.
pub(super) fn push_steps(out: &mut String, task: &PendingTask, with_done: bool) {
    if with_done {
        for step in &task.done_steps {
            push_item(out, "- [x]", step);
        }
    } else if !task.done_steps.is_empty() {
        let steps = counted(task.done_steps.len(), "step");
        push_item(out, "", &format!("(finished, not listed: {steps})"));
    }
    for step in &task.remaining_steps {
        push_item(out, "- [ ]", step);
    }
    if let Some(acceptance) = &task.acceptance {
        push_item(out, "done when:", acceptance);
    }
}

/// Creates the block of the state as lines of text, because JSON would escape the values. Its
/// summary counts the items.
pub(crate) fn state_block(state: &SessionState) -> Block<'static> {
    Block::document("state", lines(state_text(state)), FormatHint::Plain)
        .with_summary(state_brief(state))
}

fn state_text(state: &SessionState) -> String {
    let mut text = String::new();
    for (mark, value) in [("directory:", &state.working_directory), ("branch:", &state.branch)] {
        if let Some(value) = value {
            push_item(&mut text, mark, value);
        }
    }
    for (title, list) in [
        ("files, newest last:", &state.active_files),
        ("commands, newest last:", &state.recent_commands),
    ] {
        if !list.is_empty() {
            push_item(&mut text, title, "");
            for item in list {
                push_item(&mut text, "-", item);
            }
        }
    }
    if !state.variables.is_empty() {
        push_item(&mut text, "variables:", "");
    }
    for (name, value) in &state.variables {
        // The name must occur verbatim too.
        if inline(name) == *name {
            push_item(&mut text, &format!("- {name}:"), value);
        } else {
            push_item(&mut text, "-", name);
            push_item(&mut text, "=", value);
        }
    }
    text
}

/// Counts the items of the state.
pub(super) fn state_brief(state: &SessionState) -> String {
    let one = |is_known: bool, noun: &str| is_known.then(|| noun.to_owned());
    let many = |count, noun| (count > 0).then(|| counted(count, noun));
    let words = [
        one(state.working_directory.is_some(), "directory"),
        one(state.branch.is_some(), "branch"),
        many(state.active_files.len(), "file"),
        many(state.recent_commands.len(), "command"),
        many(state.variables.len(), "variable"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Creates the block of the user's intent.
pub(crate) fn intent_block(intent: &str) -> Block<'static> {
    Block::document("user intent", intent.to_owned(), FormatHint::Plain)
}

/// Creates the block of the summary, with its brief form if there is one.
pub(crate) fn summary_block(summary: &str, brief: Option<&str>) -> Block<'static> {
    let block = Block::document("summary", summary.to_owned(), FormatHint::Plain);
    match brief {
        Some(brief) => block.with_summary(brief.to_owned()),
        None => block,
    }
}

/// Formats a count with its noun: `1 step`, `2 steps`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Removes the final newline, because renderers add one.
pub(super) fn lines(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}
