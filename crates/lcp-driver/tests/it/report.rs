//! The report as JSON (`lcp.report.v1`).

use lcp_driver::{DefaultDriver, DriverConfig, report};
use lcp_types::Priority;
use serde_json::Value;

use crate::packs::{O200K, every_type, file, priority, tag};

fn report_of(blocks: &[lcp_types::Block<'_>], budget: Option<u32>) -> Value {
    let config = DriverConfig { token_budget: budget, ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(blocks, &config).unwrap();
    serde_json::from_str(&report::to_json(&plan)).unwrap()
}

#[test]
fn a_report_has_the_fields_of_the_contract() {
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
fn tokens_of_blocks_and_overhead_add_up() {
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
fn without_a_budget_there_is_none_in_the_report() {
    let report = report_of(&every_type(), None);
    assert_eq!((&report["budget"], &report["remaining_tokens"]), (&Value::Null, &0.into()));
}
