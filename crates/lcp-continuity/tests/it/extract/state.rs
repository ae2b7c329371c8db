//! The state of a session, as observed from its messages.

use expect_test::expect;
use lcp_continuity::extract::observed_state;
use lcp_continuity::{Message, SessionState};
use lcp_types::{Block, FormatHint, Lang, Status};

use super::recorded;

fn state(messages: impl IntoIterator<Item = Message>) -> SessionState {
    observed_state(&SessionState::default(), &recorded(messages))
}

/// Returns the state after these commands.
fn after(commands: &[&str]) -> SessionState {
    state(commands.iter().flat_map(|command| ran(&format!("bash {command}"))))
}

/// Returns a call and its successful result.
fn ran(call: &str) -> [Message; 2] {
    [Message::tool_call("1", call), Message::tool_result("1", "", Status::Ok, "")]
}

fn call(id: &str, tool: &str, arguments: &str) -> Message {
    Message::tool_call(id, format!(r#"{{"name":"{tool}","input":{arguments}}}"#))
}

#[test]
fn active_files_come_from_blocks_and_calls() {
    let state = state([
        Message::new(Block::code(Lang::Rust, "src/a.rs", "")),
        Message::new(Block::diff("src/b.rs", vec![])),
        Message::new(Block::document("docs/c.md", "", FormatHint::Markdown)),
        Message::new(Block::document("A Title", "", FormatHint::Markdown)),
        call("1", "Read", r#"{"file_path":"src/d.rs"}"#),
        call("2", "mcp__fs__write_file", r#"{"path":"My Notes.md","content":"x/y.rs"}"#),
        call("3", "Grep", r#"{"path":"src/none.rs","pattern":"x"}"#),
        Message::tool_call("4", "read_file src/e.rs"),
        Message::tool_call("5", "apply_patch *** Begin Patch\n*** Update File: src/f.rs\n@@"),
        call("6", "read_many_files", r#"{"paths":["g.rs","h.rs"]}"#),
        Message::assistant("I read src/none.rs."),
        Message::tool_result("7", "read_file", Status::Ok, "x").answering("7"),
        Message::new(Block::code(Lang::Rust, "src/a.rs", "")),
    ]);
    assert_eq!(
        state.active_files,
        [
            "src/b.rs", "docs/c.md", "src/d.rs", "My Notes.md", "src/e.rs", "src/f.rs", "g.rs",
            "h.rs", "src/a.rs",
        ]
    );
}

#[test]
fn state_keeps_newest_files_and_commands() {
    let files = (0..30).map(|at| Message::tool_call("1", format!("read_file src/{at}.rs")));
    let files = state(files).active_files;
    assert_eq!(
        (files.len(), files[0].as_str(), files[19].as_str()),
        (20, "src/10.rs", "src/29.rs")
    );
    let commands: Vec<String> = (0..15).map(|at| format!("echo {at}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    assert_eq!(after(&commands).recent_commands, commands[5..]);
    assert_eq!(after(&["ls", "pwd", "ls"]).recent_commands, ["pwd", "ls"]);
    let long = after(&[&"é".repeat(400)]).recent_commands;
    assert_eq!(long, [format!("{} […]", "é".repeat(250))]);
}

#[test]
fn recent_commands_lists_only_executed_commands() {
    let state = state([
        call("1", "Bash", r#"{"command":"cargo test","description":"Run tests"}"#),
        call("2", "shell", r#"{"command":["bash","-lc","ls -la"],"workdir":"/srv/app"}"#),
        Message::new(Block::document("", "main.rs", FormatHint::Plain)).answering("2"),
        call("3", "exec_command", r#"{"cmd":["git","status"]}"#),
        Message::tool_call("4", r#"run_terminal_cmd {"command": "make"}"#),
        Message::tool_call("5", "$ not/a/tool"),
        Message::assistant("```sh\n$ rm -rf /\n```\nRun `cargo fmt`."),
        call("6", "run_tests", r#"{"filter":"x"}"#),
    ]);
    assert_eq!(state.recent_commands, ["cargo test", "ls -la", "git status", "make"]);
    assert_eq!(state.working_directory.as_deref(), Some("/srv/app"));
}

#[test]
fn bare_call_takes_tool_name_from_its_result() {
    let state = state([
        Message::tool_call("1", "cargo test -q"),
        Message::tool_result("1", "Bash", Status::Ok, "ok"),
        Message::tool_call("2", r#"{"file_path":"a.rs"}"#),
        Message::tool_result("2", "Edit", Status::Ok, "ok"),
    ]);
    assert_eq!(state.recent_commands, ["cargo test -q"]);
    assert_eq!(state.active_files, ["a.rs"]);
}

#[test]
fn reused_call_id_refers_to_newest_call() {
    let state = state([
        Message::tool_call("1", "cd app && export MODE=fast && git switch topic"),
        Message::tool_result("1", "bash", Status::Ok, "ok"),
        Message::tool_call("1", "src/main.rs"),
        Message::tool_result("1", "read_file", Status::Ok, "ok"),
        Message::tool_call("1", "cd /none"),
        Message::tool_result("1", "bash", Status::Error, "no such directory"),
        Message::tool_call("1", "ls"),
        Message::tool_result("1", "bash", Status::Ok, "ok"),
    ]);
    let commands = ["cd app && export MODE=fast && git switch topic", "cd /none", "ls"];
    assert_eq!(state.recent_commands, commands);
    assert_eq!(state.active_files, ["src/main.rs"]);
    assert_eq!(state.working_directory.as_deref(), Some("app"));
    assert_eq!((state.branch.as_deref(), state.variables.len()), (Some("topic"), 1));
}

#[test]
fn cd_commands_set_the_working_directory() {
    for (commands, directory) in [
        (&["cd /srv && ls"][..], Some("/srv")),
        (&["cd /srv", "cd app/../web"], Some("/srv/web")),
        (&["cd /srv; cd .."], Some("/")),
        (&["cd '/srv/my app'"], Some("/srv/my app")),
        (&["cd web"], Some("web")),
        (&["cd /srv", "cd"], Some("~")),
        (&["cd /srv", "cd $HOME/x"], None),
        (&["cd /srv", "(cd web && ls)"], Some("/srv")),
        (&["cd /srv", "echo 'cd /x'"], Some("/srv")),
        (&["cd ../x"], Some("../x")),
        (&["cd C:\\\\x"], Some("C:\\x")),
        (&["cdx /srv"], None),
    ] {
        assert_eq!(after(commands).working_directory.as_deref(), directory, "{commands:?}");
    }
}

#[test]
fn git_commands_and_output_set_the_branch() {
    for (command, branch) in [
        ("git checkout -b feat/x", Some("feat/x")),
        ("git switch -c feat/x main", Some("feat/x")),
        ("git fetch && git switch main", Some("main")),
        ("git -C /srv checkout main", Some("main")),
        ("git checkout release/1.2", Some("release/1.2")),
        ("git checkout -- src/a.rs", None),
        ("git checkout main -- a", None),
        ("git checkout src/a.rs", None),
        ("git checkout 0123abc", None),
        ("git checkout HEAD~1", None),
        ("git switch --detach main", None),
        ("git commit -m 'git switch x'", None),
    ] {
        assert_eq!(after(&[command]).branch.as_deref(), branch, "{command}");
    }
    for (line, branch) in [
        ("On branch main\nnothing to commit", Some("main")),
        ("Switched to branch 'a/b'", Some("a/b")),
        ("Switched to a new branch 'c'", Some("c")),
        ("Already on 'd'", Some("d")),
        ("It is On branch main", None),
    ] {
        let result = |tool| state([Message::tool_result("1", tool, Status::Ok, line)]).branch;
        assert_eq!(result("Bash").as_deref(), branch, "{line}");
        assert_eq!(result("Read"), None);
    }
}

#[test]
fn failed_commands_do_not_change_state() {
    let state = state([
        Message::tool_call("1", "bash cd /none && git switch x && export A=1"),
        Message::tool_result("1", "bash", Status::Error, "no such directory"),
    ]);
    assert_eq!(state.recent_commands.len(), 1);
    assert_eq!((state.working_directory, state.branch), (None, None));
    assert!(state.variables.is_empty());
}

/// They change the state when the result arrives, in this session or the next.
#[test]
fn unanswered_commands_do_not_change_state() {
    let state = state([
        call("1", "bash", r#"{"command":"cd /srv && export A=1","workdir":"/home"}"#),
        Message::tool_call("2", "bash git switch topic"),
        Message::tool_result("3", "bash", Status::Ok, "of another call"),
    ]);
    assert_eq!(state.recent_commands, ["cd /srv && export A=1", "git switch topic"]);
    let commands = state.recent_commands.clone();
    assert_eq!(state, SessionState { recent_commands: commands, ..SessionState::default() });
}

#[test]
fn state_records_variables_without_secrets() {
    let state = after(&[
        "export RUST_LOG=debug EDITOR='vi -R' && ls",
        "export API_KEY=abc",
        "AWS_SECRET=x make",
        "export DB=postgres://me:pw@host/db",
        "export NOW=$(date)",
        "export EMPTY=",
        "export GONE=1; unset GONE",
        "MODE=fast make",
        "export github_token=ghp_1",
    ]);
    expect![[r#"
        {
            "EDITOR": "vi -R",
            "EMPTY": "",
            "RUST_LOG": "debug",
        }
    "#]]
    .assert_debug_eq(&state.variables);
    assert!(!format!("{state:?}").contains("abc"));
    assert!(!state.recent_commands.iter().any(|command| command.contains("ghp_1")));
}

#[test]
fn earlier_state_is_updated_and_trimmed_first() {
    let before = after(&["cd /repo", "export A=1 B=2", "git switch -c x"]);
    for (command, directory, variables) in [
        ("cd src", Some("/repo/src"), 2),
        ("cd ..", Some("/"), 2),
        ("cd $X", None, 2),
        ("unset A", Some("/repo"), 1),
    ] {
        let state = observed_state(&before, &recorded(ran(&format!("bash {command}"))));
        assert_eq!(state.working_directory.as_deref(), directory, "{command}");
        assert_eq!(state.variables.len(), variables, "{command}");
        assert_eq!(state.branch.as_deref(), Some("x"));
    }
    let many = |count: usize| (0..count).map(|at| format!("{at}.rs")).collect::<Vec<_>>();
    let before =
        SessionState { active_files: many(30), recent_commands: many(12), ..before.clone() };
    let state = observed_state(&before, &[]);
    assert_eq!(state.active_files, many(30)[10..]);
    assert_eq!(state.recent_commands, many(12)[2..]);
}
