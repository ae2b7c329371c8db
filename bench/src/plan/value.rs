//! Plans by value: their time, its growth, and how near they are to the LP bound.

use std::time::Duration;

use lcp_driver::{DriverConfig, Excerpts, Objective, OptimalityBound, ValueModel, group_thousands};
use lcp_testkit::SplitMix64;
use lcp_types::{Annotation, Block, CarriedLevel, Priority, Role, Tag};

use super::{REPLAYED, ROUNDS, Times};
use crate::harness::{Progress, Result, float, milliseconds, n_log_n_growth};
use crate::table::{Better, Row, Wanted};

/// Blocks of the packs, their rounds, and replays of a round.
const PACKS: [(usize, usize, u32); 4] =
    [(1_000, 5, 10), (10_000, 10, 20), (100_000, ROUNDS, REPLAYED), (1_000_000, 3, 2)];

/// The budget that growth is measured with: small, so that counting the text doesn't matter.
const GROWTH_BUDGET: u32 = 10_000;

/// The blocks that the others are set beside.
const GROWTH_FROM: usize = 10_000;

/// The pack whose time is limited, and the limit in milliseconds.
const LIMITED: (usize, f64) = (100_000, 40.0);

/// The largest budget with a limit: longer texts take longer to count than to plan.
const LIMITED_BUDGET_MAX: u32 = 100_000;

/// Percent of the LP bound that plans are worth at least.
const OF_BOUND_MIN: f64 = 99.9;

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let config = DriverConfig {
        objective: Objective::Value(ValueModel::default()),
        excerpts: Excerpts::On,
        ..DriverConfig::default()
    };
    let (mut speed, mut growth, mut good) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = Duration::MAX;
    for (blocks, rounds, replayed) in PACKS {
        let pack = pack(blocks);
        for &budget in budgets(blocks) {
            let what =
                format!("by value, {} blocks, budget {budget}", group_thousands(blocks as u64));
            progress(what.clone());
            let times = Times::measure(&pack, &config, budget, rounds, replayed)?;
            if blocks == LIMITED.0 {
                let row = times.row(what.clone());
                let limited = budget <= LIMITED_BUDGET_MAX;
                speed.push(if limited { row.wants(Wanted::OwnAtMost(LIMITED.1)) } else { row });
            }
            if budget == GROWTH_BUDGET && blocks == GROWTH_FROM {
                base = times.each;
            }
            if budget == GROWTH_BUDGET && blocks > GROWTH_FROM {
                growth.push(grown(blocks, times.each, base));
            }
            good.push(certified(&what, times.optimality));
        }
    }
    Ok(speed.into_iter().chain(growth).chain(good).collect())
}

fn budgets(blocks: usize) -> &'static [u32] {
    match blocks {
        1_000 => &[2_000, 10_000],
        10_000 => &[10_000, 100_000],
        100_000 => &[10_000, 100_000, 1_000_000],
        _ => &[10_000],
    }
}

/// Returns the growth of the time, which is n log n at most.
fn grown(blocks: usize, time: Duration, base: Duration) -> Row {
    let count = |blocks: usize| format!("{} blocks", group_thousands(blocks as u64));
    let what = format!("by value, {}, growth", count(blocks));
    let (time, base) = (milliseconds(time), milliseconds(base));
    Row::with_itself(what, "ms", time, count(GROWTH_FROM), base)
        .wants(Wanted::RatioAtMost(n_log_n_growth(GROWTH_FROM, blocks)))
}

/// Returns what a plan is worth, in percent of the LP bound.
fn certified(what: &str, optimality: Option<OptimalityBound>) -> Row {
    let percent =
        optimality.map_or(f64::NAN, |bound| float(bound.value) * 100.0 / float(bound.lp_bound));
    let note = optimality.map(|bound| {
        if bound.is_optimal() {
            return "proven best".to_owned();
        }
        format!("at most {:.4} % below the best", bound.relative_gap() * 100.0)
    });
    let what = format!("{what}, value");
    let row = Row::new(what, Better::Higher, "%", percent, "LP bound", 100.0).notes(note);
    // Nothing is wanted where a single upgrade is more than what is missing.
    let values = ValueModel::default();
    let largest = u64::from(values.high) * u64::from(values.highest_rank);
    let is_fine = optimality.is_some_and(|bound| bound.value >= 1_000 * largest);
    if is_fine { row.wants(Wanted::OwnAtLeast(OF_BOUND_MIN)) } else { row }
}

/// Makes turns of 8 to 40 words with two to four levels of detail.
fn pack(blocks: usize) -> Vec<Block<'static>> {
    let rng = &mut SplitMix64::new(blocks as u64);
    let mut annotations = Vec::new();
    let mut pack = Vec::with_capacity(blocks * 3);
    for i in 0..blocks {
        let target = i as u64;
        let words = 8 + rng.below(33);
        let block = Block::conversation(Role::User, text(rng, words));
        pack.push(match i % 3 {
            0 => block,
            _ => block.with_summary(text(rng, words / 4)),
        });
        if i % 3 == 2 {
            let (level, words) = if i % 2 == 0 {
                (CarriedLevel::Detailed, words * 3 / 5)
            } else {
                (CarriedLevel::Tags, 2)
            };
            annotations.push(Block::new(level.to_extension(target, &text(rng, words))));
        }
        let priority = rng.choose(&[
            Priority::High,
            Priority::Normal,
            Priority::Normal,
            Priority::Low,
            Priority::Background,
        ]);
        if priority != Priority::default() {
            annotations.push(Block::new(Annotation::priority(target, priority)));
        }
        if rng.below(2) == 0 {
            let rank = Tag::new(Tag::RANK, rng.below(1_000).to_string());
            annotations.push(Block::new(Annotation::tag(target, &rank)));
        }
    }
    pack.append(&mut annotations);
    pack
}

fn text(rng: &mut SplitMix64, words: usize) -> String {
    let words: Vec<_> = (0..words).map(|_| format!("word{}", rng.below(1_000))).collect();
    words.join(" ")
}
