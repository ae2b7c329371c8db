//! Sentences, as one would brief a colleague. Words of others are quoted.

use lcp_types::{Block, FormatHint};

use super::blocks::{counted, lines, state_brief, status_line};
use super::items::{push_item, push_quoted};
use super::wording::{Told, Wording, ended};
use crate::model::{AnchorKind, AnchorPoint, SessionHandoff, SessionState};

pub(super) struct Narrative;

impl Wording for Narrative {
    fn intro(&self, handoff: &SessionHandoff) -> Block<'static> {
        let (conversation, reason) = ended(handoff);
        let ended =
            reason.map(|reason| format!(" It ended because: {reason}.")).unwrap_or_default();
        let text = format!(
            "You take over conversation {conversation} from the session before you.{ended} Go on \
             where it stopped, do not start over, and do not ask again what is settled here. What \
             is quoted was said in these very words, and the decisions and commitments among it \
             bind you."
        );
        Block::document("briefing", text, FormatHint::Plain)
    }

    fn actions(&self, actions: &[String]) -> Block<'static> {
        let mut text = String::new();
        for (at, action) in actions.iter().enumerate() {
            let lead = if at == 0 { "First:" } else { "Then:" };
            push_item(&mut text, lead, action);
        }
        Block::document("what to do now", lines(text), FormatHint::Plain)
    }

    fn anchors(&self, anchors: &[&AnchorPoint]) -> Vec<Block<'static>> {
        let mut text = String::new();
        for of in anchors.chunk_by(|a, b| a.kind == b.kind) {
            let Some(first) = of.first() else { continue };
            text.push_str(lead(first.kind));
            push_all(&mut text, of.iter().map(|anchor| anchor.text.as_str()));
        }
        prose("what holds", text)
    }

    fn tasks(&self, tasks: &[Told<'_>]) -> Vec<Block<'static>> {
        let mut text = String::new();
        for told in tasks {
            push_task(&mut text, *told);
        }
        prose("what remains to be done", text)
    }

    fn state(&self, state: &SessionState) -> Block<'static> {
        let mut text = String::new();
        let mut say = |lead: &str, items: &mut dyn Iterator<Item = &str>| {
            let mut items = items.peekable();
            if items.peek().is_some() {
                text.push_str(lead);
                push_all(&mut text, items);
            }
        };
        say("You work in the directory", &mut state.working_directory.as_deref().into_iter());
        say("The branch is", &mut state.branch.as_deref().into_iter());
        say(
            "The files at hand, the newest last, are",
            &mut state.active_files.iter().map(String::as_str),
        );
        say(
            "The commands that were run, the newest last, are",
            &mut state.recent_commands.iter().map(String::as_str),
        );
        for (name, value) in &state.variables {
            say("A variable and its value:", &mut [name.as_str(), value].into_iter());
        }
        Block::document("what is at hand", lines(text), FormatHint::Plain)
            .with_summary(state_brief(state))
    }
}

/// What is said of anchors of a kind.
const fn lead(kind: AnchorKind) -> &'static str {
    match kind {
        AnchorKind::Decision => "This was decided, and stands:",
        AnchorKind::Commitment => "This was promised, and is owed:",
        AnchorKind::Correction => "This was corrected:",
        AnchorKind::CriticalFact => "The work depends on this:",
        AnchorKind::Preference => "The user wants it like this:",
        AnchorKind::OpenQuestion => "This was asked, and is not answered:",
    }
}

fn push_task(text: &mut String, told: Told<'_>) {
    let task = told.task;
    text.push_str("The task ");
    push_quoted(text, &task.description);
    let status = if text.ends_with('\n') { "is " } else { " is " };
    text.push_str(status);
    text.push_str(&status_line(task));
    text.push_str(".\n");
    if !task.done_steps.is_empty() {
        if told.done {
            text.push_str("Done:");
            push_all(text, task.done_steps.iter().map(String::as_str));
        } else {
            text.push_str(&counted(task.done_steps.len(), "step"));
            text.push_str(" of it: done, and not told here.\n");
        }
    }
    if !task.remaining_steps.is_empty() {
        text.push_str("To do, in this order:");
        push_all(text, task.remaining_steps.iter().map(String::as_str));
    }
    if let Some(acceptance) = &task.acceptance {
        text.push_str("It is done when this holds:");
        push_all(text, [acceptance.as_str()].into_iter());
    }
}

/// Appends quotes, and ends the line.
fn push_all<'a>(text: &mut String, quotes: impl Iterator<Item = &'a str>) {
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

fn prose(title: &'static str, text: String) -> Vec<Block<'static>> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![Block::document(title, lines(text), FormatHint::Plain)]
}
