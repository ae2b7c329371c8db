//! `session compact`, of sessions and of files.

use lcp_testkit::cli_harness::root;
use serde_json::{Value, json};

use crate::command::{LCP, Project, sample, stderr};
use crate::sessions::{fails, is_free, project, track, write};

const COMPACT: [&str; 3] = ["session", "compact", "c"];

fn messages(project: &Project, pack: &str) -> Vec<(String, String)> {
    let manifest = project.json(&["decode", pack]);
    let blocks = manifest["blocks"].as_array().unwrap().iter();
    let text = |block: &Value, key: &str| block[key].as_str().unwrap_or_default().to_owned();
    blocks
        .filter(|block| block["type"] == "conversation")
        .map(|block| (text(block, "role"), text(block, "content")))
        .collect()
}

fn shown(project: &Project, id: &str) -> Value {
    project.json(&["session", "show", id, "--json"])["recorded"].clone()
}

/// CBS-COMP-01 to -03, CBS-INT-05: half of the window, a fifth of that for the memory, in front.
#[test]
fn session_is_compacted_to_half_of_its_window() {
    let project = project();
    write(&project, 60);
    let before = track(&project, "c", &["--window", "8000"]);
    assert_eq!(before["compaction_due"], true);
    let recorded = shown(&project, "c");

    let planned = project.json(&[&COMPACT[..], &["--dry-run", "--json"]].concat());
    assert_eq!((&planned["dry_run"], &planned["epoch"]), (&json!(true), &json!(0)));
    assert_eq!(shown(&project, "c"), recorded);

    let done = project.json(&[&COMPACT[..], &["-o", "c.lcp", "--json"]].concat());
    assert_eq!((&done["dry_run"], &done["epoch"]), (&json!(false), &json!(1)));
    let compaction = &done["compaction"];
    assert_eq!(compaction, &planned["compaction"]);
    assert_eq!(compaction["target_tokens"], 4_000);
    assert_eq!(compaction["tokens_before"], before["usage"]["total_tokens"]);
    assert!(compaction["tokens_after"].as_u64().unwrap() <= 4_000, "{compaction:#}");
    assert!(compaction["memory"]["tokens"].as_u64().unwrap() <= 800, "{compaction:#}");
    assert_eq!((&compaction["budget"]["tokens"], &done["warnings"]), (&json!(6_400), &json!([])));
    is_free(&project, "c");

    // The pack has what the window shows: the memory with the decision, then the newest messages.
    let context = messages(&project, "c.lcp");
    assert_eq!(context[0].0, "system");
    assert_eq!(context[0].1, compaction["memory"]["text"].as_str().unwrap());
    assert!(context[0].1.starts_with("[Persistent Memory]\n"), "{}", context[0].1);
    assert!(context[0].1.contains("- decision: one file for each rule."), "{}", context[0].1);
    assert_eq!(context.len() - 1, compaction["recent"].as_array().unwrap().len());
    assert!(context.last().unwrap().1.starts_with("Step 59 moves"), "{context:?}");

    // Every message is still in the store, in the same place; the memory follows them.
    let after = shown(&project, "c");
    let (kept, added) = after.as_array().unwrap().split_at(recorded.as_array().unwrap().len());
    assert_eq!(json!(kept), recorded);
    assert_eq!((added.len(), &added[0]["first_line"]), (1, &json!("[Persistent Memory]")));
    // And the same history goes on.
    write(&project, 61);
    let next = track(&project, "c", &[]);
    assert_eq!((&next["recorded"], &next["epoch"]), (&json!(2), &json!(1)));
    let used = done["used_tokens"].as_u64().unwrap();
    assert_eq!(compaction["tokens_after"], used);
    assert!(next["usage"]["total_tokens"].as_u64().unwrap() > used);
}

/// CBS-EX-04, CBS-BP-02, CBS-WARN-05: from 80 % of what the provider reports on.
#[test]
fn compaction_is_due_by_the_tokens_that_the_provider_reports() {
    let project = project();
    write(&project, 30);
    let due = [&COMPACT[..], &["--if-due"]].concat();
    let reported = |tokens: &str| {
        track(&project, "c", &["--window", "8000", "--usage", tokens]);
        let output = project.run(&due);
        assert!(output.status.success(), "{}", stderr(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
    };
    let (printed, said) = reported("5120");
    assert_eq!(
        (printed.as_str(), said.as_str()),
        ("", "no compaction is due: 80% of the budget is used\n")
    );
    let (printed, _) = reported("5300");
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[0], "[Budget] Low budget alert! 1100 tokens remaining (17%)");
    assert_eq!(lines[1], "[Memory] Context threshold reached, compressing...");
    assert!(lines[2].starts_with("[Memory] Compressed: 5300 → "), "{printed}");
    assert_eq!(lines[3], "[Budget] Compressed and adjusted budget for next call");
    assert!(lines[4].starts_with("kept: 0 system messages, a memory of "), "{printed}");
    assert!(lines[6].starts_with("archived messages  number  tokens  in the memory"), "{printed}");
    assert!(printed.contains("summarized"), "{printed}");
    // Once is enough.
    assert_eq!(project.stdout_of(&due), "");
    let usage = project.json(&["session", "usage", "c", "--json"]);
    assert_eq!((&usage["budget"]["level"], &usage["epoch"]), (&json!("normal"), &json!(1)));
}

/// A session that fits the target is left alone, and its context can be had again.
#[test]
fn context_is_written_without_a_second_compaction() {
    let project = project();
    write(&project, 60);
    track(&project, "c", &["--window", "8000"]);
    project.stdout_of(&[&COMPACT[..], &["-o", "first.lcp"]].concat());
    let again = project.run(&[&COMPACT[..], &["-o", "again.lcp"]].concat());
    assert!(stderr(&again).contains("no compaction is needed: "), "{}", stderr(&again));
    let read = |name: &str| std::fs::read(project.path(name)).unwrap();
    assert_eq!(read("first.lcp"), read("again.lcp"));
    let json = project.json(&[&COMPACT[..], &["--json"]].concat());
    assert_eq!((&json["compaction"], &json["epoch"]), (&Value::Null, &json!(1)));
    // A smaller target makes it stronger (CBS-TS-02).
    let small = ["--target-percent", "20", "--memory-percent", "50", "--json"];
    let json = project.json(&[&COMPACT[..], &small].concat());
    assert_eq!(json["compaction"]["target_tokens"], 1_600);
    assert!(json["compaction"]["tokens_after"].as_u64().unwrap() <= 1_600);
    // The newest message alone is larger.
    let tiny = [&COMPACT[..], &["--target-percent", "1", "-o", "none.lcp"]].concat();
    fails(&project, &tiny, 1, "[not_compacted]");
    assert!(!project.path("none.lcp").exists());
    // A hook that runs after each turn must not fail from then on.
    track(&project, "c", &["--usage", "7000"]);
    let hook = ["--if-due", "--target-percent", "1"];
    let output = project.run(&[&COMPACT[..], &hook].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let reason = "a compaction is due, but compaction is futile: ";
    assert!(stderr(&output).starts_with(reason), "{}", stderr(&output));
}

/// CBS-INT-05: the target follows the model.
#[test]
fn another_model_changes_the_target() {
    let project = project();
    write(&project, 120);
    track(&project, "c", &["--model", "gpt-4o"]);
    let fits = project.run(&COMPACT);
    assert!(stderr(&fits).contains("within the target of 64,000"), "{}", stderr(&fits));
    track(&project, "c", &["--model", "gpt-4"]);
    let json = project.json(&[&COMPACT[..], &["--dry-run", "--json"]].concat());
    assert_eq!(json["compaction"]["target_tokens"], 4_096);
    let wrong = [&COMPACT[..], &["--window", "9000"]].concat();
    project.assert_usage_error(
        &wrong,
        "hint: to change the window of a session, run `lcp session record",
    );
}

/// Files need no store, and calls stay with their results.
#[test]
fn pack_and_transcript_are_compacted_without_a_store() {
    let project = project();
    write(&project, 60);
    let compact = |file: &str| {
        let flags = ["--window", "8000", "-o", "c.lcp", "--json"];
        project.json(&[&["session", "compact", file][..], &flags].concat())
    };
    let of_file = compact("history.md");
    assert_eq!((&of_file["conversation"], &of_file["window"]), (&Value::Null, &json!(8_000)));
    let context = messages(&project, "c.lcp");
    assert!(context[0].1.contains("- decision: one file for each rule."), "{}", context[0].1);
    project.stdout_of(&["import", "history.md", "-o", "history.lcp"]);
    assert_eq!(compact("history.lcp"), of_file);
    // A pipe to a provider.
    let piped = ["session", "compact", "history.md", "--window", "8000", "-q", "-o", "-"];
    let pack = project.run(&piped).stdout;
    assert_eq!(pack, std::fs::read(project.path("c.lcp")).unwrap());
    let sent = project.json(&["export", "c.lcp", "--to", "openai"]);
    assert_eq!(sent["messages"][0]["content"], context[0].1);
    // What fits is written unchanged.
    project.stdout_of(&["session", "compact", "history.md", "--window", "99999", "-o", "all.lcp"]);
    assert_eq!(messages(&project, "all.lcp").len(), 121);
    assert!(!project.path("kept.sqlite").exists());
    let missing = "no file is named missing.md, and session store not found: kept.sqlite";
    fails(&project, &["session", "compact", "missing.md"], 1, missing);
    track(&project, "c", &[]);
    let missing = "no file is named missing.md, and session \"missing.md\" does not exist";
    fails(&project, &["session", "compact", "missing.md"], 1, missing);
}

#[test]
fn tool_calls_stay_with_their_results() {
    let project = LCP.project("");
    let mut chat = vec![json!({ "role": "user", "content": "Fix the parser. ".repeat(20) })];
    for turn in 0..40 {
        let call = json!({ "id": format!("call_{turn}"), "type": "function", "function": {
            "name": "read", "arguments": json!({ "path": format!("a{turn}.rs") }).to_string(),
        }});
        let result = format!("fn f{turn}() {{}}\n").repeat(20);
        chat.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        let id = format!("call_{turn}");
        chat.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
    }
    std::fs::write(project.path("chat.json"), json!(chat).to_string()).unwrap();
    let compact = ["session", "compact", "chat.json", "--window", "6000", "-o", "c.lcp"];
    project.stdout_of(&compact);
    let output = project.run(&["export", "c.lcp", "--to", "openai"]);
    assert_eq!(stderr(&output), "", "no orphans, no calls without results");
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sent = sent["messages"].as_array().unwrap();
    assert!(sent.len() > 6 && sent.len() < chat.len(), "{}", sent.len());
    assert_eq!(sent[1]["content"], chat[0]["content"], "the request of the user stays");
    assert_eq!(sent.last(), chat.last());
}

/// CBS-INT-03: the memory belongs to the memory share, which bounds it.
#[test]
fn memory_of_a_compaction_is_charged_to_the_memory_share() {
    let project = project();
    write(&project, 60);
    let flags = ["--window", "8000", "-o", "c.lcp"];
    project.stdout_of(&[&["session", "compact", "history.md"][..], &flags].concat());
    let share = |budget: &str| {
        let flags = ["--shares", "conversation", "--budget", budget, "--json"];
        let report = project.json(&[&["report", "c.lcp"][..], &flags].concat());
        let shares = report["shares"].as_array().unwrap().iter();
        let memory = shares.clone().find(|share| share["name"] == "memory").unwrap();
        let tokens = |key: &str| memory[key].as_u64().unwrap();
        let block = &report["blocks"][0];
        assert_eq!(block["category"], "memory");
        (tokens("used"), tokens("tokens"), block["decision"].clone())
    };
    let (used, tokens, decision) = share("100000");
    assert!(used > 0 && used < tokens, "{used} of {tokens}");
    assert_eq!(decision, "full");
    // Without room in its share or in others, it is shortened.
    let (bounded, _, decision) = share("300");
    assert!(bounded < used, "{bounded} {used}");
    assert_ne!(decision, "full");
}

/// CBS-COMP-04: a memory without room for any text is not added.
#[test]
fn empty_memory_is_not_added() {
    let project = project();
    write(&project, 60);
    let flags = ["--window", "8000", "--target-percent", "10", "--memory-percent", "1"];
    let compact = [&["session", "compact", "history.md", "-o", "c.lcp"][..], &flags].concat();
    let printed = project.stdout_of(&compact);
    assert!(printed.contains("\nkept: 0 system messages, no memory, "), "{printed}");
    let context = messages(&project, "c.lcp");
    assert!(context.iter().all(|(role, _)| role != "system"), "{context:?}");
}

/// An external program writes the summaries, and what the memory lacks is reported.
#[test]
#[cfg(unix)]
fn summarizer_and_missing_content_are_reported() {
    let project = project();
    write(&project, 60);
    track(&project, "c", &["--window", "8000"]);
    let command = ["--dry-run", "--json", "--summarizer-cmd", "echo written by a program"];
    let json = project.json(&[&COMPACT[..], &command].concat());
    let memory = json["compaction"]["memory"]["text"].as_str().unwrap();
    assert!(memory.contains("written by a program"), "{memory}");
    let small = [&COMPACT[..], &["--dry-run", "--memory-percent", "1"]].concat();
    let output = project.run(&small);
    assert!(output.status.success());
    assert!(stderr(&output).contains("warning: the memory lacks "), "{}", stderr(&output));
    let listed = stderr(&project.run(&[&small[..], &["-v"]].concat()));
    assert!(listed.contains("has no room for a summary of messages 0 to "), "{listed}");
    let json = project.json(&[&small[..], &["--json"]].concat());
    let warnings = json["warnings"].as_array().unwrap().len();
    assert_eq!(listed.matches("[memory]").count(), warnings);
}

/// The guide has the output of its commands on the sample session.
#[test]
fn guide_shows_the_output_of_session_compact() {
    let project = project();
    let session = sample("session.lcp");
    project.stdout_of(&["session", "record", "parser", &session, "--window", "100000"]);
    let shown = project.stdout_of(&["session", "compact", "parser", "-o", "context.lcp"]);
    let guide = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    assert!(guide.contains(&format!("```text\n{shown}```\n")), "docs/cli.md must show\n{shown}");
}
