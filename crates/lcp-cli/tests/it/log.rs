//! Events of the libraries (`--log`).

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

use lcp_gateway::Api;

use serde_json::{Value, json};

use crate::command::{LCP, printed, run, sample, stderr};
use crate::gateway_histories::{Step, lines, request};
use crate::gateway_upstream::{Provider, send};

/// Runs the program with this selection of events.
fn run_selecting(events: &str, arguments: &[&str]) -> Output {
    LCP.command(Path::new("."), arguments).env("RUST_LOG", events).output().unwrap()
}

#[test]
fn log_prints_events_and_leaves_the_output_unchanged() {
    let session = sample("session.lcp");
    let arguments = ["render", &session, "--budget", "2000"];
    let plain = run_selecting("", &arguments);
    assert!(!stderr(&plain).contains("lcp_driver"), "{}", stderr(&plain));
    let logged = run_selecting("", &[&arguments[..], &["--log", "text"]].concat());
    assert_eq!(printed(&logged), printed(&plain));
    let said = stderr(&logged);
    assert!(said.contains(" INFO lcp_driver: ") && !said.contains("DEBUG"), "{said}");
}

/// TBM-OBS-03.
#[test]
fn allocation_of_segments_is_logged() {
    let session = sample("session.lcp");
    let arguments = ["render", &session, "--budget", "2000", "--segments", "--log", "text"];
    let said = stderr(&run_selecting("", &arguments));
    let line = said.lines().find(|line| line.contains("[COMP:BUDGET] Allocated "));
    assert!(line.is_some_and(|line| line.contains(" tokens across ")), "{said}");
}

#[test]
fn json_events_are_one_object_per_line() {
    let session = sample("session.lcp");
    let arguments = ["-q", "render", &session, "--budget", "2000", "--log", "json"];
    let events = |selected: &str| -> Vec<Value> {
        let output = run_selecting(selected, &arguments);
        stderr(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    };
    let all = events("lcp_driver=debug");
    let decided: Vec<_> = all.iter().filter(|event| event["message"] == "decided").collect();
    assert!(!decided.is_empty());
    for event in decided {
        assert_eq!((&event["level"], &event["target"]), (&json!("DEBUG"), &json!("lcp_driver")));
        assert!(event["decision"].is_string() && event["timestamp"].is_string(), "{event}");
    }
    assert!(events("").iter().all(|event| event["level"] != "DEBUG"));
    assert!(!events("").is_empty());
    assert!(events("off").is_empty());
}

#[test]
fn sessions_log_the_utilization_of_the_window() {
    let project = LCP.project("[continuity]\nstore = \"kept.sqlite\"\n");
    std::fs::write(project.path("chat.md"), "#### Fix the parser.\n\nDone.\n").unwrap();
    let record = ["session", "record", "c", "chat.md", "--window", "1000", "--log", "text"];
    let said = stderr(&project.run(&record));
    assert!(said.contains("lcp_continuity: [CONT] Context utilization"), "{said}");
    assert!(said.contains("% for conversation c"), "{said}");
    assert!(!said.contains("Approaching"), "{said}");
    let near = ["session", "record", "c", "--usage", "800", "--log", "text"];
    let said = stderr(&project.run(&near));
    assert!(said.contains("WARN lcp_continuity: [CONT] Approaching context limit: "), "{said}");
}

#[test]
fn invalid_selection_of_events_is_a_usage_error() {
    let output = run_selecting("lcp=loud=", &["config", "--log", "text"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: invalid value of RUST_LOG: "), "{output:?}");
    assert_eq!(run(&["config", "--log", "xml"]).status.code(), Some(2));
}

#[test]
fn failed_edits_of_the_gateway_are_logged_without_their_content() {
    // Without `--log`, the filter is not that of the environment.
    for (flags, filter) in [(&[][..], "a=b=c"), (&["--log", "text"], "warn")] {
        check_gateway_log(flags, filter);
    }
}

/// Lets an edit fail, and checks the log.
fn check_gateway_log(flags: &[&str], filter: &str) {
    let (project, provider) = (LCP.project(""), Provider::strict());
    let arguments = ["proxy", "--listen", "127.0.0.1:0", "--upstream", &provider.url];
    let arguments = [&arguments[..], &["--data", "data"], flags].concat();
    let mut command = LCP.command(&project.path(""), &arguments);
    command.env("RUST_LOG", filter);
    let mut gateway = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(gateway.stderr.take().unwrap()).lines();
    let first = printed.next().unwrap().unwrap();
    let url = first.strip_prefix("serving on ").unwrap();
    let originals = project.path("data/originals");
    std::fs::remove_dir(&originals).unwrap();
    std::fs::write(&originals, "").unwrap();
    let read = || Step::Call { input: "a.txt".into(), output: lines(0, 0, 60) };
    let body = request(Api::Anthropic, &[Step::Turn("Read it.".into()), read(), read()]);
    assert_eq!(send(url, "/v1/messages", &[], &body).status(), 200);
    let event = printed.next().unwrap().unwrap();
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    let reason = " WARN lcp_gateway: cannot edit a request: ";
    assert!(event.contains(reason), "{event}");
    assert!(!event.contains("of file 0") && !event.contains("Read it."), "{event}");
}
