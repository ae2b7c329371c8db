//! Selection: which blocks are shown within a budget, and why (Task 016.c).

use lcp_driver::shares::Shares;
use lcp_driver::{DecisionReason, DefaultDriver, DriverConfig, Plan, RenderDecision, WarningCode};
use lcp_types::{Block, Priority};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack, bare_file, priority, tag};

fn plan(blocks: &[Block<'_>], config: &DriverConfig) -> Plan {
    DefaultDriver::new(O200K).plan(blocks, config).unwrap()
}

fn within(budget: u32) -> DriverConfig {
    DriverConfig { token_budget: Some(budget), ..DriverConfig::default() }
}

/// Returns `n` files of 40 lines, with about 520 tokens each.
fn files(n: usize) -> Vec<Block<'static>> {
    (0..n).map(|i| bare_file(&format!("f{i}.rs"), 40)).collect()
}

fn full(plan: &Plan) -> Vec<usize> {
    let shown = |(i, item): (usize, &lcp_driver::PlanItem)| {
        (item.decision == RenderDecision::Full).then_some(i)
    };
    plan.items.iter().enumerate().filter_map(shown).collect()
}

#[test]
fn should_select_by_rank_order() {
    let mut blocks = files(4);
    for (target, rank) in [(1, "rank=0.2"), (2, "rank=0.9"), (3, "rank=0.5")] {
        blocks.push(tag(target, rank));
    }
    // The highest rank comes first, unranked blocks come last, and priority precedes rank.
    assert_eq!(full(&plan(&blocks, &within(600))), [2]);
    assert_eq!(full(&plan(&blocks, &within(1_100))), [2, 3]);
    assert_eq!(full(&plan(&blocks, &within(1_600))), [1, 2, 3]);
    blocks.push(priority(0, Priority::High));
    assert_eq!(full(&plan(&blocks, &within(1_100))), [0, 2]);
}

#[test]
fn should_fill_to_budget() {
    let config = DriverConfig { fill: true, ..within(5_000) };
    let plan = plan(&files(40), &config);
    let content = plan.items.iter().filter(|item| item.decision.has_content());
    let content: u32 = content.map(|item| item.tokens).sum();
    assert!(content >= 4_850, "{content} of 5,000");
}

proptest! {
    #[test]
    fn should_not_exceed_budget(blocks in any_pack(), config in any_config(), budget in 0u32..900) {
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = plan(&blocks, &config);
        let critical: u32 = plan
            .items
            .iter()
            .filter(|item| matches!(item.reason, DecisionReason::Critical | DecisionReason::Pinned))
            .map(|item| item.tokens)
            .sum();
        prop_assert!(plan.used_tokens <= budget || plan.used_tokens <= critical + plan.overhead_tokens);
    }

    #[test]
    fn should_return_selected_with_reasons(blocks in any_pack(), config in any_config(), budget in 0u32..900) {
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = plan(&blocks, &config);
        prop_assert_eq!(plan.items.len(), blocks.len());
        for item in &plan.items {
            // Every reason implies something about its decision.
            let agrees = match item.reason {
                // The reason may come from other blocks of its tool call.
                DecisionReason::Critical | DecisionReason::Pinned | DecisionReason::Fits => {
                    item.decision == RenderDecision::Full
                }
                DecisionReason::Ceiling => item.decision.is_shown(),
                DecisionReason::Background => {
                    item.priority == Priority::Background && !item.decision.is_shown()
                }
                DecisionReason::OverBudget | DecisionReason::ShareCap => item.decision != RenderDecision::Full,
                DecisionReason::Metadata => item.decision == RenderDecision::Metadata,
                _ => false,
            };
            prop_assert!(agrees, "{:?}", item);
        }
    }
}

#[test]
fn should_respect_category_limits() {
    // All blocks are files, and their category may use at most 1,200 tokens.
    let shares = Shares::agent().with_cap("open_files", 1_200).unwrap();
    let config = DriverConfig { shares: Some(shares), ..within(8_000) };
    let plan = plan(&files(10), &config);
    assert_eq!(full(&plan).len(), 2);
    let share = plan.shares.iter().find(|share| share.name == "open_files").unwrap();
    assert!(share.used <= 1_200, "{share:?}");
    let capped = plan.items.iter().filter(|item| item.reason == DecisionReason::ShareCap).count();
    assert_eq!(capped, 8);
}

#[test]
fn should_skip_chunk_if_too_large() {
    let mut blocks = files(3);
    blocks.insert(1, bare_file("large.rs", 400));
    let plan = plan(&blocks, &within(1_700));
    assert_eq!(full(&plan), [0, 2, 3]);
    assert_eq!(plan.items[1].reason, DecisionReason::OverBudget);
}

#[test]
fn should_balance_across_categories() {
    // The files of one category come first, and would fill the budget alone.
    let mut blocks = files(24);
    for i in 0..12 {
        blocks.push(tag(i, "category=search_results"));
    }
    let shared = DriverConfig { shares: Some(Shares::agent()), ..within(4_000) };
    let count = |config: &DriverConfig| {
        let full = full(&plan(&blocks, config));
        (full.iter().filter(|i| **i < 12).count(), full.iter().filter(|i| **i >= 12).count())
    };
    assert_eq!(count(&within(4_000)), (7, 0));
    let (search, open) = count(&shared);
    // The two share the tokens of the other two categories 30 to 20.
    assert!(open > search && search >= 2, "{search} {open}");
}

#[test]
fn should_handle_empty_candidates() {
    for shares in [None, Some(Shares::agent())] {
        let plan = plan(&[], &DriverConfig { shares, fill: true, ..within(1_000) });
        assert_eq!((plan.items.len(), plan.used_tokens), (0, 0));
        assert!(plan.warnings.is_empty());
    }
}

#[test]
fn should_handle_single_candidate() {
    let config =
        |budget| DriverConfig { shares: Some(Shares::agent()), fill: true, ..within(budget) };
    let blocks = files(1);
    assert_eq!(plan(&blocks, &config(2_000)).items[0].decision.name(), "full");
    assert_eq!(plan(&blocks, &config(300)).items[0].decision.name(), "excerpt");
    assert_eq!(plan(&blocks, &config(24)).items[0].decision.name(), "placeholder");
    assert_eq!(plan(&blocks, &config(0)).items[0].decision.name(), "omit");
}

#[test]
fn zero_budget_gives_empty_text_and_warnings() {
    let rendered = DefaultDriver::new(O200K).run(&files(2), &within(0)).unwrap();
    assert_eq!((rendered.text.as_str(), rendered.plan.used_tokens), ("", 0));
    let codes: Vec<_> = rendered.plan.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, [WarningCode::BelowFloor, WarningCode::EmptyResult]);
}
