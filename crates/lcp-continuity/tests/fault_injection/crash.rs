//! The server is stopped during writes.

use std::thread;
use std::time::{Duration, Instant};

use super::backends::Backend;
use super::child::Work;
use super::content::{self, Wrong};
use super::process::{Order, Process};
use super::protocol::Acknowledged;
use super::row::Row;
use super::{Bench, failed, refused};
use crate::Result;

const WRITERS: usize = 4;

/// The earliest and latest stop of the server, in milliseconds after all writers have begun.
const EARLIEST: u64 = 20;
const LATEST: u64 = 150;

/// The error codes that writers may get: the store cannot be reached, or is in use.
const TYPED: [&str; 2] = ["io", "busy"];

pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Row>> {
    let Backend::Postgres(server) = bench.backend else { return Ok(Vec::new()) };
    let rounds = bench.rounds(30, 2);
    let place = bench.backend.fresh();
    let mut wrong = Wrong::default();
    let mut written: Vec<(String, Acknowledged)> = Vec::new();
    let (mut stuck, mut away) = (0, Duration::ZERO);
    // This store is opened once, and survives every crash.
    let store = place.open().map_err(|error| refused(&error))?;
    for round in 0..rounds {
        let start = |writer| {
            let mut order = Order::new(Work::Write, &place, format!("crashed {round} {writer}"));
            order.failures = u64::MAX;
            Ok((order.name.clone(), order.start()?))
        };
        let mut writers: Vec<(String, Process)> = (0..WRITERS).map(start).collect::<Result<_>>()?;
        for (_, writer) in &mut writers {
            stuck += u64::from(!writer.keeps_more_than(0)?);
        }
        let millis = EARLIEST + bench.random.next_u64() % (LATEST - EARLIEST + 1);
        thread::sleep(Duration::from_millis(millis));
        server.crash().map_err(failed)?;
        let before: Vec<_> = writers
            .iter_mut()
            .map(|(_, writer)| Ok(writer.so_far()?.handoffs))
            .collect::<Result<_>>()?;
        let start = Instant::now();
        server.restart().map_err(failed)?;
        for ((_, writer), before) in writers.iter_mut().zip(before) {
            stuck += u64::from(!writer.keeps_more_than(before)?);
        }
        away = away.max(start.elapsed());
        for (name, writer) in writers {
            let acknowledged = writer.kill()?;
            wrong.add(content::compare(&*store, &name, &acknowledged)?);
            written.push((name, acknowledged));
        }
    }
    let mut all = Acknowledged::default();
    for (name, acknowledged) in &written {
        wrong.add(content::compare(&*store, name, acknowledged)?);
        all.add_all(acknowledged);
    }
    let row = |what: &str| bench.row("crash", rounds, what);
    let kept = format!("of {} messages and {} hand-offs", all.messages, all.handoffs);
    let untyped = all.failures_but(&TYPED);
    Ok(vec![
        row("acknowledged and lost").none(wrong.lost).note(kept),
        row("other bytes, broken chains").none(wrong.altered),
        row("errors that are not io or busy").none(untyped).note(all.failures_in_words()),
        row("writers that did not go on").none(stuck),
        row("until all write again, at worst").time(away).note("the server's start among it"),
    ])
}
