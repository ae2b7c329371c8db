//! Registrations with agents, and the hooks that agents call.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use clap::Parser as _;
use lcp_app::Silent;
use lcp_app::hook::Event;
use lcp_app::sessions::input;
use lcp_continuity::Recorded;
use lcp_continuity::extract::{
    AnchorExtractor as _, ListTaskExtractor, RuleAnchorExtractor, TaskExtractor as _,
};
use lcp_testkit::cli_harness::root;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use lcp_types::Role;
use serde_json::{Value, json};

use crate::command::{LCP, Project, sample, stderr};

/// The id of a session, and the name of its transcript.
const SESSION: &str = "0b5d2c1e-5a55-4a3e-9c7e-2f6d8f1f0a11";

/// A folder that is the home of a user.
fn home(toml: &str) -> Project {
    LCP.project(toml)
}

fn command(home: &Project, arguments: &[&str]) -> Command {
    let mut command = LCP.command(&home.path(""), arguments);
    for name in ["HOME", "USERPROFILE"] {
        command.env(name, home.path(""));
    }
    for name in ["XDG_DATA_HOME", "LOCALAPPDATA"] {
        command.env(name, home.path("data"));
    }
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command
}

fn run(home: &Project, arguments: &[&str], input: &str) -> Output {
    std::fs::write(home.path("input"), input).unwrap();
    let input = std::fs::File::open(home.path("input")).unwrap();
    command(home, arguments).stdin(Stdio::from(input)).output().unwrap()
}

/// Runs a hook, which must not fail and must not print errors. Returns its answer.
#[track_caller]
fn hook(home: &Project, event: &str, input: &str) -> String {
    let output = run(home, &["hook", event], input);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{event} {input}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the input of a hook for a transcript.
fn event(transcript: &Path) -> Value {
    json!({
        "session_id": SESSION, "transcript_path": transcript, "cwd": "/", "source": "compact",
        "hook_event_name": "SessionStart", "trigger": "manual",
    })
}

/// Writes turns as a transcript of Claude Code. The result is in a file like the agent's.
fn transcript(home: &Project, turns: &[(&str, &str)]) -> std::path::PathBuf {
    let lines = turns.iter().enumerate().map(|(at, (role, text))| {
        let parent = (at > 0).then(|| format!("u{}", at - 1));
        let line = json!({
            "type": role, "uuid": format!("u{at}"), "parentUuid": parent, "sessionId": SESSION,
            "message": { "role": role, "content": [{ "type": "text", "text": text }],
                "id": format!("msg_{at}") },
        });
        format!("{line}\n")
    });
    let path = home.path(&format!("{SESSION}.jsonl"));
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

const TURNS: [(&str, &str); 4] = [
    ("user", "Port the parser to Rust. Never change the public API."),
    ("assistant", "Plan:\n\n- [x] Read `parse.c`\n- [ ] Write `src/parse.rs`\n- [ ] Add tests\n"),
    ("user", "Yes. We decided to use winnow instead of nom."),
    ("assistant", "I will add a test for empty input before I finish."),
];

/// Returns the context that a hook adds after a compaction.
fn recall(home: &Project, transcript: &Path) -> String {
    let answer = hook(home, "session-start", &event(transcript).to_string());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn setup_needs_agreement_and_is_undone() {
    let home = home("");
    let output = run(&home, &["setup", "claude-code"], "y\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: pass --yes"), "{}", stderr(&output));
    let diff = String::from_utf8(output.stdout).unwrap();
    assert!(diff.contains("--- /dev/null\n") && diff.contains("+  \"mcpServers\": {"), "{diff}");
    assert!(run(&home, &["setup", "claude-code", "--dry-run"], "").status.success());
    assert!(!home.path(".claude").exists() && !home.path(".claude.json").exists());

    assert!(run(&home, &["setup", "claude-code", "--yes"], "").status.success());
    let settings: Value =
        serde_json::from_slice(&std::fs::read(home.path(".claude/settings.json")).unwrap())
            .unwrap();
    let commands = settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(commands.contains("lcp") && commands.ends_with(" hook session-end"), "{commands}");
    let again = run(&home, &["setup", "claude-code", "--yes"], "");
    assert_eq!(stderr(&again), "nothing to change\n");
    assert!(run(&home, &["setup", "claude-code", "--undo", "--yes"], "").status.success());
    assert!(!home.path(".claude/settings.json").exists() && !home.path(".claude.json").exists());
}

#[test]
fn setup_of_an_invalid_file_exits_with_3() {
    let home = home("");
    std::fs::create_dir(home.path(".codex")).unwrap();
    std::fs::write(home.path(".codex/config.toml"), "model = \n").unwrap();
    let output = run(&home, &["setup", "codex", "--yes"], "");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("config.toml, line 1"), "{}", stderr(&output));
}

#[test]
fn hooks_that_fail_print_nothing_and_exit_with_0() {
    let home = home("");
    let known = transcript(&home, &TURNS);
    let with = |key: &str, value: Value| {
        let mut event = event(&known);
        event[key] = value;
        event.to_string()
    };
    std::fs::write(home.path("binary"), [0xff, 0, 0xfe]).unwrap();
    let inputs = [
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        "[".repeat(100_000),
        "{}".to_owned(),
        with("transcript_path", Value::Null),
        with("transcript_path", json!(home.path("missing.jsonl"))),
        with("transcript_path", json!(home.path(""))),
        with("transcript_path", json!(home.path("binary"))),
        with("session_id", json!(7)),
    ];
    for event in ["session-start", "SessionStart"] {
        for input in &inputs {
            assert_eq!(hook(&home, event, input), "", "{event} {input:.60}");
        }
    }
    assert_eq!(hook(&home, "session-start", &with("source", json!("startup"))), "");
    for event in ["pre-compact", "PreCompact", "session-end", "SessionEnd"] {
        for input in &inputs[..8] {
            assert_eq!(hook(&home, event, input), "", "{event} {input:.60}");
        }
        assert_eq!(hook(&home, event, &with("session_id", json!("../../etc"))), "");
    }
    assert_eq!(hook(&home, "post-tool-use", &with("source", json!("compact"))), "");
    // Data cannot be stored.
    std::fs::write(home.path("data"), "a file").unwrap();
    assert_eq!(hook(&home, "session-end", &with("reason", json!("other"))), "");
    assert_eq!(hook(&home, "pre-compact", &with("reason", json!("other"))), "");
    let missing = run(&home, &["hook"], "{}");
    assert_eq!((missing.status.code(), stderr(&missing).as_str()), (Some(0), ""));
    let verbose = run(&home, &["--verbose", "hook", "session-end"], "{");
    assert!(stderr(&verbose).starts_with("note: the hook failed: "), "{}", stderr(&verbose));
}

#[test]
fn compaction_gives_back_words_of_the_session() {
    let home = home("");
    let mut turns = TURNS.to_vec();
    turns.insert(0, ("user", "This session is being continued. We decided to use yacc."));
    let path = transcript(&home, &turns);
    // The summary of an earlier compaction has no words of the user.
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let first = first.replacen('{', "{\"isCompactSummary\":true,", 1);
    std::fs::write(&path, format!("{first}\n{rest}")).unwrap();
    let context = recall(&home, &path);
    for words in [
        "  - [x] Read `parse.c`\n",
        "  - [ ] Write `src/parse.rs`\n  - [ ] Add tests\n",
        "Never change the public API.",
        "We decided to use winnow instead of nom.",
        "I will add a test for empty input before I finish.",
    ] {
        assert!(context.contains(words), "{words:?} is missing:\n{context}");
    }
    assert!(!context.contains("yacc"), "{context}");
    home.write("[hooks]\nbudget = 120\n");
    let short = recall(&home, &path);
    assert!(short.contains("more did not fit"), "{short}");
    assert!(short.len() < context.len());
}

#[test]
fn compaction_gives_back_tasks_of_the_sample_session_within_the_budget() {
    let home = home("[hooks]\nbudget = 1000000\n");
    let messages = input::messages(Path::new(&sample("session.lcp")), &Silent).unwrap();
    let turns: Vec<_> = messages
        .iter()
        .filter_map(|message| {
            let role = match message.role() {
                Role::User => "user",
                Role::Assistant => "assistant",
                _ => return None,
            };
            Some((role, message.text().into_owned()))
        })
        .collect();
    let turns: Vec<_> = turns.iter().map(|(role, text)| (*role, text.as_str())).collect();
    let path = transcript(&home, &turns);
    let context = recall(&home, &path);
    let messages = input::messages(&path, &Silent).unwrap();
    let recorded = |(position, message)| Recorded { position, epoch: 0, tokens: 0, message };
    let recorded: Vec<_> = (0..).zip(messages).map(recorded).collect();
    let tasks = ListTaskExtractor.pending_tasks(&[], &recorded);
    let steps = tasks.iter().filter(|task| task.approved != Some(false));
    let steps: Vec<_> = steps.flat_map(|task| &task.remaining_steps).collect();
    let anchors = RuleAnchorExtractor.anchors(SESSION, &recorded);
    assert!(!anchors.is_empty());
    let anchors = anchors.iter().filter(|anchor| anchor.is_live()).map(|anchor| &anchor.text);
    for words in steps.into_iter().chain(anchors) {
        let quoted = words.replace('\n', "\n  ");
        assert!(context.contains(&quoted) || context.contains(words), "{words:?}:\n{context}");
    }
    for budget in [100, 300, 2_000] {
        home.write(&format!("[hooks]\nbudget = {budget}\n"));
        let context = recall(&home, &path);
        let tokens = Tiktoken::new(Encoding::O200kBase).estimate(&context);
        assert!(tokens <= budget, "{tokens} of {budget} tokens");
    }
}

#[test]
fn captured_sessions_are_recorded_even_if_the_agent_deletes_them() {
    let home = home("");
    let path = transcript(&home, &TURNS[..2]);
    let event = event(&path).to_string();
    assert!(hook(&home, "pre-compact", &event).contains("word for word"));
    let show = || {
        let output = run(&home, &["session", "show", SESSION, "--json"], "");
        assert!(output.status.success(), "{}", stderr(&output));
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        shown["recorded"].as_array().unwrap().len()
    };
    assert_eq!(show(), 2);
    transcript(&home, &TURNS);
    assert_eq!(hook(&home, "session-end", &event), "");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(show(), 4);
    assert_eq!(std::fs::read_dir(home.path("data/lcp/captures")).unwrap().count(), 0);
    // The user goes back to an earlier turn.
    transcript(&home, &[TURNS[0], ("assistant", "Another answer.")]);
    hook(&home, "session-end", &event);
    let output = run(&home, &["session", "list"], "");
    let list = String::from_utf8(output.stdout).unwrap();
    assert_eq!(list.matches(SESSION).count(), 2, "{list}");
    assert_eq!(show(), 4);
}

/// Other agents read plain text of this hook as an error.
#[test]
fn only_claude_code_gets_text_before_a_compaction() {
    let home = home("");
    let path = transcript(&home, &TURNS);
    let rollout = home.path("rollout-2026-11-26T10-00-00-x.jsonl");
    std::fs::rename(path, &rollout).unwrap();
    assert_eq!(hook(&home, "pre-compact", &event(&rollout).to_string()), "");
}

#[test]
fn plugin_has_the_entries_of_setup() {
    let plugin = |name: &str| -> Value {
        let path = root().join("plugins/claude-code").join(name);
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    let manifest = plugin(".claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "lcp");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let hooks = plugin("hooks/hooks.json");
    let mut events = Vec::new();
    for (name, groups) in hooks["hooks"].as_object().unwrap() {
        let command = groups[0]["hooks"][0]["command"].as_str().unwrap();
        let words: Vec<_> = command.split(' ').collect();
        assert!(lcp_cli::Cli::try_parse_from(&words).is_ok(), "{command}");
        assert_eq!(Event::from_name(words[2]).map(Event::agent_name), Some(name.as_str()));
        events.push(name.clone());
    }
    assert_eq!(events.len(), Event::ALL.len());
    let server = plugin(".mcp.json");
    let server = &server["mcpServers"]["lcp"];
    let words =
        [&[server["command"].clone()], server["args"].as_array().unwrap().as_slice()].concat();
    let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap()).collect();
    assert!(lcp_cli::Cli::try_parse_from(&words).is_ok(), "{words:?}");

    let home = home("");
    assert!(run(&home, &["setup", "claude-code", "--yes"], "").status.success());
    let written = |name: &str| -> Value {
        let text = std::fs::read_to_string(home.path(name)).unwrap();
        let text = text.replace(env!("CARGO_BIN_EXE_lcp"), "lcp");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(written(".claude/settings.json"), hooks);
    assert_eq!(written(".claude.json"), plugin(".mcp.json"));
}
