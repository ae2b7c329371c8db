//! The report as JSON (`lcp.report.v1`).

use std::collections::BTreeSet;

use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, Plan, RenderDecision, ShareUsage, report};
use lcp_types::Priority;
use serde_json::Value;

use crate::packs::{O200K, bare_file, every_type, file, priority, tag};

fn report_of(blocks: &[lcp_types::Block<'_>], budget: Option<u32>) -> Value {
    let config = DriverConfig { token_budget: budget, ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(blocks, &config).unwrap();
    serde_json::from_str(&report::to_json(&plan)).unwrap()
}

#[test]
fn report_has_the_documented_fields() {
    let blocks =
        [file("src/main.rs", 40), priority(0, Priority::High), tag(0, "category=search_results")];
    let report = report_of(&blocks, Some(60));
    assert_eq!(report["schema"], "lcp.report.v1");
    assert_eq!(report["encoding"], "o200k_base");
    assert_eq!((&report["exact"], &report["mode"]), (&true.into(), &"xml".into()));
    assert_eq!((&report["verbosity"], &report["budget"]), (&"adaptive".into(), &60.into()));
    let used = report["used_tokens"].as_u64().unwrap();
    assert_eq!(report["remaining_tokens"], 60 - used);
    assert_eq!(report["overflow_tokens"], 0);
    let block = &report["blocks"][0];
    assert_eq!((&block["index"], &block["type"]), (&0.into(), &"code".into()));
    assert_eq!((&block["label"], &block["priority"]), (&"src/main.rs".into(), &"high".into()));
    assert_eq!((&block["decision"], &block["reason"]), (&"summary".into(), &"over_budget".into()));
    assert_eq!(block["category"], "search_results");
    assert!(block["full_tokens"].as_u64() > block["tokens"].as_u64());
    assert_eq!(report["blocks"][1]["decision"], "metadata");
    assert_eq!(report["by_decision"]["summary"]["blocks"], 1);
    assert_eq!(report["by_priority"]["high"]["tokens"], block["tokens"]);
    assert_eq!(report["by_category"]["search_results"]["tokens"], block["tokens"]);
    assert!(report["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn block_and_overhead_tokens_sum_to_used_tokens() {
    for budget in [None, Some(0), Some(30), Some(100), Some(300)] {
        let report = report_of(&every_type(), budget);
        let blocks: u64 = report["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["tokens"].as_u64().unwrap())
            .sum();
        let by_decision: u64 = report["by_decision"]
            .as_object()
            .unwrap()
            .values()
            .map(|sum| sum["tokens"].as_u64().unwrap())
            .sum();
        assert_eq!(blocks, by_decision);
        assert_eq!(
            blocks + report["overhead_tokens"].as_u64().unwrap(),
            report["used_tokens"].as_u64().unwrap()
        );
    }
}

#[test]
fn report_without_budget_has_null_budget() {
    let report = report_of(&every_type(), None);
    assert_eq!((&report["budget"], &report["remaining_tokens"]), (&Value::Null, &0.into()));
    for key in ["fill", "wanted_budget", "suggestion"] {
        assert_eq!(report.get(key), None, "{key}");
    }
}

fn json(plan: &Plan) -> Value {
    serde_json::from_str(&report::to_json(plan)).unwrap()
}

#[test]
fn excerpt_row_reports_omitted_lines_and_tokens() {
    let blocks = [bare_file("src/a.rs", 90), file("src/b.rs", 4)];
    let config =
        DriverConfig { token_budget: Some(500), excerpts: Excerpts::On, ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    let RenderDecision::Excerpt(excerpt) = &plan.items[0].decision else {
        panic!("{:?}", plan.items[0])
    };
    let report = json(&plan);
    let [cut] = &report["cuts"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&cut["index"], &cut["label"]), (&0.into(), &"src/a.rs".into()));
    assert_eq!((&cut["decision"], &cut["reason"]), (&"excerpt".into(), &"over_budget".into()));
    assert_eq!(cut["tokens_cut"], plan.items[0].full_tokens - plan.items[0].tokens);
    for row in [cut, &report["blocks"][0]] {
        assert_eq!(row["omitted_lines"], excerpt.omitted_lines);
        assert_eq!(row["omitted_tokens"], excerpt.omitted_tokens);
    }
    assert_eq!(report["blocks"][1].get("omitted_lines"), None);
    assert_eq!(report["by_level"]["excerpt"]["blocks"], 1);
    assert_eq!(report["wanted_budget"], plan.wanted_budget.unwrap());
    assert_eq!(report["suggestion"], plan.suggestion().unwrap());
    assert_eq!(report["fill"], plan.fill().unwrap());
}

#[test]
fn shares_are_listed_in_definition_order() {
    let blocks = [file("src/a.rs", 30), tag(0, "category=references")];
    let shares = Shares::agent().with_cap("references", 40).unwrap();
    let config =
        DriverConfig { token_budget: Some(1_000), shares: Some(shares), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    let report = json(&plan);
    let names: Vec<_> =
        report["shares"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names[..4], ["tool_results", "open_files", "search_results", "references"]);
    let references = &report["shares"][3];
    assert_eq!((&references["cap"], &references["blocks"]), (&40.into(), &1.into()));
    assert_eq!(references["used"], report["by_share"]["references"]["tokens"]);
    assert!(references["wanted"].as_u64() > references["used"].as_u64());
    assert_eq!(report["blocks"][0]["reason"], "share_cap");
    assert_eq!(report["shares"][0]["cap"], Value::Null);
}

#[test]
fn content_tokens_exclude_placeholders_and_overhead() {
    let blocks = [bare_file("src/a.rs", 90), file("src/b.rs", 4)];
    let report = report_of(&blocks, Some(130));
    assert_eq!(report["blocks"][0]["decision"], "placeholder");
    let levels = report["by_level"].as_object().unwrap();
    let content =
        levels.iter().filter(|(name, _)| !["placeholder", "overhead"].contains(&name.as_str()));
    let content: u64 = content.map(|(_, sum)| sum["tokens"].as_u64().unwrap()).sum();
    assert_eq!(report["content_tokens_shown"], content);
    assert_eq!(report["content_tokens_shown"], report["blocks"][1]["tokens"]);
}

#[test]
fn all_levels_are_listed_and_sum_to_used_tokens() {
    let report = report_of(&[bare_file("src/a.rs", 90), file("src/b.rs", 4)], Some(130));
    let levels = report["by_level"].as_object().unwrap();
    let names: BTreeSet<_> = levels.keys().map(String::as_str).collect();
    let all = ["full", "detailed", "summary", "tags", "excerpt", "placeholder", "overhead"];
    assert_eq!(names, BTreeSet::from(all));
    assert_eq!(levels["placeholder"]["blocks"], 1);
    assert_eq!(levels["overhead"]["tokens"], report["overhead_tokens"]);
    let sum: u64 = levels.values().map(|sum| sum["tokens"].as_u64().unwrap()).sum();
    assert_eq!(report["used_tokens"], sum);
}

#[test]
fn cuts_list_blocks_over_budget_largest_first() {
    let file = |i: u32, lines| bare_file(&format!("src/{i}.rs"), lines);
    let blocks = [file(0, 30), file(1, 60), file(2, 30), file(3, 9), priority(3, Priority::Low)];
    let report = report_of(&blocks, Some(150));
    let cuts = report["cuts"].as_array().unwrap();
    let order: Vec<_> = cuts.iter().map(|cut| cut["index"].as_u64().unwrap()).collect();
    assert_eq!(order, [1, 0, 2], "{cuts:?}");
    assert_eq!(report["blocks"][3]["reason"], "ceiling", "what its priority forbids is no cut");
    for cut in cuts {
        assert_eq!(cut["reason"], "over_budget");
        assert_eq!(cut.get("omitted_lines"), None);
    }
    assert_eq!(report["by_reason"]["over_budget"]["blocks"], 3);
}

#[test]
fn tokens_over_a_cap_are_not_borrowed() {
    let share = |cap, used| ShareUsage { cap, ..super::share("open_files", used, 300) };
    let shares = vec![
        share(None, 500),
        share(Some(400), 350),
        share(Some(400), 500),
        share(Some(200), 250),
        share(Some(200), 500),
    ];
    let plan = Plan { shares, ..super::empty_plan(1_000, 900) };
    let borrowed: Vec<_> = plan.shares.iter().map(ShareUsage::borrowed).collect();
    assert_eq!(borrowed, [200, 50, 100, 0, 0]);
    let report = json(&plan);
    let over: Vec<_> =
        report["shares"].as_array().unwrap().iter().map(|row| row["over_cap"].clone()).collect();
    assert_eq!(over, [0, 0, 100, 50, 300]);
    let table = report::to_table(&plan, &report::TableOptions::default());
    assert!(table.contains("  cap 400, 100 borrowed, 100 over its cap\n"), "{table}");
    assert!(table.contains("  cap 200, 300 over its cap\n"), "{table}");
}

#[test]
fn exceeded_budget_is_a_warning() {
    let blocks = [file("src/a.rs", 30), priority(0, Priority::Critical)];
    let report = report_of(&blocks, Some(50));
    let used = report["used_tokens"].as_u64().unwrap();
    assert_eq!(report["overflow_tokens"], used - 50);
    assert_eq!(report["warnings"][0]["code"], "over_budget");
    assert!(report["fill"].as_f64().unwrap() > 1.0);
}
