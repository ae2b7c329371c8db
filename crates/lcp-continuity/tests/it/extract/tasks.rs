//! Tasks: lists in tool calls, check boxes, and the user's answers to them.

use lcp_continuity::extract::{ListTaskExtractor, TaskExtractor};
use lcp_continuity::{Message, PendingTask, TaskStatus};
use lcp_types::Status;

use super::recorded;

fn tasks(messages: impl IntoIterator<Item = Message>) -> Vec<PendingTask> {
    ListTaskExtractor.pending_tasks(&[], &recorded(messages))
}

/// Returns the only task.
fn task(messages: impl IntoIterator<Item = Message>) -> PendingTask {
    let mut tasks = tasks(messages);
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    tasks.remove(0)
}

fn todos(rows: &[(&str, &str)]) -> Message {
    let rows: Vec<_> = rows
        .iter()
        .map(|(content, status)| {
            format!(r#"{{"content":"{content}","status":"{status}","activeForm":"x"}}"#)
        })
        .collect();
    Message::tool_call(
        "1",
        format!(r#"{{"name":"TodoWrite","input":{{"todos":[{}]}}}}"#, rows.join(",")),
    )
}

#[test]
fn todo_tool_call_becomes_a_task() {
    let task =
        task([todos(&[("Read", "completed"), ("Write", "in_progress"), ("Test", "pending")])]);
    assert_eq!(task.description, "To-do list");
    assert_eq!(task.status, TaskStatus::InProgress);
    assert_eq!(task.done_steps, ["Read"]);
    assert_eq!(task.remaining_steps, ["Write", "Test"]);
    assert_eq!((task.approved, task.acceptance), (None, None));
}

#[test]
fn plan_tool_call_is_parsed_in_every_form() {
    let plan = r#"{"explanation":"Port it","plan":[{"step":"Read","status":"completed"},{"step":"Write","status":"pending"}]}"#;
    let quoted = format!(r#"{{"type":"function_call","arguments":{}}}"#, serde_json_string(plan));
    let in_text = format!("update_plan {plan}");
    for text in [plan.to_owned(), quoted, in_text] {
        let task = task([Message::tool_call("1", text.clone())]);
        assert_eq!(task.description, "Port it", "{text}");
        assert_eq!(task.remaining_steps, ["Write"], "{text}");
    }
    // In a text that is not JSON as a whole, only the array is read.
    let inside = format!("{{x}} the plan is now: {plan} and so on");
    let task = task([Message::tool_result("1", "update_plan", Status::Ok, inside)]);
    assert_eq!((task.description.as_str(), task.remaining_steps.len()), ("Plan", 1));
}

fn serde_json_string(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

#[test]
fn newer_tool_list_replaces_older_one() {
    let first = todos(&[("Read", "in_progress"), ("Write", "pending")]);
    let before = task([first.clone()]);
    let later = todos(&[("Read", "completed"), ("Write it", "in_progress")]);
    let after = task([first.clone(), later]);
    assert_eq!(after.id, before.id);
    assert_eq!(after.done_steps, ["Read"]);
    assert_eq!(after.remaining_steps, ["Write it"]);
    let done = todos(&[("Read", "completed"), ("Write", "completed")]);
    assert_eq!(tasks([first.clone(), done]), []);
    assert_eq!(tasks([first, todos(&[])]), []);
}

#[test]
fn invalid_tool_lists_are_ignored() {
    for text in [
        r#"{"plan":"free"}"#,
        r#"{"plan":[{"step":"x","status":"soon"}]}"#,
        r#"{"todos":[1,2]}"#,
        r#"{"todos":[{"content":"x""#,
        "the plan: todos",
    ] {
        assert_eq!(tasks([Message::tool_call("1", text)]), [], "{text}");
    }
    // JSON in a turn is ordinary text.
    let text = r#"{"todos":[{"content":"x","status":"pending"}]}"#;
    assert_eq!(tasks([Message::user(text)]), []);
}

#[test]
fn check_boxes_are_grouped_by_heading() {
    let text = "## Port\n- [x] Read *all* of it\n* [ ] Write `lexer.rs`\n\n1. [ ] Test\n\n\
                **Later:**\n☒ Docs\n☐ Site\n";
    let tasks = tasks([Message::assistant(text)]);
    assert_eq!(tasks.len(), 2);
    assert_eq!(tasks[0].description, "Port");
    assert_eq!(tasks[0].done_steps, ["Read *all* of it"]);
    assert_eq!(tasks[0].remaining_steps, ["Write `lexer.rs`", "Test"]);
    assert_eq!(tasks[1].description, "Later");
    assert_eq!(tasks[1].remaining_steps, ["Site"]);
}

#[test]
fn boxes_without_heading_are_named_by_first_step() {
    let user = task([Message::user("- [ ] Read\n- [ ] Write")]);
    assert_eq!((user.description.as_str(), user.status), ("Read", TaskStatus::Pending));
}

#[test]
fn check_boxes_in_results_count_only_for_plan_calls() {
    let result = |tool| Message::tool_result("1", tool, Status::Ok, "# Port\n- [ ] Read\n");
    let call = |text: &str| Message::tool_call("1", text);
    assert_eq!(task([call("bash cat docs/TODO.md"), result("bash")]).description, "Port");
    assert_eq!(task([result("task_list")]).approved, None);
    assert_eq!(task([result("task_list"), Message::user("yes")]).approved, None);
    assert_eq!(tasks([call("bash cat README.md"), result("bash")]), []);
    assert_eq!(tasks([call("bash cat explanation.md"), result("bash")]), []);
}

#[test]
fn check_boxes_in_code_quotes_and_system_turns_are_ignored() {
    let none = [
        Message::assistant("```\n- [ ] Read\n```"),
        Message::assistant("> - [ ] Read"),
        Message::assistant("[ ]\n- [link](x) y\n- [y] Read\n- [ ]"),
        Message::system("- [ ] Read"),
    ];
    assert_eq!(tasks(none), []);
}

#[test]
fn later_check_boxes_update_matching_steps() {
    let plan = Message::assistant("Plan:\n- [ ] Read\n- [ ] Write\n- [ ] Test");
    let before = task([plan.clone()]);
    let after = task([plan.clone(), Message::assistant("Progress:\n- [x] **read**")]);
    assert_eq!(after.id, before.id);
    assert_eq!((before.status, after.status), (TaskStatus::Pending, TaskStatus::InProgress));
    assert_eq!(after.done_steps, ["Read"]);
    assert_eq!(after.remaining_steps, ["Write", "Test"]);
    // A completed step can be reopened.
    let undone = Message::assistant("Plan:\n- [ ] Read");
    let all = [plan.clone(), Message::assistant("Plan:\n- [x] Read"), undone];
    assert_eq!(task(all).remaining_steps, ["Read", "Write", "Test"]);
    let done = Message::assistant("- [x] Read\n- [x] Write\n- [x] Test");
    assert_eq!(tasks([plan, done]), []);
}

#[test]
fn list_with_mostly_equal_steps_replaces_the_task() {
    let plan = Message::assistant("Plan:\n- [ ] Read\n- [ ] Write\n- [ ] Test");
    let id = task([plan.clone()]).id;
    let next = Message::assistant("New plan:\n- [x] Read\n- [ ] Write\n- [ ] Publish");
    let after = task([plan.clone(), next]);
    assert_eq!((after.id, after.description.as_str()), (id, "Plan"));
    assert_eq!(after.remaining_steps, ["Write", "Publish"]);
    // Other steps under the same heading replace the task.
    let other = Message::assistant("Plan:\n- [ ] Sleep");
    let after = task([plan.clone(), other]);
    assert_eq!(after.remaining_steps, ["Sleep"]);
    // Other steps under another heading are one more task.
    let other = Message::assistant("Site:\n- [ ] Sleep\n- [ ] Eat\n- [ ] Read");
    assert_eq!(tasks([plan, other]).len(), 2);
}

#[test]
fn next_user_turn_sets_task_approval() {
    let plan = || Message::assistant("Plan:\n- [ ] Read\n- [ ] Write");
    for (answer, approved) in [
        ("yes", Some(true)),
        ("ok, proceed", Some(true)),
        ("LGTM", Some(true)),
        ("no, read it later", Some(false)),
        ("wait", Some(false)),
        ("yes, but not the second step", None),
        ("Which parser?", None),
    ] {
        assert_eq!(task([plan(), Message::user(answer)]).approved, approved, "{answer}");
    }
    // Only the user's next turn counts, even if other messages come before it.
    let asked = [plan(), Message::assistant("Shall I?"), Message::user("go ahead")];
    assert_eq!(task(asked).approved, Some(true));
    let late = [plan(), Message::user("Is it slow?"), Message::user("yes")];
    assert_eq!(task(late).approved, None);
    // A new state of the task keeps the approval. A user's own task needs no approval.
    let kept = [plan(), Message::user("yes"), Message::assistant("- [x] Read")];
    assert_eq!(task(kept).approved, Some(true));
    let own = [Message::user("Plan:\n- [ ] Read"), Message::user("yes")];
    assert_eq!(task(own).approved, None);
    let tool = [todos(&[("Read", "pending")]), Message::user("do it")];
    assert_eq!(task(tool).approved, Some(true));
}

#[test]
fn acceptance_criterion_is_extracted() {
    for (text, acceptance) in [
        ("Plan:\n- [ ] Read\n\nDone when all tests pass.", "Done when all tests pass."),
        ("Plan:\n- [ ] Read\n- **Acceptance:** green", "**Acceptance:** green"),
        ("done when it is fast\n\n## Plan\n- [ ] Read", "done when it is fast"),
    ] {
        let task = task([Message::assistant(text)]);
        assert_eq!(task.acceptance.as_deref(), Some(acceptance), "{text}");
        assert_eq!(task.description, "Plan");
    }
}

#[test]
fn task_is_blocked_if_next_step_waits() {
    for (text, status) in [
        ("- [x] Read\n- [ ] Write (blocked by review)\n- [ ] Test", TaskStatus::Blocked),
        ("- [ ] Waiting for the key", TaskStatus::Blocked),
        ("- [x] Read\n- [ ] Write\n- [ ] Test, blocked on CI", TaskStatus::InProgress),
        ("- [ ] Make it unblocked, by hand", TaskStatus::Pending),
    ] {
        assert_eq!(task([Message::assistant(text)]).status, status, "{text}");
    }
    assert_eq!(task([todos(&[("Read", "blocked")])]).status, TaskStatus::Blocked);
}

#[test]
fn known_tasks_are_updated_by_new_messages() {
    let known = PendingTask {
        id: "a".into(),
        description: "Port".into(),
        status: TaskStatus::Blocked,
        done_steps: vec!["Read".into()],
        remaining_steps: vec!["Write".into(), "Test".into()],
        approved: Some(true),
        awaits_answer: false,
        acceptance: Some("Done when green.".into()),
    };
    let after = |messages: Vec<Message>| {
        ListTaskExtractor.pending_tasks(std::slice::from_ref(&known), &recorded(messages))
    };
    let unchanged = vec![known.clone()];
    assert_eq!(after(vec![]), unchanged);
    assert_eq!(after(vec![Message::user("yes")]), unchanged);
    let flipped = after(vec![Message::assistant("- [x] Write")]);
    assert_eq!(flipped[0].done_steps, ["Read", "Write"]);
    assert_eq!((flipped[0].id.as_str(), flipped[0].status), ("a", TaskStatus::InProgress));
    assert_eq!(flipped[0].approved, Some(true));
    assert_eq!(after(vec![Message::assistant("- [x] Write\n- [x] Test")]), []);
}

#[test]
fn tool_list_keeps_its_id_across_handoffs() {
    let known = tasks([todos(&[("Read", "in_progress"), ("Write", "pending")])]);
    let later = recorded([todos(&[("Write", "in_progress")])]);
    let after = ListTaskExtractor.pending_tasks(&known, &later);
    assert_eq!(after.len(), 1);
    assert_eq!(
        (&after[0].id, &after[0].remaining_steps),
        (&known[0].id, &vec!["Write".to_owned()])
    );
}

#[test]
fn user_answer_sets_approval_across_handoffs() {
    let plan = [Message::assistant("Plan:\n- [ ] Read\n- [ ] Write")];
    for (answer, approved) in [("Yes, go ahead.", Some(true)), ("No.", Some(false)), ("Hm.", None)]
    {
        let proposed = tasks(plan.clone());
        assert!(proposed[0].awaits_answer);
        let json = serde_json::to_string(&proposed).unwrap();
        let known: Vec<PendingTask> = serde_json::from_str(&json).unwrap();
        assert_eq!(known, proposed);
        let answered = ListTaskExtractor.pending_tasks(&known, &recorded([Message::user(answer)]));
        assert_eq!((answered[0].approved, answered[0].awaits_answer), (approved, false));
        // Later messages are not answers to it.
        let later = recorded([Message::user("yes")]);
        assert_eq!(ListTaskExtractor.pending_tasks(&answered, &later)[0].approved, approved);
    }
    let by_user = tasks([Message::user("Plan:\n- [ ] Read")]);
    assert!(!by_user[0].awaits_answer);
}
