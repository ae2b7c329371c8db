//! Allocation step by step: five blocks of mixed priorities with a growing budget (SPEC_08,
//! "Verification").

use std::fmt::Write as _;
use std::io::Write as _;

use expect_test::{Expect, expect};
use lcp_driver::budget::{RenderDecision, allocate_budget};
use lcp_driver::{DefaultDriver, DriverConfig, DriverError, OutputMode, Overflow};
use lcp_types::{Block, BlockType, Priority, Role};

use crate::packs::{O200K, bare_file, file, priority, tag};

fn five() -> Vec<Block<'static>> {
    vec![
        bare_file("background.rs", 30),
        file("low.rs", 30),
        file("normal.rs", 30),
        file("high.rs", 30),
        Block::conversation(Role::User, "Why is it slow?"),
        priority(0, Priority::Background),
        priority(1, Priority::Low),
        priority(3, Priority::High),
        priority(4, Priority::Critical),
    ]
}

/// Compares a table with one line per budget: the tokens used, and the decisions for the five
/// blocks.
fn check(config: &DriverConfig, budgets: &[u32], expected: &Expect) {
    let mut table = String::new();
    for &budget in budgets {
        let config = DriverConfig { token_budget: Some(budget), ..config.clone() };
        let plan = DefaultDriver::new(O200K).plan(&five(), &config).unwrap();
        let decided: Vec<_> = plan.items[..5].iter().map(|item| item.decision.name()).collect();
        writeln!(table, "{budget:<5} {:<5} {}", plan.used_tokens, decided.join(" ")).unwrap();
    }
    // `--nocapture` shows the table, as SPEC_08 requires.
    std::io::stdout().write_all(table.as_bytes()).unwrap();
    expected.assert_eq(&table);
}

#[test]
fn budget_allocation_of_five_blocks_with_mixed_priorities() {
    check(
        &DriverConfig::default(),
        &[0, 20, 30, 60, 100, 200, 400, 600, 900, 1_200, 1_500, 1_700],
        &expect![[r"
            0     23    omit omit omit omit full
            20    23    omit omit omit omit full
            30    23    omit omit omit omit full
            60    52    omit rolled_up rolled_up placeholder full
            100   99    omit summary summary summary full
            200   99    omit summary summary summary full
            400   99    omit summary summary summary full
            600   449   omit summary summary full full
            900   816   placeholder summary full full full
            1200  816   placeholder summary full full full
            1500  816   placeholder summary full full full
            1700  816   placeholder summary full full full
        "]],
    );
}

#[test]
fn budget_allocation_under_fill_shows_low_and_background_in_full() {
    let fill = DriverConfig { fill: true, ..DriverConfig::default() };
    check(
        &fill,
        &[900, 1_200, 1_500, 1_700],
        &expect![[r"
            900   899   excerpt summary full full full
            1200  1189  excerpt full full full full
            1500  1489  excerpt full full full full
            1700  1523  full full full full full
        "]],
    );
}

#[test]
fn budget_allocation_in_minimal_mode() {
    let minimal = DriverConfig { mode: OutputMode::Minimal, ..DriverConfig::default() };
    check(
        &minimal,
        &[0, 20, 30, 60, 400, 1_700],
        &expect![[r"
            0     7     omit omit omit omit full
            20    19    omit rolled_up rolled_up rolled_up full
            30    29    omit rolled_up rolled_up placeholder full
            60    46    omit summary summary summary full
            400   398   omit summary summary full full
            1700  761   placeholder summary full full full
        "]],
    );
}

#[test]
fn allocate_budget_gives_a_decision_for_each_block() {
    let blocks = five();
    let decided = allocate_budget(&blocks, 100, &O200K, OutputMode::Xml);
    assert_eq!(decided.len(), blocks.len());
    assert_eq!(decided[4], RenderDecision::Full);
    assert_eq!(decided[5], RenderDecision::Metadata);
}

#[test]
fn denied_overflow_error_has_needed_and_excess_tokens() {
    let blocks = [bare_file("a.rs", 30), priority(0, Priority::Critical)];
    let config = DriverConfig {
        token_budget: Some(100),
        overflow: Overflow::Deny,
        ..DriverConfig::default()
    };
    let driver = DefaultDriver::new(O200K);
    let Err(DriverError::OverBudget { needed, budget: 100, excess }) =
        driver.render(&blocks, &config)
    else {
        panic!("a budget of 100 cannot hold thirty lines");
    };
    assert_eq!(needed - 100, excess);
    let enough = DriverConfig { token_budget: u32::try_from(needed).ok(), ..config };
    assert_eq!(u64::from(driver.plan(&blocks, &enough).unwrap().used_tokens), needed);
}

#[test]
fn ranks_order_blocks_within_a_priority() {
    let blocks = [
        file("unranked.rs", 30),
        file("low.rs", 30),
        file("high.rs", 30),
        tag(1, "rank=0.2"),
        tag(2, "rank=0.9"),
        tag(0, "rank=soon"),
    ];
    let config = DriverConfig { token_budget: Some(700), ..DriverConfig::default() };
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
    let decided: Vec<_> = plan.items[..3].iter().map(|item| item.decision.name()).collect();
    assert_eq!(decided, ["summary", "summary", "full"]);
    assert!(plan.warnings.iter().any(|warning| warning.code.name() == "bad_annotation"));
}

#[test]
fn only_requested_types_are_rendered() {
    let config =
        DriverConfig { types: Some(vec![BlockType::Conversation]), ..DriverConfig::default() };
    let text = DefaultDriver::default().render(&five(), &config).unwrap();
    assert_eq!(
        text,
        "<context>\n<conversation role=\"user\" priority=\"critical\">\nWhy is it slow?\n</conversation>\n</context>\n"
    );
    let none = DriverConfig { types: Some(Vec::new()), ..DriverConfig::default() };
    assert_eq!(DefaultDriver::default().render(&five(), &none).unwrap(), "");
}
