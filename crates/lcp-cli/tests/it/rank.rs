//! `rank`, and the questions and overviews of `pack` (`docs/relevance.md`).

use std::fs;

use serde_json::Value;

use crate::command::{LCP, Project, git, run_with, stderr};

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
    project.assert_usage_error(
        &["rank", "p.lcp", "--query", "door", "--history", "missing"],
        "expected an existing folder or off",
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
#[cfg(target_os = "linux")]
fn words_of_unchanged_files_are_cached_and_change_no_rank() {
    let project = project();
    let cache = project.path("cache");
    let ranked = |arguments: &[&str]| {
        let question = ["pack", "a", "b", "-q", "-o", "p.lcp", "--query", "Opening a door"];
        let mut command = LCP.command(&project.path(""), &[&question[..], arguments].concat());
        let output = command.env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(project.path("p.lcp")).unwrap()
    };
    let without = ranked(&["--no-query-cache"]);
    assert!(!cache.exists());
    for _ in 0..2 {
        assert!(ranked(&[]) == without);
    }
    assert_eq!(fs::read_dir(cache.join("lcp/words")).unwrap().count(), 1);
    fs::write(project.path("a/src/door.rs"), "pub fn shut_door() {}\n").unwrap();
    let changed = ranked(&[]);
    assert!(changed != without && changed == ranked(&["--no-query-cache"]));
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

#[test]
fn mention_that_names_no_file_is_a_warning() {
    let project = project();
    fs::write(project.path("a/Makefile"), "all:\n\ttrue\n").unwrap();
    let pack = ["pack", "a", "-o", "p.lcp", "--mention", "a/Makefile", "--mention", "Ghost"];
    let output = project.run(&pack);
    let warnings = stderr(&output);
    assert!(warnings.contains("no file has the path \"Ghost\" or defines"), "{warnings}");
    assert_eq!(warnings.matches("no file has the path").count(), 1, "{warnings}");
    assert_eq!(labels(&project.json(&["rank", "p.lcp", "--json"]))[0], "a/Makefile");
}

#[test]
#[cfg(target_os = "linux")]
fn words_of_packs_with_secrets_are_not_cached() {
    let project = project();
    let key = ["AKIA", "Q3EGRIO5LWVNVJ2B"].concat();
    fs::write(project.path("a/src/key.rs"), format!("const KEY: &str = \"{key}\";\n")).unwrap();
    let cache = project.path("cache");
    let run = |arguments: &[&str]| {
        let mut command = LCP.command(&project.path(""), arguments);
        let output = command.env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let entries = fs::read_dir(cache.join("lcp/words")).into_iter().flatten();
        entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect::<Vec<_>>()
    };
    let question = ["--query", "where is the key of the door"];
    let pack = [&["pack", "a", "-q", "-o", "p.lcp", "--secrets", "off"], &question[..]].concat();
    assert_eq!(run(&pack).len(), 0);
    let rank = [&["rank", "p.lcp", "--history", "off"], &question[..]].concat();
    assert_eq!(run(&rank).len(), 0);
    let cached = run(&[&["pack", "a", "-q", "-o", "p.lcp"], &question[..]].concat());
    assert_eq!(cached.len(), 1);
    assert!(!cached[0].windows(key.len()).any(|bytes| bytes == key.as_bytes()));
}

/// Commits all files of a project to a new repository. Returns its folder.
fn commit(project: &Project, message: &str) -> std::path::PathBuf {
    let top = project.path("");
    git(&top, &["init", "-q", "."]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-qm", message]);
    top
}

#[test]
fn oldest_commit_of_a_shallow_clone_changes_no_file() {
    let project = project();
    let top = commit(&project, "Open the door of the ship");
    fs::write(project.path("b/src/table.rs"), "fn table() {}\n").unwrap();
    git(&top, &["commit", "-qam", "Turn the hinge of the table"]);
    let clone = tempfile::tempdir().unwrap();
    let address = format!("file://{}", top.display());
    git(clone.path(), &["clone", "-q", "--depth", "1", &address, "clone"]);
    let ranked = |folder: &std::path::Path, arguments: &[&str]| {
        let pack = ["pack", ".", "-q", "-o", "p.lcp", "--query", "Turn the hinge of a door"];
        let output = LCP.command(folder, &[&pack[..], arguments].concat()).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(LCP.command(folder, &["rank", "p.lcp"]).output().unwrap().stdout).unwrap()
    };
    assert!(ranked(&top, &[]).contains("changed by"));
    let shallow = clone.path().join("clone");
    assert_eq!(ranked(&shallow, &[]), ranked(&shallow, &["--history", "off"]));
}

#[test]
fn files_of_a_diff_count_as_mentioned() {
    let project = project();
    commit(&project, "Ships");
    fs::write(project.path("b/src/lib.rs"), "pub struct Sail;\n").unwrap();
    let pack = ["pack", ".", "-q", "-o", "p.lcp", "--query", "Opening a door", "--diff"];
    project.stdout_of(&pack);
    let ranked = project.json(&["rank", "p.lcp", "--json"]);
    assert_eq!(labels(&ranked)[0], "b/src/lib.rs");
    assert_eq!(ranked["blocks"][0]["reasons"][0], "changed according to --diff");
}

#[test]
fn commits_of_a_folder_count_if_it_has_most_files_of_the_pack() {
    let project = project();
    project.stdout_of(&["pack", "a/src", "b/src", "-q", "-o", "p.lcp", "--order", "path"]);
    let pack = project.path("p.lcp");
    let ranked = |files: &[&str]| {
        let clone = LCP.project("");
        for path in files {
            fs::create_dir_all(clone.path(path).parent().unwrap()).unwrap();
            fs::write(clone.path(path), "").unwrap();
        }
        let top = commit(&clone, "Turn the hinge of the table");
        let rank = ["rank", pack.to_str().unwrap(), "--query", "Turn the hinge of a door"];
        let output = LCP.command(&top, &rank).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    // The pack has four files.
    let files = ["b/src/table.rs", "a/src/door.rs", "a/src/lib.rs"];
    assert!(!ranked(&files[..2]).contains("changed by"));
    assert!(ranked(&files).contains("changed by"));
}
