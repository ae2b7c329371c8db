//! `rank`, and the questions and overviews of `pack` (`docs/relevance.md`).

use std::fs;

use serde_json::Value;

use crate::command::{LCP, Project, run_with, stderr};

/// A folder with a project of a few files that is larger than a small budget.
fn project() -> Project {
    let project = LCP.project("");
    let write = |name: &str, text: &str| {
        let path = project.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let filler = |name: &str| {
        let function = |at| format!("fn {name}_{at}() {{\n    step({at});\n}}\n\n");
        (0..300).map(function).collect::<Vec<_>>().concat()
    };
    write("README.md", &format!("# Ships\n\nShips sail.\n\n{}", "More words. ".repeat(400)));
    write("a/Cargo.toml", "[package]\nname = \"a\"\n");
    write("a/src/lib.rs", "//! Doors of ships.\n\npub mod door;\n");
    write(
        "a/src/door.rs",
        &format!(
            "{}/// Opens a door.\npub fn open_door(hinge: &Hinge) {{\n    hinge.turn();\n}}\n\n{}",
            filler("before"),
            filler("after")
        ),
    );
    write("b/Cargo.toml", "[package]\nname = \"b\"\n");
    write(
        "b/src/lib.rs",
        &format!("//! Sails of ships.\n\npub struct Sail;\n\n{}", filler("sail")),
    );
    write("b/src/table.rs", &filler("table"));
    write("b/tests/doors.rs", "#[test]\nfn door_opens() {\n    open_door();\n}\n");
    project
}

/// Packs the project with these arguments, and returns the text of a budget.
fn rendered(project: &Project, arguments: &[&str], budget: &str) -> String {
    let pack = [&["pack", "a", "b", "README.md", "-q", "-o", "p.lcp"], arguments].concat();
    let output = project.run(&pack);
    assert!(output.status.success(), "{}", stderr(&output));
    project.stdout_of(&["render", "p.lcp", "--budget", budget])
}

fn labels(ranking: &Value) -> Vec<&str> {
    let blocks = ranking["blocks"].as_array().unwrap();
    blocks.iter().map(|block| block["label"].as_str().unwrap()).collect()
}

#[test]
fn budget_shows_the_function_that_a_question_needs() {
    let project = project();
    let text = rendered(&project, &["--query", "Opening a door does not turn the hinge"], "400");
    assert!(text.contains("pub fn open_door(hinge: &Hinge) {\n    hinge.turn();\n}"), "{text}");
    assert!(!text.contains("Ships sail."), "{text}");
    // In the order of paths, the function is in the middle of a file that does not fit.
    let report = project.stdout_of(&["report", "p.lcp", "--budget", "400", "--explain"]);
    assert!(report.contains("Why Shown:") && report.contains("a/src/door.rs"), "{report}");
    let text = rendered(&project, &["--order", "path"], "400");
    assert!(!text.contains("hinge.turn()"), "{text}");
}

#[test]
fn pack_stores_the_ranks_that_rank_prints() {
    let project = project();
    rendered(&project, &["--query", "open_door"], "400");
    let stored = project.json(&["rank", "p.lcp", "--json"]);
    assert_eq!(labels(&stored)[0], "a/src/door.rs");
    let first = &stored["blocks"][0];
    assert_eq!(first["score"], 1.0);
    let reasons = first["reasons"].to_string();
    assert!(reasons.contains("open_door"), "{reasons}");

    rendered(&project, &["--order", "path"], "400");
    let ranked = project.json(&["rank", "p.lcp", "--query", "open_door", "--json"]);
    assert_eq!(labels(&ranked), labels(&stored));
    let table = project.stdout_of(&["rank", "p.lcp", "--query", "open_door", "--limit", "1"]);
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains("a/src/door.rs"), "{table}");
}

#[test]
fn ranked_pack_renders_like_one_packed_with_the_question() {
    let project = project();
    let expected = rendered(&project, &["--query", "turn the hinge"], "400");
    rendered(&project, &["--order", "path"], "400");
    let output = project.run(&["rank", "p.lcp", "--query", "turn the hinge", "-o", "q.lcp"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(project.stdout_of(&["render", "q.lcp", "--budget", "400"]), expected);
}

#[test]
fn mentioned_file_is_shown_before_others() {
    let project = project();
    let query = ["--query", "Opening a door", "--mention", "b/src/table.rs"];
    let text = rendered(&project, &query, "400");
    assert!(text.contains("<code lang=\"rust\" path=\"b/src/table.rs\""), "{text}");
    let ranking = project.json(&["rank", "p.lcp", "--json"]);
    assert_eq!(labels(&ranking)[0], "b/src/table.rs");
    assert_eq!(ranking["blocks"][0]["reasons"][0], "named in the question: b/src/table.rs");
}

#[test]
fn questions_are_read_from_files_and_standard_input() {
    let project = project();
    fs::write(project.path("issue.md"), "Turn the hinge").unwrap();
    rendered(&project, &["--query-file", "issue.md"], "400");
    let from_file = project.json(&["rank", "p.lcp", "--json"]);
    let pack = project.path("p.lcp");
    let arguments = ["rank", pack.to_str().unwrap(), "--query", "-", "--json"];
    let output = run_with(&arguments, b"Turn the hinge");
    let from_input: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(labels(&from_input), labels(&from_file));
}

#[test]
fn overview_names_the_entry_point_of_each_package() {
    let project = project();
    let text = rendered(&project, &[], "500");
    for line in ["Ships sail.", "//! Doors of ships.", "pub mod door;", "pub struct Sail;"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let ranking = project.json(&["rank", "p.lcp", "--json"]);
    assert!(labels(&ranking).contains(&"b/src/lib.rs"), "{ranking}");
    let output = project.run(&["pack", "a", "-q", "-o", "small.lcp", "--exclude", "door.rs"]);
    assert!(output.status.success());
    // A small project needs no overview.
    project.assert_usage_error(&["rank", "small.lcp"], "the pack has no ranks");
}

#[test]
fn wrong_questions_are_usage_errors() {
    let project = project();
    rendered(&project, &["--order", "path"], "400");
    project.assert_usage_error(&["rank", "p.lcp"], "the pack has no ranks");
    project.assert_usage_error(&["rank", "p.lcp", "--query", "?!"], "the question has no words");
    project.assert_usage_error(&["rank", "p.lcp", "-o", "q.lcp"], "-o requires a question");
    project.assert_usage_error(&["rank", "-", "--query", "-"], "standard input can be only one");
    project.assert_usage_error(
        &["rank", "p.lcp", "--query", "door", "--json", "-o", "-"],
        "both need standard output",
    );
    fs::write(project.path("binary"), b"\0\xff").unwrap();
    project.assert_usage_error(&["rank", "p.lcp", "--query-file", "binary"], "not text in UTF-8");
    project.assert_usage_error(
        &["pack", "a", "--query", "door", "--order", "path", "-o", "q.lcp"],
        "cannot be used with",
    );
}

#[test]
fn damaged_pack_is_malformed() {
    let project = project();
    rendered(&project, &["--order", "path"], "400");
    let mut pack = fs::read(project.path("p.lcp")).unwrap();
    pack.truncate(2_000);
    fs::write(project.path("p.lcp"), pack).unwrap();
    let output = project.run(&["rank", "p.lcp", "--query", "door"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn new_ranking_replaces_an_earlier_one() {
    let project = project();
    // The pack has an overview, whose passages would be shown before those of the question.
    let pack = ["pack", "a", "b", "README.md", "-q", "-o", "overview.lcp"];
    project.stdout_of(&pack);
    let text = project.stdout_of(&["render", "overview.lcp", "--budget", "400"]);
    assert!(text.contains("Ships sail."), "{text}");
    let question = ["--query", "Opening a door does not turn the hinge", "--history", "off"];
    let rank = [&["rank", "overview.lcp", "-o", "ranked.lcp"], &question[..]].concat();
    project.stdout_of(&rank);
    let text = project.stdout_of(&["render", "ranked.lcp", "--budget", "400"]);
    assert!(text.contains("hinge.turn();") && !text.contains("Ships sail."), "{text}");
    let fresh = project.json(&[&["rank", "overview.lcp", "--json"], &question[..]].concat());
    assert_eq!(project.json(&["rank", "ranked.lcp", "--json"])["blocks"][0], fresh["blocks"][0]);
    assert!(project.stdout_of(&["validate", "ranked.lcp"]).contains("no problems"));
}
