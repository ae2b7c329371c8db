//! Plans by value, on rendered text (RFC 0005 §2 to §4).

use lcp_driver::shares::Shares;
use lcp_driver::{
    DefaultDriver, DriverConfig, Excerpts, Objective, OptimalityBound, OutputMode, Plan,
    RenderDecision, ValueModel,
};
use lcp_tokens::HeuristicEstimator;
use lcp_types::{Block, Priority};
use proptest::prelude::*;

use crate::packs::{O200K, any_config, any_pack, bare_file, file, priority, tag};

fn by_value(values: ValueModel, budget: u32) -> DriverConfig {
    DriverConfig {
        token_budget: Some(budget),
        objective: Objective::Value(values),
        ..DriverConfig::default()
    }
}

fn plan(blocks: &[Block<'_>], config: &DriverConfig) -> Plan {
    DefaultDriver::new(O200K).plan(blocks, config).unwrap()
}

fn full(plan: &Plan) -> Vec<usize> {
    let full = |item: &lcp_driver::PlanItem| item.decision == RenderDecision::Full;
    (0..plan.items.len()).filter(|&i| full(&plan.items[i])).collect()
}

/// Returns one large High block, and thirty small Normal ones.
fn one_and_many() -> Vec<Block<'static>> {
    let mut blocks = vec![bare_file("large.rs", 100)];
    blocks.extend((0..30).map(|i| bare_file(&format!("small{i}.rs"), 3)));
    blocks.push(priority(0, Priority::High));
    blocks
}

#[test]
fn value_objective_prefers_many_small_blocks_to_one_large() {
    let blocks = one_and_many();
    let strict = DriverConfig { token_budget: Some(2_000), ..DriverConfig::default() };
    assert_eq!(full(&plan(&blocks, &strict))[0], 0);
    let plan = plan(&blocks, &by_value(ValueModel::default(), 2_000));
    assert_eq!(full(&plan), (1..31).collect::<Vec<_>>());
    assert!(plan.used_tokens <= 2_000);
}

#[test]
fn value_model_changes_the_choice() {
    let high = ValueModel { high: 5_000, ..ValueModel::default() };
    assert_eq!(full(&plan(&one_and_many(), &by_value(high, 2_000)))[0], 0);
}

#[test]
fn summary_value_determines_use_of_summaries() {
    let blocks: Vec<_> = (0..4).map(|i| file(&format!("f{i}.rs"), 20)).collect();
    let summaries = ValueModel { summary: 999, ..ValueModel::default() };
    let plan_with = |values| plan(&blocks, &by_value(values, 600));
    let shown =
        |plan: &Plan, decision| plan.items.iter().filter(|item| item.decision == decision).count();
    assert_eq!(shown(&plan_with(summaries), RenderDecision::Summary), 2);
    let nothing = ValueModel { summary: 0, placeholder: 0, ..ValueModel::default() };
    assert_eq!(shown(&plan_with(nothing), RenderDecision::Summary), 0);
}

#[test]
fn higher_rank_is_worth_more() {
    let mut blocks: Vec<_> = (0..6).map(|i| bare_file(&format!("f{i}.rs"), 20)).collect();
    blocks.extend([tag(4, "rank=0.9"), tag(2, "rank=0.4")]);
    assert_eq!(full(&plan(&blocks, &by_value(ValueModel::default(), 450))), [4]);
    assert_eq!(full(&plan(&blocks, &by_value(ValueModel::default(), 720))), [2, 4]);
}

#[test]
fn fill_raises_low_blocks_above_their_ceiling() {
    let mut blocks = vec![file("a.rs", 5), file("b.rs", 5), bare_file("c.rs", 5)];
    blocks.extend((1..3).map(|low| priority(low, Priority::Low)));
    blocks.extend([bare_file("d.rs", 5), priority(6, Priority::Background)]);
    blocks.rotate_right(0);
    let config = by_value(ValueModel::default(), 5_000);
    let decisions = |config: &DriverConfig| -> Vec<_> {
        let plan = plan(&blocks, config);
        let shown = plan.items.iter().filter(|item| item.decision != RenderDecision::Metadata);
        shown.map(|item| item.decision.name()).collect()
    };
    assert_eq!(decisions(&config), ["full", "summary", "full", "full"]);
    let fill = DriverConfig { fill: true, ..config };
    assert_eq!(decisions(&fill), ["full", "full", "full", "full"]);
}

/// Blocks that grow after all others have their ceilings take nothing from these.
#[test]
fn low_blocks_grow_only_after_normal_blocks_are_full() {
    let mut blocks = vec![bare_file("normal.rs", 150)];
    blocks.extend((0..20).map(|i| bare_file(&format!("low{i}.rs"), 8)));
    blocks.extend((1..21).map(|low| priority(low, Priority::Low)));
    let mut grown = false;
    for budget in (2_000..6_000).step_by(100) {
        let plan = plan(&blocks, &by_value(ValueModel::default(), budget));
        let low = full(&plan).iter().filter(|&&i| i > 0).count();
        assert!(low == 0 || plan.items[0].decision == RenderDecision::Full, "{budget}: {low}");
        grown |= low > 0;
    }
    assert!(grown);
}

/// The same holds with shares: a block at its ceiling stays there while others grow.
#[test]
fn low_blocks_take_nothing_from_normal_ones_with_shares() {
    let mut blocks = vec![bare_file("normal.rs", 30)];
    blocks.extend((0..4).map(|i| bare_file(&format!("low{i}.rs"), 8)));
    blocks.extend((1..5).map(|low| priority(low, Priority::Low)));
    let shares = Some(Shares::agent());
    for budget in (600..2_000).step_by(50) {
        let config =
            DriverConfig { shares: shares.clone(), ..by_value(ValueModel::default(), budget) };
        let plan = plan(&blocks, &config);
        assert_eq!(full(&plan).first(), Some(&0), "{budget}");
    }
}

/// A question that exceeds the budget is shown in part, not as a placeholder among others.
#[test]
fn large_question_is_shown_as_an_excerpt() {
    let mut blocks: Vec<_> = (0..12).map(|i| bare_file(&format!("f{i}.rs"), 5)).collect();
    let question = crate::packs::source(200);
    blocks.push(Block::conversation(lcp_types::Role::User, question));
    let strict = DriverConfig { token_budget: Some(1_500), ..DriverConfig::default() };
    for config in [strict, by_value(ValueModel::default(), 1_500)] {
        let config = DriverConfig { excerpts: Excerpts::On, ..config };
        let plan = plan(&blocks, &config);
        let question = &plan.items[12];
        assert_eq!(question.decision.name(), "excerpt", "{config:?}");
        assert!(question.tokens > 500, "{}", question.tokens);
        assert!(plan.used_tokens <= 1_500);
    }
}

#[test]
fn plan_showing_all_is_proven_optimal() {
    let blocks = one_and_many();
    let plan = plan(&blocks, &by_value(ValueModel::default(), 50_000));
    let optimality = plan.optimality.unwrap();
    assert_eq!(optimality, OptimalityBound { value: 544_000, bound: 544_000, lp_bound: 544_000 });
    assert!(optimality.is_optimal());
}

#[test]
fn strict_or_unbudgeted_plans_have_no_optimality_bound() {
    let strict = DriverConfig { token_budget: Some(500), ..DriverConfig::default() };
    assert_eq!(plan(&one_and_many(), &strict).optimality, None);
    let free = DriverConfig { token_budget: None, ..by_value(ValueModel::default(), 0) };
    assert_eq!(plan(&one_and_many(), &free).optimality, None);
}

#[test]
fn excerpts_use_the_remaining_budget() {
    let blocks: Vec<_> = (0..12).map(|i| bare_file(&format!("f{i}.rs"), 100)).collect();
    let config = DriverConfig { excerpts: Excerpts::On, ..by_value(ValueModel::default(), 4_000) };
    let with = plan(&blocks, &config);
    let without = plan(&blocks, &by_value(ValueModel::default(), 4_000));
    let is_excerpt = |item: &&lcp_driver::PlanItem| item.decision.name() == "excerpt";
    assert_eq!(with.items.iter().filter(is_excerpt).count(), 1);
    assert!(with.used_tokens > without.used_tokens && with.used_tokens <= 4_000);
    assert!(with.optimality.unwrap().value > without.optimality.unwrap().value);
}

#[test]
fn share_caps_hold_for_the_value_objective() {
    let mut blocks = one_and_many();
    blocks.push(tag(0, "category=odd"));
    let shares = Shares::agent().with_cap("open_files", 900).unwrap();
    let config = DriverConfig { shares: Some(shares), ..by_value(ValueModel::default(), 2_000) };
    let plan = plan(&blocks, &config);
    let files = plan.shares.iter().find(|share| share.name == "open_files").unwrap();
    assert!(files.used <= 900 && files.used > 800, "{files:?}");
    let optimality = plan.optimality.unwrap();
    assert!(optimality.value < optimality.bound);
}

#[test]
fn value_bounds_hold_for_non_additive_estimators() {
    let driver = DefaultDriver::new(HeuristicEstimator);
    for budget in (50..3_000).step_by(190) {
        let plan = driver.plan(&one_and_many(), &by_value(ValueModel::default(), budget)).unwrap();
        let optimality = plan.optimality.unwrap();
        assert!(plan.used_tokens <= budget);
        assert!(optimality.value <= optimality.bound);
        assert!(optimality.bound <= optimality.lp_bound);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// As the budget grows, the value of a proven optimal plan does not decrease, and neither does
    /// the bound.
    #[test]
    fn optimal_value_does_not_fall_as_the_budget_grows(
        blocks in any_pack(),
        mode in prop::sample::select(&OutputMode::ALL[..]),
        budget in 0u32..1_500,
        more in 1u32..60,
    ) {
        let worth = |budget| {
            let config = DriverConfig { mode, fill: true, excerpts: Excerpts::Off, ..by_value(ValueModel::default(), budget) };
            plan(&blocks, &config).optimality.unwrap()
        };
        let is_user = |block: &Block<'_>| block.block_type() == lcp_types::BlockType::Conversation;
        let (before, after) = (worth(budget), worth(budget + more));
        if before.is_optimal() && after.is_optimal() && !blocks.iter().any(is_user) {
            prop_assert!(before.value <= after.value, "{before:?} {after:?}");
        }
    }

    /// The reported value of a plan never exceeds its bounds, in any configuration.
    #[test]
    fn plan_value_never_exceeds_its_bounds(blocks in any_pack(), config in any_config(), budget in 0u32..1_500) {
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = plan(&blocks, &config);
        prop_assert_eq!(plan.optimality.is_some(), config.objective != Objective::Strict);
        if let Some(optimality) = plan.optimality {
            prop_assert!(optimality.value <= optimality.bound);
            prop_assert!(optimality.bound <= optimality.lp_bound);
            prop_assert!((0.0..=1.0).contains(&optimality.relative_gap()));
        }
    }
}
