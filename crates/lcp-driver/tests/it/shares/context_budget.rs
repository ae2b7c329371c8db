//! The examples and tables of Context Budget System, with their numbers.

use lcp_driver::shares::{
    AGENT_RATIOS, CODE_FOCUSED_RATIOS, ContextBudget, DEFAULT_BUDGET_RATIOS,
    PREFERENCE_FOCUSED_RATIOS, SESSION_FOCUSED_RATIOS, Share, ShareSize, Shares, calculate_budget,
};
use lcp_driver::usage::{UsageHistory, UsageLevel, UsageMonitor};
use lcp_driver::window::ContextWindow;

const SECTIONS: [&str; 8] = [
    "system_prompt", "goal", "memory", "working_state", "conversation_summary",
    "retrieved_context", "recent_messages", "scaffolding_reminder",
];

fn tokens(budget: &ContextBudget) -> Vec<u32> {
    budget.shares().iter().map(|share| share.tokens).collect()
}

fn budget_of_model(window: u32) -> ContextBudget {
    calculate_budget(ContextWindow::from_model(window).available().unwrap())
}

#[test]
fn default_budget_ratios_have_documented_values() {
    assert_eq!(DEFAULT_BUDGET_RATIOS.map(|(name, _)| name), SECTIONS);
    let ratios = [0.15, 0.05, 0.10, 0.05, 0.15, 0.10, 0.35, 0.05];
    let shares = Shares::conversation();
    for (share, ratio) in shares.as_slice().iter().zip(ratios) {
        assert_eq!(share.size, ShareSize::Ratio(ratio));
    }
}

#[test]
fn calculate_budget_of_6400() {
    let budget = calculate_budget(6_400);
    assert_eq!(budget.total(), 6_400);
    assert_eq!(tokens(&budget), [960, 320, 640, 320, 960, 640, 2_240, 320]);
    assert!(budget.shares().iter().map(|share| share.name.as_str()).eq(SECTIONS));
    assert_eq!(budget, Shares::conversation().divide(6_400));
}

#[test]
fn calculate_budget_rounds_down() {
    for total in (0..5_000).chain([u32::MAX - 1, u32::MAX]) {
        let percents = [15, 5, 10, 5, 15, 10, 35, 5];
        let exact = percents.map(|percent| u64::from(total) * percent / 100);
        assert!(tokens(&calculate_budget(total)).into_iter().map(u64::from).eq(exact), "{total}");
    }
}

#[test]
fn basic_budget_calculation() {
    let budget = budget_of_model(8_000);
    assert_eq!(budget.total(), 6_400);
    assert_eq!(budget.tokens("memory"), Some(640));
    assert_eq!(budget.tokens("recent_messages"), Some(2_240));
}

#[test]
fn budget_adjustment_when_switching_models() {
    let narrow = calculate_budget(6_400);
    let before = narrow.clone();
    let wide = narrow.adjust_for_total(25_600);
    assert_eq!(tokens(&wide), [3_840, 1_280, 2_560, 1_280, 3_840, 2_560, 8_960, 1_280]);
    assert_eq!(wide.total(), 25_600);
    assert_eq!(narrow, before);
    assert_eq!(wide.adjust_for_total(25_600), wide);
    assert_eq!(wide.adjust_for_total(6_400), narrow);
}

/// The document's algorithm: every section times the new total over the old one, rounded down.
#[test]
fn adjustment_rounds_down_from_the_tokens_of_the_budget() {
    let narrow = calculate_budget(3_276);
    assert_eq!(tokens(&narrow), [491, 163, 327, 163, 491, 327, 1_146, 163]);
    let wide = narrow.adjust_for_total(6_553);
    assert_eq!(tokens(&wide), [982, 326, 654, 326, 982, 654, 2_292, 326]);
    for (from, to) in [(3_276, 26_214), (26_214, 3_276), (160_000, 6_553), (7, 1_000_003)] {
        let first = calculate_budget(from);
        let scaled = |tokens: u32| u64::from(tokens) * to / u64::from(from);
        let expected: Vec<u64> = tokens(&first).into_iter().map(scaled).collect();
        let adjusted = first.adjust_for_total(u32::try_from(to).unwrap());
        assert!(tokens(&adjusted).into_iter().map(u64::from).eq(expected), "{from} to {to}");
    }
}

#[test]
fn repeated_adjustment_does_not_drift() {
    for first in [Shares::preset("code-focused").unwrap(), Shares::agent()] {
        let first = first.divide(26_214);
        let mut budget = first.clone();
        for total in [3, 1_000_000, 0, 17, 6_553] {
            budget = budget.adjust_for_total(total);
            assert_eq!(budget, first.adjust_for_total(total));
        }
        assert_eq!(budget.adjust_for_total(26_214), first);
    }
    // The tokens of a budget of 0 have no proportions, but its ratios have.
    assert_eq!(
        tokens(&calculate_budget(0).adjust_for_total(6_553)),
        tokens(&calculate_budget(6_553))
    );
}

#[test]
fn adjustment_preserves_usage_caps_and_proportions() {
    let shares = Shares::new([Share::tokens("fixed", 200), Share::ratio("rest", 0.8)]).unwrap();
    let mut budget = shares.with_cap("rest", 1_000).unwrap().divide(1_000);
    assert_eq!(tokens(&budget), [200, 800]);
    budget.consume(150, "fixed").unwrap();
    let wide = budget.adjust_for_total(2_000);
    assert_eq!(tokens(&wide), [400, 1_000]);
    assert_eq!((wide.used("fixed"), wide.remaining()), (Some(150), 1_850));
    let narrow = budget.adjust_for_total(100);
    assert_eq!(tokens(&narrow), [20, 80]);
    assert_eq!((narrow.used("fixed"), narrow.remaining()), (Some(150), 0));
    assert!(!narrow.can_fit(1, "rest"));
}

#[test]
fn budget_tracking_across_iterations() {
    let budget = calculate_budget(6_400);
    let (mut monitor, mut history) = (UsageMonitor::default(), UsageHistory::default());
    let mut lines = Vec::new();
    for used in [3_200, 4_100, 4_800, 5_300, 5_440] {
        let usage = monitor.record(used, budget.total());
        history.record(None, budget.total(), used);
        lines.extend(usage.warning_line);
        lines.push(usage.debug_line);
        if history.recorded() == 4 {
            // The document prints 4300 for these four.
            assert_eq!(history.trend(), Some(4_350));
        }
        if history.recorded() % 5 == 0 {
            lines.extend(history.trend_line());
        }
    }
    let expected = [
        "[Budget] Used 3200 / 6400 tokens (50%)",
        "[Budget] Used 4100 / 6400 tokens (64%)",
        "[Budget] Used 4800 / 6400 tokens (75%)",
        // The document prints 83 for 82.8, which its own formula rounds down.
        "[Budget] Warning: 82% of token budget used. 1100 tokens remaining.",
        "[Budget] Used 5300 / 6400 tokens (82%)",
        "[Budget] Warning: 85% of token budget used. 960 tokens remaining.",
        "[Budget] Used 5440 / 6400 tokens (85%)",
        "[Budget] Last 5 iterations avg: 4568 tokens",
    ];
    assert_eq!(lines, expected);
    assert_eq!(monitor.level(), UsageLevel::Warning);
}

#[test]
fn custom_budget_ratios() {
    let ratios = [0.10, 0.05, 0.05, 0.10, 0.10, 0.10, 0.45, 0.05];
    let preset = Shares::new(CODE_FOCUSED_RATIOS.map(|(name, ratio)| Share::ratio(name, ratio)));
    let own = Shares::new(SECTIONS.iter().zip(ratios).map(|(name, r)| Share::ratio(*name, r)));
    let own = own.unwrap();
    assert_eq!(own.as_slice(), Shares::preset("code-focused").unwrap().as_slice());
    assert_eq!(own, preset.unwrap());
    let budget = own.divide(6_400);
    assert_eq!(tokens(&budget), [640, 320, 320, 640, 640, 640, 2_880, 320]);
    assert_eq!(tokens(&budget.adjust_for_total(25_600))[6], 11_520);
}

#[test]
fn multi_model_budget_comparison() {
    let rows = [
        (4_096, 3_276, 327, 1_146),
        (8_192, 6_553, 655, 2_293),
        (32_768, 26_214, 2_621, 9_174),
        (200_000, 160_000, 16_000, 56_000),
    ];
    for (window, total, memory, recent) in rows {
        let budget = budget_of_model(window);
        assert_eq!(budget.total(), total);
        assert_eq!(budget.tokens("memory"), Some(memory));
        assert_eq!(budget.tokens("recent_messages"), Some(recent));
        assert_eq!(lcp_driver::shares::percent(recent.into(), total.into()), 35);
    }
}

#[test]
fn typical_budget_allocations() {
    let rows = [
        (8_000, [960, 320, 640, 320, 960, 640, 2_240, 320]),
        (32_000, [3_840, 1_280, 2_560, 1_280, 3_840, 2_560, 8_960, 1_280]),
        (128_000, [15_360, 5_120, 10_240, 5_120, 15_360, 10_240, 35_840, 5_120]),
    ];
    for (window, expected) in rows {
        let budget = budget_of_model(window);
        assert_eq!(tokens(&budget), expected);
        assert_eq!(budget.total(), expected.iter().sum::<u32>());
        assert_eq!(tokens(&Shares::conversation().divide(budget.total())), expected);
    }
}

#[test]
fn valid_budget_for_every_context_size() {
    for window in [4_096, 8_192, 32_768, 128_000] {
        let budget = budget_of_model(window);
        let sum: u32 = tokens(&budget).iter().sum();
        assert!(sum <= budget.total() && sum + 8 > budget.total(), "{window}: {sum}");
        assert_eq!(budget, Shares::conversation().divide(budget.total()));
    }
}

#[test]
fn focused_presets_have_documented_ratios() {
    let ratio = |ratios: &[(&str, f64)], name: &str| {
        ratios.iter().find(|(at, _)| *at == name).map(|(_, ratio)| *ratio)
    };
    let rows = [(&PREFERENCE_FOCUSED_RATIOS, 0.15, 0.10), (&SESSION_FOCUSED_RATIOS, 0.05, 0.20)];
    for (ratios, memory, summary) in rows {
        for (name, default) in DEFAULT_BUDGET_RATIOS {
            let expected = match name {
                "memory" => memory,
                "conversation_summary" => summary,
                _ => default,
            };
            assert_eq!(ratio(ratios, name), Some(expected), "{name}");
        }
    }
    assert_eq!(
        Shares::preset("preference-focused").unwrap().divide(6_400).tokens("memory"),
        Some(960)
    );
    assert_eq!(
        Shares::preset("session-focused").unwrap().divide(6_400).tokens("conversation_summary"),
        Some(1_280)
    );
}

#[test]
fn every_preset_is_valid_and_divides_the_total() {
    for name in Shares::PRESETS {
        let preset = Shares::preset(name).unwrap();
        let checked = Shares::new(preset.as_slice().to_vec()).unwrap();
        assert_eq!(checked.as_slice(), preset.as_slice(), "{name}");
        for total in [0, 1, 7, 6_553, 90_001, u32::MAX] {
            let budget = preset.divide(total);
            assert_eq!(budget.scaling(), None, "{name} {total}");
            // The sections of a conversation are rounded down.
            let lost = if *name == "agent" { 0 } else { 7 };
            assert!(budget.unassigned() <= lost, "{name} {total}");
        }
    }
    assert_eq!(Shares::preset("agent"), Some(Shares::agent()));
    let ratios = AGENT_RATIOS.map(|(_, ratio)| ShareSize::Ratio(ratio));
    assert_eq!(ratios, [0.4, 0.3, 0.2, 0.1].map(ShareSize::Ratio));
    assert_eq!(Shares::preset("code_focused"), None);
    assert_eq!(Shares::conversation().index_of("recent_messages"), Some(6));
    assert_eq!(Shares::conversation().index_of("recentMessages"), None);
}

#[test]
fn available_tokens_after_use() {
    let mut budget = calculate_budget(6_400);
    let left = budget
        .available_tokens(&[("system_prompt", 500), ("recent_messages", 1_500), ("goal", 350)])
        .unwrap();
    let tokens: Vec<u32> = left.iter().map(|share| share.tokens).collect();
    assert_eq!(tokens, [460, 0, 640, 320, 960, 640, 740, 320]);
    let over: Vec<u64> = left.iter().map(|share| share.over).collect();
    assert_eq!(over, [0, 30, 0, 0, 0, 0, 0, 0]);
    assert!(left.iter().map(|share| share.name.as_str()).eq(SECTIONS));

    // It is added to the consumed tokens, but not consumed itself.
    budget.consume(600, "memory").unwrap();
    let left = budget.available_tokens(&[("memory", 30), ("memory", 30)]).unwrap();
    assert_eq!((left[2].tokens, left[2].over), (0, 20));
    assert_eq!(budget.used_total(), 600);
    let error = budget.available_tokens(&[("memories", 1)]).unwrap_err();
    assert_eq!(error.code(), "unknown_category");
}
