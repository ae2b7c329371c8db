//! Texts that show each segment of a conversation at one level.

use lcp_testkit::cli_harness::Project;
use serde_json::{Value, json};

use crate::command::{LCP, stderr};

/// Returns a project with the pack `talk.lcp`: ten turns with long answers. The third one has a
/// decision.
fn talk(config: &str) -> Project {
    let project = LCP.project(config);
    let mut blocks = Vec::new();
    for turn in 1..=10 {
        blocks.push(json!({ "type": "conversation", "role": "user",
            "content": format!("Please change module {turn}.") }));
        let decision = if turn == 3 { "We decided to keep SQLite. " } else { "" };
        let lines = (0..30).map(|line| format!("Step {line} of module {turn} is done now.\n"));
        let answer = format!("{decision}{}", lines.collect::<Vec<_>>().concat());
        blocks.push(json!({ "type": "conversation", "role": "assistant", "content": answer }));
    }
    let manifest = json!({ "blocks": blocks }).to_string();
    std::fs::write(project.path("talk.json"), manifest).unwrap();
    project.stdout_of(&["encode", "talk.json", "-o", "talk.lcp"]);
    project
}

fn report(project: &Project, flags: &[&str]) -> Value {
    project.json(&[&["report", "talk.lcp", "--segments", "--json"], flags].concat())
}

fn levels(report: &Value) -> Vec<&str> {
    let rows = report["segments"].as_array().unwrap().iter();
    rows.map(|row| row["level"].as_str().unwrap_or("omitted")).collect()
}

#[test]
fn newest_two_segments_are_full_and_older_ones_are_summarized() {
    let project = talk("");
    let report = report(&project, &["--budget", "1500"]);
    assert!(report["used_tokens"].as_u64().unwrap() <= 1_500);
    let segments = report["segments"].as_array().unwrap();
    assert_eq!(segments.len(), 10);
    let of = |at: usize, key: &str| segments[at][key].clone();
    for at in [8, 9] {
        assert_eq!((of(at, "level"), of(at, "reason")), ("full".into(), "recent".into()));
    }
    assert_eq!((of(2, "id"), of(2, "reason")), ("s3".into(), "contains_anchors".into()));
    assert_eq!(of(2, "level"), "detailed");
    assert!([0, 1, 3, 4, 5, 6].iter().all(|at| of(*at, "level") == "brief"), "{segments:?}");
    // Summaries that were added are not mistakes of the pack.
    assert_eq!(report["warnings"], json!([]));
    assert_eq!((of(9, "first_block"), of(9, "last_block")), (18.into(), 19.into()));
    // The summaries that were added are not blocks of the pack.
    assert_eq!(report["blocks"].as_array().unwrap().len(), 20);

    let render = ["render", "talk.lcp", "--segments", "--budget", "1500"];
    let text = project.stdout_of(&[&render[..], &["--excerpts", "off"]].concat());
    assert_eq!(text.matches("of module 10 is done").count(), 30);
    assert_eq!(text.matches("of module 9 is done").count(), 30);
    assert!(text.contains("We decided to keep SQLite."), "{text}");
    assert!(text.matches("of module 8 is done").count() < 10, "{text}");
    // By default, the tokens that are left show more of the next older segment.
    let more = project.stdout_of(&render).matches("of module 8 is done").count();
    assert!((10..30).contains(&more), "{more}");
    let table = project.stdout_of(&["report", "talk.lcp", "--segments", "--budget", "1500"]);
    assert!(table.contains("\nSegments:\n"), "{table}");
}

#[test]
fn segment_settings_and_flags_change_the_levels() {
    let budget = ["--budget", "2600"];
    let with = |config: &str, flags: &[&str]| -> Vec<String> {
        let report = report(&talk(config), &[&budget[..], flags].concat());
        levels(&report).iter().map(|level| (*level).to_owned()).collect()
    };
    let full = |levels: &[String]| levels.iter().filter(|level| *level == "full").count();
    let key = "context.segments.compression_aggressiveness";
    let (most, least) =
        (with(&format!("{key} = 0.0\n"), &[]), with(&format!("{key} = 1.0\n"), &[]));
    assert!(full(&most) > full(&least), "{most:?} {least:?}");
    assert_eq!(full(&least), 2);
    assert_eq!(with("", &["--expand", "s1"])[0], "full");
    assert_ne!(with("", &[])[0], "full");

    // At a budget for one detailed summary, the topic decides which one it is.
    let with_topic = |topic: &str| {
        let flags = ["--budget", "1500", "--topics", topic];
        let report = report(&talk(&format!("{key} = 1.0\n")), &flags);
        report["segments"][4]["reason"].clone()
    };
    assert_eq!(with_topic("Module 5"), "topic_relevant");
    assert_eq!(with_topic("parser"), "baseline");
}

#[test]
fn segments_reject_unknown_ids_and_stable_plans() {
    let project = talk("");
    let fails = |flags: &[&str], says: &str| {
        let output = project.run(&[&["render", "talk.lcp"], flags].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    };
    let budget = ["--segments", "--budget", "900"];
    let with = |flags: &[&'static str]| [&budget[..], flags].concat();
    fails(&with(&["--expand", "s11"]), "cannot expand segment \"s11\": it does not exist");
    fails(&with(&["--plan", "p.json"]), "--segments cannot be used with --previous or --plan");
    fails(&["--budget", "900", "--expand", "s1"], "--segments");
    let warns = |flags: &[&str], says: &str| {
        let output = project.run(&[&["render", "talk.lcp"], flags].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };
    warns(&["--segments"], "--segments has no effect: it requires a budget");
    let useless = with(&["--shares", "agent", "--fill"]);
    warns(&useless, "no effect with --segments: --shares, --fill [no_effect]");
}
