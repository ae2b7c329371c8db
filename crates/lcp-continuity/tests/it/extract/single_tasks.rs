//! Tasks that a tool creates and updates one by one.

use lcp_continuity::extract::{ListTaskExtractor, TaskExtractor};
use lcp_continuity::{Message, PendingTask, TaskStatus};
use lcp_types::Status;

use super::recorded;

fn tasks(known: &[PendingTask], messages: impl IntoIterator<Item = Message>) -> Vec<PendingTask> {
    ListTaskExtractor.pending_tasks(known, &recorded(messages))
}

/// Returns the only task.
fn task(messages: impl IntoIterator<Item = Message>) -> PendingTask {
    let mut tasks = tasks(&[], messages);
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    tasks.remove(0)
}

fn create_call(call: &str, subject: &str) -> Message {
    let text = format!(
        r#"TaskCreate {{"subject":"{subject}","description":"Do it.","activeForm":"Doing it"}}"#
    );
    Message::tool_call(call, text)
}

fn created(call: &str, id: u32, subject: &str) -> Message {
    let text = format!("Task #{id} created successfully: {subject}");
    Message::tool_result(call, "TaskCreate", Status::Ok, text)
}

/// Returns the call that creates a task, and its result.
fn create(id: u32, subject: &str) -> [Message; 2] {
    let call = format!("create_{id}");
    [create_call(&call, subject), created(&call, id, subject)]
}

/// Returns the call that updates a task, and its result. `fields` are JSON.
fn update(id: u32, fields: &str) -> [Message; 2] {
    let text = format!(r#"TaskUpdate {{"taskId":"{id}",{fields}}}"#);
    let result = format!("Updated task #{id} status");
    [
        Message::tool_call("update", text),
        Message::tool_result("update", "TaskUpdate", Status::Ok, result),
    ]
}

fn status(id: u32, status: &str) -> [Message; 2] {
    update(id, &format!(r#""status":"{status}""#))
}

fn plan() -> Vec<Message> {
    [create(1, "Read"), create(2, "Write #7"), create(3, "Test")].concat()
}

fn after_plan(changes: &[[Message; 2]]) -> Vec<Message> {
    [plan(), changes.concat()].concat()
}

#[test]
fn created_tasks_are_steps_of_one_task() {
    let task = task(plan());
    assert_eq!((task.description.as_str(), task.status), ("Task list", TaskStatus::Pending));
    assert_eq!(task.remaining_steps, ["Read", "Write #7", "Test"]);
    assert!(task.awaits_answer);
}

#[test]
fn updates_change_tasks_by_id() {
    let changes = [status(2, "completed"), status(1, "in_progress")];
    let begun = task(after_plan(&changes));
    assert_eq!(begun.status, TaskStatus::InProgress);
    assert_eq!(begun.done_steps, ["Write #7"]);
    assert_eq!(begun.remaining_steps, ["Read", "Test"]);
    let changes = [update(3, r#""subject":"Test it""#), status(1, "deleted"), status(9, "deleted")];
    assert_eq!(task(after_plan(&changes)).remaining_steps, ["Write #7", "Test it"]);
    let all = [1, 2, 3].map(|id| status(id, "completed"));
    assert_eq!(tasks(&[], after_plan(&all)), []);
    // An id may be a number.
    let number = Message::tool_call("u", r#"TaskUpdate {"taskId":1,"status":"completed"}"#);
    assert_eq!(task([plan(), vec![number]].concat()).done_steps, ["Read"]);
}

#[test]
fn parallel_calls_get_ids_from_their_own_results() {
    let messages = [
        create_call("a", "Read"),
        create_call("b", "Write"),
        created("b", 1, "Write"),
        created("a", 2, "Read"),
    ];
    let both = [&messages[..], &status(1, "completed")].concat();
    let task = task(both);
    assert_eq!(
        (task.done_steps, task.remaining_steps),
        (vec!["Write".into()], vec!["Read".into()])
    );
}

#[test]
fn task_without_result_is_pending_and_failed_call_is_not() {
    let cut_off = [plan(), vec![create_call("x", "Publish")]].concat();
    assert_eq!(task(cut_off).remaining_steps, ["Read", "Write #7", "Test", "Publish"]);
    let failed = Message::tool_result("x", "TaskCreate", Status::Error, "No such tool");
    assert_eq!(tasks(&[], [create_call("x", "Publish"), failed]), []);
    let mut refused = status(1, "completed");
    refused[1] = Message::tool_result("update", "TaskUpdate", Status::Error, "Refused");
    assert_eq!(task(after_plan(&[refused])).done_steps, [""; 0]);
}

#[test]
fn other_texts_change_no_single_tasks() {
    for text in [
        r#"Mail {"subject":"Read"}"#,
        r#"TaskCreate {"subject":" "}"#,
        r#"TaskCreate {"subject":1}"#,
        r#"TaskUpdate {"taskId":"1","status":"completed","subject":"Read"}"#,
        r#"Bash {"command":"echo TaskCreate subject"}"#,
    ] {
        assert_eq!(tasks(&[], [Message::tool_call("1", text)]), [], "{text}");
    }
    assert_eq!(tasks(&[], [Message::user(r#"TaskCreate {"subject":"Read"}"#)]), []);
}

#[test]
fn task_created_after_all_are_done_begins_a_new_list() {
    let all = [1, 2, 3].map(|id| status(id, "completed"));
    let next = [after_plan(&all), create(4, "Publish").to_vec()].concat();
    let task = task(next);
    assert_eq!((task.done_steps, task.remaining_steps), (vec![], vec!["Publish".to_owned()]));
}

#[test]
fn single_tasks_keep_their_id_across_handoffs() {
    let known =
        [task([after_plan(&[status(1, "completed")]), vec![Message::user("yes")]].concat())];
    assert_eq!(known[0].approved, Some(true));
    assert_eq!(tasks(&known, []), known);
    // The ids are unknown, so an update without a subject changes nothing.
    assert_eq!(tasks(&known, status(2, "completed")), known);
    let named = update(2, r#""status":"completed","subject":"Write #7""#);
    let after = tasks(&known, [named, status(2, "in_progress")].concat());
    assert_eq!((&after[0].id, after[0].approved), (&known[0].id, Some(true)));
    assert_eq!(after[0].remaining_steps, ["Write #7", "Test"]);
    assert_eq!(tasks(&after, create(4, "Publish"))[0].remaining_steps.len(), 3);
}

#[test]
fn list_result_tells_ids_of_known_tasks() {
    let known = [task(after_plan(&[status(1, "completed")]))];
    let list = "#1 [completed] Read\n#2 [in_progress] Write #7 (writer) [blocked by #1]\n\
                #3 [pending] Test [blocked by #2]\n#4 [pending] Publish (now) [blocked by #2, #3]";
    let listed = [
        Message::tool_call("l", "TaskList {}"),
        Message::tool_result("l", "TaskList", Status::Ok, list),
    ];
    let after = tasks(&known, [listed, status(2, "completed")].concat());
    assert_eq!(after[0].done_steps, ["Read", "Write #7"]);
    assert_eq!(after[0].remaining_steps, ["Test", "Publish (now)"]);
    let other = Message::tool_result("l", "Bash", Status::Ok, list);
    assert_eq!(tasks(&[], [other]), []);
}

#[test]
fn new_list_of_the_tool_replaces_the_known_one() {
    let known = [task([plan(), vec![Message::user("yes")]].concat())];
    let again = [create(1, "Write #7"), create(2, "Test"), status(1, "completed")].concat();
    let after = tasks(&known, again);
    assert_eq!((&after[0].id, &after[0].done_steps), (&known[0].id, &vec!["Write #7".to_owned()]));
    assert_eq!(after[0].remaining_steps, ["Test"]);
    let other = tasks(&known, create(1, "Sleep"));
    assert_eq!((other[0].approved, other[0].remaining_steps.len()), (None, 1));
}

#[test]
fn check_boxes_update_single_tasks_but_add_none() {
    let boxes = Message::assistant("Progress:\n- [x] Read\n- [ ] Test\n- [ ] Sleep");
    let after = [after_plan(&[]), vec![boxes], status(3, "completed").to_vec()].concat();
    let task = task(after);
    assert_eq!(task.done_steps, ["Read", "Test"]);
    assert_eq!(task.remaining_steps, ["Write #7"]);
}

#[test]
fn many_single_tasks_are_limited() {
    let all = (1..5_000).flat_map(|id| create(id, &format!("Step {id}")));
    let remaining = task(all).remaining_steps;
    assert_eq!((remaining.len(), remaining[999].as_str()), (1_000, "Step 4999"));
}
