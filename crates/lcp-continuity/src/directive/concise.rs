//! Lists, few words: a part for each group.

use lcp_types::{Block, FormatHint};

use super::blocks::{lines, push_steps, state_block, status_line};
use super::items::push_item;
use super::wording::{Told, Wording, ended};
use crate::model::{AnchorPoint, SessionHandoff, SessionState};

pub(super) struct Concise;

impl Wording for Concise {
    fn intro(&self, handoff: &SessionHandoff) -> Block<'static> {
        let (conversation, reason) = ended(handoff);
        let ended = reason.map(|reason| format!(" (ended: {reason})")).unwrap_or_default();
        let text = format!(
            "Continues {conversation}{ended}. Do not start over. Decisions and commitments bind."
        );
        Block::document("continuation", text, FormatHint::Plain)
    }

    fn actions(&self, actions: &[String]) -> Block<'static> {
        list("now", actions.iter().map(String::as_str))
    }

    fn anchors(&self, anchors: &[&AnchorPoint]) -> Vec<Block<'static>> {
        let kinds = anchors.chunk_by(|a, b| a.kind == b.kind);
        let group = |of: &[&AnchorPoint]| {
            let kind = of.first()?.kind;
            Some(list(format!("{}s", kind.title()), of.iter().map(|anchor| anchor.text.as_str())))
        };
        kinds.filter_map(group).collect()
    }

    fn tasks(&self, tasks: &[Told<'_>]) -> Vec<Block<'static>> {
        if tasks.is_empty() {
            return Vec::new();
        }
        let mut text = String::new();
        for told in tasks {
            push_item(&mut text, &format!("{}:", status_line(told.task)), &told.task.description);
            push_steps(&mut text, told.task, told.done);
        }
        vec![Block::document("tasks", lines(text), FormatHint::Markdown)]
    }

    fn state(&self, state: &SessionState) -> Block<'static> {
        state_block(state)
    }
}

/// A list of items.
fn list<'a>(title: impl Into<String>, items: impl Iterator<Item = &'a str>) -> Block<'static> {
    let mut text = String::new();
    items.for_each(|item| push_item(&mut text, "-", item));
    Block::document(title.into(), lines(text), FormatHint::Plain)
}
