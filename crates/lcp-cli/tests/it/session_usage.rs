//! `session usage`, and the warnings about the budget that `session record` prints.

use lcp_testkit::cli_harness::root;
use serde_json::{Value, json};

use crate::command::{LCP, Project, sample, stderr};
use crate::sessions::{fails, is_free, project, track, write};

/// Records what a provider reports for an answer. Returns what standard error says.
#[track_caller]
fn report(project: &Project, tokens: u32) -> String {
    let usage = tokens.to_string();
    let output = project.run(&["session", "record", "c", "--window", "8000", "--usage", &usage]);
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

fn usage(project: &Project) -> Value {
    project.json(&["session", "usage", "c", "--json"])
}

/// CBS-EX-03, CBS-WARN-07: the iterations of the document, in a window of 8,000.
#[test]
fn usage_shows_level_warning_trend_and_history() {
    let project = project();
    for used in [3_200, 4_100, 4_800, 5_300, 5_440] {
        report(&project, used);
    }
    let shown = project.stdout_of(&["session", "usage", "c"]);
    expect_test::expect![[r"
        c: 5,440 of 6,400 tokens (85%, reported), 960 left
        window: 8,000, epoch 0
        level: warning (consider a compaction)
        [Budget] Warning: 85% of token budget used. 960 tokens remaining.
        [Budget] Last 5 iterations avg: 4568 tokens
        history: 5 answers, average 4,568 tokens, over budget 0 times

        ▅▆▇▇▇

        answer  tokens  budget  used  level    model
             1   3,200   6,400   50%  normal
             2   4,100   6,400   64%  normal
             3   4,800   6,400   75%  normal
             4   5,300   6,400   82%  warning
             5   5,440   6,400   85%  warning
    "]]
    .assert_eq(&shown);
    let json = usage(&project);
    assert_eq!((&json["schema"], &json["conversation"]), (&json!("lcp.usage.v1"), &json!("c")));
    let warning = "[Budget] Warning: 85% of token budget used. 960 tokens remaining.";
    assert_eq!(
        json["budget"],
        json!({
            "tokens": 6_400, "level": "warning", "percent": 85, "remaining_tokens": 960,
            "over_tokens": 0, "warning": warning,
        })
    );
    assert_eq!((&json["trend"], &json["average"]), (&json!(4_568), &json!(4_568)));
    assert_eq!((&json["answers"], &json["over_budget"]), (&json!(5), &json!(0)));
    assert_eq!(json["history"][3]["used_tokens"], 5_300);
    is_free(&project, "c");
}

/// CBS-WARN-01 to -03, CBS-INT-08 and -09: exactly 80 %, above 90 %, and over the budget.
#[test]
fn record_warns_from_80_percent_on() {
    let project = project();
    for (tokens, level, warning) in [
        (5_119, "normal", ""),
        (5_120, "warning", "80% of token budget used. 1280 tokens remaining."),
        (5_760, "warning", "90% of token budget used. 640 tokens remaining."),
        (5_761, "critical", "90% of token budget used. 639 tokens remaining."),
        (7_040, "critical", "110% of token budget used. 0 tokens remaining, 640 over."),
    ] {
        let said = report(&project, tokens);
        let expected = match warning {
            "" => String::new(),
            warning => format!("warning: [Budget] Warning: {warning}\n"),
        };
        assert_eq!(said, expected, "{tokens}");
        assert_eq!(usage(&project)["budget"]["level"], level, "{tokens}");
        let query = project.json(&["session", "record", "c", "--json"]);
        assert_eq!(query["budget"]["level"], level, "{tokens}");
        assert_eq!(query["warnings"].as_array().unwrap().is_empty(), warning.is_empty());
    }
    let json = usage(&project);
    assert_eq!((&json["over_budget"], &json["answers"]), (&json!(1), &json!(5)));
    assert_eq!(json["average"], (5_119 + 5_120 + 5_760 + 5_761 + 7_040) / 5);
    let quiet = ["session", "record", "c", "-q"];
    assert_eq!(stderr(&project.run(&quiet)), "");
}

/// CBS-TS-05 to -07: what `[context.usage]` says.
#[test]
fn settings_move_thresholds_clearing_and_cooldown() {
    let project = LCP.project("");
    let settings = |usage: &str| {
        project
            .write(&format!("[context.usage]\n{usage}\n[continuity]\nstore = \"kept.sqlite\"\n"));
    };
    let level = || usage(&project)["budget"]["level"].clone();
    settings("warning = 0.9\ncritical = 0.95");
    assert_eq!((report(&project, 5_440).as_str(), level()), ("", json!("normal")));
    settings("");
    assert_eq!(level(), "warning");
    // The level is held, without a warning, until it is cleared.
    assert_eq!((report(&project, 4_800).as_str(), level()), ("", json!("warning")));
    settings("clear = 0.8");
    assert_eq!(level(), "normal");
    settings("");
    assert_eq!((report(&project, 4_400).as_str(), level()), ("", json!("normal")));
    settings("cooldown = 2");
    let warned: Vec<_> =
        [5_440, 5_450, 5_460, 5_470].map(|tokens| !report(&project, tokens).is_empty()).into();
    // The warning for 5,440 tokens came three records before the first of these.
    assert_eq!(warned, [true, false, false, true]);
}

#[test]
fn debugging_prints_a_line_for_each_record_and_the_trend_after_five() {
    let project = project();
    let said = |tokens: u32| {
        let usage = tokens.to_string();
        let arguments = ["session", "record", "c", "--window", "8000", "-q", "--usage", &usage];
        let mut command = LCP.command(project.path("").as_path(), &arguments);
        stderr(&command.env("LCP_DEBUG_BUDGET", "1").output().unwrap())
    };
    assert_eq!(said(3_200), "[Budget] Used 3200 / 6400 tokens (50%)\n");
    for tokens in [4_100, 4_800, 5_300] {
        said(tokens);
    }
    assert_eq!(
        said(5_440),
        "[Budget] Used 5440 / 6400 tokens (85%)\n[Budget] Last 5 iterations avg: 4568 tokens\n"
    );
}

/// CBS-BP-07: the model and the budget at the time of each answer.
#[test]
fn history_keeps_model_and_budget_of_each_answer() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &["--model", "gpt-4"]);
    write(&project, 4);
    track(&project, "c", &["--model", "gpt-4o"]);
    let json = usage(&project);
    let history = json["history"].as_array().unwrap();
    let models: Vec<_> = history.iter().map(|it| (&it["model"], &it["budget"])).collect();
    let (small, large) = ((&json!("gpt-4"), &json!(6_553)), (&json!("gpt-4o"), &json!(102_400)));
    assert_eq!(models, [small, small, small, large]);
    // Each answer has more tokens in the window than the one before.
    let used: Vec<_> = history.iter().map(|it| it["used_tokens"].as_u64().unwrap()).collect();
    assert!(used.is_sorted_by(|a, b| a < b), "{used:?}");
    assert_eq!(used.last().copied(), json["usage"]["total_tokens"].as_u64());
}

/// A session that was handed over, a fork, and a session without answers.
#[test]
fn usage_of_ended_and_new_sessions_is_shown() {
    let project = project();
    write(&project, 3);
    track(&project, "c", &["--window", "8000"]);
    let before = usage(&project);
    project.stdout_of(&["session", "fork", "c", "--at", "3", "--as", "fork"]);
    let fork = project.json(&["session", "usage", "fork", "--json"]);
    assert_eq!((&fork["answers"], &fork["history"][0]), (&json!(1), &before["history"][0]));
    let id = project.stdout_of(&["session", "handoff", "c", "--force"]);
    project.stdout_of(&["session", "resume", id.trim_end(), "--as", "next"]);
    assert_eq!(usage(&project), before);
    let shown = project.stdout_of(&["session", "usage", "next"]);
    assert!(shown.ends_with("level: normal (nothing to do)\nhistory: no answers recorded\n"));
    fails(&project, &["session", "usage", "x"], 1, "[unknown_conversation]");
}

/// The guide has the output of its commands on the sample session.
#[test]
fn guide_shows_the_output_of_session_usage() {
    let project = project();
    let session = sample("session.lcp");
    project.stdout_of(&["session", "record", "parser", &session, "--model", "gpt-4o"]);
    project.stdout_of(&["session", "record", "parser", "--window", "100000"]);
    let shown = project.stdout_of(&["session", "usage", "parser"]);
    let guide = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    assert!(guide.contains(&format!("```text\n{shown}```\n")), "docs/cli.md must show\n{shown}");
}
