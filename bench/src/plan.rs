//! `plan`: how fast a budget is allocated, counting left out.
//!
//! A replay counts the blocks once and plans for many budgets; what a replay of
//! many takes beyond one of a single budget, divided by their number, is what
//! planning costs when every count is known. `docs/benchmarks.md` tells what
//! the rows mean.

use std::time::Duration;

use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Excerpts};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, Priority, Role, Tag};

use crate::clock::Spent;
use crate::error::Error;
use crate::table::{Better, Report, Row, Wanted};

/// Its name.
pub const NAME: &str = "plan";

const ROUNDS: usize = 5;

/// Budgets that a round plans for, besides the first.
const REPLAYED: usize = 10;

/// Measures it.
///
/// # Errors
///
/// Where other threads worked meanwhile.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
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
            let mut best = Duration::MAX;
            let mut whole = Duration::MAX;
            for _ in 0..ROUNDS {
                let one = time(&pack, &config, &[budget])?;
                let budgets = vec![budget; REPLAYED + 1];
                let many = time(&pack, &config, &budgets)?;
                let each = many.saturating_sub(one) / u32::try_from(REPLAYED).unwrap_or(1);
                (best, whole) = (best.min(each), whole.min(one));
            }
            let what = format!("{what}, budget {budget}");
            progress(what.clone());
            let row = Row::of(what, Better::Lower, "ms").beside_itself(
                milliseconds(best),
                "with counting",
                milliseconds(whole),
            );
            rows.push(match wanted {
                Some(most) => row.wants(Wanted::OwnAtMost(most)),
                None => row,
            });
        }
    }
    Ok(Report { bench: NAME, rows })
}

fn time(pack: &[Block<'_>], config: &DriverConfig, budgets: &[u32]) -> Result<Duration, Error> {
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let (plans, spent) = Spent::on(|| driver.replay(pack, config, budgets));
    assert!(plans.is_ok_and(|plans| plans.len() == budgets.len()), "nothing denies a budget");
    spent.alone()
}

/// Blocks of 5 to 60 words in eight categories, of all priorities, half of them
/// ranked.
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

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
