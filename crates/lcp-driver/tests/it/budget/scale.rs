//! Many blocks: content is not starved, and the budget holds.

use lcp_driver::budget::TokenEstimator;
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_types::{Block, Role};

use crate::packs::{O200K, bare_file};

/// With 1,000 files, at least 95 % of the used tokens are content, not placeholders.
#[test]
fn thousand_code_blocks_fill_the_budget_with_content() {
    let blocks: Vec<_> =
        (0..1_000).map(|i| bare_file(&format!("src/file_{i}.rs"), 20 + i % 60)).collect();
    for mode in OutputMode::ALL {
        let config = DriverConfig { mode, token_budget: Some(8_000), ..DriverConfig::default() };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        let tokens_of = |decision: &str| -> u32 {
            let items = plan.items.iter().filter(|item| item.decision.name() == decision);
            items.map(|item| item.tokens).sum()
        };
        let (content, used) = (tokens_of("full") + tokens_of("summary"), plan.used_tokens);
        assert!(used > 7_900, "{mode:?}: only {used} of 8,000 are used");
        assert!(content * 100 >= used * 95, "{mode:?}: {content} of {used}");
    }
}

/// A chat of 20,000 turns never exceeds the budget. (`cargo xtask bench scale` renders 1,000,000
/// blocks.)
#[test]
fn many_small_blocks_stay_within_the_budget() {
    let turns: Vec<_> = (0..20_000).map(|i| format!("message number {i}")).collect();
    let blocks: Vec<_> =
        turns.iter().map(|turn| Block::conversation(Role::User, turn.as_str())).collect();
    let config = DriverConfig { token_budget: Some(5_000), ..DriverConfig::default() };
    let rendered = DefaultDriver::new(O200K).run(&blocks, &config).unwrap();
    assert!(rendered.plan.used_tokens <= 5_000);
    assert_eq!(O200K.estimate(&rendered.text), rendered.plan.used_tokens);
    let shown = rendered.plan.items.iter().filter(|item| item.decision.is_shown()).count();
    assert_eq!(rendered.plan.rolled_up.map(|all| all.count), Some(20_000 - shown));
}

/// The block with the highest rank is named, even if it is large and many small blocks follow it.
#[test]
fn highest_ranked_block_gets_a_placeholder() {
    let mut blocks = vec![bare_file("large.rs", 900)];
    blocks.extend((0..300).map(|i| Block::conversation(Role::User, format!("ok {i}"))));
    blocks.push(crate::packs::tag(0, "rank=1.0"));
    for mode in OutputMode::ALL {
        for budget in (300..4_000).step_by(331) {
            let config =
                DriverConfig { mode, token_budget: Some(budget), ..DriverConfig::default() };
            let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
            assert_eq!(plan.items[0].decision.name(), "placeholder", "{mode:?} {budget}");
        }
    }
}
