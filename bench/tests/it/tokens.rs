//! Counts against bpe-openai, which shares no code with the tokenizer that
//! plans: whatever the pack, the mode and the budget, the text has as many
//! tokens as the plan says, and no more than the budget.

use bpe_openai::{Tokenizer, cl100k_base, o200k_base};
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, WarningCode};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::Block;

use crate::packs;

/// The tokens of `text`, by an independent count.
fn count(independent: &Tokenizer, text: &str) -> u32 {
    u32::try_from(independent.count(text)).expect("a small text")
}

/// How many texts kept their budget, and how many exceeded it because of their
/// Critical blocks.
#[derive(Default)]
struct Tally {
    kept: u32,
    exceeded: u32,
}

/// Renders one pack in all modes, at budgets from 0 to twice its full size.
fn check(
    blocks: &[Block<'_>],
    encoding: Encoding,
    independent: &Tokenizer,
    seed: u64,
    tally: &mut Tally,
) {
    let driver = DefaultDriver::new(Tiktoken::new(encoding));
    let mut rng = SplitMix64::new(seed);
    for mode in OutputMode::ALL {
        let run = |token_budget, fill| {
            let config = DriverConfig { mode, token_budget, fill, ..DriverConfig::default() };
            let rendered = driver.run(blocks, &config).expect("overflow is allowed");
            let used = rendered.plan.used_tokens;
            let place = format!("{encoding}, seed {seed}, {mode:?}, budget {token_budget:?}");
            assert_eq!(count(independent, &rendered.text), used, "{place}");
            let warnings = &rendered.plan.warnings;
            let warned = warnings.iter().any(|found| found.code == WarningCode::OverBudget);
            assert_eq!(token_budget.is_some_and(|budget| used > budget), warned, "{place}");
            (used, rendered.text)
        };
        let (full, _) = run(None, false);
        let (_, critical_alone) = run(Some(0), false);
        let mut budgets = vec![0, 1, full.saturating_sub(1), full, full + 1, full * 2];
        budgets.extend((0..8).map(|_| rng.below_u32(2 * full + 1)));
        for budget in budgets {
            let (used, text) = run(Some(budget), rng.below(2) == 0);
            if used > budget {
                assert_eq!(text, critical_alone, "only Critical blocks may exceed a budget");
                tally.exceeded += 1;
            } else {
                tally.kept += 1;
            }
        }
    }
}

fn check_seeds(encoding: Encoding, independent: &Tokenizer) {
    let mut tally = Tally::default();
    // Few large blocks, many small ones, and what is between.
    let sizes = [(3, 120), (60, 4), (20, 20), (150, 2)];
    for (seed, (blocks, lines)) in (0..200).zip(sizes.into_iter().cycle()) {
        let pack = packs::pack(&mut SplitMix64::new(seed), blocks, lines);
        check(&pack, encoding, independent, seed, &mut tally);
    }
    assert_eq!(tally.kept + tally.exceeded, 200 * 3 * 14);
    assert!(tally.exceeded > 200, "{} texts exceeded their budget", tally.exceeded);
    assert!(tally.kept > 4_000, "{} texts kept their budget", tally.kept);
}

#[test]
fn plan_and_independent_counts_agree_in_o200k_base() {
    check_seeds(Encoding::O200kBase, o200k_base());
}

#[test]
fn plan_and_independent_counts_agree_in_cl100k_base() {
    check_seeds(Encoding::Cl100kBase, cl100k_base());
}

#[track_caller]
fn check_text(text: &str, what: impl std::fmt::Display) {
    for (encoding, independent) in
        [(Encoding::O200kBase, o200k_base()), (Encoding::Cl100kBase, cl100k_base())]
    {
        let ours = Tiktoken::new(encoding).estimate(text);
        assert_eq!(count(independent, text), ours, "{encoding}, {what}");
    }
}

/// The texts that the packs are made of, counted as they are.
#[test]
fn independent_counts_agree_on_generated_texts() {
    for seed in 0..2_000 {
        let text = lcp_bench::packs::text(&mut SplitMix64::new(seed), 30);
        check_text(&text, format_args!("seed {seed}"));
    }
}

/// Runs that are longer than a tokenizer's pattern likes.
#[test]
fn independent_counts_agree_on_long_runs() {
    let pieces =
        [" ", "\n", "\t", "\r\n", "a", "A", "=", "1", "é", "漢", "🦀", "\u{a0}", "ab ", "'s"];
    for piece in pieces {
        for times in [500, 5_000, 50_000] {
            let run = piece.repeat(times);
            let what = format!("{piece:?} {times} times");
            check_text(&run, &what);
            check_text(&format!("x {run}x\n{run}"), &what);
        }
    }
}
