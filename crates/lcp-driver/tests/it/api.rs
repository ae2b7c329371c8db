//! The public items of SPEC_08, by name and signature. This fails to compile if one is missing.

use lcp_driver::budget::{
    CodeAwareEstimator, HeuristicEstimator, RenderDecision, TokenEstimator, allocate_budget,
    resolve_priorities,
};
use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, OutputMode, Verbosity, render_placeholder,
};
use lcp_types::{Block, BlockType, Priority, Role};

#[test]
fn public_items_match_spec_08_signatures() {
    let _: for<'a, 'b> fn(
        &'a [Block<'b>],
        u32,
        &dyn TokenEstimator,
        OutputMode,
    ) -> Vec<RenderDecision> = allocate_budget;
    let _: for<'a, 'b> fn(&'a [Block<'b>]) -> Vec<Priority> = resolve_priorities;
    let _: for<'a, 'b> fn(&'a Block<'b>, u32, OutputMode) -> String = render_placeholder;
    let _: for<'d, 'a, 'b, 'c> fn(
        &'d DefaultDriver,
        &'a [Block<'b>],
        &'c DriverConfig,
    ) -> Result<String, DriverError> = DefaultDriver::render;

    let config = DriverConfig {
        token_budget: Some(1),
        verbosity: Verbosity::Adaptive,
        ..DriverConfig::default()
    };
    let (copied, cloned) = (config.verbosity, config.clone());
    assert_eq!((copied, cloned), (Verbosity::Adaptive, config));
    assert_eq!(Verbosity::ALL, [Verbosity::Full, Verbosity::Summary, Verbosity::Adaptive]);
    assert_eq!(OutputMode::ALL, [OutputMode::Xml, OutputMode::Markdown, OutputMode::Minimal]);

    let placeholder = RenderDecision::Placeholder {
        block_type: BlockType::Code,
        description: String::new(),
        omitted_tokens: 1,
    };
    let decisions =
        [RenderDecision::Full, RenderDecision::Summary, placeholder, RenderDecision::Omit];
    assert_eq!(
        decisions.map(|decision| decision.name()),
        ["full", "summary", "placeholder", "omit"]
    );

    let estimators: [Box<dyn TokenEstimator>; 2] =
        [Box::new(HeuristicEstimator), Box::new(CodeAwareEstimator)];
    assert!(estimators.iter().all(|estimator| estimator.estimate("12345678") == 2));
}

/// Any tokenizer can replace the heuristic.
#[test]
fn estimators_are_pluggable() {
    struct Lines;
    impl TokenEstimator for Lines {
        fn estimate(&self, text: &str) -> u32 {
            u32::try_from(text.lines().count()).unwrap()
        }
    }
    let blocks = [Block::conversation(Role::User, "a\nb\nc\nd")];
    let decide = |budget| allocate_budget(&blocks, budget, &Lines, OutputMode::Xml);
    assert_eq!(decide(8), [RenderDecision::Full]);
    assert!(matches!(decide(7)[0], RenderDecision::Placeholder { omitted_tokens: 4, .. }));
    assert_eq!(decide(2), [RenderDecision::Omit]);
}
