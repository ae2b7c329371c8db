//! What each style words in its own way.

use lcp_types::Block;

use super::concise::Concise;
use super::narrative::Narrative;
use super::structured::Structured;
use super::{DirectiveStyle, items::inline};
use crate::model::{AnchorPoint, PendingTask, SessionHandoff, SessionState};

/// A style: the blocks of each part. Whatever it words, the words of others stand in
/// it byte for byte.
pub(super) trait Wording {
    /// What this is, and what holds.
    fn intro(&self, handoff: &SessionHandoff) -> Block<'static>;
    /// What to do now; there is something.
    fn actions(&self, actions: &[String]) -> Block<'static>;
    /// Anchors, in the order in which they are shown.
    fn anchors(&self, anchors: &[&AnchorPoint]) -> Vec<Block<'static>>;
    /// Tasks.
    fn tasks(&self, tasks: &[Told<'_>]) -> Vec<Block<'static>>;
    /// The state; it says something.
    fn state(&self, state: &SessionState) -> Block<'static>;
}

/// A task, and whether the steps that are done are told.
#[derive(Clone, Copy)]
pub(super) struct Told<'h> {
    pub(super) task: &'h PendingTask,
    pub(super) done: bool,
}

/// The style's wording.
pub(super) fn wording(style: DirectiveStyle) -> &'static dyn Wording {
    match style {
        DirectiveStyle::Concise => &Concise,
        DirectiveStyle::Narrative => &Narrative,
        DirectiveStyle::Structured => &Structured,
    }
}

/// The conversation, and why it ended, where that is known; both on one line.
pub(super) fn ended(handoff: &SessionHandoff) -> (String, Option<String>) {
    let reason = handoff.metadata.reason.trim().trim_end_matches('.');
    let reason = (!reason.is_empty()).then(|| inline(reason));
    (inline(&handoff.conversation_id), reason)
}
