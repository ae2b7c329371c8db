//! The disk is full.

use super::backends::{Backend, StoreLocation};
use super::child::Work;
use super::content::{self, Wrong};
use super::process::Order;
use super::protocol::Acknowledged;
use super::row::Row;
use super::{Bench, refused};
use crate::Result;

/// The number of failures after which a writer gives up.
const FAILURES: u64 = 5;

/// The limits of a file in blocks of 512 bytes. With fewer, a store cannot be created. The maximum
/// exceeds the size of SQLite's log, so that the store itself becomes full.
const LEAST: u64 = 600;
const MOST: u64 = 16_000;

/// The size of a block in bytes.
const BLOCK: u64 = 512;

#[derive(Clone, Copy)]
enum Limit {
    /// The limit of the store itself.
    Store,
    /// The system's limit for every file.
    System,
}

#[derive(Default)]
struct Sums {
    kept: Acknowledged,
    wrong: Wrong,
    damaged: u64,
    /// Stores that cannot be used after space is available again.
    useless: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Row>> {
    let rounds = bench.rounds(20, 2);
    if let Backend::Postgres(_) = bench.backend {
        let mapped = "not run: the server says 53100; that it becomes full is a test of the store";
        return Ok(vec![bench.row("full", 0, "the server's disk").note(mapped)]);
    }
    let mut rows = Vec::new();
    let limits = [
        (Limit::Store, "max_bytes", &["full"][..]),
        (Limit::System, "no file may grow", &["full", "io"][..]),
    ];
    for (limit, name, typed) in limits {
        let mut sums = Sums::default();
        for round in 0..rounds {
            let blocks = LEAST + bench.random.next_u64() % (MOST - LEAST + 1);
            fill(&bench.backend.fresh(), limit, blocks, &format!("filled {round}"), &mut sums)?;
        }
        let Sums { kept, wrong, damaged, useless } = sums;
        let row = |what: &str| bench.row("full", rounds, format!("{name}: {what}"));
        let others = format!("errors that are not {}", typed.join(" or "));
        rows.extend([
            row("acknowledged and lost")
                .none(wrong.lost)
                .note(format!("of {} messages and {} hand-offs", kept.messages, kept.handoffs)),
            row("other bytes, broken chains").none(wrong.altered + damaged),
            row(&others).none(kept.failures_but(typed)).note(kept.failures_in_words()),
            row("of no use when there is room").none(useless),
        ]);
    }
    Ok(rows)
}

/// Writes until the disk is full, then frees space.
fn fill(place: &StoreLocation, limit: Limit, blocks: u64, name: &str, sums: &mut Sums) -> Result {
    let mut order = Order::new(Work::Write, place, name);
    order.failures = FAILURES;
    match limit {
        Limit::Store => order.max_bytes = Some(blocks * BLOCK),
        Limit::System => order.file_blocks = Some(blocks),
    }
    let acknowledged = order.start()?.end()?;
    let store = place.open().map_err(|error| refused(&error))?;
    sums.wrong.add(content::compare(&*store, name, &acknowledged)?);
    sums.damaged += u64::from(place.damage()?.is_some());
    sums.useless += u64::from(content::goes_on(&*store, name, name)?.is_some());
    sums.kept.add_all(&acknowledged);
    Ok(())
}
