//! The table of a real plan.

use expect_test::expect;
use lcp_driver::report::{TableOptions, to_table};
use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, Plan};
use lcp_types::{Block, Lang, Priority, Role, Status};

use crate::packs::{O200K, bare_file, file, priority, source, tag};

fn plan() -> Plan {
    let blocks = [
        file("src/main.rs", 40),
        bare_file("src/engine.rs", 90),
        Block::tool_result("cargo test", Status::Ok, source(20)),
        Block::conversation(Role::User, "Why does it fail?"),
        bare_file("src/\u{202e}sr.nigol\u{1b}[2J", 80),
        tag(1, "category=search_results"),
        priority(3, Priority::Critical),
        priority(0, Priority::Low),
    ];
    let config = DriverConfig {
        token_budget: Some(1_000),
        excerpts: Excerpts::On,
        shares: Some(Shares::agent().with_cap("references", 50).unwrap()),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).plan(&blocks, &config).unwrap()
}

#[test]
fn small_plan_table_matches_snapshot() {
    expect![[r#"
        Token Budget Report
        ────────────────────
        Total Budget: 1,000

        Category Usage:
          Tool Results:     252 / 400 (63%)   ███████████████
          Open Files:       441 / 300 (147%)  ████████████████████████  141 borrowed
          Search Results:   282 / 200 (141%)  ████████████████████████  82 borrowed
          References:         0 /  50 (0%)                              cap 50
          No Share:          18 /   0 (–)

        Total Used: 998 / 1,000 (99%)

        By Decision:           blocks     tokens
          Full:                     2        270 (27%)   ██████▍
          Summary:                  1         25 (3%)    ▌
          Excerpt:                  2        698 (70%)   ████████████████▊
          Metadata:                 3          0 (0%)
          Overhead:                            5 (1%)    ▏

        By Reason:             blocks     tokens
          Over Budget:              2        698 (70%)   ████████████████▊
          Fits:                     1        252 (25%)   ██████
          Ceiling:                  1         25 (3%)    ▌
          Critical:                 1         18 (2%)    ▍
          Metadata:                 3          0 (0%)

        By Priority:           blocks     tokens
          Critical:                 1         18 (2%)    ▍
          Normal:                   3        950 (95%)   ██████████████████████▊
          Low:                      1         25 (3%)    ▌

        Largest Cuts:
          814 tokens  Excerpt      src/engine.rs (69 lines omitted)
          574 tokens  Excerpt      "src/\u{202E}sr.nigol\u{1B}[2J" (49 lines omitted)

        Counts: exact, o200k_base
        Warnings: 1 (unknown_category)
        Suggestion: a budget of 2,386 would show everything that priorities and caps allow; 58% of it is cut now
    "#]].assert_eq(&to_table(&plan(), &TableOptions::default()));
}

#[test]
fn colours_are_used_only_on_request() {
    let plain = to_table(&plan(), &TableOptions::default());
    assert!(!plain.contains('\u{1b}'));
    let colored = to_table(&plan(), &TableOptions { color: true, ..TableOptions::default() });
    assert!(colored.starts_with("\u{1b}[1mToken Budget Report\u{1b}[0m\n"));
    // Colours do not change the text.
    let mut stripped = String::new();
    for (i, part) in colored.split('\u{1b}').enumerate() {
        stripped.push_str(if i == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    let trimmed: Vec<_> = stripped.lines().map(str::trim_end).collect();
    assert_eq!(trimmed, plain.lines().collect::<Vec<_>>());
}

#[test]
fn table_lines_stay_within_the_width() {
    for width in [60, 80, 120] {
        let table = to_table(&plan(), &TableOptions { width, ..TableOptions::default() });
        for line in table.lines().filter(|line| !line.starts_with("Suggestion")) {
            assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
        }
    }
}

#[test]
fn largest_cuts_come_first_and_others_are_counted() {
    let blocks: Vec<_> =
        (1..=15).map(|i| Block::code(Lang::Rust, format!("src/{i}.rs"), source(i * 4))).collect();
    let config = DriverConfig { token_budget: Some(300), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    let table = to_table(&plan, &TableOptions::default());
    let cuts: Vec<_> = table.lines().skip_while(|line| *line != "Largest Cuts:").skip(1).collect();
    assert!(cuts[0].ends_with("src/15.rs") && cuts[9].ends_with("src/6.rs"), "{table}");
    assert!(cuts[10].starts_with("  and ") && cuts[10].contains(" more, "), "{table}");
}

#[test]
fn excess_categories_are_merged_in_the_table() {
    let mut blocks: Vec<_> = (0..30).map(|i| file(&format!("src/{i}.rs"), 2)).collect();
    blocks.extend((0..30).map(|i| tag(i, &format!("category=part_{i}"))));
    let plan = DefaultDriver::new(O200K).plan(&blocks, &DriverConfig::default()).unwrap();
    let table = to_table(&plan, &TableOptions::default());
    let usage: Vec<_> = table.lines().skip(5).take_while(|line| !line.is_empty()).collect();
    assert_eq!(usage.len(), 21, "{table}");
    assert!(usage[20].starts_with("  10 More:"), "{table}");
}

#[test]
fn long_category_names_are_shortened() {
    let name = "x".repeat(100_000);
    let blocks = [file("src/a.rs", 4), tag(0, &format!("category={name}"))];
    for shares in [None, Some(Shares::agent())] {
        let config = DriverConfig { token_budget: Some(400), shares, ..DriverConfig::default() };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        let table = to_table(&plan, &TableOptions::default());
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }
    let share = |tokens| super::share(&name, 10, tokens);
    let plan = Plan { shares: vec![share(20)], ..super::empty_plan(100, 10) };
    let table = to_table(&plan, &TableOptions::default());
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn larger_budget_is_suggested_if_over_a_fifth_is_cut() {
    let plan = plan();
    let wanted = plan.wanted_budget.unwrap();
    assert!(u64::from(plan.used_tokens) * 5 < wanted * 4);
    let suggestion = plan.suggestion().unwrap();
    expect!["a budget of 2,386 would show everything that priorities and caps allow; 58% of it is cut now"].assert_eq(&suggestion);
    // There is no suggestion if at most a fifth is missing.
    let almost = Plan { wanted_budget: Some(1_250), used_tokens: 1_000, ..plan.clone() };
    assert_eq!(almost.suggestion(), None);
    let just = Plan { wanted_budget: Some(1_250), used_tokens: 999, ..plan.clone() };
    assert_eq!(
        just.suggestion().as_deref(),
        Some(
            "a budget of 1,250 would show everything that priorities and caps allow; \
             20% of it is cut now"
        )
    );
    // There is no suggestion if the budget is already as large.
    let there = Plan { budget: Some(1_250), ..just };
    assert_eq!(there.suggestion(), None);
    assert_eq!(Plan { budget: None, ..there }.suggestion(), None);
    assert_eq!(Plan { wanted_budget: None, ..plan }.suggestion(), None);
}

#[test]
fn fill_is_content_tokens_divided_by_budget() {
    let plan = plan();
    let shown: u32 =
        plan.items.iter().filter(|item| item.decision.has_content()).map(|item| item.tokens).sum();
    assert_eq!(plan.content_tokens_shown(), u64::from(shown));
    let fill = plan.fill().unwrap();
    assert!((fill - f64::from(shown) / 1_000.0).abs() < 1e-4);
    assert_eq!(Plan { budget: None, ..plan.clone() }.fill(), None);
    assert_eq!(Plan { budget: Some(0), ..plan }.fill(), None);
}
