//! The token costs of blocks in an index.

use lcp_driver::budget::HeuristicEstimator;
use lcp_driver::{
    DefaultDriver, DriverConfig, IndexCosts, OutputMode, RENDERER_REVISION, RenderDecision,
    ScanCosts, WarningCode,
};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{AlternateLevel, Annotation, Block, EncodingCosts, Role};
use proptest::prelude::*;

use super::Indexed;
use crate::packs::{CL100K, O200K, any_pack};

/// Returns the cost of a decision about block `i` according to the index.
fn indexed_cost(
    costs: &EncodingCosts,
    mode: OutputMode,
    i: usize,
    decision: &RenderDecision,
) -> Option<u32> {
    let of_mode = costs.mode(mode.name()).unwrap();
    let level = |level| {
        let mut levels = of_mode.levels.iter();
        levels.find(|cost| cost.block as usize == i && cost.level == level).map(|cost| cost.tokens)
    };
    match decision {
        RenderDecision::Full => Some(of_mode.full[i]),
        RenderDecision::Detailed => level(AlternateLevel::Detailed),
        RenderDecision::Summary => level(AlternateLevel::Summary),
        RenderDecision::Tags => level(AlternateLevel::Tags),
        RenderDecision::Placeholder { .. } => Some(of_mode.line[i]),
        _ => Some(0),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The costs equal those of plans, in every mode.
    #[test]
    fn index_costs_equal_plan_costs(
        blocks in any_pack(),
        estimator in prop::sample::select(&[O200K, CL100K][..]),
        share in 0u32..=100,
    ) {
        let costs = IndexCosts::new(&estimator).count(&blocks).unwrap();
        prop_assert_eq!((costs.revision, costs.contents.len()), (RENDERER_REVISION, blocks.len()));
        let driver = DefaultDriver::new(estimator);
        for mode in OutputMode::ALL {
            let config = DriverConfig { mode, ..DriverConfig::default() };
            let whole = driver.plan(&blocks, &config).unwrap();
            let budget = Some(whole.used_tokens * share / 100);
            let plan = driver.plan(&blocks, &DriverConfig { token_budget: budget, ..config }).unwrap();
            for (i, (full, item)) in whole.items.iter().zip(&plan.items).enumerate() {
                prop_assert_eq!(costs.contents[i], full.content_tokens);
                prop_assert_eq!(costs.mode(mode.name()).unwrap().full[i], full.full_tokens);
                prop_assert_eq!(indexed_cost(&costs, mode, i, &item.decision), Some(item.tokens));
            }
        }
    }

    /// Counting a few blocks at a time gives the same result as counting all.
    #[test]
    fn costs_of_a_source_equal_those_of_all_blocks(blocks in any_pack()) {
        let all = IndexCosts::new(&O200K).count(&blocks);
        let source = Indexed::new(blocks, &[]);
        prop_assert_eq!(IndexCosts::new(&O200K).count_source(&source).unwrap(), all);
    }

    /// Counting blocks as they are read gives the same result as counting all, in each mode.
    #[test]
    fn costs_of_a_scan_equal_those_of_all_blocks(blocks in any_pack(), batch in 1usize..9) {
        let all = IndexCosts::new(&O200K).count(&blocks).unwrap();
        let source = Indexed::new(blocks.clone(), &[]);
        for (at, mode) in OutputMode::ALL.into_iter().enumerate() {
            let scan = || {
                let mut costs = ScanCosts::new(&O200K, mode).unwrap();
                blocks.chunks(batch).for_each(|batch| costs.add(batch));
                costs
            };
            let expected = EncodingCosts { modes: vec![all.modes[at].clone()], ..all.clone() };
            let config = DriverConfig { mode, ..DriverConfig::default() };
            let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
            // Plans from costs warn of special tokens too.
            let mut codes = plan.warnings.iter().map(|warning| warning.code);
            let warns = codes.any(|code| code != WarningCode::SpecialTokens);
            let expected = (!warns).then_some(expected);
            prop_assert_eq!(scan().finish(&source).unwrap(), expected);
        }
    }

    /// Counting only the new blocks gives the same result as counting all.
    #[test]
    fn incremental_costs_equal_a_full_count(blocks in any_pack(), start in 0usize..80) {
        let start = start.min(blocks.len());
        let old = IndexCosts::new(&O200K).count(&blocks[..start]).unwrap();
        let all = IndexCosts::new(&O200K).count(&blocks);
        let counter = || IndexCosts::new(&O200K).starting_at(start, &old);
        prop_assert_eq!(counter().count(&blocks), all.clone());
        prop_assert_eq!(counter().count_source(&Indexed::new(blocks, &[])).unwrap(), all);
    }
}

/// The last annotation wins, even if it is read with another block before.
#[test]
fn annotations_of_a_source_are_read_with_their_targets() {
    let turn = |at: usize| Block::conversation(Role::User, format!("turn {at} ").repeat(at % 50));
    let mut blocks: Vec<_> = (0..200).map(turn).collect();
    let summary =
        |target: u64, text: &str| Block::new(Annotation::summary(target, text.to_owned()));
    blocks[70] = summary(130, "first");
    blocks.extend((0..130).map(|target| summary(target, "a summary at the end")));
    blocks.push(summary(130, "the last one is longer"));
    let mut steps = 0;
    let all = IndexCosts::new(&O200K).count(&blocks);
    let count = blocks.len();
    let source = Indexed::new(blocks, &[]);
    let costs = IndexCosts::new(&O200K).progress(&mut || steps += 1).count_source(&source);
    assert_eq!(costs.unwrap(), all);
    assert_eq!(steps, count);
    assert_eq!(IndexCosts::new(&HeuristicEstimator).count_source(&source).unwrap(), None);
}

#[test]
fn costs_of_another_revision_or_encoding_are_recounted() {
    let blocks = [Block::conversation(Role::User, "hello"), Block::raw(0x42, vec![1])];
    let right = IndexCosts::new(&O200K).count(&blocks).unwrap();
    let wrong = EncodingCosts { contents: vec![77, 77], ..right.clone() };
    assert_eq!(
        IndexCosts::new(&O200K).starting_at(2, &wrong).count(&blocks).unwrap().contents,
        [77, 77]
    );
    let other_revision = EncodingCosts { revision: RENDERER_REVISION + 1, ..wrong.clone() };
    let other_encoding = EncodingCosts { encoding: "cl100k_base".to_owned(), ..wrong.clone() };
    let without_modes = EncodingCosts { modes: Vec::new(), ..wrong.clone() };
    let short = EncodingCosts { contents: vec![77], ..wrong };
    for old in [other_revision, other_encoding, without_modes, short] {
        assert_eq!(IndexCosts::new(&O200K).starting_at(2, &old).count(&blocks).unwrap(), right);
    }
}

#[test]
fn non_additive_estimators_have_no_index_costs() {
    let blocks = [Block::conversation(Role::User, "hello")];
    assert_eq!(IndexCosts::new(&HeuristicEstimator).count(&blocks), None);
    assert_eq!(IndexCosts::new(&Tiktoken::new(Encoding::P50kBase)).count(&blocks), None);
}
