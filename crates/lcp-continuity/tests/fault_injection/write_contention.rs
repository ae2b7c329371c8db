//! Many processes write at once.

use std::time::Duration;

use lcp_continuity::Timestamp;

use super::backends::Backend;
use super::child::Work;
use super::claim_race::{SOON, WAIT_MS};
use super::process::{self, Order};
use super::protocol::Line;
use super::row::Row;
use super::{Bench, failed, refused};
use crate::Result;

/// The numbers of processes.
const SIZES: [u64; 2] = [4, 16];

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let rounds = bench.rounds(3, 1);
    let mut rows = Vec::new();
    for size in SIZES {
        let (mut ours, mut plain) = (Waits::default(), Waits::default());
        for _ in 0..rounds {
            ours.add(waits(bench, Work::Commit, size)?);
            if let Backend::Sqlite(_) = bench.backend {
                plain.add(waits(bench, Work::Plain, size)?);
            }
        }
        let row = |what: &str| bench.row("queue", rounds, format!("{size} processes: {what}"));
        let all = format!("of {} commits", ours.kept + ours.failed);
        rows.push(row("commits refused").none(ours.failed).note(all));
        let worst = row("a commit, at worst").time(ours.worst).below(WAIT_MS);
        if plain.kept == 0 {
            rows.push(worst);
            continue;
        }
        let times = plain.worst.as_secs_f64() / ours.worst.as_secs_f64();
        rows.push(worst.note(format!("busy_timeout alone: {times:.1} times as long")));
        let refused = format!("{} of {} refused", plain.failed, plain.kept + plain.failed);
        rows.push(row("with busy_timeout alone").time(plain.worst).note(refused));
    }
    Ok(rows)
}

#[derive(Clone, Copy, Default)]
struct Waits {
    kept: u64,
    failed: u64,
    worst: Duration,
}

impl Waits {
    fn add(&mut self, other: Self) {
        self.kept += other.kept;
        self.failed += other.failed;
        self.worst = self.worst.max(other.worst);
    }
}

fn waits(bench: &Bench<'_>, work: Work, size: u64) -> Result<Waits> {
    let place = bench.backend.fresh();
    if work == Work::Commit {
        // Creates the tables in advance, so that no writer waits for that.
        place.open().map_err(|error| refused(&error))?;
    }
    let order = |number| Order::new(work, &place, format!("writer {number}"));
    let mut writers = process::start_all((0..size).map(order))?;
    let at = Timestamp::now().after(SOON).0;
    for writer in &mut writers {
        writer.tell(&at.to_string())?;
    }
    let mut waits = Waits::default();
    for mut writer in writers {
        while let Some(line) = writer.line()? {
            let one = match line {
                Line::Done(worst) => Waits { kept: 1, failed: 0, worst },
                Line::Failed(worst, _) => Waits { kept: 0, failed: 1, worst },
                other => return Err(failed(format!("a writer said {other:?}"))),
            };
            waits.add(one);
        }
        writer.end()?;
    }
    Ok(waits)
}
