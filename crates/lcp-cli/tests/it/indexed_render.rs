//! `render` by the index of a pack (RFC 0003 §5 and §7): the text of all blocks, of which
//! only those are read that it shows.

use lcp_testkit::cli_harness::{Project, printed, stderr};
use serde_json::Value;

use crate::command::{LCP, run_with};

/// A project of many files, packed with counts and without.
fn project() -> Project {
    let project = LCP.project("");
    let folder = project.path("src");
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for i in 0..60 {
        let text = format!("/// File {i}.\npub fn f{i}() -> u32 {{ {i} }}\n").repeat(1 + i % 7);
        std::fs::write(folder.join(format!("f{i}.rs")), text).expect("a temporary folder");
    }
    for arguments in
        [&["src", "--index-costs", "-o", "counted.lcp"][..], &["src", "-o", "plain.lcp"]]
    {
        let output = project.run(&[&["pack"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    project
}

fn render(project: &Project, pack: &str, more: &[&str]) -> (String, String) {
    let mut arguments = vec!["render", pack, "--budget", "400", "-v"];
    arguments.extend(more);
    let output = project.run(&arguments);
    (printed(&output), stderr(&output))
}

#[test]
fn indexed_render_equals_full_render() {
    let project = project();
    for mode in ["xml", "markdown", "minimal"] {
        let (by_index, said) = render(&project, "counted.lcp", &["--mode", mode]);
        assert!(said.contains("blocks read"), "{said}");
        let (by_blocks, said) = render(&project, "plain.lcp", &["--mode", mode]);
        assert!(!said.contains("blocks read"), "{said}");
        assert_eq!(by_index, by_blocks);
        // A report tells of all blocks, and reads them.
        let (reported, said) =
            render(&project, "counted.lcp", &["--mode", mode, "--report", "report.json"]);
        assert!(!said.contains("blocks read"), "{said}");
        assert_eq!(by_index, reported);
    }
}

#[test]
fn render_reads_all_blocks_if_the_index_is_insufficient() {
    let project = project();
    for more in [
        &["--shares", "agent"][..],
        &["--objective", "value"],
        &["--encoding", "cl100k_base"],
        &["--line-numbers"],
    ] {
        let (by_index, said) = render(&project, "counted.lcp", more);
        assert!(!said.contains("blocks read"), "{more:?}: {said}");
        assert_eq!(by_index, render(&project, "plain.lcp", more).0);
    }
}

#[test]
fn render_with_a_damaged_index_warns_and_gives_same_text() {
    let project = project();
    let (right, _) = render(&project, "counted.lcp", &[]);
    let mut pack = std::fs::read(project.path("counted.lcp")).expect("just written");
    let place = pack.len() - 80;
    pack[place] ^= 1;
    std::fs::write(project.path("damaged.lcp"), &pack).expect("a temporary folder");
    let (text, said) = render(&project, "damaged.lcp", &[]);
    assert!(said.contains("[bad_index]"), "{said}");
    assert_eq!(text, right);
    // A block that is not what the index says: its text is that of the block.
    let (text, said) = render(&project, "counted.lcp", &["--verify"]);
    assert!(!said.contains("bad_index"), "{said}");
    assert_eq!(text, right);
    let (text, said) = render(&project, "damaged.lcp", &["--verify"]);
    assert!(said.contains("bad_index"), "{said}");
    assert_eq!(text, right);
}

/// Wherever the pack is read as a whole, once.
#[test]
fn rejected_index_gives_exactly_one_warning() {
    let project = project();
    let mut pack = std::fs::read(project.path("plain.lcp")).expect("just written");
    let place = pack.len() - 80;
    pack[place] ^= 1;
    std::fs::write(project.path("damaged.lcp"), &pack).expect("a temporary folder");
    let commands: [&[&str]; 9] = [
        &["render", "damaged.lcp"],
        &["render", "damaged.lcp", "--budget", "400"],
        &["render", "damaged.lcp", "--budget", "400", "--verify"],
        &["report", "damaged.lcp", "--budget", "400"],
        &["stats", "damaged.lcp"],
        &["decode", "damaged.lcp"],
        &["export", "damaged.lcp", "--to", "openai"],
        &["merge", "damaged.lcp", "-o", "merged.lcp"],
        &["inspect", "damaged.lcp"],
    ];
    for arguments in commands {
        let said = stderr(&project.run(arguments));
        assert_eq!(said.matches("[bad_index]").count(), 1, "{arguments:?}: {said}");
    }
    for arguments in [&["cat", "damaged.lcp", "0"], &["validate", "damaged.lcp", "-q"]] {
        assert_eq!(stderr(&project.run(arguments)), "", "{arguments:?}");
    }
    let output = run_with(&["render", "-", "--no-config", "--budget", "400"], &pack);
    assert_eq!(stderr(&output).matches("[bad_index]").count(), 1);
    // And in the reports.
    let codes = |report: &str| {
        let report: Value = serde_json::from_str(report).expect("JSON");
        let warnings = report["warnings"].as_array().expect("a list").clone();
        warnings.into_iter().map(|warning| warning["code"].clone()).collect::<Vec<_>>()
    };
    let report = project.run(&["report", "damaged.lcp", "--budget", "400", "--json"]);
    assert_eq!(codes(&printed(&report)), ["bad_index"]);
    for more in [&[][..], &["--verify"]] {
        let arguments = ["--report", "report.json", "-o", "text"];
        render(&project, "damaged.lcp", &[&arguments, more].concat());
        let report = std::fs::read_to_string(project.path("report.json")).expect("just written");
        assert_eq!(codes(&report), ["bad_index"], "{more:?}");
    }
}

/// A pipe has nothing at an offset, and gives what it has once.
#[cfg(unix)]
#[test]
fn render_reads_a_named_pipe() {
    let project = project();
    let (right, _) = render(&project, "counted.lcp", &[]);
    let pipe = project.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pack = std::fs::read(project.path("counted.lcp")).unwrap();
    let written = std::thread::spawn(move || std::fs::write(pipe, pack));
    assert_eq!(render(&project, "pipe", &[]).0, right);
    written.join().unwrap().unwrap();
}
