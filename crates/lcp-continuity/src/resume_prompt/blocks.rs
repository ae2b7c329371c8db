//! The parts of a hand-off as blocks: what packages and directives share.

use lcp_types::{Block, FormatHint};

use super::quoting::{inline, push_item, truncate_inline};
use crate::model::{AnchorPoint, PendingTask, SessionState, TaskStatus};

/// Characters of a description that stands in a title alone.
const TITLE_CHARS_MAX: usize = 120;

/// An anchor: its kind is the title, its words are the content, byte for byte.
pub(crate) fn anchor_block(anchor: &AnchorPoint) -> Block<'static> {
    Block::document(anchor.kind.title(), anchor.text.clone(), FormatHint::Plain)
}

/// A task: its description is the title, its steps are check boxes.
pub(crate) fn task_block(task: &PendingTask) -> Block<'static> {
    short_task_block(task, true)
}

/// Shows a task; without `with_done` the steps that are done are only counted.
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

/// The status of a task, and whether the user agreed to it.
pub(super) fn status_line(task: &PendingTask) -> String {
    let status = match task.status {
        TaskStatus::Pending => "not begun",
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

/// Appends the steps of a task as check boxes, and by what it is done. Without
/// `with_done` those that are done are only counted.
pub(super) fn push_steps(out: &mut String, task: &PendingTask, with_done: bool) {
    if with_done {
        for step in &task.done_steps {
            push_item(out, "- [x]", step);
        }
    } else if !task.done_steps.is_empty() {
        let steps = counted(task.done_steps.len(), "step");
        push_item(out, "", &format!("({steps} before these: done, not shown)"));
    }
    for step in &task.remaining_steps {
        push_item(out, "- [ ]", step);
    }
    if let Some(acceptance) = &task.acceptance {
        push_item(out, "done when:", acceptance);
    }
}

/// The state: lines, since JSON would escape what it says. Its summary says how much
/// there is of what.
pub(crate) fn state_block(state: &SessionState) -> Block<'static> {
    Block::document("state", lines(state_text(state)), FormatHint::Plain)
        .with_summary(state_brief(state))
}

/// The state as lines.
fn state_text(state: &SessionState) -> String {
    let mut text = String::new();
    let one = |text: &mut String, mark: &str, value: Option<&String>| {
        if let Some(value) = value {
            push_item(text, mark, value);
        }
    };
    one(&mut text, "directory:", state.working_directory.as_ref());
    one(&mut text, "branch:", state.branch.as_ref());
    let many = |text: &mut String, title: &str, list: &[String]| {
        if !list.is_empty() {
            push_item(text, title, "");
            for item in list {
                push_item(text, "-", item);
            }
        }
    };
    many(&mut text, "files, the newest last:", &state.active_files);
    many(&mut text, "commands, the newest last:", &state.recent_commands);
    if !state.variables.is_empty() {
        push_item(&mut text, "variables:", "");
        for (name, value) in &state.variables {
            push_variable(&mut text, name, value);
        }
    }
    text
}

/// Appends a variable, its name verbatim too.
fn push_variable(text: &mut String, name: &str, value: &str) {
    let mark = format!("- {name}:");
    if inline(name) == name {
        push_item(text, &mark, value);
    } else {
        push_item(text, "-", name);
        push_item(text, "=", value);
    }
}

/// How much of what the state says.
pub(super) fn state_brief(state: &SessionState) -> String {
    let counts = [
        (state.active_files.len(), "file"),
        (state.recent_commands.len(), "command"),
        (state.variables.len(), "variable"),
    ];
    let there = counts.into_iter().filter(|(count, _)| *count > 0);
    let one = [("directory", &state.working_directory), ("branch", &state.branch)];
    let one = one.into_iter().filter_map(|(what, it)| it.as_ref().map(|_| what.to_owned()));
    let words: Vec<_> = one.chain(there.map(|(count, what)| counted(count, what))).collect();
    words.join(", ")
}

/// What the user wants, in the user's words.
pub(crate) fn intent_block(intent: &str) -> Block<'static> {
    Block::document("user intent", intent.to_owned(), FormatHint::Plain)
}

/// What happened, with a shorter form where there is one.
pub(crate) fn summary_block(summary: &str, brief: Option<&str>) -> Block<'static> {
    let block = Block::document("summary", summary.to_owned(), FormatHint::Plain);
    match brief {
        Some(brief) => block.with_summary(brief.to_owned()),
        None => block,
    }
}

/// `1 step`, `2 steps`: a count and what of.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Lines without the last newline: renderers add one.
pub(super) fn lines(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}
