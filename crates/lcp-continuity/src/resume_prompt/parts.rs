//! The contents of a directive, in order of importance.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::quoting::truncate_inline;
use crate::model::{
    AnchorKind, AnchorPoint, OpenCall, PendingTask, Recorded, SessionHandoff, SessionState,
    Speaker, TaskStatus,
};
use crate::tool_pairs;

/// The contents of a directive.
pub(super) struct Parts<'h> {
    pub(super) handoff: &'h SessionHandoff,
    /// The anchors that still hold, in display order.
    pub(super) anchors: Vec<&'h AnchorPoint>,
    /// The tasks, those in progress first.
    pub(super) tasks: Vec<&'h PendingTask>,
    pub(super) actions: Vec<String>,
    /// The newest messages, oldest first.
    pub(super) messages: Vec<&'h Recorded>,
    /// All sections, the most important first.
    pub(super) sections: Vec<Section>,
}

/// A unit that is shown or omitted as a whole. Sections are ordered by importance, and later ones
/// are omitted first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Intro,
    Anchor(usize),
    Task(usize),
    Intent,
    Actions,
    Summary,
    /// The indices of a message and the other messages of its tool call.
    Messages(Vec<usize>),
    State,
}

/// The extent to which a section is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Not selected; it may get the remaining budget.
    Omitted,
    WithoutDone,
    Full,
}

impl Section {
    /// Returns whether the section is omitted only after all sections that are not essential.
    pub(super) const fn is_essential(&self) -> bool {
        matches!(self, Self::Intro | Self::Anchor(_) | Self::Task(_))
    }
}

impl<'h> Parts<'h> {
    pub(super) fn new(handoff: &'h SessionHandoff) -> Self {
        let anchors = live_anchors(&handoff.anchors);
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
            sections: Vec::new(),
        };
        parts.sections = parts.sections();
        parts
    }

    pub(super) fn state(&self) -> Option<&'h SessionState> {
        self.handoff.state.as_ref().filter(|state| !state.is_empty())
    }

    pub(super) fn intent(&self) -> Option<&'h str> {
        self.handoff.user_intent.as_deref().filter(|intent| !intent.is_empty())
    }

    fn sections(&self) -> Vec<Section> {
        let anchors = || self.anchors.iter().enumerate();
        let of = |binding: bool| {
            let is =
                move |(_, anchor): &(usize, &&AnchorPoint)| anchor.kind.is_binding() == binding;
            anchors().filter(is).map(|(at, _)| Section::Anchor(at))
        };
        let mut sections = vec![Section::Intro];
        sections.extend(of(true));
        sections.extend((0..self.tasks.len()).map(Section::Task));
        sections.extend(of(false));
        sections.extend(self.intent().map(|_| Section::Intent));
        if !self.actions.is_empty() {
            sections.push(Section::Actions);
        }
        if !self.handoff.summary.is_empty() {
            sections.push(Section::Summary);
        }
        sections.extend(groups(&self.messages).into_iter().map(Section::Messages));
        sections.extend(self.state().map(|_| Section::State));
        sections
    }
}

/// Returns the sort key of a task: in progress, approved, other, blocked, refused.
fn urgency(task: &PendingTask) -> u8 {
    match (task.status, task.approved) {
        (_, Some(false)) => 4,
        (TaskStatus::InProgress, _) => 0,
        (TaskStatus::Blocked, _) => 3,
        (TaskStatus::Pending, Some(true)) => 1,
        (TaskStatus::Pending, None) => 2,
    }
}

/// Groups the messages of each tool call. The newest group comes first.
fn groups(messages: &[&Recorded]) -> Vec<Vec<usize>> {
    let answered = tool_pairs::answered_calls(messages.iter().copied());
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, call) in answered.into_iter().enumerate() {
        groups.entry(call.unwrap_or(at)).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse(group.last().copied()));
    groups
}

const ACTIONS_MAX: usize = 10;
/// The number of steps to list for a task in progress. For other tasks it is one.
const STEPS_MAX: usize = 3;
/// The length in characters of an excerpt that names a call or a task.
const NAME_CHARS: usize = 60;

/// Returns the next actions in order: the next steps of `tasks`, calls without a result, and
/// questions that the assistant should answer.
fn immediate_actions(handoff: &SessionHandoff, tasks: &[&PendingTask]) -> Vec<String> {
    let steps = tasks.iter().flat_map(|task| next_steps(task));
    let calls = open_calls(handoff);
    let asked = handoff.anchors.iter().filter(|anchor| {
        anchor.is_live()
            && anchor.kind == AnchorKind::OpenQuestion
            && speaker_of(handoff, anchor) != Some(Speaker::Model)
    });
    let questions = asked.map(|anchor| format!("Answer, if it is still open: {}", anchor.text));
    steps.chain(calls).chain(questions).take(ACTIONS_MAX).collect()
}

/// Returns the anchors that still hold, by kind, importance and age.
fn live_anchors(anchors: &[AnchorPoint]) -> Vec<&AnchorPoint> {
    let position = |kind| AnchorKind::ALL.iter().position(|of| *of == kind);
    let order = |a: &&AnchorPoint, b: &&AnchorPoint| {
        position(a.kind).cmp(&position(b.kind)).then(b.importance.total_cmp(&a.importance))
    };
    let mut live: Vec<_> = anchors.iter().filter(|anchor| anchor.is_live()).collect();
    live.sort_by(order);
    live
}

/// Returns the next steps of a task, or no steps if the user refused it.
fn next_steps(task: &PendingTask) -> impl Iterator<Item = String> {
    let name = truncate_inline(&task.description, NAME_CHARS);
    let (lead, steps) = match (task.status, task.approved) {
        (_, Some(false)) => (String::new(), 0),
        (TaskStatus::InProgress, _) => (format!("Continue with \"{name}\": "), STEPS_MAX),
        (TaskStatus::Blocked, _) => (format!("As soon as \"{name}\" is not blocked: "), 1),
        (TaskStatus::Pending, Some(true)) => (format!("Begin \"{name}\" (approved): "), 1),
        (TaskStatus::Pending, None) => (format!("Begin \"{name}\": "), 1),
    };
    task.remaining_steps.iter().take(steps).map(move |step| format!("{lead}{step}"))
}

/// Returns the calls that have no result yet: first those among the newest messages, then the
/// others.
fn open_calls(handoff: &SessionHandoff) -> impl Iterator<Item = String> {
    let open = tool_pairs::open_calls(&handoff.recent);
    let recent = open.into_iter().map(|at| OpenCall::from_message(&handoff.recent[at].message));
    recent.chain(handoff.open_calls.iter().cloned()).map(|OpenCall { id, text }| {
        let (name, id) = (truncate_inline(&text, NAME_CHARS), truncate_inline(&id, NAME_CHARS));
        format!("The call \"{name}\" ({id}) has no result yet: repeat it if it is needed")
    })
}

/// Returns the speaker of an anchor, if the anchor records it or its message is available.
fn speaker_of(handoff: &SessionHandoff, anchor: &AnchorPoint) -> Option<Speaker> {
    if anchor.source.speaker.is_some() || anchor.source.conversation != handoff.conversation_id {
        return anchor.source.speaker;
    }
    let said = handoff.recent.iter().find(|of| of.position == anchor.source.message);
    said.and_then(|recorded| Speaker::from_role(recorded.message.role()))
}
