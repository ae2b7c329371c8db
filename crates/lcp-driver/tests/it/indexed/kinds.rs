//! Packs of thousands of blocks, most of them never visited.

use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, OutputMode, PlanSource};
use lcp_types::{Block, CarriedLevel, Priority, Role, Status};
use proptest::prelude::*;

use super::{Indexed, check};
use crate::packs::{CL100K, O200K, bare_file, priority, tag};

/// Returns `count` words.
fn words(count: usize) -> String {
    ["all", "these", "words", "are", "one", "token", "each"]
        .iter()
        .cycle()
        .take(count)
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns one of a few kinds of blocks.
fn kind(kind: u8) -> Block<'static> {
    match kind % 6 {
        0 => Block::conversation(Role::Assistant, "Done."),
        1 => Block::conversation(Role::User, "Go on, please."),
        2 => Block::tool_result("grep", Status::Ok, words(40)),
        3 => Block::conversation(Role::Assistant, words(25)).with_summary("words"),
        4 => bare_file("a.rs", 3),
        _ => Block::conversation(Role::Assistant, words(400)),
    }
}

/// Returns an annotation of a block, for some marks.
fn annotation(target: usize, of: u16) -> Option<Block<'static>> {
    let target = target as u64;
    match of {
        0..=3 => Some(priority(target, Priority::Critical)),
        4..=200 => Some(priority(target, Priority::ALL[1 + usize::from(of % 4)])),
        201..=204 => Some(tag(target, "rank=0.5")),
        205 => Some(tag(target, "pinned")),
        206..=208 => Some(tag(target, "tool_call_id=c1")),
        209..=212 => Some(Block::new(CarriedLevel::Tags.to_extension(target, "a, b"))),
        _ => None,
    }
}

fn pack(mut blocks: Vec<Block<'static>>, marks: &[u16]) -> Indexed {
    let marks = marks.iter().cycle().take(blocks.len()).enumerate();
    let annotations: Vec<_> = marks.filter_map(|(target, of)| annotation(target, *of)).collect();
    blocks.extend(annotations);
    Indexed::new(blocks, &[&O200K, &CL100K])
}

fn any_config(mode: OutputMode, fill: bool, budget: u32) -> DriverConfig {
    DriverConfig {
        mode,
        fill,
        excerpts: Excerpts::Off,
        token_budget: Some(budget),
        ..DriverConfig::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn indexed_text_equals_full_text_for_few_block_kinds(
        kinds in prop::collection::vec(any::<u8>(), 1..200),
        marks in prop::collection::vec(0u16..1_000, 1..500),
        mode in prop::sample::select(&OutputMode::ALL[..]),
        fill in any::<bool>(),
        budget in prop_oneof![0u32..400, 0u32..8_000],
    ) {
        let blocks = kinds.iter().cycle().take(2_500).map(|of| kind(*of)).collect();
        check(&DefaultDriver::new(O200K), &pack(blocks, &marks), &any_config(mode, fill, budget));
    }

    #[test]
    fn indexed_text_equals_full_text_for_all_block_sizes(
        sizes in prop::collection::vec((0usize..120, any::<bool>()), 600..1_200),
        marks in prop::collection::vec(0u16..400, 1..500),
        mode in prop::sample::select(&OutputMode::ALL[..]),
        fill in any::<bool>(),
        budget in prop_oneof![0u32..400, 0u32..8_000],
    ) {
        let block = |(size, has_summary): (usize, bool)| {
            let block = Block::conversation(Role::Assistant, words(size));
            if has_summary { block.with_summary(words(size % 11)) } else { block }
        };
        let blocks = sizes.into_iter().map(block).collect();
        check(&DefaultDriver::new(CL100K), &pack(blocks, &marks), &any_config(mode, fill, budget));
    }
}

#[test]
fn index_avoids_reading_most_blocks() {
    let driver = DefaultDriver::new(O200K);
    let blocks: Vec<_> = (0..6_000u32).map(|at| kind((at % 6).to_le_bytes()[0])).collect();
    let source = pack(blocks, &[999, 100, 101, 102, 103, 204, 999]);
    for mode in OutputMode::ALL {
        for budget in [60, 600, 3_000] {
            let rendered = check(&driver, &source, &any_config(mode, false, budget));
            let PlanSource::Index { read, passed_over } = rendered.source else {
                panic!("{:?}", rendered.source);
            };
            assert!(passed_over > 2_000, "{passed_over} of 6,000 within {budget}");
            assert!(read < 700, "{read} were read");
        }
    }
}
