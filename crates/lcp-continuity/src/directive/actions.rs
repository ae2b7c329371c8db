//! What to do now, and what not to forget.

use std::cmp::Ordering;

use super::items::beginning;
use crate::model::{
    AnchorKind, AnchorPoint, OpenCall, PendingTask, SessionHandoff, Speaker, TaskStatus,
};
use crate::pairs;

/// Actions that are named.
const ACTIONS_MAX: usize = 10;

/// Steps of a task in progress that are named; of others, one.
const STEPS_MAX: usize = 3;

/// Characters of a call or a description that stand for it.
const NAME_CHARS: usize = 60;

/// What to do now, the first first: the next steps of `tasks`, calls without a
/// result, questions that are the assistant's to answer.
pub(super) fn immediate_actions(handoff: &SessionHandoff, tasks: &[&PendingTask]) -> Vec<String> {
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

/// The anchors that hold, in the order in which they are shown: by kind, the more
/// important first, else the older.
pub(super) fn reminded(anchors: &[AnchorPoint]) -> Vec<&AnchorPoint> {
    let place = |kind| AnchorKind::ALL.iter().position(|of| *of == kind);
    let order = |a: &&AnchorPoint, b: &&AnchorPoint| -> Ordering {
        place(a.kind).cmp(&place(b.kind)).then(b.importance.total_cmp(&a.importance))
    };
    let mut live: Vec<_> = anchors.iter().filter(|anchor| anchor.is_live()).collect();
    live.sort_by(order);
    live
}

/// The next steps of a task; none that the user did not agree to.
fn next_steps(task: &PendingTask) -> impl Iterator<Item = String> {
    let name = beginning(&task.description, NAME_CHARS);
    let (lead, steps) = match (task.status, task.approved) {
        (_, Some(false)) => (String::new(), 0),
        (TaskStatus::InProgress, _) => (format!("Go on with \"{name}\": "), STEPS_MAX),
        (TaskStatus::Blocked, _) => (format!("As soon as \"{name}\" is not blocked: "), 1),
        (TaskStatus::Pending, Some(true)) => (format!("Begin \"{name}\" (approved): "), 1),
        (TaskStatus::Pending, None) => (format!("Begin \"{name}\": "), 1),
    };
    task.remaining_steps.iter().take(steps).map(move |step| format!("{lead}{step}"))
}

/// The calls that have no result yet: those among the newest messages, then others.
fn open_calls(handoff: &SessionHandoff) -> impl Iterator<Item = String> {
    let open = pairs::open(handoff.recent.iter().map(|recorded| &recorded.message));
    let recent = open.into_iter().map(|at| OpenCall::of(&handoff.recent[at].message));
    recent.chain(handoff.open_calls.iter().cloned()).map(|OpenCall { id, text }| {
        let (name, id) = (beginning(&text, NAME_CHARS), beginning(&id, NAME_CHARS));
        format!("The call \"{name}\" ({id}) has no result yet: make it again if it is needed")
    })
}

/// Who said an anchor, where it says so or the message is at hand.
fn speaker_of(handoff: &SessionHandoff, anchor: &AnchorPoint) -> Option<Speaker> {
    if anchor.source.speaker.is_some() || anchor.source.conversation != handoff.conversation_id {
        return anchor.source.speaker;
    }
    let said = handoff.recent.iter().find(|of| of.position == anchor.source.message);
    said.and_then(|recorded| Speaker::of(recorded.message.role()))
}
