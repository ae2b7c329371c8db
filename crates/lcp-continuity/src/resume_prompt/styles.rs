//! The wording of each part in each style. Quotations are byte for byte the same in all styles.

use lcp_types::{Block, FormatHint};

use super::blocks::{
    anchor_block, counted, lines, push_steps, short_task_block, state_block, state_brief,
    status_line,
};
use super::quoting::{inline, push_item, push_quoted};
use crate::model::DirectiveStyle::{self, Concise, Narrative, Structured};
use crate::model::{AnchorKind, AnchorPoint, PendingTask, SessionHandoff, SessionState};

/// A task, and whether its finished steps are shown.
#[derive(Clone, Copy)]
pub(super) struct ShownTask<'h> {
    pub(super) task: &'h PendingTask,
    pub(super) with_done: bool,
}

/// Writes the introduction, which explains the directive and which parts are binding.
pub(super) fn intro(style: DirectiveStyle, handoff: &SessionHandoff) -> Block<'static> {
    let conversation = inline(&handoff.conversation_id);
    let reason = handoff.metadata.reason.trim().trim_end_matches('.');
    let ended = |before: &str, after: &str| {
        let reason = (!reason.is_empty()).then(|| format!("{before}{}{after}", inline(reason)));
        reason.unwrap_or_default()
    };
    let (title, text) = match style {
        Concise => (
            "continuation",
            format!(
                "Continues {conversation}{}. Do not start over. Decisions and commitments are \
                 binding.",
                ended(" (ended: ", ")")
            ),
        ),
        Narrative => (
            "briefing",
            format!(
                "You are taking over conversation {conversation} from the previous session.{} \
                 Continue where it stopped. Do not start over, and do not ask again about \
                 anything that is settled here. Quotations are verbatim. The decisions and \
                 commitments among them are binding.",
                ended(" It ended because: ", ".")
            ),
        ),
        Structured => (
            "continuation",
            format!(
                "This session continues conversation {conversation}, which ended{}.\n\
                 Do not start over. Continue where it stopped. The decisions and commitments below \
                 are verbatim and binding.",
                ended(" because: ", "")
            ),
        ),
    };
    Block::document(title, text, FormatHint::Plain)
}

/// Writes the next actions, which must not be empty.
pub(super) fn actions(style: DirectiveStyle, actions: &[String]) -> Block<'static> {
    let mut text = String::new();
    for (at, action) in actions.iter().enumerate() {
        let mark = match style {
            Concise => "-".to_owned(),
            Narrative => if at == 0 { "First:" } else { "Then:" }.to_owned(),
            Structured => format!("{}.", at + 1),
        };
        push_item(&mut text, &mark, action);
    }
    let title = match style {
        Concise => "next",
        Narrative => "next steps",
        Structured => "immediate actions",
    };
    Block::document(title, lines(text), FormatHint::Plain)
}

/// Writes the anchors, which must be in display order.
pub(super) fn anchors(style: DirectiveStyle, anchors: &[&AnchorPoint]) -> Vec<Block<'static>> {
    let by_kind = || anchors.chunk_by(|a, b| a.kind == b.kind);
    match style {
        Concise => by_kind()
            .map(|group| {
                let mut text = String::new();
                for anchor in group {
                    push_item(&mut text, "-", &anchor.text);
                }
                let title = format!("{}s", group[0].kind.title());
                Block::document(title, lines(text), FormatHint::Plain)
            })
            .collect(),
        Narrative => {
            let mut text = String::new();
            for group in by_kind() {
                text.push_str(match group[0].kind {
                    AnchorKind::Decision => "Decisions that still apply:",
                    AnchorKind::Commitment => "Commitments to keep:",
                    AnchorKind::Correction => "Corrections:",
                    AnchorKind::CriticalFact => "Facts that the work depends on:",
                    AnchorKind::Preference => "The user's preferences:",
                    AnchorKind::OpenQuestion => "Questions without an answer:",
                });
                push_quotes(&mut text, group.iter().map(|anchor| anchor.text.as_str()));
            }
            document_unless_empty("decisions and facts", text, FormatHint::Plain)
        }
        Structured => anchors.iter().map(|anchor| anchor_block(anchor)).collect(),
    }
}

pub(super) fn tasks(style: DirectiveStyle, tasks: &[ShownTask<'_>]) -> Vec<Block<'static>> {
    let mut text = String::new();
    match style {
        Concise => {
            for ShownTask { task, with_done } in tasks {
                push_item(&mut text, &format!("{}:", status_line(task)), &task.description);
                push_steps(&mut text, task, *with_done);
            }
            document_unless_empty("tasks", text, FormatHint::Markdown)
        }
        Narrative => {
            for task in tasks {
                push_task(&mut text, *task);
            }
            document_unless_empty("remaining tasks", text, FormatHint::Plain)
        }
        Structured => {
            tasks.iter().map(|shown| short_task_block(shown.task, shown.with_done)).collect()
        }
    }
}

/// Writes the state, which must not be empty.
pub(super) fn state(style: DirectiveStyle, state: &SessionState) -> Block<'static> {
    if style != Narrative {
        return state_block(state);
    }
    let mut text = String::new();
    let mut say = |lead: &str, items: &[&String]| {
        if !items.is_empty() {
            text.push_str(lead);
            push_quotes(&mut text, items.iter().map(|item| item.as_str()));
        }
    };
    let list = Vec::from_iter::<std::slice::Iter<'_, String>>;
    say("Working directory:", state.working_directory.as_ref().as_slice());
    say("Branch:", state.branch.as_ref().as_slice());
    say("Active files, newest last:", &list(state.active_files.iter()));
    say("Recent commands, newest last:", &list(state.recent_commands.iter()));
    for (name, value) in &state.variables {
        say("Variable and value:", &[name, value]);
    }
    Block::document("current state", lines(text), FormatHint::Plain)
        .with_summary(state_brief(state))
}

fn push_task(text: &mut String, ShownTask { task, with_done }: ShownTask<'_>) {
    let steps = |text: &mut String, lead: &str, steps: &[String]| {
        text.push_str(lead);
        push_quotes(text, steps.iter().map(String::as_str));
    };
    text.push_str("The task ");
    push_quoted(text, &task.description);
    text.push_str(if text.ends_with('\n') { "is " } else { " is " });
    text.push_str(&status_line(task));
    text.push_str(".\n");
    if !task.done_steps.is_empty() {
        if with_done {
            steps(text, "Finished steps:", &task.done_steps);
        } else {
            let steps = counted(task.done_steps.len(), "step");
            for part in ["Finished, not listed: ", &steps, ".\n"] {
                text.push_str(part);
            }
        }
    }
    if !task.remaining_steps.is_empty() {
        steps(text, "Remaining steps, in this order:", &task.remaining_steps);
    }
    if let Some(acceptance) = &task.acceptance {
        steps(text, "It is finished when:", std::slice::from_ref(acceptance));
    }
}

/// Appends quotations and ends the line.
fn push_quotes<'a>(text: &mut String, quotes: impl Iterator<Item = &'a str>) {
    for (at, quote) in quotes.enumerate() {
        if !text.ends_with('\n') {
            text.push_str(if at == 0 { " " } else { ", " });
        }
        push_quoted(text, quote);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

fn document_unless_empty(
    title: &'static str,
    text: String,
    hint: FormatHint,
) -> Vec<Block<'static>> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![Block::document(title, lines(text), hint)]
}
