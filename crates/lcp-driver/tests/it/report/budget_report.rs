//! The requirements of Task 016.c for reports, under the names of its tests.

use expect_test::expect;
use lcp_driver::report::{TableOptions, to_json, to_table};
use lcp_driver::window::ContextWindow;
use lcp_driver::{DefaultDriver, DriverConfig, Plan};
use lcp_types::DuplicateKind;
use serde_json::Value;

use super::{covered, duplicates, empty_plan, share, task_016c};
use crate::packs::{O200K, file};

/// Returns the table in the form of Task 016.c, which has no bars.
fn table(plan: &Plan) -> String {
    let duplicates = duplicates([
        covered(1, 0, DuplicateKind::Equal, 1_000),
        covered(2, 0, DuplicateKind::Equal, 1_000),
        covered(3, 0, DuplicateKind::Contained, 700),
        covered(4, 0, DuplicateKind::Overlapping, 1_100),
        covered(5, 0, DuplicateKind::Adjacent, 400),
    ]);
    let plan = Plan { duplicates: Some(duplicates), ..plan.clone() };
    let options = TableOptions {
        explain: false,
        width: 0,
        window: Some(ContextWindow::from_total(100_000).with_reserves(2_000, 8_000)),
        ..TableOptions::default()
    };
    to_table(&plan, &options)
}

fn json(plan: &Plan) -> Value {
    serde_json::from_str(&to_json(plan)).unwrap()
}

#[test]
fn table_matches_the_user_manual() {
    expect![[r"
        Token Budget Report
        ────────────────────
        Total Budget: 100,000
        Available: 90,000

        Category Usage:
          Tool Results:     12,500 / 36,000 (35%)
          Open Files:       18,200 / 27,000 (67%)
          Search Results:   15,800 / 18,000 (88%)
          References:        5,200 /  9,000 (58%)

        Total Used: 51,700 / 90,000 (57%)

        Deduplication:
          Duplicates removed: 3
          Overlaps merged: 2
          Tokens saved: 4,200
    "]]
    .assert_eq(&table(&task_016c()));
}

#[test]
fn should_report_total_used() {
    assert!(table(&task_016c()).contains("\nTotal Used: 51,700 / 90,000 (57%)\n"));
    // The same holds for a real plan instead of a handmade one.
    let config = DriverConfig { token_budget: Some(400), ..DriverConfig::default() };
    let blocks = [file("src/a.rs", 12), file("src/b.rs", 12), file("src/c.rs", 12)];
    let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
    let used = lcp_driver::budget::TokenEstimator::estimate(&O200K, &rendered.text);
    assert_eq!(json(&rendered.plan)["used_tokens"], used);
    let table = to_table(&rendered.plan, &TableOptions::default());
    assert!(table.contains(&format!("Total Used: {used} / 400 ")), "{table}");
}

#[test]
fn should_report_category_breakdown() {
    let report = json(&task_016c());
    let rows: Vec<_> = report["shares"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let number = |key: &str| row[key].as_u64().unwrap();
            (row["name"].as_str().unwrap(), number("used"), number("tokens"), number("percent"))
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("tool_results", 12_500, 36_000, 35),
            ("open_files", 18_200, 27_000, 67),
            ("search_results", 15_800, 18_000, 88),
            ("references", 5_200, 9_000, 58),
        ]
    );
    assert_eq!(report["by_share"]["open_files"]["tokens"], 18_200);
    // Without shares, categories follow from the block types.
    let blocks = [file("src/a.rs", 12)];
    let plan = DefaultDriver::new(O200K).plan(&blocks, &DriverConfig::default()).unwrap();
    let table = to_table(&plan, &TableOptions::default());
    assert!(table.contains("Category Usage:\n  Open Files:"), "{table}");
}

#[test]
fn should_report_duplicates_removed() {
    assert!(table(&task_016c()).contains("\n  Duplicates removed: 3\n"));
    // Without deduplication, the table does not mention it.
    assert!(!to_table(&task_016c(), &TableOptions::default()).contains("Duplicates"));
}

#[test]
fn should_report_overlaps_merged() {
    assert!(table(&task_016c()).contains("\n  Overlaps merged: 2\n"));
    let superseded = (1..=1_000).map(|i| covered(i, 0, DuplicateKind::Superseded, 1));
    let plan = Plan { duplicates: Some(duplicates(superseded)), ..task_016c() };
    let table = to_table(&plan, &TableOptions::default());
    assert!(table.contains("  Overlaps merged: 0\n  Superseded removed: 1,000\n"), "{table}");
}

#[test]
fn should_report_tokens_saved() {
    assert!(table(&task_016c()).ends_with("\n  Tokens saved: 4,200\n"));
}

#[test]
fn should_format_percentages() {
    let shares = vec![
        share("exact_half", 1, 2),
        share("rounds_up", 995, 1_000),
        share("nearly_all", 2_996, 3_000),
        share("all", 3_000, 3_000),
        share("more", 3_001, 3_000),
        share("rounds_down", 994, 1_000),
        share("borrows", 3_000, 2_000),
        share("", 10, 0),
    ];
    let plan = Plan { shares, ..empty_plan(3_003, 5_000) };
    expect![[r"
        Token Budget Report
        ────────────────────
        Total Budget: 3,003

        Category Usage:
          Exact Half:        1 /     2 (50%)
          Rounds Up:       995 / 1,000 (99%)
          Nearly All:    2,996 / 3,000 (99%)
          All:           3,000 / 3,000 (100%)
          More:          3,001 / 3,000 (101%)  1 borrowed
          Rounds Down:     994 / 1,000 (99%)
          Borrows:       3,000 / 2,000 (150%)  1,000 borrowed
          No Share:         10 /     0 (–)

        Total Used: 5,000 / 3,003 (167%)
    "]]
    .assert_eq(&to_table(&plan, &TableOptions { width: 0, ..TableOptions::default() }));
    let report = json(&plan);
    assert_eq!(
        (&report["shares"][6]["percent"], &report["shares"][6]["borrowed"]),
        (&150.into(), &1_000.into())
    );
    assert_eq!(report["shares"][7].get("percent"), None);
}

/// Reporting (user verification 4): the figures of a packed context are right.
#[test]
fn scenario_4_report_figures_are_accurate() {
    let blocks = [file("src/a.rs", 60), file("src/b.rs", 60), file("src/c.rs", 60)];
    let config = DriverConfig { token_budget: Some(1_300), ..DriverConfig::default() };
    let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
    let report = json(&rendered.plan);
    let sum = |key: &str| -> u64 {
        report[key].as_object().unwrap().values().map(|sum| sum["tokens"].as_u64().unwrap()).sum()
    };
    let overhead = report["overhead_tokens"].as_u64().unwrap();
    let used = report["used_tokens"].as_u64().unwrap();
    for key in ["by_decision", "by_priority", "by_category"] {
        assert_eq!(sum(key) + overhead, used, "{key}");
    }
    assert_eq!(sum("by_level"), used);
}
