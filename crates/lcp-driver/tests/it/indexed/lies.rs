//! An index is only a hint: even if it is wrong, the budget holds, and the text shows the blocks
//! that were read.

use lcp_driver::{DefaultDriver, DriverConfig, FullReadReason, OutputMode, PlanSource};
use lcp_types::{
    Annotation, Block, BlockIndex, CarriedLevel, Priority, Role, Status, ToolCallEntry,
};
use proptest::prelude::*;

use super::{Indexed, check_lie};
use crate::packs::{O200K, any_pack, bare_file, file, priority, tag};

fn blocks() -> Vec<Block<'static>> {
    let mut blocks = vec![
        file("src/a.rs", 20),
        bare_file("src/b.rs", 20),
        Block::conversation_with_call(Role::Assistant, "Let me look.", "c1"),
        Block::tool_result("grep", Status::Ok, "a line"),
        Block::conversation(Role::User, "First?"),
        Block::conversation(Role::User, "Which one is slow?"),
        bare_file("src/c.rs", 900),
        bare_file("src/d.rs", 20),
    ];
    blocks.extend([
        priority(0, Priority::High),
        priority(7, Priority::Low),
        tag(1, "rank=0.5"),
        tag(1, "passages=1-9:300"),
        tag(3, "tool_call_id=c1"),
        tag(4, "pinned"),
        Block::new(CarriedLevel::Tags.to_extension(7, "d")),
        Block::new(Annotation::summary(7, "the last file")),
    ]);
    blocks
}

type Lie = fn(&mut BlockIndex);

/// Returns whether a wrong index is noticed within this budget.
fn noticed(budget: u32, lie: impl FnOnce(&mut BlockIndex)) -> bool {
    let mut source = Indexed::new(blocks(), &[&O200K]);
    lie(&mut source.facts);
    let config = DriverConfig { token_budget: Some(budget), ..DriverConfig::default() };
    check_lie(&DefaultDriver::new(O200K), &source, &config)
}

#[test]
fn correct_index_is_not_refused() {
    for budget in [0, 50, 150, 400, 800, 3_000] {
        assert!(!noticed(budget, |_| ()));
    }
}

#[test]
fn wrong_index_entries_are_detected() {
    let lies: [(&str, Lie); 20] = [
        ("a content", |facts| facts.costs[0].contents[6] += 1),
        ("a line", |facts| facts.costs[0].modes[0].line[6] -= 1),
        ("one token", |facts| facts.costs[0].modes[0].full[6] = 1),
        ("the most tokens", |facts| facts.costs[0].modes[0].line[6] = u32::MAX),
        ("a full cost", |facts| facts.costs[0].modes[0].full[0] -= 1),
        ("a level", |facts| facts.costs[0].modes[0].levels[0].tokens -= 1),
        ("no levels", |facts| facts.costs[0].modes[0].levels.clear()),
        ("a priority", |facts| facts.priorities[0].1 = Priority::Critical),
        ("no priorities", |facts| facts.priorities.clear()),
        ("no pins", |facts| facts.pinned.clear()),
        ("a pin", |facts| facts.pinned.push(6)),
        ("a rank", |facts| facts.ranks[0].1 = 0.25),
        ("no calls", |facts| facts.calls.clear()),
        ("another id", |facts| facts.calls[1].id += 1),
        ("a result", |facts| facts.calls[0].is_result = true),
        ("an older question", |facts| facts.newest_user = Some(4)),
        ("no question", |facts| facts.newest_user = None),
        ("no passages", |facts| facts.passages.clear()),
        ("passages", |facts| facts.passages.push(7)),
        ("another type", |facts| facts.types[7] = 0x05),
    ];
    for (name, lie) in lies {
        // All blocks are shown, one of them as a placeholder.
        assert!(noticed(1_000, lie) || noticed(20_000, lie), "{name}");
    }
}

#[test]
fn wrong_annotation_targets_are_detected() {
    assert!(noticed(1_000, |facts| facts.annotations[0].1 = 9));
    assert!(noticed(1_000, |facts| facts.annotations[0].1 = 2));
    assert!(noticed(1_000, |facts| {
        facts.annotations.pop();
    }));
}

/// The last annotation counts. An index that omits it makes a block Critical that is not, and no
/// block that was read contradicts it.
#[test]
fn revoked_critical_priority_does_not_exceed_the_budget() {
    let critical = priority(0, Priority::Critical);
    let mut source =
        Indexed::new(vec![file("src/a.rs", 200), critical.clone(), critical], &[&O200K]);
    source.facts.annotations.pop();
    source.blocks[2] = priority(0, Priority::Low);
    let config = DriverConfig { token_budget: Some(60), ..DriverConfig::default() };
    let driver = DefaultDriver::new(O200K);
    let rendered = driver.render_source(&source, &config).unwrap();
    assert_eq!(rendered.source, PlanSource::AllBlocks(FullReadReason::OverBudget));
    assert!(rendered.used_tokens <= 60, "{}", rendered.used_tokens);
}

#[test]
fn inconsistent_index_columns_are_refused() {
    let lies: [Lie; 16] = [
        |facts| facts.types.truncate(4),
        |facts| facts.types.push(2),
        |facts| facts.costs[0].contents.truncate(3),
        |facts| facts.costs[0].joins.clear(),
        |facts| facts.costs[0].modes[0].full.push(3),
        |facts| facts.costs[0].modes[0].line.clear(),
        |facts| facts.costs[0].modes[0].levels.reverse(),
        |facts| facts.costs[0].modes[0].levels[0].block = 99,
        |facts| facts.priorities.push((99, Priority::Low)),
        |facts| facts.priorities.reverse(),
        |facts| facts.metadata.push(99),
        |facts| facts.pinned.insert(0, 9),
        |facts| facts.ranks[0].1 = f64::NAN,
        |facts| facts.calls.push(ToolCallEntry { block: 99, id: 0, is_result: false }),
        |facts| facts.annotations.reverse(),
        |facts| facts.newest_user = Some(0),
    ];
    for (at, lie) in lies.into_iter().enumerate() {
        assert!(noticed(500, lie), "{at}");
    }
    let mut empty = Indexed::new(blocks(), &[&O200K]);
    empty.facts = BlockIndex { costs: empty.facts.costs, ..BlockIndex::default() };
    let config = DriverConfig { token_budget: Some(500), ..DriverConfig::default() };
    assert!(check_lie(&DefaultDriver::new(O200K), &empty, &config));
}

/// A text may exceed the budget only because of the blocks themselves, never because of an index
/// alone.
#[test]
fn index_alone_cannot_exceed_the_budget() {
    let blocks = vec![
        Block::conversation_with_call(Role::Assistant, "Let me look.", "c1"),
        Block::tool_result("grep", Status::Ok, "a line\n".repeat(50)),
        tag(0, "pinned"),
        tag(1, "tool_call_id=c1"),
    ];
    let source = Indexed::new(blocks, &[&O200K]);
    let config = DriverConfig { token_budget: Some(30), ..DriverConfig::default() };
    let rendered = super::check(&DefaultDriver::new(O200K), &source, &config);
    assert_eq!(rendered.source, PlanSource::AllBlocks(FullReadReason::OverBudget));
}

/// Sets one number of an index.
fn change(facts: &mut BlockIndex, column: usize, at: usize, to: u32) {
    let block = to % u32::try_from(facts.len().max(1)).unwrap();
    let costs = &mut facts.costs[0];
    let numbers: &mut [u32] = match column {
        0 => &mut costs.contents,
        1 => &mut costs.modes[0].full,
        2 => &mut costs.modes[0].line,
        3 => &mut facts.metadata,
        4 => &mut facts.pinned,
        5 => {
            facts.newest_user = Some(block);
            return;
        }
        6 => {
            let priority = Priority::ALL[at % 5];
            match facts.priorities.binary_search_by_key(&block, |of| of.0) {
                Ok(known) => facts.priorities[known].1 = priority,
                Err(new) => facts.priorities.insert(new, (block, priority)),
            }
            return;
        }
        7 => {
            if let Some(level) = costs.modes[0].levels.get_mut(at) {
                level.tokens = to;
            }
            return;
        }
        8 => {
            if let Some(said) = facts.annotations.get_mut(at) {
                said.1 = block;
            }
            return;
        }
        _ => {
            let new = ToolCallEntry { block, id: 0, is_result: at.is_multiple_of(2) };
            match facts.calls.binary_search_by_key(&block, |of| of.block) {
                Ok(known) => facts.calls[known] = new,
                Err(at) => facts.calls.insert(at, new),
            }
            return;
        }
    };
    if let Some(number) = numbers.get_mut(at) {
        *number = if column > 2 { block } else { to };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// With any wrong index, the budget holds and nothing panics.
    #[test]
    fn wrong_index_never_exceeds_the_budget(
        blocks in any_pack(),
        lies in prop::collection::vec(
            (0usize..10, 0usize..60, prop_oneof![Just(0), Just(u32::MAX), 0u32..200, any::<u32>()]),
            1..6,
        ),
        share in 0u32..=150,
    ) {
        let driver = DefaultDriver::new(O200K);
        let mode = OutputMode::Xml;
        let config = DriverConfig { mode, ..DriverConfig::default() };
        let budget = driver.plan(&blocks, &config).unwrap().used_tokens * share / 100;
        let mut source = Indexed::new(blocks, &[&O200K]);
        for (column, at, to) in lies {
            change(&mut source.facts, column, at, to);
        }
        check_lie(&driver, &source, &DriverConfig { token_budget: Some(budget), ..config });
    }
}
