//! `fill`: the share of a budget that is spent on content, for real code that exceeds the budget, with
//! the default options of `lcp render`.
//!
//! Content means blocks that are shown in full, at a detail level or as an excerpt, with their
//! headers. Placeholders, the roll-up line and the envelope are not content.

use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, OutputMode, Plan};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::Block;

use crate::harness::{Progress, Result, float, median};
use crate::registry::{crates, is_code, lang};
use crate::table::{Better, Row, Wanted};

/// Budgets, in tokens.
const BUDGETS: [u32; 7] = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000];

/// The least number of tokens of a crate to be measured.
const TOKENS_MIN: u32 = 2_500;

/// The percentage of a budget that is content: with excerpts, without them, and without headers.
struct Case {
    budget: u32,
    with: f64,
    without: f64,
    bare: f64,
}

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let mut rows = Vec::new();
    let mut cases = OutputMode::ALL.map(|mode| (mode, Vec::new()));
    let mut packs = 0;
    for found in crates()? {
        let files = found.files(is_code)?;
        let blocks: Vec<_> = files
            .iter()
            .map(|(path, text)| Block::code(lang(path), path.as_str(), text.as_str()))
            .collect();
        let full = |mode| {
            let config = DriverConfig { mode, ..DriverConfig::default() };
            driver.plan(&blocks, &config).map_or(0, |plan| plan.used_tokens)
        };
        let tokens = full(OutputMode::Xml);
        if tokens < TOKENS_MIN {
            continue;
        }
        packs += 1;
        progress(format!("{}: {} files, {tokens} tokens", found.name, files.len()));
        for (mode, cases) in &mut cases {
            let full = full(*mode);
            let budgets: Vec<_> = BUDGETS.into_iter().filter(|budget| *budget < full).collect();
            let plans = |excerpts| {
                let config = DriverConfig { mode: *mode, excerpts, ..DriverConfig::default() };
                driver.replay(&blocks, &config, &budgets).unwrap_or_default()
            };
            let (with, without) = (plans(Excerpts::On), plans(Excerpts::Off));
            for ((with, without), budget) in with.iter().zip(&without).zip(budgets) {
                cases.push(Case {
                    budget,
                    with: filled(with, budget),
                    without: filled(without, budget),
                    bare: bare(with, budget),
                });
            }
        }
    }
    for (mode, cases) in &cases {
        let with = |cases: &[&Case]| median(cases.iter().map(|case| case.with));
        let row = |what: String, cases: &[&Case]| {
            let worst = cases.iter().map(|case| case.with).fold(100.0, f64::min);
            let without = median(cases.iter().map(|case| case.without));
            let what = format!("{}, {what}", mode.name());
            Row::new(what, Better::Higher, "%", with(cases), "without excerpts", without)
                .notes(format!("{} cases, worst {worst:.1} %", cases.len()))
        };
        let all: Vec<_> = cases.iter().collect();
        let what = format!("{packs} crates, all budgets");
        rows.push(row(what, &all).wants(Wanted::OwnAtLeast(97.0)));
        for budget in BUDGETS {
            let of_budget: Vec<_> = cases.iter().filter(|case| case.budget == budget).collect();
            rows.push(row(format!("budget {budget}"), &of_budget));
        }
        let bare = median(cases.iter().map(|case| case.bare));
        let what = format!("{}, contents alone", mode.name());
        rows.push(Row::with_itself(what, "%", bare, "with heads", with(&all)));
    }
    Ok(rows)
}

/// Returns the percentage of the budget that is spent on blocks with content.
fn filled(plan: &Plan, budget: u32) -> f64 {
    let content = plan.items.iter().filter(|item| item.decision.has_content());
    percent(content.map(|item| u64::from(item.tokens)).sum(), budget)
}

/// Returns the percentage of the budget that is spent on contents without their headers. It is
/// exact for blocks shown in full. For excerpts, the tokens of the marker are estimated.
fn bare(plan: &Plan, budget: u32) -> f64 {
    let content = plan.items.iter().filter(|item| item.decision.has_content());
    let tokens = content.map(|item| {
        let head = item.full_tokens.saturating_sub(item.content_tokens);
        let marker = if item.decision.name() == "full" { 0 } else { EXCERPT_EXTRA };
        u64::from(item.tokens.saturating_sub(head + marker))
    });
    percent(tokens.sum(), budget)
}

/// The approximate number of tokens of a marker, and of an excerpt's line range in the header.
const EXCERPT_EXTRA: u32 = 17;

fn percent(tokens: u64, budget: u32) -> f64 {
    float(tokens) * 100.0 / f64::from(budget)
}
