//! Properties of any text.

use std::fmt::Write as _;

use lcp_continuity::extract::{
    AnchorExtractor, ListTaskExtractor, RuleAnchorExtractor, TaskExtractor, observed_state,
};
use lcp_continuity::{AnchorKind, AnchorPoint, Message, Recorded, SessionState};
use lcp_types::Status;
use proptest::prelude::*;

use super::recorded;

/// Pieces of text that the rules recognize.
const PIECES: [&str; 41] = [
    "We decided to use Rust.",
    "I will keep it.",
    "I'll read it.",
    "No, it's 8080.",
    "must ",
    "?",
    "Why is that so?",
    "I prefer tabs",
    ".",
    " ",
    "\n",
    "\n\n",
    "- ",
    "- [ ] ",
    "- [x] ",
    "☐ ",
    "Plan:\n",
    "## ",
    "> ",
    "```\n",
    "`",
    "\"",
    "“",
    "”",
    "<system-reminder>",
    "</system-reminder>",
    "DECISION: ",
    "[fact] ",
    "**",
    "’",
    "é",
    "\u{301}",
    "🦀",
    "{\"todos\":[",
    "{\"content\":\"x\",\"status\":\"pending\"}",
    "]}",
    "Done when ",
    "cd /x && git switch y ",
    "cd z;",
    "export A=1;",
    "etc. and",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = Message> {
    (0..6, text()).prop_map(|(kind, text)| match kind {
        0 | 1 => Message::user(text),
        2 | 3 => Message::assistant(text),
        4 => Message::tool_call("1", format!("bash {text}")),
        _ => Message::tool_result("1", "bash", Status::Ok, text),
    })
}

fn conversation() -> impl Strategy<Value = Vec<Recorded>> {
    proptest::collection::vec(message(), 0..8).prop_map(recorded)
}

fn anchors(messages: &[Recorded]) -> Vec<AnchorPoint> {
    RuleAnchorExtractor.anchors("c1", messages)
}

fn is_call(recorded: &Recorded) -> bool {
    recorded.message.tool_call_id().is_some() && !recorded.message.is_result()
}

proptest! {
    #[test]
    fn anchors_are_verbatim_in_their_source_messages(messages in conversation()) {
        for anchor in anchors(&messages) {
            let said = &messages[usize::try_from(anchor.source.message).unwrap()].message;
            prop_assert!(said.text().contains(&anchor.text));
            prop_assert_eq!(anchor.text.trim(), &anchor.text);
            prop_assert!((0.0..=1.0).contains(&anchor.importance));
        }
    }

    #[test]
    fn extraction_is_deterministic(messages in conversation()) {
        prop_assert_eq!(anchors(&messages), anchors(&messages.clone()));
        let tasks = ListTaskExtractor.pending_tasks(&[], &messages);
        prop_assert_eq!(&tasks, &ListTaskExtractor.pending_tasks(&[], &messages.clone()));
        let none = SessionState::default();
        prop_assert_eq!(observed_state(&none, &messages), observed_state(&none, &messages.clone()));
    }

    /// Later messages remove only questions, and change no anchor. The cut must not be between a
    /// turn and the call that it introduces.
    #[test]
    fn later_messages_keep_earlier_anchors(
        messages in conversation(), at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(messages.len() + 1);
        prop_assume!(!messages.get(at).is_some_and(is_call));
        let lasting = |messages: &[Recorded]| -> Vec<AnchorPoint> {
            let mut anchors = anchors(messages);
            anchors.retain(|anchor| anchor.kind != AnchorKind::OpenQuestion);
            anchors
        };
        let start = lasting(&messages[..at]);
        prop_assert_eq!(&start[..], &lasting(&messages)[..start.len()]);
    }

    /// A question from an earlier session is closed by the same rule as any other.
    #[test]
    fn questions_are_answered_regardless_of_session_split(
        messages in conversation(), at in any::<prop::sample::Index>(),
    ) {
        let (before, after) = messages.split_at(at.index(messages.len() + 1));
        prop_assume!(!after.first().is_some_and(is_call));
        let whole = anchors(&messages);
        let questions = anchors(before).into_iter();
        for asked in questions.filter(|anchor| anchor.kind == AnchorKind::OpenQuestion) {
            prop_assert_eq!(RuleAnchorExtractor.is_answered(&asked, after), !whole.contains(&asked));
        }
    }

    /// The hand-off carries a call whose result comes later.
    #[test]
    fn state_does_not_depend_on_session_split(
        messages in conversation(), at in any::<prop::sample::Index>(),
    ) {
        let (before, after) = messages.split_at(at.index(messages.len() + 1));
        let has_call = |of: &&Recorded| of.message.tool_call_id().is_some();
        let is_answered = after.iter().find(has_call).is_some_and(|of| !is_call(of));
        let open = before.iter().rfind(has_call).filter(|of| is_answered && is_call(of));
        let late: Vec<_> = open.into_iter().chain(after).cloned().collect();
        let none = SessionState::default();
        let cut = observed_state(&observed_state(&none, before), &late);
        prop_assert_eq!(cut, observed_state(&none, &messages));
    }

    #[test]
    fn task_steps_are_verbatim_and_some_remain(messages in conversation()) {
        for task in ListTaskExtractor.pending_tasks(&[], &messages) {
            prop_assert!(!task.remaining_steps.is_empty());
            for step in task.done_steps.iter().chain(&task.remaining_steps) {
                prop_assert!(messages.iter().any(|said| said.message.text().contains(step.as_str())));
            }
        }
    }

    #[test]
    fn known_tasks_without_messages_are_unchanged(messages in conversation()) {
        let tasks = ListTaskExtractor.pending_tasks(&[], &messages);
        prop_assert_eq!(ListTaskExtractor.pending_tasks(&tasks, &[]), tasks);
    }
}

/// Long repetitions of pieces that rules scan ahead for. If the work grew faster than the text,
/// this test would not end.
#[test]
fn long_text_extraction_finishes() {
    for piece in PIECES
        .iter()
        .chain(&["<thinking></thinking>", "(.\"", "...", "<a", "[", "{", "\"plan\":[", "a.b. "])
    {
        let text = piece.repeat(10_000);
        let messages = recorded([
            Message::user(text.clone()),
            Message::assistant(text.clone()),
            Message::tool_call("1", format!("bash {text}")),
            Message::tool_result("1", "bash", Status::Ok, text),
        ]);
        let _ = anchors(&messages);
        let _ = ListTaskExtractor.pending_tasks(&[], &messages);
        let _ = observed_state(&SessionState::default(), &messages);
    }
    let mut steps = String::new();
    for at in 0..20_000 {
        let _ = writeln!(steps, "- [ ] step {at}");
    }
    let messages = recorded([Message::user(steps.clone()), Message::assistant(steps)]);
    assert_eq!(ListTaskExtractor.pending_tasks(&[], &messages)[0].remaining_steps.len(), 20_000);
}
