//! A text that is rendered with an index equals one rendered from all blocks.

use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, Excerpts, FullReadReason, Objective, OutputMode,
    Overflow, PlanSource, SourceRenderError, ValueModel, Verbosity,
};
use lcp_tokens::{Encoding, HeuristicEstimator, Tiktoken};
use lcp_types::{Block, BlockType, Priority, Role};
use proptest::prelude::*;

use super::{Indexed, check};
use crate::packs::{CL100K, O200K, any_config, any_pack, bare_file, file, priority, tag};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn indexed_text_equals_text_of_all_blocks(
        blocks in any_pack(),
        estimator in prop::sample::select(&[O200K, CL100K][..]),
        mode in prop::sample::select(&OutputMode::ALL[..]),
        fill in any::<bool>(),
        types in prop::option::weighted(0.2, prop::sample::subsequence(BlockType::ALL, 1..5)),
        excerpts in prop::sample::select(&[Excerpts::On, Excerpts::Off, Excerpts::WithFill][..]),
        share in 0u32..=200,
    ) {
        let driver = DefaultDriver::new(estimator);
        let config = DriverConfig { mode, fill, excerpts, types, ..DriverConfig::default() };
        let whole = driver.plan(&blocks, &config).unwrap().used_tokens;
        let config = DriverConfig { token_budget: Some(whole * share / 100), ..config };
        let source = Indexed::new(blocks, &[&O200K, &CL100K]);
        let rendered = check(&driver, &source, &config);
        let over = rendered.used_tokens > whole * share / 100;
        let by_index = matches!(rendered.source, PlanSource::Index { .. });
        prop_assert!(by_index || over && rendered.source == PlanSource::AllBlocks(FullReadReason::OverBudget));
    }

    /// This holds for any configuration.
    #[test]
    fn indexed_text_is_equal_for_any_configuration(
        blocks in any_pack(),
        config in any_config(),
        share in 0u32..=200,
    ) {
        let driver = DefaultDriver::new(O200K);
        let whole = driver.plan(&blocks, &DriverConfig { mode: config.mode, ..DriverConfig::default() });
        let budget = whole.unwrap().used_tokens * share / 100;
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let rendered = check(&driver, &Indexed::new(blocks, &[&O200K]), &config);
        let asked = rendered.source == PlanSource::AllBlocks(FullReadReason::ConfigNeedsBlocks);
        prop_assert_eq!(asked, !config.is_planned_by_costs());
    }
}

fn blocks() -> Vec<Block<'static>> {
    vec![
        file("src/a.rs", 90),
        bare_file("src/b.rs", 90),
        Block::conversation(Role::User, "Which one is slow?"),
        priority(1, Priority::Critical),
    ]
}

fn config(budget: u32) -> DriverConfig {
    DriverConfig { token_budget: Some(budget), ..DriverConfig::default() }
}

#[test]
fn only_shown_blocks_are_read() {
    let source = Indexed::new(blocks(), &[&O200K]);
    let config = DriverConfig { types: Some(vec![BlockType::Conversation]), ..config(200) };
    let rendered = check(&DefaultDriver::new(O200K), &source, &config);
    assert_eq!(rendered.source, PlanSource::Index { read: 1, passed_over: 0 });
}

#[test]
fn all_blocks_are_read_if_index_costs_are_insufficient() {
    let why = |driver: DefaultDriver, config: DriverConfig| match check(
        &driver,
        &Indexed::new(blocks(), &[&O200K]),
        &config,
    )
    .source
    {
        PlanSource::AllBlocks(why) => why,
        PlanSource::Index { .. } => panic!("the index was not enough"),
    };
    let driver = || DefaultDriver::new(O200K);
    assert_eq!(why(driver(), DriverConfig::default()), FullReadReason::ConfigNeedsBlocks);
    assert_eq!(
        why(driver(), DriverConfig { verbosity: Verbosity::Summary, ..config(90) }),
        FullReadReason::ConfigNeedsBlocks
    );
    let value = Objective::Value(ValueModel::default());
    assert_eq!(
        why(driver(), DriverConfig { objective: value, ..config(90) }),
        FullReadReason::ConfigNeedsBlocks
    );
    assert_eq!(why(DefaultDriver::new(CL100K), config(90)), FullReadReason::NoCosts);
    assert_eq!(
        why(DefaultDriver::new(Tiktoken::new(Encoding::P50kBase)), config(90)),
        FullReadReason::NoCosts
    );
    assert_eq!(why(DefaultDriver::new(HeuristicEstimator), config(90)), FullReadReason::NoCosts);
    let mut source = Indexed::new(blocks(), &[&O200K]);
    source.facts.costs[0].revision += 1;
    let rendered = check(&driver(), &source, &config(90));
    assert_eq!(rendered.source, PlanSource::AllBlocks(FullReadReason::NoCosts));
}

#[test]
fn unavoidable_overflow_is_reported_or_denied() {
    let source = Indexed::new(blocks(), &[&O200K]);
    let driver = DefaultDriver::new(O200K);
    let rendered = check(&driver, &source, &config(90));
    assert!(rendered.used_tokens > 90);
    // A priority from the index is not trusted without reading the block, but pins are.
    assert_eq!(rendered.source, PlanSource::AllBlocks(FullReadReason::OverBudget));
    let pins = vec![file("a.rs", 90), tag(0, "pinned")];
    let pinned = check(&driver, &Indexed::new(pins, &[&O200K]), &config(90));
    assert!(pinned.used_tokens > 90);
    assert!(matches!(pinned.source, PlanSource::Index { .. }));
    let denied = DriverConfig { overflow: Overflow::Deny, ..config(90) };
    let expected = driver.render(&source.blocks, &denied).unwrap_err();
    match driver.render_source(&source, &denied).unwrap_err() {
        SourceRenderError::Driver(error @ DriverError::OverBudget { .. }) => {
            assert_eq!(error, expected);
        }
        error => panic!("{error}"),
    }
}

#[test]
fn empty_pack_renders_empty_text() {
    let rendered =
        check(&DefaultDriver::new(O200K), &Indexed::new(Vec::new(), &[&O200K]), &config(0));
    assert_eq!((rendered.text.as_str(), rendered.blocks), ("", 0));
}

/// Of the blocks that are not shown, a plan by an index reads only those with passages.
#[test]
fn plan_of_passages_reads_only_blocks_with_passages() {
    let mut blocks: Vec<_> = (0..200).map(|at| bare_file(&format!("src/f{at}.rs"), 60)).collect();
    for at in 0..200 {
        blocks.push(tag(at, &format!("rank={}", 200 - at)));
    }
    for at in 10..20 {
        blocks.push(tag(at, "passages=1-8:700 21-25:900 40-60:100"));
    }
    let source = Indexed::new(blocks, &[&O200K]);
    let driver = DefaultDriver::new(O200K);
    for budget in [900, 4_000] {
        let config = DriverConfig {
            token_budget: Some(budget),
            excerpts: Excerpts::On,
            ..DriverConfig::default()
        };
        let rendered = check(&driver, &source, &config);
        let PlanSource::Index { read, .. } = rendered.source else { panic!("{rendered:?}") };
        // Each of the blocks with passages has two annotations, the others have one.
        assert!(read <= 10 * 3 + rendered.shown * 2, "{read} of {}", rendered.shown);
        assert!(rendered.text.contains("src/f15.rs"), "{}", rendered.text);
    }
}
