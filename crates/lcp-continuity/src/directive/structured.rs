//! A part for each thing.

use lcp_types::{Block, FormatHint};

use super::blocks::{anchor_block, lines, state_block, told_task_block};
use super::items::push_item;
use super::wording::{Told, Wording, ended};
use crate::model::{AnchorPoint, SessionHandoff, SessionState};

pub(super) struct Structured;

impl Wording for Structured {
    fn intro(&self, handoff: &SessionHandoff) -> Block<'static> {
        let (conversation, reason) = ended(handoff);
        let because = reason.map(|reason| format!(" because: {reason}")).unwrap_or_default();
        let text = format!(
            "This continues conversation {conversation}, which ended{because}.\n\
             Do not start over: go on where it stopped. The decisions and commitments below are \
             binding, word for word."
        );
        Block::document("continuation", text, FormatHint::Plain)
    }

    fn actions(&self, actions: &[String]) -> Block<'static> {
        let mut text = String::new();
        for (at, action) in actions.iter().enumerate() {
            push_item(&mut text, &format!("{}.", at + 1), action);
        }
        Block::document("immediate actions", lines(text), FormatHint::Plain)
    }

    fn anchors(&self, anchors: &[&AnchorPoint]) -> Vec<Block<'static>> {
        anchors.iter().map(|anchor| anchor_block(anchor)).collect()
    }

    fn tasks(&self, tasks: &[Told<'_>]) -> Vec<Block<'static>> {
        tasks.iter().map(|told| told_task_block(told.task, told.done)).collect()
    }

    fn state(&self, state: &SessionState) -> Block<'static> {
        state_block(state)
    }
}
