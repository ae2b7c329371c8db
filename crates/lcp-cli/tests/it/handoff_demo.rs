//! The example `handoff_demo`, and `[continuity]` of lcp.toml (`docs/cli.md`).

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use lcp_testkit::cli_harness::Program;

use crate::command::{LCP, Project, encode, printed, stderr};

/// A chat history of so many turns, with things that must not be lost.
pub(crate) fn history(turns: u32) -> String {
    let mut text = "# aider chat started at 2026-01-01 10:00:00\n\n> Added a.rs\n\n".to_owned();
    text.push_str("#### DECISION: one file for each rule. Never use unsafe code.\n\n");
    for turn in 0..turns {
        let words = format!("Step {turn} moves function f{turn} of a.rs into its own file. ");
        write!(text, "#### Now step {turn}, please.\n\n{}\n\n", words.repeat(8)).unwrap();
        write!(text, "> Applied edit to f{turn}.rs\n> Tests: {turn} passed\n\n").unwrap();
    }
    text
}

/// The example, which cargo builds with the tests.
pub(crate) fn demo() -> Program {
    let tests = std::env::current_exe().unwrap();
    let name = format!("examples/handoff_demo{}", std::env::consts::EXE_SUFFIX);
    let path = tests.ancestors().nth(2).unwrap().join(name);
    assert!(path.exists(), "cargo build -p lcp-cli --examples builds {}", path.display());
    Program(path.into_os_string().into_string().unwrap().leak())
}

/// A folder with that history and an `lcp.toml`.
fn project(turns: u32, toml: &str) -> Project {
    let project = demo().project(toml);
    std::fs::write(project.path("history.md"), history(turns)).unwrap();
    project
}

const HANDOFF: [&str; 4] = ["history.md", "--window", "4000", "--json"];

#[test]
fn demo_hands_off_a_long_history_repeatedly() {
    let project = project(120, "");
    let report = project.json(&HANDOFF);
    assert_eq!(
        (&report["schema"], &report["what"]),
        (&json!("lcp.handoff.v1"), &json!("automatic"))
    );
    // What the program said last may grow, so it is not recorded yet.
    assert_eq!(report["messages"], 361);
    let handoffs = report["handoffs"].as_array().unwrap();
    assert!(handoffs.len() >= 3, "{}", handoffs.len());
    for (at, handoff) in handoffs.iter().enumerate() {
        let tokens = |key: &str| handoff[key].as_u64().unwrap();
        assert_eq!(tokens("epoch"), at as u64);
        assert!(tokens("tokens_before") * 100 >= 85 * 4_000);
        assert!(tokens("tokens_after") <= tokens("target_tokens"));
        assert_eq!(tokens("target_tokens"), 1_000);
        assert_eq!(handoff["summarizer"], "extractive");
        let reason = "Context window utilization exceeded 85% threshold";
        assert_eq!(handoff["reason"], reason);
    }
    for pair in handoffs.windows(2) {
        assert_eq!(pair[1]["previous"], pair[0]["id"]);
        assert_eq!(pair[1]["conversation"], pair[0]["resumed_as"]);
    }
    let checks = &report["checks"];
    assert!(checks["anchors"].as_u64().unwrap() > 0);
    assert_eq!(checks["anchors"], checks["anchors_identical"]);
    assert_eq!(checks["worst_over_budget"], 0);
}

#[test]
fn temporary_store_gives_deterministic_output() {
    let project = project(40, "");
    assert_eq!(project.stdout_of(&HANDOFF), project.stdout_of(&HANDOFF));
    let table = project.stdout_of(&["history.md", "--window", "4000"]);
    assert!(table.contains("live anchors preserved verbatim in the last package\n"), "{table}");
    assert!(table.contains("121 messages of "), "{table}");
    // A window that nobody set is announced.
    let said = stderr(&project.run(&["history.md", "--limit", "3"]));
    assert!(said.contains("warning: no window is set, so 64,000 tokens are assumed"), "{said}");
    let said = stderr(&project.run(&["history.md", "--limit", "3", "--window", "4000"]));
    assert!(!said.contains("assumed"), "{said}");
}

#[test]
fn demo_shows_directives_and_writes_packs() {
    let project = project(40, "");
    let flags = ["--show", "last", "--style", "concise", "--mode", "minimal", "--pack", "packs"];
    let report = project.json(&[&HANDOFF[..], &flags].concat());
    let handoffs = report["handoffs"].as_array().unwrap();
    let (last, others) = handoffs.split_last().unwrap();
    let directive = last["directive"].as_str().unwrap();
    assert!(directive.contains("one file for each rule."), "{directive}");
    assert!(others.iter().all(|handoff| handoff.get("directive").is_none()));
    let name = format!("packs/{:03}-{}.lcp", handoffs.len(), last["id"].as_str().unwrap());
    let pack = project.path(&name);
    assert_eq!(std::fs::metadata(&pack).unwrap().len(), last["pack_bytes"].as_u64().unwrap());
    let text = printed(&LCP.run(&["render", pack.to_str().unwrap(), "--budget", "4000"]));
    assert!(text.contains("one file for each rule."), "{text}");
}

/// A call, and its result far behind it.
#[test]
fn handoff_does_not_split_a_call_from_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let turn = |role: &str, content: &str| json!({ "type": "conversation", "role": role, "content": content });
    let mut blocks = Vec::new();
    for number in 0..40 {
        let id = format!("call_{number}");
        let mut call = turn("assistant", &"I read the file now. ".repeat(10));
        call["tool_call_id"] = json!(id);
        blocks.push(turn("user", "Read it."));
        blocks.push(call);
        let result = "fn f() {}\n".repeat(20);
        blocks.push(json!({
            "type": "tool_result", "tool_name": "read", "status": "ok", "content": result,
            "tags": [format!("tool_call_id={id}")],
        }));
    }
    let pack = folder.path().join("p.lcp");
    encode(&json!({ "blocks": blocks }).to_string(), &pack);
    let arguments = [pack.to_str().unwrap(), "--no-config", "--window", "3000", "--json"];
    let report: Value = serde_json::from_str(&printed(&demo().run(&arguments))).unwrap();
    assert!(!report["handoffs"].as_array().unwrap().is_empty());
    let checks = &report["checks"];
    assert_eq!((&checks["tool_pairs"], &checks["tool_pairs_split"]), (&json!(40), &json!(0)));
}

#[test]
fn manual_mode_marks_due_handoffs_without_preparing() {
    let project = project(40, "");
    let report = project.json(&[&HANDOFF[..], &["--manual"]].concat());
    assert_eq!(report["what"], "manual");
    assert!(report["handoffs"].as_array().unwrap().is_empty());
    let marks = report["marks"].as_array().unwrap();
    assert_eq!(marks.iter().filter(|mark| mark["what"] == "due").count(), 1, "{marks:?}");
}

#[test]
fn compaction_creates_no_handoffs() {
    let project = project(60, "");
    let report = project.json(&[&HANDOFF[..], &["--compact"]].concat());
    assert_eq!((&report["what"], &report["handoffs"]), (&json!("compact"), &json!([])));
    let compactions = report["compactions"].as_array().unwrap();
    assert!(!compactions.is_empty());
    for compaction in compactions {
        let tokens = |key: &str| compaction[key].as_u64().unwrap();
        assert!(tokens("tokens_after") <= 2_000 && tokens("tokens_before") > 2_560);
        let first = compaction["lines"][0].as_str().unwrap();
        assert!(first.starts_with("[Budget] Low budget alert! "), "{first}");
    }
}

#[cfg(unix)]
#[test]
fn failing_summarizer_program_falls_back_to_built_in() {
    let project = project(40, "");
    let by = |line: &str| {
        let report = project.json(&[&HANDOFF[..], &["--summarizer-cmd", line]].concat());
        let first = &report["handoffs"][0];
        (first["summarizer"].clone(), first["warnings"].to_string())
    };
    let (name, _) = by("echo All is well.");
    assert_eq!(name, "echo All is well.");
    let (name, warnings) = by("exit 3");
    assert_eq!(name, "extractive");
    assert!(warnings.contains("the built-in summary is used"), "{warnings}");
}

#[test]
fn permanent_store_records_each_run_separately() {
    let project = project(40, "[continuity]\nstore = \"kept.sqlite\"\n");
    let messages = |flags: &[&str]| {
        let report = project.json(&[&HANDOFF[..], flags].concat());
        report["handoffs"][0]["conversation"].as_str().unwrap().to_owned()
    };
    assert_ne!(messages(&[]), messages(&[]));
    assert!(project.path("kept.sqlite").exists());
    assert!(!project.path("other.sqlite").exists());
    let first = messages(&["--store", "other.sqlite"]);
    assert!(project.path("other.sqlite").exists());
    assert!(first.starts_with("demo-"), "{first}");
    let table = project.stdout_of(&["history.md", "--window", "4000"]);
    let (said, into) = table.trim_end().rsplit_once(", continued as c-").unwrap();
    assert!(said.contains("\nrecorded as demo-") && !into.is_empty(), "{table}");
    project.write("[continuity]\nstore = \":memory:\"\n");
    project.assert_usage_error(&["history.md"], "must be a path or a PostgreSQL address");
}

#[test]
fn demo_errors_have_documented_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |arguments: &[&str], code: i32, says: &str| {
        let arguments = [&["--no-config"], arguments].concat();
        let output = demo().run_in(folder.path(), &arguments, &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(says), "{said}");
        assert!(output.stdout.is_empty());
    };
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    write("history.md", history(1).as_bytes());
    write("empty.md", b"\n# aider chat started at 2026-01-01\n\n");
    write("no.sqlite", b"This is no database, whatever its name says.");
    write("broken.lcp", b"LCP\0broken");
    fails(&["nowhere.md"], 1, "cannot read nowhere.md");
    fails(&["empty.md"], 3, "the input has no messages (empty.md)");
    fails(&["broken.lcp"], 3, "broken.lcp");
    fails(&["history.md", "--window", "0"], 2, "the context window (0 tokens)");
    let reserve = ["history.md", "--window", "1000", "--output-reserve", "1000"];
    let says =
        "the output reserve (1000 tokens) must be smaller than the context window (1000 tokens)";
    fails(&reserve, 2, says);
    fails(&["history.md", "--limit", "0"], 2, "--limit 0 leaves no messages");
    fails(&["history.md", "--manual", "--compact"], 2, "cannot be used with");
    fails(&["history.md", "--style", "florid"], 2, "florid");
    fails(&["history.md", "--summarizer-timeout", "0"], 2, "0 is not in 1..=3600");
    fails(&["history.md", "--store", "no.sqlite"], 1, "is not a session store");
    let neither = ["history.md", "--store", "host=localhost user=x"];
    fails(&neither, 2, "hint: pass a path or postgres://…");
    #[cfg(not(feature = "postgres"))]
    fails(
        &["history.md", "--store", "postgres://localhost/x"],
        2,
        "does not support stores in PostgreSQL",
    );
    assert_eq!(std::fs::read(Path::new(folder.path()).join("no.sqlite")).unwrap().len(), 44);
}

/// Every key, and that the flags win.
#[test]
fn demo_flags_override_the_continuity_settings() {
    let toml = r#"
[context.budget]
total_tokens = 5000
response_reserve = 1000

[continuity]
auto = true
target_tokens = 900
summary_tokens = 300
recent_tokens = 100
summary_level = "brief"
handoff_percent = 60
long_task_percent = 50
long_task_steps = 3
warning_percent = 40
warning_turns = 50
margin_percent = 5
expiry_days = 7
lease_seconds = 60
wait_seconds = 0
store = "kept.sqlite"
summarizer_timeout_seconds = 5
style = "narrative"
mode = "markdown"
"#;
    let project = project(40, toml);
    let report = project.json(&["history.md", "--json", "--show", "last"]);
    assert_eq!((&report["window"], &report["output_reserve"]), (&json!(5_000), &json!(1_000)));
    let first = &report["handoffs"][0];
    assert_eq!(first["target_tokens"], 900);
    assert_eq!(first["reason"], "Context window utilization exceeded 60% threshold");
    assert!((2_400..2_800).contains(&first["tokens_before"].as_u64().unwrap()));
    assert!(project.path("kept.sqlite").exists());
    assert_eq!(report["marks"][0]["what"], "warning");
    let directive = |report: &Value| {
        let last = report["handoffs"].as_array().unwrap().last().unwrap();
        last["directive"].as_str().unwrap().to_owned()
    };
    assert!(!directive(&report).contains("</"));
    let flags = ["--window", "3000", "--output-reserve", "0", "--target", "700", "--mode", "xml"];
    let json = ["history.md", "--json", "--show", "last"];
    let flagged = project.json(&[&json[..], &flags].concat());
    assert_eq!((&flagged["window"], &flagged["output_reserve"]), (&json!(3_000), &json!(0)));
    assert_eq!(flagged["handoffs"][0]["target_tokens"], 700);
    assert!(directive(&flagged).contains("</"));
    project.write("[continuity]\nauto = false\n");
    assert_eq!(project.json(&HANDOFF)["what"], "manual");
}

#[test]
fn invalid_continuity_settings_are_rejected() {
    for (toml, says) in [
        ("auto = 1", "continuity.auto must be true or false, got 1, at line 2, column 8"),
        (
            "handoff_percent = 101",
            "continuity.handoff_percent must be an integer from 1 to 100, got 101",
        ),
        (
            "handoff_percent = 60\nlong_task_percent = 70",
            "continuity: long_task_percent must be at most handoff_percent (60), got 70, at line 1, column 2",
        ),
        ("margin_percent = 70", "margin_percent must be below the lowest threshold (70)"),
        ("lease_seconds = 0", "must be an integer from 1 to 86400"),
        ("wait_seconds = 3601", "must be an integer from 0 to 3600"),
        ("expiry_days = 0", "must be an integer from 1 to 36500"),
        ("store = \" \"", "continuity.store must not be empty, got \" \", at line 2, column 9"),
        (
            "style = \"florid\"",
            "must be concise, narrative or structured, got \"florid\", at line 2, column 9",
        ),
        ("mode = \"html\"", "continuity.mode must be xml, markdown or minimal"),
        ("summary_level = 3", "continuity.summary_level must be a string, got 3"),
        ("summarizer_timeout_seconds = 3601", "must be an integer from 1 to 3600"),
        (
            "targettokens = 1",
            "unknown key continuity.targettokens; similar: continuity.target_tokens, at line 2, column 1",
        ),
    ] {
        LCP.project(&format!("[continuity]\n{toml}\n")).assert_usage_error(&["config"], says);
    }
    // What it does not say goes along.
    LCP.project("[continuity]\nhandoff_percent = 60\n").stdout_of(&["config"]);
}
