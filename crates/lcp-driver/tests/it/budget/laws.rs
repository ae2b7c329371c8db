//! The laws of RFC 0002 §5 on real text: random packs of difficult content, all modes, both
//! encodings, and budgets from 0 to twice the full text.

use lcp_driver::budget::TokenEstimator;
use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, Excerpts, OutputMode, Plan, PlanItem,
    RenderDecision, ShareUsage, Verbosity, WarningCode,
};
use lcp_tokens::{CodeAwareEstimator, Encoding, HeuristicEstimator, Tiktoken};
use lcp_types::{Block, Priority};
use proptest::prelude::*;

use crate::packs::{CL100K, O200K, any_config, any_pack};

fn any_mode() -> impl Strategy<Value = OutputMode> {
    prop::sample::select(&OutputMode::ALL[..])
}

/// Returns a budget of `share` percent of the full text, from 0 to 200.
fn budget_of(driver: &DefaultDriver, blocks: &[Block<'_>], mode: OutputMode, share: u32) -> u32 {
    let config = DriverConfig { mode, ..DriverConfig::default() };
    driver.plan(blocks, &config).unwrap().used_tokens * share / 100
}

/// Returns the tokens of the Critical blocks, including the envelope; 0 if there are no such
/// blocks.
fn base(blocks: &[Block<'_>], driver: &DefaultDriver, config: &DriverConfig) -> u32 {
    let DriverConfig { mode, line_numbers, .. } = *config;
    let config =
        DriverConfig { mode, line_numbers, token_budget: Some(0), ..DriverConfig::default() };
    driver.plan(blocks, &config).unwrap().used_tokens
}

fn adds_up(plan: &Plan) -> bool {
    let blocks: u32 = plan.items.iter().map(|item| item.tokens).sum();
    blocks + plan.overhead_tokens == plan.used_tokens
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Exact and bounded: the planned count equals an independent count of the text. It is within
    /// the budget, or the text has only Critical blocks.
    #[test]
    fn used_tokens_are_exact_and_within_budget(
        blocks in any_pack(),
        config in any_config(),
        estimator in prop::sample::select(&[O200K, CL100K][..]),
        share in 0u32..=200,
    ) {
        let driver = DefaultDriver::new(estimator);
        let mode = config.mode;
        let budget = budget_of(&driver, &blocks, mode, share);
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let rendered = driver.run(&blocks, &config).unwrap();
        let (plan, text) = (&rendered.plan, &rendered.text);
        prop_assert_eq!(plan.used_tokens, estimator.estimate(text));
        prop_assert!(adds_up(plan));
        prop_assert!(plan.used_tokens <= budget.max(base(&blocks, &driver, &config)));
        // The use of shares is the cost of their blocks. Only Critical blocks exceed a cap.
        if config.shares.is_some() {
            let of_shares: u32 = plan.shares.iter().map(|share| share.used).sum();
            prop_assert_eq!(of_shares + plan.overhead_tokens, plan.used_tokens);
            let over = |share: &ShareUsage| share.cap.is_some_and(|cap| share.used > cap);
            let warned = plan.warnings.iter().any(|w| w.code == WarningCode::OverShareCap);
            prop_assert_eq!(plan.shares.iter().any(over), warned);
        }
        // The costs of shown blocks are exact counts of their parts, without a share of any
        // difference.
        for (i, item) in plan.items.iter().enumerate() {
            if item.decision == RenderDecision::Full {
                prop_assert_eq!(item.tokens, item.full_tokens, "block {}", i);
            }
        }
    }

    /// Estimators whose counts do not add up keep the budget by their own count of the whole text.
    #[test]
    fn non_additive_estimators_stay_within_budget(
        blocks in any_pack(),
        config in any_config(),
        which in 0usize..4,
        share in 0u32..=200,
    ) {
        let estimators: [Box<dyn Fn() -> DefaultDriver>; 4] = [
            Box::new(|| DefaultDriver::new(HeuristicEstimator)),
            Box::new(|| DefaultDriver::new(CodeAwareEstimator)),
            Box::new(|| DefaultDriver::new(Tiktoken::new(Encoding::P50kBase))),
            Box::new(|| DefaultDriver::new(Tiktoken::new(Encoding::R50kBase))),
        ];
        let driver = estimators[which]();
        let mode = config.mode;
        let budget = budget_of(&driver, &blocks, mode, share);
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = driver.plan(&blocks, &config).unwrap();
        prop_assert!(plan.used_tokens <= budget.max(base(&blocks, &driver, &config)));
        prop_assert!(adds_up(&plan));
        // Caps also hold by the final count.
        for share in plan.shares.iter().filter(|share| share.cap.is_some_and(|cap| share.used > cap)) {
            let others = plan.items.iter().filter(|item| {
                *item.category == *share.name
                    && !matches!(item.reason, DecisionReason::Critical | DecisionReason::Pinned)
                    && item.tokens > 0
            });
            prop_assert_eq!(others.count(), 0, "{:?}", share);
        }
    }

    /// Every block that is not Background is visible or counted, unless not even the roll-up line
    /// fits.
    #[test]
    fn non_background_blocks_are_shown_or_counted(blocks in any_pack(), config in any_config(), share in 0u32..=200) {
        let driver = DefaultDriver::new(O200K);
        let budget = budget_of(&driver, &blocks, config.mode, share);
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = driver.plan(&blocks, &config).unwrap();
        let warned = plan.warnings.iter().any(|warning| matches!(warning.code.name(), "below_floor" | "over_budget"));
        for item in &plan.items {
            let lost = item.decision == RenderDecision::Omit;
            prop_assert!(!lost || item.priority == Priority::Background || warned);
        }
        let counted = plan.items.iter().filter(|item| item.decision == RenderDecision::RolledUp);
        let (count, tokens) = counted.fold((0, 0), |(n, t), item| (n + 1, t + u64::from(item.content_tokens)));
        prop_assert_eq!(plan.rolled_up.map(|all| (all.count, all.tokens)), (count > 0).then_some((count, tokens)));
    }

    /// A larger budget never shows fewer tokens of blocks. The roll-up line counts as shown.
    #[test]
    fn larger_budget_never_shows_fewer_tokens(blocks in any_pack(), mode in any_mode(), share in 0u32..=200, more in 1u32..40) {
        let driver = DefaultDriver::new(O200K);
        let budget = budget_of(&driver, &blocks, mode, share);
        let tokens = |budget| {
            let config = DriverConfig { mode, token_budget: Some(budget), ..DriverConfig::default() };
            let plan = driver.plan(&blocks, &config).unwrap();
            let tokens = plan.items.iter().map(|item| item.tokens).sum::<u32>();
            // No roll-up line has more tokens than this.
            (tokens, tokens + if plan.rolled_up.is_some() { 30 } else { 0 })
        };
        prop_assert!(tokens(budget).0 <= tokens(budget + more).1);
    }

    /// The same input gives the same bytes, a plan renders to the text of its run, and the pack is
    /// unchanged.
    #[test]
    fn runs_are_deterministic(blocks in any_pack(), config in any_config(), share in 0u32..=200) {
        let driver = DefaultDriver::new(O200K);
        let before = blocks.clone();
        let budget = budget_of(&driver, &blocks, config.mode, share);
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let first = driver.run(&blocks, &config).unwrap();
        let second = DefaultDriver::new(O200K).run(&before, &config).unwrap();
        prop_assert_eq!(driver.render_plan(&blocks, &first.plan).unwrap(), first.text.clone());
        let texts = driver.block_texts(&blocks, &first.plan).unwrap();
        let parts = texts.shown.iter().map(|text| text.part.as_str());
        let parts: String = parts.chain(texts.roll_up.as_deref()).collect();
        let around = match config.mode {
            OutputMode::Xml if !parts.is_empty() => format!("<context>\n{parts}</context>\n"),
            _ => parts,
        };
        prop_assert_eq!(&around, &first.text);
        prop_assert_eq!(first, second);
        prop_assert_eq!(blocks, before);
    }

    /// A replay gives the same plans as separate runs with these budgets.
    #[test]
    fn replay_plans_equal_separate_plans(blocks in any_pack(), config in any_config(), share in 1u32..=100) {
        let driver = DefaultDriver::new(O200K);
        let whole = budget_of(&driver, &blocks, config.mode, 100);
        let budgets = [0, whole * share / 200, whole * share / 100, whole];
        let replayed = driver.replay(&blocks, &config, &budgets).unwrap();
        for (budget, replayed) in budgets.into_iter().zip(replayed) {
            let config = DriverConfig { token_budget: Some(budget), ..config.clone() };
            prop_assert_eq!(driver.plan(&blocks, &config).unwrap(), replayed);
        }
    }

    /// With excerpts, a text has content whenever one fits. In these packs a header, a fence and a
    /// marker have less than 400 tokens together.
    #[test]
    fn text_has_content_if_an_excerpt_fits(blocks in any_pack(), config in any_config(), more in 400u32..500) {
        let driver = DefaultDriver::new(O200K);
        let budget = base(&blocks, &driver, &config) + more;
        let uncapped = config.shares.filter(|shares| shares.as_slice().iter().all(|share| share.cap.is_none()));
        let config = DriverConfig {
            token_budget: Some(budget),
            excerpts: Excerpts::On,
            shares: uncapped,
            ..config
        };
        let plan = driver.plan(&blocks, &config).unwrap();
        let shown = plan.items.iter().any(|item| item.decision.has_content());
        let is_text = |item: &PlanItem| item.content_tokens > 8 && item.decision != RenderDecision::Metadata;
        prop_assert!(shown || !plan.items.iter().any(is_text), "{:?}", plan);
    }

    /// A text without any content has a warning, and no other text has it.
    #[test]
    fn text_without_content_has_empty_result_warning(blocks in any_pack(), config in any_config(), share in 0u32..=200) {
        let driver = DefaultDriver::new(O200K);
        let budget = budget_of(&driver, &blocks, config.mode, share);
        let config = DriverConfig { token_budget: Some(budget), ..config };
        let plan = driver.plan(&blocks, &config).unwrap();
        let is_content = |item: &&PlanItem| item.decision != RenderDecision::Metadata;
        let any = plan.items.iter().any(|item| is_content(&item));
        let shown = plan.items.iter().any(|item| item.decision.has_content());
        let warned = plan.warnings.iter().any(|w| w.code == WarningCode::EmptyResult);
        prop_assert_eq!(warned, any && !shown);
    }

    /// Verbosities that ignore the budget show every requested block.
    #[test]
    fn full_and_summary_verbosity_show_every_block(blocks in any_pack(), summary in any::<bool>()) {
        let verbosity = if summary { Verbosity::Summary } else { Verbosity::Full };
        let config = DriverConfig { verbosity, token_budget: Some(1), ..DriverConfig::default() };
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config).unwrap();
        for item in &plan.items {
            prop_assert!(item.decision.is_shown() || item.decision == RenderDecision::Metadata);
        }
        prop_assert!(adds_up(&plan));
    }
}

/// Estimators whose counts do not add up neither waste the budget nor omit blocks silently.
#[test]
fn estimates_use_the_budget_and_omissions_are_reported() {
    let turns: Vec<_> = (0..200)
        .map(|i| format!("This is message number {i}, and it says little."))
        .map(|text| Block::conversation(lcp_types::Role::User, text))
        .collect();
    let driver = DefaultDriver::new(HeuristicEstimator);
    for mode in OutputMode::ALL {
        for budget in (100..5_000).step_by(97) {
            let config =
                DriverConfig { mode, token_budget: Some(budget), ..DriverConfig::default() };
            let plan = driver.plan(&turns, &config).unwrap();
            let all = plan.items.iter().all(|item| item.decision == RenderDecision::Full);
            assert!(
                all || plan.used_tokens * 10 >= budget * 9,
                "{mode:?} {budget}: {}",
                plan.used_tokens
            );
        }
    }
    let mut chat: Vec<_> =
        (0..95).map(|_| Block::conversation(lcp_types::Role::User, "abc")).collect();
    chat.extend((0..66).map(|i| crate::packs::priority(i, Priority::Critical)));
    let minimal = DriverConfig { mode: OutputMode::Minimal, ..DriverConfig::default() };
    for budget in 150..260 {
        let config = DriverConfig { token_budget: Some(budget), ..minimal.clone() };
        let plan = driver.plan(&chat, &config).unwrap();
        let omitted = plan.items.iter().any(|item| item.decision == RenderDecision::Omit);
        let warned =
            plan.warnings.iter().any(|w| matches!(w.code.name(), "below_floor" | "over_budget"));
        assert_eq!(omitted, warned, "budget {budget}");
    }
}

/// A Low block without a summary is shown in full if all others are at their ceilings.
#[test]
fn low_block_without_summary_is_full_if_budget_allows() {
    let blocks = [crate::packs::bare_file("low.rs", 30), crate::packs::priority(0, Priority::Low)];
    let driver = DefaultDriver::new(O200K);
    let full = driver.plan(&blocks, &DriverConfig::default()).unwrap().used_tokens;
    let decision = |budget| {
        let config = DriverConfig { token_budget: Some(budget), ..DriverConfig::default() };
        driver.plan(&blocks, &config).unwrap().items[0].decision.name()
    };
    assert_eq!((decision(full), decision(full - 1)), ("full", "placeholder"));
}
