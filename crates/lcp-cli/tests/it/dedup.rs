//! `--dedup`, `[context.dedup]` and `dedup` (`docs/cli.md`).

use std::path::Path;

use serde_json::{Value, json};

use crate::command::{LCP, encode, run, sample, stderr};
use crate::config::SHOW;

/// A manifest of these blocks, as a pack in `folder`.
fn pack(folder: &Path, blocks: &Value) -> String {
    let pack = folder.join("p.lcp");
    encode(&json!({ "blocks": blocks }).to_string(), &pack);
    pack.to_str().unwrap().to_owned()
}

fn code(path: &str, content: &str) -> Value {
    json!({ "type": "code", "lang": "rust", "path": path, "content": content })
}

fn chunk(path: &str, first: u32, last: u32) -> Value {
    let lines: Vec<_> = (first..=last).map(|n| format!("let line = {n};\n")).collect();
    let content = lines.concat();
    json!({
        "type": "code", "lang": "rust", "path": path, "content": content,
        "line_start": first, "line_end": last,
    })
}

fn report(pack: &str, flags: &[&str]) -> Value {
    let arguments = [&["report", pack, "--json", "--no-config"], flags].concat();
    serde_json::from_slice(&run(&arguments).stdout).unwrap()
}

fn text(pack: &str, flags: &[&str]) -> String {
    let arguments = [&["render", pack, "--no-config", "--mode", "minimal"], flags].concat();
    String::from_utf8(run(&arguments).stdout).unwrap()
}

#[test]
fn duplicate_file_is_rendered_once() {
    let folder = tempfile::tempdir().unwrap();
    let pack =
        pack(folder.path(), &json!([code("a.rs", "fn a() {}\n"), code("b.rs", "fn a() {}\n")]));
    assert_eq!(text(&pack, &[]).matches("fn a()").count(), 2);
    assert_eq!(text(&pack, &["--dedup", "off"]).matches("fn a()").count(), 2);
    for level in ["exact", "overlap", "near"] {
        assert_eq!(text(&pack, &["--dedup", level]).matches("fn a()").count(), 1);
    }
}

#[test]
fn report_lists_duplicates_and_saved_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = json!([
        chunk("a.rs", 1, 50),
        chunk("a.rs", 25, 75),
        chunk("a.rs", 1, 50),
        code("b.rs", "old();\n"),
        code("b.rs", "new();\n"),
    ]);
    let pack = pack(folder.path(), &blocks);
    let report = report(&pack, &["--dedup", "overlap", "--budget", "5000"]);
    let dedup = &report["dedup"];
    assert_eq!((&dedup["removed"], &dedup["merged"]), (&json!(1), &json!(1)));
    assert_eq!(dedup["superseded"], 1);
    assert!(dedup["tokens_saved"].as_u64().unwrap() > 100, "{dedup}");
    let blocks = &report["blocks"];
    assert_eq!(blocks[1]["decision"], "duplicate");
    assert_eq!(blocks[1]["reason"], "overlapping");
    assert_eq!(blocks[1]["covered_by"], 0);
    assert_eq!(blocks[2]["decision"], "duplicate");
    assert_eq!(blocks[2]["reason"], "equal");
    assert_eq!((&blocks[3]["decision"], &blocks[3]["covered_by"]), (&json!("full"), &json!(4)));
    assert_eq!(blocks[0]["decision"], "full");
    let table = run(&["report", &pack, "--no-config", "--dedup", "overlap", "--budget", "5000"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("Duplicates removed: 1\n  Overlaps merged: 1\n"), "{table}");
    // Without deduplication nothing is said of it.
    let off = run(&["report", &pack, "--no-config", "--json"]);
    assert!(!String::from_utf8(off.stdout).unwrap().contains("dedup"));
}

#[test]
fn dedup_flag_overrides_the_config_file() {
    let project = LCP.project("context.dedup.enabled = true\n");
    let pack =
        pack(project.path("").as_path(), &json!([chunk("a.rs", 1, 9), chunk("a.rs", 5, 12)]));
    let blocks = |flags: &[&str]| {
        let report = project.json(&[&["report", &pack, "--json"], flags].concat());
        let decisions = report["blocks"].as_array().unwrap().iter();
        decisions.map(|block| block["decision"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Overlap, where the file does not say what is looked for.
    assert_eq!(blocks(&[]), ["full", "duplicate"]);
    assert_eq!(blocks(&["--dedup", "off"]), ["full", "full"]);
    assert_eq!(blocks(&["--dedup", "exact"]), ["full", "full"]);
    project.write("[context.dedup]\nenabled = true\nlevel = \"exact\"\n");
    assert_eq!(blocks(&[]), ["full", "full"]);
    project.write("[context.dedup]\nenabled = false\n");
    assert_eq!(blocks(&[]), ["full", "full"]);
    assert_eq!(blocks(&["--dedup", "overlap"]), ["full", "duplicate"]);
}

#[test]
fn config_sets_the_dedup_thresholds() {
    let project = LCP.project("[context.dedup]\nenabled = true\nmerge_overlapping = false\n");
    // Half of each.
    let pack =
        pack(project.path("").as_path(), &json!([chunk("a.rs", 1, 10), chunk("a.rs", 6, 15)]));
    let cut = || {
        let report = project.json(&["report", &pack, "--json"]);
        report["blocks"][1]["covered_by"].as_u64()
    };
    assert_eq!(cut(), None);
    project.write(
        "[context.dedup]\nenabled = true\nmerge_overlapping = false\noverlap_threshold = 0.5\n",
    );
    assert_eq!(cut(), Some(0));
    project.write("[context.dedup]\nenabled = true\nmerged_bytes = 30\n");
    assert_eq!(cut(), Some(0));
    project.write("[context.dedup]\nnear_threshold = 0.3\n");
    let said = stderr(&project.run(&["report", &pack]));
    assert!(said.contains("near_threshold must be from 0.5 to 1, got 0.3, at line 2"), "{said}");
    project.write("[context.dedup]\nkeep = \"last\"\n");
    let said = stderr(&project.run(&["report", &pack]));
    assert!(said.contains("must be best or first, got \"last\""), "{said}");
}

#[test]
fn config_shows_dedup_settings() {
    let project = LCP.project("[context.dedup]\nlevel = \"near\"\n");
    let rows = |flags: &[&str]| {
        let shown = project.json(&[&SHOW[..], flags].concat());
        let rows = shown["settings"].as_array().unwrap().clone();
        rows.into_iter()
            .filter(|row| row["key"].as_str().unwrap().starts_with("context.dedup."))
            .map(|row| format!("{} {} {}", row["key"], row["value"], row["note"]).replace('"', ""))
            .map(|row| row.replace("context.dedup.", ""))
            .collect::<Vec<_>>()
    };
    let idle = "only with --dedup";
    assert_eq!(rows(&[])[0], "enabled false null");
    assert_eq!(rows(&[])[1], format!("level near {idle}"));
    project.write("[context.dedup]\nenabled = true\n");
    let shown = [
        "enabled true null", "level overlap null", "keep best null", "merge_overlapping true null",
        "merged_bytes 16384 null", "overlap_threshold 0.8 null", "near_threshold 0.8 null",
    ];
    assert_eq!(rows(&[]), shown);
}

/// Turn after turn the text of the turn before stays, though reads come again.
#[test]
fn stable_text_is_preserved_with_dedup() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    let plan = plan.to_str().unwrap();
    let mut blocks = vec![code("a.rs", "fn a() {\n    old();\n}\n"), chunk("b.rs", 1, 20)];
    let later = [
        chunk("b.rs", 10, 30),
        code("a.rs", "fn a() {\n    new();\n}\n"),
        code("a.rs", "fn a() {\n    new();\n}\n"),
        chunk("b.rs", 31, 40),
        code("a.rs", "fn a() {\n    old();\n}\n"),
    ];
    let mut before: Option<String> = None;
    for block in later {
        let pack = pack(folder.path(), &json!(blocks));
        let flags = ["--dedup", "overlap", "--budget", "4000", "--previous", plan, "--plan", plan];
        let text = text(&pack, &flags);
        if let Some(before) = &before {
            assert!(text.starts_with(before.as_str()), "{before}\n---\n{text}");
        }
        before = Some(text);
        blocks.push(block);
    }
    // Said otherwise, the best stays, and a cache loses what stood before.
    let pack = pack(folder.path(), &json!(blocks));
    let best = report(&pack, &["--dedup", "overlap", "--budget", "4000", "--dedup-prefer", "best"]);
    assert_eq!(best["dedup"]["superseded"], 3);
    let first =
        report(&pack, &["--dedup", "overlap", "--budget", "4000", "--dedup-prefer", "first"]);
    assert_eq!(first["dedup"]["superseded"], 0);
}

#[test]
fn bad_line_range_warns_and_is_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let mut odd = chunk("a.rs", 1, 9);
    odd["line_end"] = json!(5000);
    let pack = pack(folder.path(), &json!([odd, chunk("a.rs", 3, 12)]));
    let done = run(&["render", &pack, "--no-config", "--dedup", "overlap"]);
    let said = stderr(&done);
    assert!(said.contains("[bad_line_range] (block 0)"), "{said}");
    assert!(done.status.success());
    assert_eq!(report(&pack, &["--dedup", "overlap"])["dedup"]["merged"], 0);
}

#[test]
fn dedup_command_writes_a_pack_without_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let (out, facts) = (folder.path().join("once.lcp"), folder.path().join("facts.json"));
    let (out, facts) = (out.to_str().unwrap(), facts.to_str().unwrap());
    let given = sample("duplicates.lcp");
    let done = run(&["dedup", &given, "--no-config", "-o", out, "--report", facts]);
    assert!(done.status.success(), "{}", stderr(&done));
    let facts: Value = serde_json::from_slice(&std::fs::read(facts).unwrap()).unwrap();
    assert_eq!(facts["schema"], "lcp.dedup.v1");
    assert!(facts["tokens_saved"].as_u64().unwrap() > 0);
    assert!(facts["blocks_left"].as_u64().unwrap() < facts["blocks"].as_u64().unwrap());
    assert!(run(&["validate", out]).status.success());
    // What was found once is not found again.
    let again = report(out, &["--dedup", "overlap"]);
    assert_eq!((&again["dedup"]["removed"], &again["dedup"]["merged"]), (&json!(0), &json!(0)));
    // The text is that of a render that leaves the same away.
    assert_eq!(text(out, &[]), text(&given, &["--dedup", "overlap"]));
    // Nothing asked for: the pack as it was.
    let off = folder.path().join("off.lcp");
    run(&["dedup", &given, "--no-config", "--dedup", "off", "-o", off.to_str().unwrap()]);
    assert_eq!(std::fs::read(off).unwrap(), std::fs::read(&given).unwrap());
}

#[test]
fn dedup_report_does_not_overwrite_the_pack() {
    let folder = tempfile::tempdir().unwrap();
    let given = pack(folder.path(), &json!([code("a.rs", "fn a() {}\n")]));
    let before = std::fs::read(&given).unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    for outputs in [["--report", &given, "-o", out], ["--report", out, "-o", out]] {
        let done = run(&[&["dedup", &given, "--no-config"], &outputs[..]].concat());
        assert_eq!(done.status.code(), Some(2));
        assert!(stderr(&done).contains("are the same file"), "{}", stderr(&done));
    }
    assert_eq!(std::fs::read(&given).unwrap(), before);
}

/// What the text before shows as a placeholder covers nothing: else what was just
/// asked for would stand nowhere.
#[test]
fn placeholder_covers_no_duplicate() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    let plan = plan.to_str().unwrap();
    let mut old = chunk("a.rs", 1, 40);
    old["priority"] = json!("background");
    let turn = |text: &str| json!({ "type": "conversation", "role": "user", "content": text });
    let mut blocks = vec![old, turn("Where is it?")];
    let flags = ["--dedup", "overlap", "--budget", "4000", "--previous", plan, "--plan", plan];
    let before = text(&pack(folder.path(), &json!(blocks)), &flags);
    assert!(before.contains("[omitted: code a.rs"), "{before}");
    blocks.extend([chunk("a.rs", 1, 40), chunk("a.rs", 30, 50), turn("There?")]);
    let after = text(&pack(folder.path(), &json!(blocks)), &flags);
    assert!(after.starts_with(&before), "{before}\n---\n{after}");
    assert!(after.contains("let line = 7;") && after.contains("let line = 50;"), "{after}");
    assert_eq!(after.matches("let line = 35;").count(), 1, "{after}");
}

/// A merge that is larger than what a budget can give is not made.
#[test]
fn merging_overlaps_shows_at_least_nine_tenths_of_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let chunks: Vec<_> = (0..10).map(|n| chunk("a.rs", 20 * n + 1, 20 * n + 20)).collect();
    let given = pack(folder.path(), &json!(chunks));
    let shown = |level: &str, budget: &str| {
        let text = text(&given, &["--dedup", level, "--budget", budget]);
        text.matches("let line").count()
    };
    for budget in ["300", "600", "1000"] {
        assert!(shown("overlap", budget) * 10 >= shown("off", budget) * 9, "{budget}");
    }
}

/// A diff against what the budget shows as a line is of no use to anybody.
#[test]
fn near_duplicate_is_shown_only_with_its_covering_block() {
    let given = sample("duplicates.lcp");
    for budget in (100..700).step_by(50) {
        let budget = budget.to_string();
        let report = report(&given, &["--dedup", "near", "--budget", &budget]);
        let blocks = report["blocks"].as_array().unwrap();
        for block in blocks.iter().filter(|block| block["relation"] == "near") {
            let by = usize::try_from(block["covered_by"].as_u64().unwrap()).unwrap();
            let is_shown = block["decision"] == "full";
            assert!(!is_shown || blocks[by]["decision"] == "full", "{budget}: {block}");
        }
    }
    let all = text(&given, &["--dedup", "near"]);
    assert!(all.contains("above, but for these changes]"), "{all}");
}

/// Files that differ in white space are shown once; a line describes the difference. Changed comments
/// are shown as a diff. `dedup` writes the same stubs.
#[test]
fn differences_in_white_space_and_comments_are_described() {
    let folder = tempfile::tempdir().unwrap();
    let part = |n: u32| format!("def f{n}(a):\n    if a:\n        return g{n}(a)\n    # {n}\n");
    let original: String = (0..12).map(part).collect();
    let python = |path: &str, content: String| -> Value {
        json!({ "type": "code", "lang": "python", "path": path, "content": content })
    };
    let blocks = json!([
        python("a.py", original.clone()),
        python("tabs.py", original.replace("    ", "\t")),
        python("two.py", original.replace("    ", "  ")),
        python("crlf.py", original.replace('\n', "\r\n")),
        python("blanks.py", original.replace(":\n", ":  \n")),
        python("comments.py", original.replace("# 1", "# one ")),
    ]);
    let given = pack(folder.path(), &blocks);
    let rendered = text(&given, &["--dedup", "near"]);
    let deduped = folder.path().join("deduped.lcp");
    let deduped = deduped.to_str().unwrap();
    assert!(
        run(&["dedup", &given, "--no-config", "--dedup", "near", "-o", deduped]).status.success()
    );
    for output in [rendered, text(deduped, &[])] {
        for stub in [
            "[a.py above, same except for indentation (tabs for 4 spaces)]",
            "[a.py above, same except for indentation (2 spaces for 4)]",
            "[a.py above, same except for line endings (CRLF for LF)]",
            "[a.py above, same except for trailing white space (only 2 spaces on lines 1-2, 5-6, ",
            "[a.py above, but for these changes]\n@@ -8 +8 @@\n-    # 1\n+    # one \n",
        ] {
            assert_eq!(output.matches(stub).count(), 1, "{stub}\n{output}");
        }
        assert_eq!(output.matches("return g7(a)").count(), 1, "{output}");
    }
    assert_eq!(text(&given, &["--dedup", "overlap"]).matches("return g7(a)").count(), 6);
}

#[test]
fn dedup_prefer_without_dedup_warns() {
    let given = sample("chat.lcp");
    let said = stderr(&run(&["render", &given, "--no-config", "--dedup-prefer", "first"]));
    assert!(
        said.contains("--dedup-prefer has no effect: deduplication is off [no_effect]"),
        "{said}"
    );
}
