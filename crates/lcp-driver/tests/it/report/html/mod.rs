//! The HTML report, as text and in a browser.

mod browser;
mod page;

use lcp_driver::shares::Shares;
use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, Excerpts, Plan, PlanItem, RenderDecision,
};
use lcp_types::{Block, BlockType, Priority, Role, Status};
use serde_json::Value;

use super::empty_plan;
use crate::packs::{O200K, bare_file, file, priority, source, tag};

/// Returns the JSON in a page.
pub(super) fn data(page: &str) -> Value {
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// Content that a page must show as text and never run.
const HOSTILE: &str = "</script><img src=x onerror=boom()>\u{202e}.rs";

fn blocks() -> Vec<Block<'static>> {
    vec![
        file("src/main.rs", 40),
        bare_file("src/engine.rs", 90),
        Block::tool_result("cargo test", Status::Ok, source(20)),
        Block::conversation(Role::User, "Why does it fail?"),
        bare_file(HOSTILE, 30),
        tag(1, "category=search_results"),
        tag(2, "category=<b>bold</b>"),
        priority(3, Priority::Critical),
        priority(4, Priority::Low),
    ]
}

fn plan(budget: Option<u32>) -> Plan {
    let config = DriverConfig {
        token_budget: budget,
        excerpts: Excerpts::On,
        shares: Some(Shares::agent().with_cap("references", 50).unwrap()),
        ..DriverConfig::default()
    };
    DefaultDriver::new(O200K).plan(&blocks(), &config).unwrap()
}

/// Returns a plan of many blocks without counting tokens.
fn large_plan(blocks: u32, budget: u32) -> Plan {
    let mut left = budget;
    let item = |i: u32| {
        let full_tokens = 20 + i % 977;
        let fits = full_tokens <= left;
        left -= if fits { full_tokens } else { 0 };
        PlanItem {
            block_type: BlockType::Code,
            label: format!("src/{}/file_{i}.rs", i % 40).into(),
            priority: Priority::Normal,
            category: format!("category_{}", i % 7).into(),
            decision: if fits { RenderDecision::Full } else { RenderDecision::RolledUp },
            reason: if fits { DecisionReason::Fits } else { DecisionReason::OverBudget },
            why: std::sync::Arc::default(),
            tokens: if fits { full_tokens } else { 0 },
            full_tokens,
            content_tokens: full_tokens - 10,
        }
    };
    let items: Vec<_> = (0..blocks).map(item).collect();
    let used = items.iter().map(|item| item.tokens).sum();
    Plan { items, ..empty_plan(budget, used) }
}
