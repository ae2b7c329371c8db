//! `fill`: how much of a budget is content, with real code that is larger.
//!
//! Content is what blocks show in full, by a level or by an excerpt, heads
//! included; placeholders, the roll-up line and the envelope are not. `docs/
//! benchmarks.md` tells what the rows mean.

use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, OutputMode, Plan};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::Block;

use crate::error::Error;
use crate::registry::{crates, is_code, lang};
use crate::table::{Better, Report, Row, Wanted};

/// Its name.
pub const NAME: &str = "fill";

/// Budgets, in tokens.
const BUDGETS: [u32; 7] = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000];

/// A crate is a pack if it has more tokens than this; a budget is one of its
/// cases if it is smaller than the crate.
const TOKENS_MIN: u32 = 2_500;

/// How much of a budget is content, of one case.
struct Case {
    budget: u32,
    with: f64,
    without: f64,
    bare: f64,
}

/// Measures it.
///
/// # Errors
///
/// Where the sources cannot be read.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
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
        let whole = |mode| {
            let config = DriverConfig { mode, ..DriverConfig::default() };
            driver.plan(&blocks, &config).map_or(0, |plan| plan.used_tokens)
        };
        let tokens = whole(OutputMode::Xml);
        if tokens < TOKENS_MIN {
            continue;
        }
        packs += 1;
        progress(format!("{}: {} files, {tokens} tokens", found.name, files.len()));
        for (mode, cases) in &mut cases {
            let whole = whole(*mode);
            let budgets: Vec<_> = BUDGETS.into_iter().filter(|budget| *budget < whole).collect();
            let plans = |excerpts| {
                let config =
                    DriverConfig { mode: *mode, excerpts, fill: true, ..DriverConfig::default() };
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
        let what = |of: &str| format!("{}, {of}", mode.name());
        let row = |what: String, cases: &[&Case]| -> Row {
            let with = median(cases.iter().map(|case| case.with));
            let without = median(cases.iter().map(|case| case.without));
            let note = format!("{} cases, worst {:.1} %", cases.len(), worst(cases));
            Row::named(what, Better::Higher, "%")
                .figures(with, "without excerpts", without)
                .notes(Some(note))
        };
        let all: Vec<_> = cases.iter().collect();
        rows.push(
            row(what(&format!("{packs} crates, all budgets")), &all)
                .wants(Wanted::OwnAtLeast(97.0)),
        );
        for budget in BUDGETS {
            let of_budget: Vec<_> = cases.iter().filter(|case| case.budget == budget).collect();
            rows.push(row(what(&format!("budget {budget}")), &of_budget));
        }
        let heads = median(cases.iter().map(|case| case.with));
        let bare = median(cases.iter().map(|case| case.bare));
        rows.push(
            Row::named(what("contents alone"), Better::Higher, "%")
                .beside_itself(bare, "with heads", heads),
        );
    }
    Ok(Report { bench: NAME, rows })
}

/// Percent of the budget that parts are which show content.
fn filled(plan: &Plan, budget: u32) -> f64 {
    let content = plan.items.iter().filter(|item| item.decision.shows_content());
    percent(content.map(|item| u64::from(item.tokens)).sum(), budget)
}

/// Percent of the budget that contents are without their heads: exact for what
/// is shown in full, for excerpts less the marker and the head of the whole.
fn bare(plan: &Plan, budget: u32) -> f64 {
    let content = plan.items.iter().filter(|item| item.decision.shows_content());
    let tokens = content.map(|item| {
        let head = item.full_tokens.saturating_sub(item.content_tokens);
        let marker = if item.decision.name() == "full" { 0 } else { EXCERPT_EXTRA };
        u64::from(item.tokens.saturating_sub(head + marker))
    });
    percent(tokens.sum(), budget)
}

/// Tokens of a marker, and of what a head says of an excerpt, about.
const EXCERPT_EXTRA: u32 = 17;

#[expect(clippy::cast_precision_loss, reason = "tokens are far below 2^52")]
fn percent(tokens: u64, budget: u32) -> f64 {
    tokens as f64 * 100.0 / f64::from(budget)
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn worst(cases: &[&Case]) -> f64 {
    cases.iter().map(|case| case.with).fold(100.0, f64::min)
}
