//! `track`, `handoff`, `resume`, `store` (`docs/cli.md`).

use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{LCP, Project, printed, stderr};

/// A chat history of so many turns, with something that must not be lost.
fn history(turns: u32) -> String {
    let mut text = "# aider chat started at 2026-01-01 10:00:00\n\n".to_owned();
    text.push_str("#### DECISION: one file for each rule.\n\n");
    for turn in 0..turns {
        let words = format!("Step {turn} moves function f{turn} of a.rs into its own file. ");
        write!(text, "#### Now step {turn}, please.\n\n{}\n\n", words.repeat(8)).unwrap();
    }
    text
}

/// A folder whose sessions are kept in it.
pub(crate) fn project() -> Project {
    LCP.project("[continuity]\nstore = \"kept.sqlite\"\n")
}

/// The history of so many turns, in its file.
pub(crate) fn write(project: &Project, turns: u32) {
    std::fs::write(project.path("history.md"), history(turns)).unwrap();
}

/// Records the conversation `c`: a request, a plan with an open step, and a command.
pub(crate) fn record_plan(project: &Project, request: &str) {
    let call = json!({ "id": "1", "type": "function", "function": {
        "name": "shell", "arguments": r#"{"command":"cargo test -p parser"}"#,
    }});
    let messages = json!([
        { "role": "user", "content": request },
        { "role": "assistant", "content": "Plan: move it\n\n- [x] write tests\n- [ ] split it\n" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "1", "content": "ok" },
    ]);
    std::fs::write(project.path("chat.json"), messages.to_string()).unwrap();
    project.stdout_of(&["session", "record", "c", "chat.json"]);
}

pub(crate) fn track(project: &Project, id: &str, flags: &[&str]) -> Value {
    project.json(&[&["session", "record", id, "history.md", "--json"], flags].concat())
}

/// The command fails with this code, says this, and prints nothing.
#[track_caller]
pub(crate) fn fails(project: &Project, arguments: &[&str], code: i32, says: &str) {
    let output = project.run(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(says), "{said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

/// Nobody holds a conversation.
#[track_caller]
pub(crate) fn is_free(project: &Project, id: &str) {
    let shown = project.json(&["session", "show", id, "--json"]);
    assert_eq!(shown["holder"], Value::Null);
}

#[test]
fn session_is_recorded_handed_off_and_resumed() {
    let project = project();
    write(&project, 4);
    let first = track(&project, "work", &["--window", "2600", "--output-reserve", "1000"]);
    assert_eq!((&first["new"], &first["decision"]), (&json!(true), &json!("none")));
    assert_eq!((&first["recorded"], &first["messages"]), (&json!(9), &json!(9)));
    assert_eq!(first["schema"], "lcp.track.v1");
    is_free(&project, "work");

    // Not due: nothing is printed, and that is no failure.
    let output = project.run(&["session", "handoff", "work"]);
    assert!(output.stdout.is_empty() && output.status.success());
    assert!(stderr(&output).contains("no hand-off: sufficient context remaining"));

    write(&project, 12);
    let due = track(&project, "work", &[]);
    assert_eq!((&due["new"], &due["recorded"]), (&json!(false), &json!(16)));
    assert_eq!(due["decision"], "hand_off", "{due}");
    assert_eq!(due["reason"], "Context window utilization exceeded 85% threshold");
    assert_eq!(due["handoff"], Value::Null);

    let flags = ["--target", "500", "-o", "work.lcp"];
    let printed = project.stdout_of(&[&["session", "handoff", "work"], &flags[..]].concat());
    let id = printed.trim_end();
    assert!(id.starts_with("h-") && printed.lines().count() == 1, "{printed}");
    // Asked for again, it is the same one, and so it is for a hook.
    assert_eq!(project.stdout_of(&["session", "handoff", "work", "--target", "500"]), printed);
    assert_eq!(project.stdout_of(&["session", "handoff", "work", "--if-due"]), printed);
    assert_eq!(track(&project, "work", &[])["handoff"], id);
    let pack = project.path("work.lcp");
    let text = project.stdout_of(&["render", pack.to_str().unwrap(), "--budget", "2000"]);
    assert!(text.contains("one file for each rule."), "{text}");

    let resumed = project.json(&["session", "resume", id, "--as", "work-2", "--json"]);
    assert_eq!(
        (&resumed["conversation"], &resumed["previous"]),
        (&json!("work-2"), &json!("work"))
    );
    let directive = resumed["directive"]["text"].as_str().unwrap();
    assert!(directive.contains("one file for each rule."), "{directive}");
    assert!(resumed["directive"]["tokens"].as_u64().unwrap() <= 500);
    assert_eq!(resumed["anchors"][0]["text"], "one file for each rule.");

    fails(&project, &["session", "resume", id], 1, "[already_resumed]");
    fails(&project, &["session", "record", "work", "history.md"], 1, "was continued as \"work-2\"");
    is_free(&project, "work-2");

    // The same history goes on in the next session.
    write(&project, 14);
    let next = track(&project, "work-2", &["--skip", "25"]);
    assert_eq!((&next["recorded"], &next["epoch"]), (&json!(4), &json!(1)));
    assert_eq!(next["decision"], "none");
    let used = next["usage"]["total_tokens"].as_u64().unwrap();
    assert!(used > resumed["directive"]["tokens"].as_u64().unwrap());
}

/// The flags, and the settings that they replace.
#[test]
fn handoff_excludes_state_and_tasks_on_request() {
    let project = project();
    record_plan(&project, "Please move the parser.");
    let included = |flags: &[&str]| {
        let call = ["session", "handoff", "c", "--force", "-o", "made.lcp"];
        project.stdout_of(&[&call[..], flags].concat());
        let pack = std::fs::read(project.path("made.lcp")).unwrap();
        let handoff = lcp_continuity::SessionHandoff::from_pack(&pack).unwrap();
        (handoff.state.is_some(), !handoff.pending_tasks.is_empty())
    };
    assert_eq!(included(&[]), (true, true));
    assert_eq!(included(&["--session-state", "off"]), (false, true));
    assert_eq!(included(&["--pending-tasks", "off"]), (true, false));
    let off = "include_session_state = false\nextract_pending_tasks = false\n";
    project.write(&format!("[continuity]\nstore = \"kept.sqlite\"\n{off}"));
    // Another hand-off, because a setting does not replace one that is complete.
    assert_eq!(included(&["--summary", "100"]), (false, false));
    assert_eq!(included(&["--session-state", "on", "--pending-tasks", "on"]), (true, true));
}

#[test]
fn record_adds_only_new_messages() {
    let project = project();
    write(&project, 3);
    assert_eq!(track(&project, "c", &[])["recorded"], 7);
    assert_eq!(track(&project, "c", &[])["recorded"], 0);
    write(&project, 2);
    assert_eq!(track(&project, "c", &[])["recorded"], 0);
    let other = history(5).replace("Now step 1", "No, step 1");
    std::fs::write(project.path("history.md"), other).unwrap();
    let says = "message 3 differs from the recorded one of session \"c\" [differs]";
    fails(&project, &["session", "record", "c", "history.md"], 1, says);
    let hint = "lcp session fork \"c\" --at 3 --as NEW";
    fails(&project, &["session", "record", "c", "history.md"], 1, hint);
    assert_eq!(project.stdout_of(&["session", "fork", "c", "--at", "3", "--as", "d"]), "d\n");
    let forked = track(&project, "d", &[]);
    assert_eq!((&forked["recorded"], &forked["messages"]), (&json!(8), &json!(11)));
    let shown = project.json(&["session", "show", "d", "--json"]);
    assert_eq!(shown["parent"], json!({ "id": "c", "messages": 3 }));
}

#[test]
fn appended_messages_follow_those_of_the_session() {
    let project = project();
    let write = |text: &str| {
        let messages = json!([{ "role": "user", "content": text }]);
        std::fs::write(project.path("new.json"), messages.to_string()).unwrap();
    };
    let append = |text: &str| {
        write(text);
        project.json(&["session", "record", "c", "new.json", "--append", "--json"])
    };
    for (number, text) in (1..).zip(["first", "second", "second"]) {
        let recorded = append(text);
        assert_eq!((&recorded["recorded"], &recorded["messages"]), (&json!(1), &json!(number)));
    }
    fails(&project, &["session", "record", "c", "--append"], 2, "<FILE>");
}

#[test]
fn reported_usage_replaces_the_counted_sum() {
    let project = project();
    write(&project, 1);
    track(&project, "c", &["--window", "10000"]);
    let reported = project.json(&["session", "record", "c", "--usage", "8600,8000,100", "--json"]);
    assert_eq!(reported["usage"]["total_tokens"], 8_700);
    assert_eq!(reported["usage"]["cached_input_tokens"], 8_000);
    assert_eq!(reported["usage"]["source"], "reported");
    assert_eq!((&reported["decision"], &reported["recorded"]), (&json!("hand_off"), &json!(0)));
    let text = project.stdout_of(&["session", "record", "c"]);
    assert!(text.starts_with("c: 8,700 of 10,000 tokens (87%, reported), "), "{text}");
    assert!(text.contains("hand over: context window utilization exceeded 85%"), "{text}");
    let said =
        project.stdout_of(&["session", "record", "new", "--window", "64000", "--usage", "500"]);
    assert!(said.contains("63,500 left\n"), "nobody knows for how many turns: {said}");
    fails(&project, &["session", "record", "c", "--usage", "5,6"], 2, "CACHED is a part of INPUT");
}

/// With nothing to record an id that was mistyped begins nothing.
#[test]
fn record_without_messages_or_window_creates_no_session() {
    let project = project();
    fails(&project, &["session", "record", "c"], 1, "session store not found: kept.sqlite");
    assert!(!project.path("kept.sqlite").exists());
    for command in
        [&["session", "handoff", "c"][..], &["session", "resume", "h"], &["session", "list"]]
    {
        fails(&project, command, 1, "session store not found: kept.sqlite");
    }
    project.stdout_of(&["session", "record", "c", "--window", "5000"]);
    fails(
        &project,
        &["session", "record", "d"],
        1,
        "session \"d\" does not exist [unknown_conversation]",
    );
    fails(
        &project,
        &["session", "resume", "h"],
        1,
        "hand-off \"h\" does not exist [unknown_handoff]",
    );
    fails(&project, &["session", "handoff", "c", "--force"], 1, "[nothing_to_hand_over]");
    fails(&project, &["session", "record", "", "--usage", "1"], 2, "[bad_id]");
    is_free(&project, "c");
}

#[test]
fn only_one_of_two_processes_resumes_a_handoff() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let id = project.stdout_of(&["session", "handoff", "c", "--force"]);
    let start = |_| {
        let folder = project.path("");
        let mut command = LCP.command(&folder, &["session", "resume", id.trim_end(), "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let racing: Vec<_> = (0..2).map(start).collect();
    let ended: Vec<_> = racing.into_iter().map(|it| it.wait_with_output().unwrap()).collect();
    let (won, lost): (Vec<_>, Vec<_>) = ended.iter().partition(|output| output.status.success());
    assert_eq!((won.len(), lost.len()), (1, 1));
    let said = stderr(lost[0]);
    assert_eq!(lost[0].status.code(), Some(1));
    assert!(said.contains("[claimed]") || said.contains("[already_resumed]"), "{said}");
    assert!(lost[0].stdout.is_empty());
    let resumed: Value = serde_json::from_str(&printed(won[0])).unwrap();
    is_free(&project, resumed["conversation"].as_str().unwrap());
}

/// A hand-off of a conversation, that waits.
fn handed_over(project: &Project) -> String {
    write(project, 3);
    track(project, "c", &[]);
    let id = project.stdout_of(&["session", "handoff", "c", "--force"]);
    write(project, 4);
    track(project, "c", &[]);
    id.trim_end().to_owned()
}

#[test]
fn repeat_prints_the_same_resume_prompt() {
    let project = project();
    let id = handed_over(&project);
    fails(&project, &["session", "resume", &id, "--repeat"], 1, "was not resumed [not_resumed]");
    fails(&project, &["session", "resume", &id, "--repeat", "--as", "d"], 2, "--as");
    let text = project.stdout_of(&["session", "resume", &id, "--as", "d"]);
    assert!(text.contains("Now step 3, please."), "{text}");
    assert_eq!(project.stdout_of(&["session", "resume", &id, "--repeat"]), text);
    let json = project.json(&["session", "resume", &id, "--repeat", "--json"]);
    assert_eq!((&json["conversation"], &json["previous"]), (&json!("d"), &json!("c")));
    // What came since is no part of it.
    project.stdout_of(&["session", "record", "d", "history.md", "--skip", "7"]);
    assert_eq!(project.stdout_of(&["session", "resume", &id, "--repeat"]), text);
    fails(&project, &["session", "resume", &id], 1, &format!("`lcp session resume --repeat {id}`"));
    is_free(&project, "d");
}

/// The output is lost, the hand-off is not.
#[test]
fn resume_into_a_closed_pipe_warns_and_can_be_repeated() {
    let project = project();
    let id = handed_over(&project);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut resume = LCP.command(&project.path(""), &["session", "resume", &id]);
    let output = resume.stdin(Stdio::null()).stdout(writer).output().unwrap();
    let hint = format!("run `lcp session resume --repeat {id}` to print it again");
    assert!(output.status.success() && stderr(&output).contains(&hint), "{}", stderr(&output));
    assert!(
        project
            .stdout_of(&["session", "resume", &id, "--repeat"])
            .contains("one file for each rule.")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn resume_write_error_fails_with_a_hint() {
    let project = project();
    let id = handed_over(&project);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut resume = LCP.command(&project.path(""), &["session", "resume", &id]);
    let output = resume.stdin(Stdio::null()).stdout(full).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!(
        "hint: the hand-off is resumed; run `lcp session resume --repeat {id}`"
    )));
    assert!(
        project
            .stdout_of(&["session", "resume", &id, "--repeat"])
            .contains("one file for each rule.")
    );
}

/// The main conversation has seen the result of a side one alone.
#[test]
fn side_conversations_are_not_recorded() {
    let project = project();
    let line = |aside: bool, role: &str, content: Value| {
        let message = json!({ "role": role, "content": content });
        json!({ "type": role, "uuid": "u", "sessionId": "s", "isSidechain": aside,
            "message": message })
        .to_string()
    };
    let call = json!([{ "type": "tool_use", "id": "t", "name": "Task", "input": {} }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t", "content": "Two ports." }]);
    let lines = [
        line(false, "user", json!("Why is the port wrong?")),
        line(false, "assistant", call),
        line(true, "user", json!("Find all ports.")),
        line(true, "assistant", json!("Aside: there are two.")),
        line(false, "user", result),
        line(false, "assistant", json!("One of two is wrong.")),
    ];
    std::fs::write(project.path("session.jsonl"), lines.join("\n")).unwrap();
    let tracked = project.json(&["session", "record", "c", "session.jsonl", "--json"]);
    assert_eq!(tracked["recorded"], 4, "{tracked}");
    let shown = project.json(&["session", "show", "c", "--json"])["recorded"].clone();
    let said = |of: &Value| of["first_line"].as_str().unwrap().to_owned();
    let said: Vec<_> = shown.as_array().unwrap().iter().map(said).collect();
    assert_eq!(said, ["Why is the port wrong?", "Task {}", "Two ports.", "One of two is wrong."]);
}

/// Messages that came between hand-off and resume follow the directive.
#[test]
fn resume_prompt_includes_late_messages() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let id = project.stdout_of(&["session", "handoff", "c", "--force", "--mode", "minimal"]);
    write(&project, 4);
    track(&project, "c", &[]);
    let text = project.stdout_of(&["session", "resume", id.trim_end()]);
    assert!(text.contains("\n[user] Now step 3, please.\n"), "{text}");
}

/// With them it is one text, which can be taken apart.
#[test]
fn resume_prompt_with_late_messages_is_one_context() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let id = project.stdout_of(&["session", "handoff", "c", "--force", "--mode", "xml"]);
    write(&project, 4);
    track(&project, "c", &[]);
    let text = project.stdout_of(&["session", "resume", id.trim_end()]);
    assert_eq!(text.matches("<context>\n").count(), 1, "{text}");
    let manifest = LCP.run_in(&project.path(""), &["parse", "-"], text.as_bytes());
    let manifest: Value = serde_json::from_str(&printed(&manifest)).unwrap();
    assert!(manifest.to_string().contains("Now step 3, please."), "{manifest}");
}

#[test]
fn record_accepts_a_pack_from_file_or_pipe() {
    let project = project();
    let session = crate::command::sample("session.lcp");
    let counted = project.json(&["session", "record", "c", &session, "--json"]);
    assert!(counted["recorded"].as_u64().unwrap() > 3);
    let bytes = std::fs::read(&session).unwrap();
    let folder = project.path("");
    let again = LCP.run_in(&folder, &["session", "record", "c", "-", "--json"], &bytes);
    let again: Value = serde_json::from_str(&printed(&again)).unwrap();
    assert_eq!((&again["recorded"], &again["messages"]), (&json!(0), &counted["messages"]));

    let pack = project.run(&["session", "handoff", "c", "--force", "-o", "-"]);
    assert!(stderr(&pack).contains("h-"));
    let text = LCP.run_in(&folder, &["render", "-", "--budget", "500"], &pack.stdout);
    assert!(!printed(&text).is_empty());
    let both = ["session", "handoff", "c", "--force", "-o", "-", "--json"];
    fails(&project, &both, 2, "cannot both go to standard output");
}

#[test]
fn session_list_show_expire_and_check_report_the_store() {
    let project = project();
    write(&project, 2);
    track(&project, "b", &["--window", "4000"]);
    track(&project, "a\u{202e}", &[]);
    let id = project.stdout_of(&["session", "handoff", "b", "--force"]);
    let listed = project.json(&["session", "list", "--json"]);
    let ids: Vec<_> =
        listed["conversations"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["a\u{202e}", "b"]);
    assert_eq!(listed["conversations"][1]["window"], 4_000);
    assert!(listed["conversations"][1]["tokens"].as_u64().unwrap() > 100);
    let table = project.stdout_of(&["session", "list"]);
    assert!(table.contains("\na\\u{202e} "), "{table}");
    assert_eq!(table.lines().count(), 3);

    let shown = project.json(&["session", "show", "b", "--json"]);
    assert_eq!(shown["recorded"][0]["first_line"], "DECISION: one file for each rule.");
    assert_eq!(shown["recorded"][0]["role"], "user");
    assert_eq!(shown["handoffs"][0]["id"], id.trim_end());
    assert_eq!(shown["handoffs"][0]["state"], "committed");
    let text = project.stdout_of(&["session", "show", "b"]);
    assert!(
        text.contains("waiting to be resumed") && text.contains("user       Now step 1"),
        "{text}"
    );
    let handoff = project.stdout_of(&["session", "show", id.trim_end()]);
    assert!(handoff.starts_with(&format!("hand-off {}", id.trim_end())), "{handoff}");
    fails(&project, &["session", "show", "c"], 1, "[unknown_conversation]");

    let expired = project.json(&["session", "expire", "--json"]);
    assert_eq!(expired["conversations"], 0);
    let checked = project.json(&["session", "check", "--json"]);
    let counts = ["conversations", "messages", "handoffs"].map(|key| checked[key].as_u64());
    assert_eq!(counts, [Some(2), Some(10), Some(1)]);
    assert_eq!(checked["problems"], json!([]));
}

#[test]
fn damaged_store_is_reported() {
    let project = project();
    write(&project, 4);
    track(&project, "c", &[]);
    // A word of a message that compression does not hide.
    let path = project.path("kept.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let word = b"function f2 of";
    let at = bytes.windows(word.len()).position(|window| window == word).unwrap();
    bytes[at] = b'F';
    std::fs::write(&path, bytes).unwrap();
    let output = project.run(&["session", "check"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("message 6 of session"), "{text}");
    assert!(text.ends_with("1 session, 8 messages, 0 hand-offs: 1 problem\n"), "{text}");
    assert!(stderr(&output).contains("[damaged]"));
    fails(&project, &["session", "record", "c", "history.md"], 1, "[damaged]");
}

#[test]
fn unusable_store_is_an_error() {
    let project = project();
    write(&project, 1);
    std::fs::write(project.path("file"), "This is no store, whatever is asked of it.").unwrap();
    let with = |store: &'static str| ["session", "record", "c", "history.md", "--store", store];
    fails(&project, &with("file"), 1, "file is not a session store");
    fails(&project, &with("file/sessions.sqlite"), 1, "cannot use the store");
    fails(&project, &with("no/such/folder.sqlite"), 1, "cannot use the store");
    fails(&project, &with("mysql://h/d"), 2, "must be a path or a PostgreSQL address");
    assert_eq!(std::fs::read(project.path("file")).unwrap().len(), 42);
    // A folder that came from somebody does not say where conversations are sent.
    project.write("[continuity]\nstore = \"postgres://u:secret@127.0.0.1:1/d\"\n");
    let track = ["session", "record", "c", "history.md"];
    fails(&project, &track, 2, "of a file that is not named with --config (lcp.toml, line 2)");
    assert!(!stderr(&project.run(&track)).contains("secret"));
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn default_store_is_in_the_private_user_data_folder() {
    use std::os::unix::fs::PermissionsExt;
    let project = LCP.project("");
    write(&project, 1);
    let data = project.path("data");
    let run = |arguments: &[&str], data: &Path| {
        let mut command = LCP.command(&project.path(""), arguments);
        command.env("XDG_DATA_HOME", data).stdin(Stdio::null()).output().unwrap()
    };
    let output = run(&["session", "list"], &data);
    assert!(stderr(&output).contains("lcp session record ID FILE"), "{}", stderr(&output));
    assert!(!data.exists());
    let output = run(&["session", "record", "c", "history.md"], &data);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(printed(&run(&["session", "list"], &data)).contains("\nc "));
    let mode = |path: &str| std::fs::metadata(data.join(path)).unwrap().permissions().mode();
    assert_eq!(mode("lcp") & 0o777, 0o700);
    assert_eq!(mode("lcp/sessions.sqlite") & 0o777, 0o600);
    // A file is in the way.
    let output = run(&["session", "record", "c", "history.md"], &project.path("history.md"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot create "), "{}", stderr(&output));
}

/// Ctrl-C while a program writes the summary: the conversation is free again at once.
#[cfg(unix)]
#[test]
fn ctrl_c_during_handoff_releases_the_lease() {
    use std::io::{BufRead, BufReader};
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let fifo = project.path("started");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let summarizer = "echo started > started; sleep 5";
    let arguments = ["session", "handoff", "c", "--force", "--summarizer-cmd", summarizer];
    let mut command = LCP.command(&project.path(""), &arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(std::fs::File::open(&fifo).unwrap()).read_line(&mut line).unwrap();
    let held = project.json(&["session", "show", "c", "--json"]);
    assert!(held["holder"]["name"].is_string());
    fails(&project, &["session", "record", "c", "--wait", "0"], 1, "[held]");
    let number = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &number]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    is_free(&project, "c");
    project.stdout_of(&["session", "record", "c"]);
}

/// Files come with folders of other people: they run no programs.
#[test]
fn config_file_cannot_set_the_summarizer_command() {
    let project = LCP.project("[continuity]\nsummarizer_cmd = \"touch ran\"\n");
    fails(
        &project,
        &["session", "handoff", "c", "--force"],
        2,
        "unknown key continuity.summarizer_cmd",
    );
}

/// All sessions would be gone.
#[test]
fn handoff_output_does_not_overwrite_the_store() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    let store = project.path("kept.sqlite");
    assert!(store.is_file(), "{store:?}");
    for end in ["", "-wal", "-shm", ".lock", ".queue"] {
        let out = format!("{}{end}", store.display());
        std::fs::OpenOptions::new().create(true).append(true).open(&out).unwrap();
        let arguments = ["session", "handoff", "c", "--force", "-o", &out];
        fails(&project, &arguments, 2, "the store and -o are the same file");
    }
    project.stdout_of(&["session", "handoff", "c", "--force"]);
}

/// Its index names blocks by their places.
#[test]
fn merge_with_a_handoff_skips_deduplication() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &[]);
    project.stdout_of(&["session", "handoff", "c", "--force", "-o", "handoff.lcp"]);
    let twice = r#"{"blocks":[{"type":"code","path":"a","content":"fn a() {}\n"},
        {"type":"code","path":"b","content":"fn a() {}\n"}]}"#;
    std::fs::write(project.path("twice.json"), twice).unwrap();
    project.stdout_of(&["encode", "twice.json", "-o", "twice.lcp"]);
    let merge = ["merge", "twice.lcp", "handoff.lcp", "--dedup", "near", "-o", "merged.lcp"];
    let output = project.run(&merge);
    assert!(output.status.success());
    assert!(stderr(&output).contains("the pack contains a hand-off"), "{}", stderr(&output));
    project.stdout_of(&["validate", "merged.lcp"]);
    project.stdout_of(&["merge", "twice.lcp", "handoff.lcp", "-o", "plain.lcp"]);
    let read = |name: &str| std::fs::read(project.path(name)).unwrap();
    assert_eq!(read("merged.lcp"), read("plain.lcp"));
}

#[test]
fn record_warns_about_lines_that_cannot_be_read() {
    let project = project();
    let lines = "{\"role\":\"user\",\"content\":\"hi\"}\nGARBAGE\n{\"role\":\"assistant\",\"content\":\"yes\"}\n";
    std::fs::write(project.path("cut.jsonl"), lines).unwrap();
    let output = project.run(&["session", "record", "c", "cut.jsonl", "--window", "9000"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let warning = "warning: left out 1 line without a readable record (cut.jsonl)\n";
    assert_eq!(stderr(&output), warning);
}
