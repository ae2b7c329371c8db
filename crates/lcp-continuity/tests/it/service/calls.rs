//! Calls that have no result yet when a session ends, and ids that are used again.

use std::collections::BTreeSet;

use lcp_continuity::{HandoffOptions, Message, ResumedSession, SessionHandoff};
use lcp_types::Status;
use proptest::prelude::*;

use super::support::{Fixture, words};

fn call(id: &str, command: &str) -> Message {
    Message::tool_call(id, format!("bash {command}"))
}

fn result(id: &str, status: Status, text: &str) -> Message {
    Message::tool_result(id, "bash", status, text)
}

fn record(fixture: &Fixture, messages: impl IntoIterator<Item = Message>) {
    let messages = messages.into_iter().collect();
    fixture.service.record_messages("c", messages).unwrap();
}

fn handed_over(fixture: &Fixture, id: &str) -> SessionHandoff {
    fixture.service.prepare_handoff(id, 10_000, &HandoffOptions::default()).unwrap()
}

/// Resumes a conversation that was handed over after `before`, and then recorded `late`.
fn resumed(before: Vec<Message>, late: Vec<Message>) -> (Fixture, ResumedSession) {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    record(&fixture, before);
    let handoff = handed_over(&fixture, "c");
    record(&fixture, late);
    let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    (fixture, resumed)
}

fn texts(session: &ResumedSession) -> Vec<String> {
    session.late_messages.iter().map(|late| late.message.text().into_owned()).collect()
}

#[test]
fn late_result_includes_newest_call_with_its_id() {
    let turns = (0..30).flat_map(|turn| {
        [call("call_0", &format!("step {turn}")), result("call_0", Status::Ok, "")]
    });
    let before = turns.chain([call("call_0", "make")]).collect();
    let (_, session) = resumed(before, vec![result("call_0", Status::Ok, "made")]);
    assert_eq!(texts(&session), ["bash make", "made"]);
}

#[test]
fn call_after_result_with_same_id_is_a_new_call() {
    let late = vec![result("call_0", Status::Ok, "made"), call("call_0", "make test")];
    let (_, session) = resumed(vec![call("call_0", "make")], late);
    assert_eq!(texts(&session), ["bash make", "made", "bash make test"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Each late result brings along its latest earlier call. No other earlier message is included.
    #[test]
    fn late_results_include_only_their_own_calls(
        of in prop::collection::vec((any::<bool>(), 0..3_u8), 2..16),
        part in any::<prop::sample::Index>(),
    ) {
        let message = |(at, (is_result, id)): (usize, &(bool, u8))| {
            let (id, text) = (id.to_string(), at.to_string());
            if *is_result {
                Message::tool_result(id, "bash", Status::Ok, text)
            } else {
                Message::tool_call(id, text)
            }
        };
        let messages: Vec<_> = of.iter().enumerate().map(message).collect();
        let split = 1 + part.index(of.len() - 1);
        let mut expected: BTreeSet<usize> = (split..of.len()).collect();
        for (at, (_, id)) in of.iter().enumerate().skip(split).filter(|(_, (is_result, _))| *is_result) {
            expected.extend((0..at).rev().find(|before| of[*before] == (false, *id)));
        }
        let expected: Vec<_> = expected.iter().map(usize::to_string).collect();
        let (_, session) = resumed(messages[..split].to_vec(), messages[split..].to_vec());
        prop_assert_eq!(texts(&session), expected);
    }
}

#[test]
fn late_result_applies_a_call_once() {
    for (status, directory) in [(Status::Ok, "/srv/app"), (Status::Error, "/srv")] {
        let before =
            vec![call("1", "cd /srv"), result("1", Status::Ok, ""), call("2", "cd app && make")];
        let (fixture, session) = resumed(before, vec![result("2", status, "over")]);
        let of = |state: Option<lcp_continuity::SessionState>| state.unwrap().working_directory;
        assert_eq!(of(session.restored_state).as_deref(), Some("/srv"));
        let second = handed_over(&fixture, &session.new_conversation_id);
        assert_eq!(of(second.state).as_deref(), Some(directory));
    }
}

/// Returns the actions of a directive that name open calls.
fn open_calls(fixture: &Fixture, handoff: &SessionHandoff) -> Vec<String> {
    // Uses the stored hand-off, because the next session has nothing else.
    let kept = fixture.service.handoff(&handoff.handoff_id).unwrap();
    assert_eq!(kept, *handoff);
    let directive = fixture.service.generate_continuation_directive(&kept).unwrap();
    let actions = directive.immediate_actions.into_iter();
    actions.filter(|action| action.contains("no result yet")).collect()
}

#[test]
fn large_open_call_is_an_action() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    record(&fixture, [Message::user("Write it."), call("big", &words(1_200))]);
    let handoff = handed_over(&fixture, "c");
    assert_eq!(handoff.recent, []);
    let told = open_calls(&fixture, &handoff);
    assert!(told.len() == 1 && told[0].contains("\"bash word word") && told[0].contains("(big)"));
    // The second session does not react, so the third one is told again, and then answers.
    let session = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
    let second = handed_over(&fixture, &session.new_conversation_id);
    assert_eq!(open_calls(&fixture, &second), told);
    let session = fixture.service.resume_from_handoff(&second.handoff_id).unwrap();
    fixture.say(&session.new_conversation_id, Message::assistant("I do not need that."));
    let third = handed_over(&fixture, &session.new_conversation_id);
    assert_eq!(open_calls(&fixture, &third), [""; 0]);
}

#[test]
fn old_open_calls_are_actions() {
    let fixture = Fixture::new();
    fixture.open("c", 100_000);
    record(
        &fixture,
        [
            call("0", "ls"),
            result("0", Status::Ok, "a"),
            call("0", "make all"),
            Message::user("Meanwhile:"),
            Message::assistant(words(1_200)),
            call("1", "ls src"),
        ],
    );
    let told = open_calls(&fixture, &handed_over(&fixture, "c"));
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("bash ls src") && told[1].contains("bash make all"), "{told:?}");
    fixture.say("c", result("0", Status::Ok, "made"));
    assert_eq!(open_calls(&fixture, &handed_over(&fixture, "c")), told[..1]);
}
