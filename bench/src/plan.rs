//! `plan`: the speed of allocating a budget, without counting tokens, and the quality of plans by
//! value.
//!
//! A replay counts the blocks once and plans for many budgets. The time of a plan with known counts
//! is the extra time of a replay for many budgets over a replay for one, divided by the number of
//! additional budgets.

use lcp_driver::shares::Shares;
use lcp_driver::{
    DefaultDriver, DriverConfig, Excerpts, Objective, OptimalityBound, Plan, ValueModel,
    group_thousands,
};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, CarriedLevel, Priority, Role, Tag};

use crate::harness::{Progress, Result, float, milliseconds, n_log_n_growth, timed};
use crate::table::{Better, Row, Wanted};

const ROUNDS: usize = 5;

/// The number of budgets in a round, without the first.
const REPLAYED: u32 = 10;

/// Packs that are planned by value: the number of blocks, of rounds and of replays in a round, and
/// the budgets.
const BY_VALUE: [(usize, usize, u32, &[u32]); 4] = [
    (1_000, 5, 10, &[2_000, 10_000]),
    (10_000, 10, 20, &[10_000, 100_000]),
    (100_000, ROUNDS, REPLAYED, &[10_000, 100_000, 1_000_000]),
    (1_000_000, 3, 2, &[10_000]),
];

/// The budget for measuring growth. It is small, so that counting the text does not matter.
const GROWTH_BUDGET: u32 = 10_000;

/// The number of blocks of the pack that larger packs are compared with.
const GROWTH_FROM: usize = 10_000;

/// The number of blocks of the packs with a time limit.
const LIMITED_BLOCKS: usize = 100_000;

/// The longest time of a plan, as a share of the time to count the tokens.
const SHARE_MAX: f64 = 0.05;

/// The largest budget with a time limit. Longer texts take longer to count than to plan.
const LIMITED_BUDGET_MAX: u32 = 100_000;

/// The least value of a plan, in percent of the LP bound.
const OF_BOUND_MIN: f64 = 99.9;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = by_tiers(progress)?;
    rows.extend(by_value(progress)?);
    Ok(rows)
}

/// Measures plans by priority, with shares and without.
fn by_tiers(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (blocks, shares, what) in [
        (100_000, true, "100,000 blocks in 8 categories"),
        (100_000, false, "100,000 blocks without shares"),
        (100, true, "100 blocks in 8 categories"),
    ] {
        let pack = pack_in_categories(blocks);
        for budget in [10_000u32, 100_000] {
            let config = DriverConfig {
                shares: shares.then(Shares::conversation),
                excerpts: Excerpts::On,
                ..DriverConfig::default()
            };
            let times = Times::measure(&pack, &config, budget, ROUNDS, REPLAYED)?;
            let what = format!("{what}, budget {budget}");
            progress(what.clone());
            rows.push(times.row(what).wants(limit(blocks, budget)));
        }
    }
    Ok(rows)
}

/// Returns the time limit of a plan, if it has one.
fn limit(blocks: usize, budget: u32) -> Option<Wanted> {
    let is_limited = blocks == LIMITED_BLOCKS && budget <= LIMITED_BUDGET_MAX;
    is_limited.then_some(Wanted::RatioAtMost(SHARE_MAX))
}

/// Measures plans by value: their time, its growth, and their value relative to the LP bound.
fn by_value(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let config = DriverConfig {
        objective: Objective::Value(ValueModel::default()),
        excerpts: Excerpts::On,
        ..DriverConfig::default()
    };
    let (mut speed, mut growth, mut good) = (Vec::new(), Vec::new(), Vec::new());
    let mut base = f64::NAN;
    for (blocks, rounds, replayed, budgets) in BY_VALUE {
        let pack = pack_with_levels(blocks);
        for &budget in budgets {
            let what =
                format!("by value, {} blocks, budget {budget}", group_thousands(blocks as u64));
            progress(what.clone());
            let times = Times::measure(&pack, &config, budget, rounds, replayed)?;
            if blocks == LIMITED_BLOCKS {
                speed.push(times.row(what.clone()).wants(limit(blocks, budget)));
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
    Ok([speed, growth, good].concat())
}

/// The times of plans for one budget in milliseconds, the best of several rounds.
struct Times {
    /// The time of a plan with all counts known.
    each: f64,
    /// The time of a plan, including counting.
    counted: f64,
    /// The optimality bound of the plan, if the objective is value.
    optimality: Option<OptimalityBound>,
}

impl Times {
    /// Plans for `budget` in each round: once alone, and once with `replayed` more plans.
    fn measure(
        pack: &[Block<'_>],
        config: &DriverConfig,
        budget: u32,
        rounds: usize,
        replayed: u32,
    ) -> Result<Self> {
        let replay = |budgets: &[u32]| -> Result<(f64, Vec<Plan>)> {
            let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
            let (plans, time) = timed(|| driver.replay(pack, config, budgets))?;
            Ok((milliseconds(time), plans?))
        };
        let many: Vec<_> = (0..=replayed).map(|_| budget).collect();
        let (mut counted, mut best_many, mut optimality) = (f64::MAX, f64::MAX, None);
        for _ in 0..rounds {
            let (time, plans) = replay(&[budget])?;
            counted = counted.min(time);
            best_many = best_many.min(replay(&many)?.0);
            optimality = plans[0].optimality;
        }
        let each = (best_many - counted).max(0.0) / f64::from(replayed);
        Ok(Self { each, counted, optimality })
    }

    fn row(&self, what: impl Into<String>) -> Row {
        let counting = (self.counted - self.each).max(0.0);
        Row::with_itself(what, "ms", self.each, "counting their tokens", counting)
    }
}

/// Returns the row of the growth of the time, which may be n log n at most.
fn grown(blocks: usize, time: f64, base: f64) -> Row {
    let count = |blocks: usize| format!("{} blocks", group_thousands(blocks as u64));
    let what = format!("by value, {}, growth", count(blocks));
    Row::with_itself(what, "ms", time, count(GROWTH_FROM), base)
        .wants(Wanted::RatioAtMost(n_log_n_growth(GROWTH_FROM, blocks)))
}

/// Returns the row of a plan's value, in percent of the LP bound.
fn certified(what: &str, optimality: Option<OptimalityBound>) -> Row {
    let percent =
        optimality.map_or(f64::NAN, |bound| float(bound.value) * 100.0 / float(bound.lp_bound));
    let note = optimality.map(|bound| {
        if bound.is_optimal() {
            return "proven optimal".to_owned();
        }
        format!("at most {:.4} % below the optimum", bound.relative_gap() * 100.0)
    });
    let what = format!("{what}, value");
    let row = Row::new(what, Better::Higher, "%", percent, "LP bound", 100.0).notes(note);
    // The limit only applies if the largest single upgrade is worth less than the allowed gap.
    let values = ValueModel::default();
    let largest = u64::from(values.high) * u64::from(values.highest_rank);
    let is_fine = optimality.is_some_and(|bound| bound.value >= 1_000 * largest);
    row.wants(is_fine.then_some(Wanted::OwnAtLeast(OF_BOUND_MIN)))
}

/// Returns blocks of 5 to 60 words in eight categories, with high, normal and low priorities. Half
/// of them are ranked.
fn pack_in_categories(blocks: usize) -> Vec<Block<'static>> {
    let shares = Shares::conversation();
    let mut pack: Vec<Block<'static>> = (0..blocks)
        .map(|i| {
            let words = 5 + i * 37 % 56;
            let text: Vec<_> = (0..words).map(|word| format!("word{}", (i + word) % 997)).collect();
            Block::conversation(Role::User, text.join(" "))
        })
        .collect();
    for i in 0..blocks {
        let target = i as u64;
        let category = &shares.as_slice()[i % shares.as_slice().len()].name;
        pack.push(Block::new(Annotation::tag(target, &Tag::new(Tag::CATEGORY, category.clone()))));
        let priority =
            [Priority::High, Priority::Normal, Priority::Normal, Priority::Low][i / 8 % 4];
        pack.push(Block::new(Annotation::priority(target, priority)));
        if i % 2 == 0 {
            let rank = format!("{}", i * 7_919 % 1_000);
            pack.push(Block::new(Annotation::tag(target, &Tag::new(Tag::RANK, rank))));
        }
    }
    pack
}

/// Returns turns of 8 to 40 words with two to four detail levels.
fn pack_with_levels(blocks: usize) -> Vec<Block<'static>> {
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
    pack.extend(annotations);
    pack
}

fn text(rng: &mut SplitMix64, words: usize) -> String {
    let words: Vec<_> = (0..words).map(|_| format!("word{}", rng.below(1_000))).collect();
    words.join(" ")
}
