//! Entries extracted from one session are updated by the next.

use lcp_continuity::{HandoffOptions, Message, SessionHandoff, Speaker};
use lcp_types::Status;

use super::support::Fixture;

/// Returns the hand-off of a session with the messages `first`, and that of the next one with
/// `second`.
fn handoffs(first: Vec<Message>, second: Vec<Message>) -> [SessionHandoff; 2] {
    let fixture = Fixture::new();
    let mut id = "c".to_owned();
    fixture.open(&id, 100_000);
    [first, second].map(|messages| {
        for message in messages {
            fixture.say(&id, message);
        }
        let handoff =
            fixture.service.prepare_handoff(&id, 10_000, &HandoffOptions::default()).unwrap();
        let resumed = fixture.service.resume_from_handoff(&handoff.handoff_id).unwrap();
        id = resumed.new_conversation_id;
        handoff
    })
}

#[test]
fn open_question_is_handed_over_until_answered() {
    let asked = "Which port does the server use in production?";
    for (by, answers) in [
        (Speaker::User, Message::assistant("It uses port 8022 in production.")),
        (Speaker::Model, Message::user("Port 8022, as before.")),
    ] {
        let question = match by {
            Speaker::User => Message::user(asked),
            Speaker::Model => Message::assistant(asked),
        };
        let [first, second] = handoffs(vec![question.clone()], vec![answers]);
        assert_eq!(first.anchors[0].source.speaker, Some(by));
        assert_eq!(second.anchors, [], "{by:?}");
        let later = match by {
            Speaker::User => Message::user("I would like to know that."),
            Speaker::Model => Message::assistant("I wait for the answer."),
        };
        let [first, second] = handoffs(vec![question], vec![later]);
        assert_eq!(second.anchors, first.anchors, "{by:?}");
    }
}

#[test]
fn plan_is_approved_in_the_next_session() {
    let plan = Message::assistant("Plan: move it\n\n- [ ] one step\n- [ ] two steps\n");
    let [first, second] = handoffs(vec![plan], vec![Message::user("Yes, go ahead.")]);
    let approved = |handoff: &SessionHandoff| handoff.pending_tasks[0].approved;
    assert_eq!((approved(&first), approved(&second)), (None, Some(true)));
}

#[test]
fn state_continues_in_the_next_session() {
    let bash = |command: String| {
        let call = Message::tool_call("1", format!("bash {command}"));
        [call, Message::tool_result("1", "bash", Status::Ok, "")]
    };
    let many = |commands: [&str; 2], from: usize| {
        let makes = (from..from + 8).map(|at| format!("make {at}"));
        commands.map(str::to_owned).into_iter().chain(makes).flat_map(bash).collect()
    };
    let first = many(["cd /repo", "export A=1 B=2"], 0);
    let second = many(["cd src", "unset A"], 4);
    let [first, second] = handoffs(first, second).map(|handoff| handoff.state.unwrap());
    assert_eq!(first.working_directory.as_deref(), Some("/repo"));
    assert_eq!(second.working_directory.as_deref(), Some("/repo/src"));
    assert_eq!(second.variables.into_iter().collect::<Vec<_>>(), [("B".into(), "2".into())]);
    assert_eq!((first.recent_commands.len(), second.recent_commands.len()), (10, 10));
    assert_eq!(second.recent_commands[9], "make 11");
}
