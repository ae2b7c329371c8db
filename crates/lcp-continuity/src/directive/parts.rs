//! What a directive tells, and the order in which it gives way.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::actions::{immediate_actions, reminded};
use crate::model::{AnchorPoint, PendingTask, Recorded, SessionHandoff, SessionState, TaskStatus};
use crate::pairs;

/// What a directive tells of a hand-off.
pub(super) struct Parts<'h> {
    pub(super) handoff: &'h SessionHandoff,
    /// Anchors that hold, in the order in which they are shown.
    pub(super) anchors: Vec<&'h AnchorPoint>,
    /// Tasks, those in progress first.
    pub(super) tasks: Vec<&'h PendingTask>,
    pub(super) actions: Vec<String>,
    /// The newest messages, oldest first.
    pub(super) messages: Vec<&'h Recorded>,
    /// All of it, what matters most first.
    pub(super) units: Vec<Unit>,
}

/// What is shown or gives way as one. The order is that of importance: what comes
/// later gives way earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// The line that says what this is.
    Intro,
    /// An anchor, by its place.
    Anchor(usize),
    /// A task, by its place.
    Task(usize),
    /// What the user wants.
    Intent,
    /// What to do now.
    Actions,
    /// What happened.
    Summary,
    /// A message, with the others of its tool call, by their places.
    Messages(Vec<usize>),
    /// The state of the session.
    State,
}

/// How much of a unit is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// It is left to what remains of the budget.
    Left,
    /// A task without the steps that are done.
    Short,
    /// All of it.
    Whole,
}

impl Unit {
    /// Whether it gives way last: nothing else stands while it does not.
    pub(super) const fn is_last(&self) -> bool {
        matches!(self, Self::Intro | Self::Anchor(_) | Self::Task(_))
    }
}

impl<'h> Parts<'h> {
    pub(super) fn new(handoff: &'h SessionHandoff) -> Self {
        let anchors = reminded(&handoff.anchors);
        let mut tasks: Vec<_> = handoff.pending_tasks.iter().collect();
        tasks.sort_by_key(|task| urgency(task));
        let is_message = |of: &&Recorded| !of.message.block.content.is_metadata();
        let messages: Vec<_> = handoff.recent.iter().filter(is_message).collect();
        let mut parts = Self {
            handoff,
            anchors,
            actions: immediate_actions(handoff, &tasks),
            tasks,
            messages,
            units: Vec::new(),
        };
        parts.units = parts.units();
        parts
    }

    /// The state, where it says anything.
    pub(super) fn state(&self) -> Option<&'h SessionState> {
        self.handoff.state.as_ref().filter(|state| !state.is_empty())
    }

    /// What the user wants, where that is known.
    pub(super) fn intent(&self) -> Option<&'h str> {
        self.handoff.user_intent.as_deref().filter(|intent| !intent.is_empty())
    }

    fn units(&self) -> Vec<Unit> {
        let anchors = || self.anchors.iter().enumerate();
        let of = |binding: bool| {
            let is =
                move |(_, anchor): &(usize, &&AnchorPoint)| anchor.kind.is_binding() == binding;
            anchors().filter(is).map(|(at, _)| Unit::Anchor(at))
        };
        let mut units = vec![Unit::Intro];
        units.extend(of(true));
        units.extend((0..self.tasks.len()).map(Unit::Task));
        units.extend(of(false));
        units.extend(self.intent().map(|_| Unit::Intent));
        if !self.actions.is_empty() {
            units.push(Unit::Actions);
        }
        if !self.handoff.summary.is_empty() {
            units.push(Unit::Summary);
        }
        units.extend(groups(&self.messages).into_iter().map(Unit::Messages));
        units.extend(self.state().map(|_| Unit::State));
        units
    }
}

/// The order of tasks: in progress, approved, others, those that wait, and those
/// that the user did not agree to.
fn urgency(task: &PendingTask) -> u8 {
    match (task.status, task.approved) {
        (_, Some(false)) => 4,
        (TaskStatus::InProgress, _) => 0,
        (TaskStatus::Blocked, _) => 3,
        (TaskStatus::Pending, Some(true)) => 1,
        (TaskStatus::Pending, None) => 2,
    }
}

/// The places of messages that stand together, the newest first: those of one tool
/// call, else each alone.
fn groups(messages: &[&Recorded]) -> Vec<Vec<usize>> {
    let answered = pairs::answered(messages.iter().map(|recorded| &recorded.message));
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, call) in answered.into_iter().enumerate() {
        groups.entry(call.unwrap_or(at)).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse(group.last().copied()));
    groups
}
