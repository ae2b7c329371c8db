//! The acceptance list of SPEC_08, with one test per line.

use lcp_driver::budget::{HeuristicEstimator, RenderDecision, TokenEstimator};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Verbosity, resolve_priorities};
use lcp_types::{Annotation, AnnotationKind, Block, Priority, Role};

use crate::packs::{O200K, bare_file, every_type, file, priority};

fn config(budget: Option<u32>) -> DriverConfig {
    DriverConfig { token_budget: budget, ..DriverConfig::default() }
}

fn decisions(blocks: &[Block<'_>], config: &DriverConfig) -> Vec<&'static str> {
    let plan = DefaultDriver::new(O200K).plan(blocks, config).unwrap();
    plan.items.iter().map(|item| item.decision.name()).collect()
}

/// Returns the tokens of the text with everything in full.
fn full_tokens(blocks: &[Block<'_>]) -> u32 {
    DefaultDriver::new(O200K).plan(blocks, &config(None)).unwrap().used_tokens
}

#[test]
fn render_without_budget_shows_all_in_full() {
    let mut blocks = every_type();
    blocks[0].summary = Some("short".into());
    blocks.push(priority(0, Priority::Background));
    let decided = decisions(&blocks, &config(None));
    assert!(decided[..11].iter().all(|decision| *decision == "full"), "{decided:?}");
    let text = DefaultDriver::default().render(&blocks, &config(None)).unwrap();
    assert!(text.contains("fn main() {}"));
}

#[test]
fn verbosity_full_ignores_the_budget() {
    let blocks = [file("a.rs", 50), priority(0, Priority::Background)];
    let full = DriverConfig { verbosity: Verbosity::Full, ..config(Some(5)) };
    assert_eq!(decisions(&blocks, &full), ["full", "metadata"]);
    let plan = DefaultDriver::new(O200K).plan(&blocks, &full).unwrap();
    assert_eq!(plan.overflow_tokens(), plan.used_tokens - 5);
    assert_eq!(plan.warnings[0].code.name(), "budget_ignored");
}

#[test]
fn verbosity_summary_renders_available_summaries() {
    let blocks = [file("a.rs", 50), bare_file("b.rs", 50), priority(0, Priority::Critical)];
    let summary = DriverConfig { verbosity: Verbosity::Summary, ..config(None) };
    assert_eq!(decisions(&blocks, &summary), ["summary", "full", "metadata"]);
}

#[test]
fn critical_blocks_are_full_even_over_the_budget() {
    let blocks = [file("a.rs", 50), file("b.rs", 50), priority(0, Priority::Critical)];
    for budget in [0, 1, 50, 400, 100_000] {
        assert_eq!(decisions(&blocks, &config(Some(budget)))[0], "full", "budget {budget}");
    }
}

#[test]
fn high_blocks_prefer_full_and_fall_back_to_the_summary() {
    let blocks = [file("a.rs", 50), priority(0, Priority::High)];
    let full = full_tokens(&blocks);
    assert_eq!(decisions(&blocks, &config(Some(full)))[0], "full");
    assert_eq!(decisions(&blocks, &config(Some(full - 1)))[0], "summary");
}

#[test]
fn low_blocks_are_summarised_before_normal_ones() {
    // The Low block comes first in the pack, but is shortened before the other.
    let blocks = [file("low.rs", 50), file("normal.rs", 50), priority(0, Priority::Low)];
    let full = full_tokens(&blocks);
    for budget in 0..=full {
        let decided = decisions(&blocks, &config(Some(budget)));
        assert!(!(decided[0] == "full" && decided[1] != "full"), "budget {budget}: {decided:?}");
    }
    assert_eq!(decisions(&blocks, &config(Some(full - 1)))[..2], ["summary", "full"]);
}

#[test]
fn background_blocks_are_omitted_first() {
    let blocks = [
        file("back.rs", 50),
        file("low.rs", 50),
        file("normal.rs", 50),
        priority(0, Priority::Background),
        priority(1, Priority::Low),
    ];
    for budget in 0..=full_tokens(&blocks) {
        let decided = decisions(&blocks, &config(Some(budget)));
        let at_ceiling = decided[1] == "summary" && decided[2] == "full";
        assert!(decided[0] == "omit" || at_ceiling, "budget {budget}: {decided:?}");
    }
}

#[test]
fn blocks_without_summaries_get_placeholders_over_the_budget() {
    let blocks = [bare_file("a.rs", 50), bare_file("b.rs", 50)];
    let plan = DefaultDriver::new(O200K).plan(&blocks, &config(Some(100))).unwrap();
    for (item, path) in plan.items.iter().zip(["a.rs", "b.rs"]) {
        let RenderDecision::Placeholder { block_type, description, omitted_tokens } =
            &item.decision
        else {
            panic!("{:?}", item.decision);
        };
        assert_eq!((block_type.label(), description.as_str()), ("code", path));
        assert_eq!(*omitted_tokens, item.content_tokens);
    }
}

#[test]
fn placeholder_format_matches_each_mode() {
    let blocks = [bare_file("src/main.rs", 50)];
    let tokens = O200K.estimate(&(crate::packs::source(50) + "\n"));
    let expected = [
        format!(
            "<context>\n<omitted type=\"code\" path=\"src/main.rs\" tokens=\"{tokens}\" />\n</context>\n"
        ),
        format!("_[Omitted: code src/main.rs, ~{tokens} tokens]_\n"),
        format!("[omitted: code src/main.rs ~{tokens}tok]\n"),
    ];
    for (mode, expected) in OutputMode::ALL.into_iter().zip(expected) {
        let config = DriverConfig { mode, ..config(Some(40)) };
        assert_eq!(DefaultDriver::new(O200K).render(&blocks, &config).unwrap(), expected);
    }
}

#[test]
fn heuristic_is_within_a_factor_of_two_on_english() {
    let prose = "The budget engine decides what a model sees. When a block does not fit, it shows \
        the summary; when there is none, it says what is missing. Nothing disappears silently, \
        and the same input always gives the same text. That is worth more than a clever guess.";
    let (guess, exact) = (HeuristicEstimator.estimate(prose), O200K.estimate(prose));
    assert!(guess <= exact * 2 && exact <= guess * 2, "{guess} for {exact}");
}

#[test]
fn tokens_exceed_the_budget_by_one_critical_block_at_most() {
    let blocks = [
        file("critical.rs", 60),
        file("a.rs", 50),
        bare_file("b.rs", 50),
        priority(0, Priority::Critical),
    ];
    let alone = [file("critical.rs", 60), priority(0, Priority::Critical)];
    let critical = full_tokens(&alone);
    for budget in 0..=full_tokens(&blocks) + 10 {
        let plan = DefaultDriver::new(O200K).plan(&blocks, &config(Some(budget))).unwrap();
        assert!(plan.used_tokens <= budget.max(critical), "budget {budget}: {}", plan.used_tokens);
    }
}

#[test]
fn priorities_are_read_from_annotations() {
    let turn = |text: &'static str| Block::conversation(Role::User, text);
    let bad = |target, value: u8| {
        let mut block = Annotation::priority(target, Priority::Low);
        block.value = vec![value].into();
        Block::new(block)
    };
    let blocks = [
        priority(1, Priority::Low),
        turn("a"),
        turn("b"),
        turn("c"),
        priority(1, Priority::High),
        bad(1, 9),
        bad(2, 0),
        priority(99, Priority::Critical),
        priority(3, Priority::Background),
    ];
    let resolved = resolve_priorities(&blocks);
    assert_eq!(resolved[1..4], [Priority::High, Priority::Normal, Priority::Background]);
    let plan = DefaultDriver::default().plan(&blocks, &config(None)).unwrap();
    let codes: Vec<_> =
        plan.warnings.iter().map(|warning| (warning.code.name(), warning.block)).collect();
    let expected = [
        ("bad_priority", Some(5)),
        ("bad_priority", Some(6)),
        ("bad_target", Some(7)),
        // The default estimator reports that it estimates.
        ("estimated_counts", None),
    ];
    assert_eq!(codes, expected);
}

/// Every report begins with the estimator's warning about itself, and the final count is made with
/// `recount`.
#[test]
fn fallback_estimator_warns_and_recounts_the_final_text() {
    struct StandIn;
    impl lcp_tokens::TokenEstimator for StandIn {
        /// Counts too little, like a wrong cache entry.
        fn estimate(&self, text: &str) -> u32 {
            lcp_tokens::HeuristicEstimator.estimate(text) / 2
        }
        fn recount(&self, text: &str) -> u32 {
            lcp_tokens::HeuristicEstimator.estimate(text)
        }
        fn caveat(&self) -> Option<&str> {
            Some("no tokenizer")
        }
    }
    for budget in [None, Some(60), Some(200)] {
        let rendered = DefaultDriver::new(StandIn).run(&every_type(), &config(budget)).unwrap();
        let warning =
            rendered.plan.warnings.iter().find(|warning| warning.message == "no tokenizer");
        assert_eq!(warning.unwrap().code.name(), "tokenizer_fallback");
        let count =
            lcp_tokens::TokenEstimator::estimate(&lcp_tokens::HeuristicEstimator, &rendered.text);
        assert_eq!(rendered.plan.used_tokens, count);
        assert!(budget.is_none_or(|budget| count <= budget), "{count} of {budget:?}");
    }
}

#[test]
fn blocks_without_annotations_have_normal_priority() {
    let blocks = every_type();
    assert!(resolve_priorities(&blocks).iter().all(|priority| *priority == Priority::Normal));
}

#[test]
fn summary_annotation_applies_to_blocks_without_summary() {
    let note = |target, text: &'static str| Block::new(Annotation::summary(target, text));
    let blocks = [
        file("a.rs", 9),
        bare_file("b.rs", 9),
        note(0, "not this"),
        note(1, "old"),
        note(1, "new"),
    ];
    let summary = DriverConfig { verbosity: Verbosity::Summary, ..config(None) };
    let text = DefaultDriver::default().render(&blocks, &summary).unwrap();
    assert!(text.contains("computes 9 values") && text.contains("new"), "{text}");
    assert!(!text.contains("not this") && !text.contains("old"), "{text}");
    let kind = blocks[2].as_annotation().map(|annotation| annotation.kind);
    assert_eq!(kind, Some(AnnotationKind::Summary));
}
