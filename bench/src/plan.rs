//! `plan`: how fast a budget is allocated, counting left out, and how good plans
//! by value are.
//!
//! A replay counts the blocks once and plans for many budgets; what a replay of
//! many takes beyond one of a single budget, divided by their number, is what
//! planning costs when every count is known.

mod value;

use std::time::Duration;

use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts, OptimalityBound};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, Priority, Role, Tag};

use crate::harness::{Progress, Result, milliseconds, timed};
use crate::table::{Row, Wanted};

const ROUNDS: usize = 5;

/// Budgets that a round plans for, besides the first.
const REPLAYED: u32 = 10;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (blocks, shares, what, wanted) in [
        (100_000, true, "100,000 blocks in 8 categories", Some(50.0)),
        (100_000, false, "100,000 blocks without shares", None),
        (100, true, "100 blocks in 8 categories", Some(25.0)),
    ] {
        let pack = pack(blocks);
        for budget in [10_000u32, 100_000] {
            let config = DriverConfig {
                shares: shares.then(Shares::conversation),
                excerpts: Excerpts::On,
                ..DriverConfig::default()
            };
            let times = Times::measure(&pack, &config, budget, ROUNDS, REPLAYED)?;
            let what = format!("{what}, budget {budget}");
            progress(what.clone());
            let row = times.row(what);
            rows.push(match wanted {
                Some(most) => row.wants(Wanted::OwnAtMost(most)),
                None => row,
            });
        }
    }
    rows.extend(value::rows(progress)?);
    Ok(rows)
}

/// What plans for one budget took: the best of some rounds.
struct Times {
    /// A plan, when every count is known.
    each: Duration,
    /// A plan, counting included.
    counted: Duration,
    /// How good it is, where the objective is value.
    optimality: Option<OptimalityBound>,
}

impl Times {
    /// Plans for `budget` in each round: once, and `replayed` times more.
    fn measure(
        pack: &[Block<'_>],
        config: &DriverConfig,
        budget: u32,
        rounds: usize,
        replayed: u32,
    ) -> Result<Self> {
        let one = [budget];
        let many: Vec<_> = (0..=replayed).map(|_| budget).collect();
        let (mut best_one, mut best_many) = (Duration::MAX, Duration::MAX);
        let mut optimality = None;
        for _ in 0..rounds {
            let (spent, certified) = replay(pack, config, &one)?;
            best_one = best_one.min(spent);
            best_many = best_many.min(replay(pack, config, &many)?.0);
            optimality = certified;
        }
        let each = best_many.saturating_sub(best_one) / replayed.max(1);
        Ok(Self { each, counted: best_one, optimality })
    }

    fn row(&self, what: impl Into<String>) -> Row {
        let (each, counted) = (milliseconds(self.each), milliseconds(self.counted));
        Row::with_itself(what, "ms", each, "with counting", counted)
    }
}

/// The time, and how good the first plan is.
fn replay(
    pack: &[Block<'_>],
    config: &DriverConfig,
    budgets: &[u32],
) -> Result<(Duration, Option<OptimalityBound>)> {
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let (plans, time) = timed(|| driver.replay(pack, config, budgets))?;
    let plans = plans.unwrap_or_default();
    assert_eq!(plans.len(), budgets.len(), "nothing denies a budget");
    Ok((time, plans.first().and_then(|plan| plan.optimality)))
}

/// Makes blocks of 5 to 60 words in eight categories, of all priorities, half of them ranked.
fn pack(blocks: usize) -> Vec<Block<'static>> {
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
