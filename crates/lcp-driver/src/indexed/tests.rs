//! Checks that dropped blocks do not change the allocation, by comparing it with an allocation over
//! all blocks for arbitrary costs.

use std::collections::BTreeMap;

use lcp_types::{
    AlternateCost, AlternateLevel, BlockIndex, BlockType, EncodingCosts, ModeCosts, Priority,
    ToolCallEntry,
};
use proptest::prelude::*;

use crate::allocate::{Allocation, AllocationInput, Excerpter, Selection, allocate_tiers};
use crate::config::{DriverConfig, Excerpts};
use crate::indexed::candidates::IndexCandidates;
use crate::indexed::columns::Columns;

struct NoExcerpts;

impl Excerpter for NoExcerpts {
    fn excerpt_cost(&mut self, _: usize, _: u64) -> Option<u64> {
        None
    }
}

/// The properties of a block.
#[derive(Clone, Copy, Debug)]
struct TestBlock {
    full: u32,
    line: u32,
    /// The costs of the detailed level, the summary and the tags.
    levels: [Option<u32>; 3],
    priority: Option<u8>,
    rank: Option<u8>,
    pinned: bool,
    call: Option<(u32, bool)>,
    is_metadata: bool,
}

/// Generates kinds of blocks. Most have usual properties, some have rare ones.
fn any_of(costs: std::ops::Range<u32>) -> impl Strategy<Value = TestBlock> {
    let level = || prop::option::weighted(0.2, costs.clone());
    let limits = (
        prop::option::weighted(0.4, 0u8..5),
        prop::option::weighted(0.02, 0u8..4),
        prop::bool::weighted(0.005),
        prop::option::weighted(0.02, (0u32..4, any::<bool>())),
        prop::bool::weighted(0.02),
    );
    let line = prop_oneof![4 => 8u32..14, 1 => costs.clone()];
    (costs.clone(), line, [level(), level(), level()], limits).prop_map(
        |(full, line, levels, (priority, rank, pinned, call, is_metadata))| TestBlock {
            full,
            line,
            levels,
            priority,
            rank,
            pinned,
            call,
            is_metadata,
        },
    )
}

/// Generates packs: some repeat a few kinds of blocks, in others every block is different.
fn any_pack() -> impl Strategy<Value = Vec<TestBlock>> {
    let kinds = prop::collection::vec(any_of(1..60), 1..6);
    let few = (kinds, prop::collection::vec((0usize..6, any_of(1..60)), 50..1_500));
    let few = few.prop_map(|(kinds, places)| {
        let of = |(kind, odd): (usize, TestBlock)| kinds.get(kind).copied().unwrap_or(odd);
        // Only a few blocks have a call id, independent of their kind.
        let call = |(at, of): (usize, TestBlock)| TestBlock {
            call: of.call.filter(|_| at % 97 == 0),
            ..of
        };
        places.into_iter().map(of).enumerate().map(call).collect()
    });
    prop_oneof![
        few,
        prop::collection::vec(any_of(1..400), 0..1_500),
        // Calls and their results, most of them adjacent.
        prop::collection::vec((any_of(1..90), 0u32..9), 0..1_200).prop_map(|pack| {
            let call = |(at, (of, odd)): (u32, (TestBlock, u32))| {
                let id = if odd == 0 { at % 7 } else { 10 + at / 3 };
                TestBlock { call: (odd < 7).then_some((id, at % 3 > 0)), ..of }
            };
            (0..).zip(pack).map(call).collect()
        }),
        prop::collection::vec(any_of(0..12), 0..200),
    ]
}

fn facts_of(pack: &[TestBlock], newest: Option<usize>) -> (BlockIndex, EncodingCosts) {
    let mut facts = BlockIndex {
        types: vec![BlockType::Conversation.code(); pack.len()],
        ..BlockIndex::default()
    };
    let mut mode = ModeCosts::default();
    let mut contents = Vec::new();
    for (block, of) in (0u32..).zip(pack) {
        if of.is_metadata {
            facts.types[block as usize] = BlockType::Extension.code();
            facts.metadata.push(block);
        }
        mode.full.push(of.full);
        mode.line.push(of.line);
        contents.push(of.full / 2);
        for (level, tokens) in AlternateLevel::ALL.into_iter().zip(of.levels) {
            mode.levels.extend(tokens.map(|tokens| AlternateCost { block, level, tokens }));
        }
        let priority = of.priority.map(|at| Priority::ALL[usize::from(at)]);
        // Only a few blocks are Critical, because otherwise no budget is left.
        let priority = priority.filter(|of| *of != Priority::Critical || block % 50 == 0);
        facts.priorities.extend(priority.map(|priority| (block, priority)));
        facts.ranks.extend(of.rank.map(|rank| (block, f64::from(rank))));
        if of.pinned {
            facts.pinned.push(block);
        }
        facts.calls.extend(of.call.map(|(id, is_result)| ToolCallEntry { block, id, is_result }));
    }
    let newest = newest.map(|at| at % pack.len().max(1)).filter(|&at| at < pack.len());
    let newest = newest.filter(|&at| !pack[at].is_metadata);
    facts.newest_user = newest.and_then(|at| u32::try_from(at).ok());
    let joins = vec![0; pack.len().div_ceil(8)];
    let costs = EncodingCosts { contents, joins, modes: vec![mode], ..EncodingCosts::default() };
    (facts, costs)
}

/// Returns the allocation and the selection of each block.
fn walked(
    candidates: &IndexCandidates,
    budget: u32,
    fill: bool,
) -> (Allocation, BTreeMap<u32, Selection>) {
    let input = AllocationInput {
        candidates: &candidates.candidates,
        budget: u64::from(budget),
        envelope: 5,
        line: 12,
        fill,
        shares: &[],
        excerpts: false,
        groups: &candidates.groups,
        first: candidates.first,
    };
    let allocation = allocate_tiers(input, &mut NoExcerpts);
    let chosen = candidates.block_of.iter().zip(&allocation.chosen);
    let chosen = chosen.filter_map(|(block, choice)| Some((*block, (*choice)?))).collect();
    (allocation, chosen)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn dropped_blocks_do_not_change_the_plan(
        pack in any_pack(),
        newest in prop::option::of(any::<usize>()),
        budget in prop_oneof![0u32..300, 0u32..3_000, 0u32..60_000],
        fill in any::<bool>(),
    ) {
        let (facts, costs) = facts_of(&pack, newest);
        let columns = Columns::new(&facts, &costs, &costs.modes[0]).unwrap();
        let config = DriverConfig { fill, excerpts: Excerpts::Off, ..DriverConfig::default() };
        let some = IndexCandidates::new(columns, &config, budget);
        // No set of blocks costs more than this budget, so no block is dropped.
        let all = IndexCandidates::new(columns, &config, u32::MAX);
        prop_assert_eq!(all.passed_over, 0);
        prop_assert_eq!(some.candidates.len() + some.passed_over, all.candidates.len());
        prop_assert_eq!((some.rest, some.blocks), (all.rest, all.blocks));
        let (of_some, chosen) = walked(&some, budget, fill);
        let (of_all, expected) = walked(&all, budget, fill);
        prop_assert_eq!(chosen, expected);
        prop_assert_eq!(
            (of_some.outcome, of_some.at_ceiling, of_some.left),
            (of_all.outcome, of_all.at_ceiling, of_all.left)
        );
        prop_assert_eq!(some.rolled_up(&of_some), all.rolled_up(&of_all));
    }
}

/// Blocks are also dropped if all of them have different costs.
#[test]
fn few_of_many_blocks_become_candidates() {
    let mut state = 7u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let pack: Vec<TestBlock> = (0..100_000)
        .map(|_| TestBlock {
            full: 15 + random(2_000),
            line: 9 + random(5),
            levels: [None, (random(3) == 0).then(|| 12 + random(60)), None],
            priority: (random(2) == 0).then(|| 1 + u8::try_from(random(4)).unwrap()),
            rank: None,
            pinned: false,
            call: None,
            is_metadata: false,
        })
        .collect();
    let (facts, costs) = facts_of(&pack, None);
    let columns = Columns::new(&facts, &costs, &costs.modes[0]).unwrap();
    let candidates = IndexCandidates::new(columns, &DriverConfig::default(), 5_000);
    assert!(
        candidates.candidates.len() < 10_000,
        "{} of 100,000 are walked",
        candidates.candidates.len()
    );
    let all = IndexCandidates::new(columns, &DriverConfig::default(), u32::MAX);
    assert_eq!(walked(&candidates, 5_000, false).1, walked(&all, 5_000, false).1);
}
