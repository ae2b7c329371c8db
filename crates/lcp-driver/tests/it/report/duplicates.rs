//! Duplicates in reports (RFC 0006 §8).

use expect_test::expect;
use lcp_driver::report::{TableOptions, to_html, to_json, to_table};
use lcp_driver::{DedupStats, DefaultDriver, DriverConfig, Plan};
use lcp_types::{Block, DuplicateKind, Lang, Replacements, Role};
use serde_json::{Value, json};

use super::html::data;
use super::{covered, duplicates, empty_plan, in_place, task_016c};
use crate::packs::{O200K, bare_file, source};

/// Returns a file, two copies, a file that refers to it, and one that it makes outdated.
fn blocks() -> Vec<Block<'static>> {
    vec![
        bare_file("src/a.rs", 20),
        Block::conversation(Role::User, "Why?"),
        bare_file("src/copy\u{1b}[31m.rs", 20),
        bare_file("src/a.rs", 20),
        Block::code(Lang::Rust, "src/b.rs", "[outdated: src/b.rs as it is now stands below]"),
        Block::code(Lang::Rust, "src/b.rs", source(9)),
    ]
}

pub(super) fn plan() -> Plan {
    let config = DriverConfig {
        duplicates: Some(duplicates([
            covered(2, 0, DuplicateKind::Equal, 240),
            covered(3, 0, DuplicateKind::Equal, 241),
            in_place(4, 5, DuplicateKind::Superseded, 1_090),
        ])),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).plan(&blocks(), &config).unwrap()
}

fn json(plan: &Plan) -> Value {
    serde_json::from_str(&to_json(plan)).unwrap()
}

#[test]
fn dedup_stats_count_blocks_by_outcome() {
    let all = DuplicateKind::ALL.into_iter().enumerate();
    let each = all.flat_map(|(i, relation)| {
        [covered(2 * i + 1, 0, relation, 100), in_place(2 * i + 2, 0, relation, 10)]
    });
    let sums = DedupStats::from(&duplicates(each));
    let wanted = DedupStats {
        removed: 6,
        merged: 4,
        superseded: 2,
        references: 4,
        cut: 2,
        tokens_saved: 660,
    };
    assert_eq!(sums, wanted);
}

#[test]
fn json_report_has_dedup_sums() {
    let dedup = &json(&plan())["dedup"];
    assert_eq!((&dedup["removed"], &dedup["merged"]), (&2.into(), &0.into()));
    assert_eq!((&dedup["superseded"], &dedup["tokens_saved"]), (&1.into(), &1_571.into()));
    assert_eq!((&dedup["referred"], &dedup["cut"]), (&1.into(), &0.into()));
    let by = dedup["by_relation"].as_object().unwrap();
    assert_eq!(by["equal"], json!({"blocks": 2, "tokens": 481}));
    assert_eq!(by["superseded"], json!({"blocks": 1, "tokens": 1_090}));
    assert_eq!(by["near"], json!({"blocks": 0, "tokens": 0}));
    assert_eq!(by.len(), DuplicateKind::ALL.len());
}

#[test]
fn zero_duplicates_differ_from_dedup_being_off() {
    let none = Plan { duplicates: Some(Replacements::default()), ..empty_plan(100, 0) };
    assert_eq!(json(&none)["dedup"]["removed"], 0);
    assert_eq!(json(&none)["dedup"]["by_relation"]["equal"]["blocks"], 0);
    let table = to_table(&none, &TableOptions::default());
    assert!(table.contains("Duplicates removed: 0\n") && !table.contains("Largest Duplicates"));
    assert_eq!(data(&to_html(&none, &[]))["duplicates"]["saved"], 0);
    let off = empty_plan(100, 0);
    assert_eq!(json(&off).get("dedup"), None);
    assert!(!to_table(&off, &TableOptions::default()).contains("Dedup"));
    assert_eq!(data(&to_html(&off, &[])).get("duplicates"), None);
}

#[test]
fn rows_link_covered_and_covering_blocks() {
    let report = json(&plan());
    let rows = report["blocks"].as_array().unwrap();
    let of = |key: &str| rows.iter().map(|row| row.get(key).cloned()).collect::<Vec<_>>();
    let index = |index: usize| Some(Value::from(index));
    assert_eq!(of("covered_by"), [None, None, index(0), index(0), index(5), None]);
    let (equal, superseded) = (Some("equal".into()), Some("superseded".into()));
    assert_eq!(of("relation"), [None, None, equal.clone(), equal, superseded, None]);
    assert_eq!(of("covers"), [Some(json!([2, 3])), None, None, None, None, Some(json!([4]))]);
    assert_eq!((&rows[2]["decision"], &rows[2]["reason"]), (&"duplicate".into(), &"equal".into()));
    assert_eq!((&rows[2]["tokens"], &rows[2]["full_tokens"]), (&0.into(), &0.into()));
    // The replacement of a block is planned like any block.
    assert_eq!((&rows[4]["decision"], &rows[4]["reason"]), (&"full".into(), &"no_budget".into()));
    assert_eq!(report["by_decision"]["duplicate"], json!({"blocks": 2, "tokens": 0}));
    assert_eq!(report["by_reason"]["equal"]["blocks"], 2);
    assert!(report["cuts"].as_array().unwrap().is_empty(), "a duplicate is no cut");
}

/// Returns the lines of a table from a heading to the next.
fn section<'t>(table: &'t str, heading: &str) -> &'t str {
    let (_, behind) = table.split_once(&format!("{heading}\n")).expect(heading);
    behind.split_once("\n\n").map_or(behind, |(section, _)| section)
}

#[test]
fn table_has_dedup_sums_and_largest_duplicates() {
    let table = to_table(&plan(), &TableOptions::default());
    expect![[r"
        Duplicates removed: 2
          Overlaps merged: 0
          Superseded removed: 1
          Shown as a reference or a diff: 1
          Tokens saved: 1,571"]]
    .assert_eq(section(&table, "Deduplication:").trim_start());
    expect![[r#"
        1,090 tokens  src/b.rs (#4): outdated by #5
            241 tokens  src/a.rs (#3): duplicate of #0
            240 tokens  "src/copy\u{1B}[31m.rs" (#2): duplicate of src/a.rs (#0)"#]]
    .assert_eq(section(&table, "Largest Duplicates:").trim_start());
}

#[test]
fn optional_dedup_lines_appear_only_if_nonzero() {
    let of = |covered| {
        let plan = Plan { duplicates: Some(duplicates([covered])), ..task_016c() };
        section(&to_table(&plan, &TableOptions::default()), "Deduplication:").to_owned()
    };
    let equal = of(covered(1, 0, DuplicateKind::Equal, 5));
    assert_eq!(equal, "  Duplicates removed: 1\n  Overlaps merged: 0\n  Tokens saved: 5\n");
    let diff = of(in_place(1, 0, DuplicateKind::Near, 5));
    assert!(diff.contains("removed: 1\n") && diff.contains("  Shown as a reference or a diff: 1"));
    let cut = of(in_place(1, 0, DuplicateKind::Overlapping, 5));
    assert!(cut.contains("merged: 1\n  Cut to unique lines: 1\n"), "{cut}");
    assert!(!cut.contains("reference"), "{cut}");
}

#[test]
fn duplicate_list_is_limited_in_length_and_width() {
    let long = format!("{}/{}.rs", "folder".repeat(9), "file".repeat(20));
    let mut blocks = vec![bare_file(&long, 3)];
    blocks.extend((1..40).map(|i| bare_file(&format!("{i}/{long}"), 3)));
    let all = (1..40).map(|i| covered(i, 0, DuplicateKind::Equal, 10_000 + i as u64));
    let config = DriverConfig { duplicates: Some(duplicates(all)), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    for width in [60, 80, 120] {
        let table = to_table(&plan, &TableOptions { width, ..TableOptions::default() });
        let lines: Vec<_> = section(&table, "Largest Duplicates:").lines().collect();
        assert_eq!(lines.len(), 11);
        assert!(lines[0].starts_with("  10,039 tokens  ") && lines[0].contains("(#39): duplicate"));
        assert_eq!(lines[10], "  and 29 more, 290,435 tokens");
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(width)), "{table}");
    }
    let whole = to_table(&plan, &TableOptions { width: 0, ..TableOptions::default() });
    assert!(whole.contains(&format!("39/{long} (#39): duplicate of {long} (#0)\n")), "{whole}");
}

/// A handmade plan may contain anything.
#[test]
fn out_of_range_duplicates_have_no_rows() {
    let out = Plan {
        duplicates: Some(duplicates([
            covered(2, 700, DuplicateKind::Equal, 1),
            covered(900, 0, DuplicateKind::Near, u64::from(u32::MAX)),
        ])),
        ..plan()
    };
    let report = json(&out);
    assert!(report["blocks"].as_array().unwrap().iter().all(|row| row.get("covers").is_none()));
    assert_eq!(report["dedup"]["removed"], 2);
    assert!(!to_table(&out, &TableOptions::default()).contains("Largest Duplicates"));
    assert_eq!(data(&to_html(&out, &[]))["duplicates"]["covered"], json!([]));
}

#[test]
fn page_data_lists_duplicates() {
    let page = data(&to_html(&plan(), &[]));
    assert_eq!(
        page["duplicates"],
        json!({
            "removed": 2, "merged": 0, "superseded": 1, "saved": 1_571,
            "relations": [
                ["equal", {"blocks": 2, "tokens": 481}],
                ["superseded", {"blocks": 1, "tokens": 1_090}],
            ],
            "covered": [[2, 0, 0, 240], [3, 0, 0, 241], [4, 5, 1, 1_090]],
        })
    );
    assert_eq!(page["sentences"]["equal"], "Another block has the same content.");
}
