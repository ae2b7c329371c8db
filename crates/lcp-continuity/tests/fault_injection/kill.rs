//! Writers are killed.

use std::thread;
use std::time::{Duration, Instant};

use lcp_continuity::Timestamp;
use lcp_continuity::store::{Error, Store};

use super::backends::{Backend, StoreLocation};
use super::child::Work;
use super::content::{self, Wrong};
use super::process::Order;
use super::protocol::Acknowledged;
use super::row::Row;
use super::{Bench, refused};
use crate::Result;

/// The lease of a writer, which is longer than its life.
const LEASE: Duration = Duration::from_secs(2);

/// The earliest and latest kill of a writer, in milliseconds after its start.
const EARLIEST: u64 = 5;
const LATEST: u64 = 150;

/// The interval in rounds at which a writer starts without a store, and is killed while it creates
/// one or soon after.
const FRESH: u64 = 8;

/// Opening a store that takes longer keeps its user waiting, in milliseconds.
const OPEN_MS: f64 = 50.0;

/// The totals of all rounds.
#[derive(Default)]
struct Sums {
    kept: Acknowledged,
    wrong: Wrong,
    damaged: u64,
    /// Leases that others got too early, or did not get after they expired.
    leases: u64,
    opened: Duration,
}

/// A writer that was killed.
struct Dead {
    place: StoreLocation,
    conversation: String,
    acknowledged: Acknowledged,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<Vec<Row>> {
    let rounds = bench.rounds(200, 4);
    let mut sums = Sums::default();
    let mut dead: Vec<Dead> = Vec::new();
    let mut place = bench.backend.fresh();
    for round in 0..rounds {
        if round % FRESH == FRESH - 1 {
            place = bench.backend.fresh();
        }
        let conversation = format!("killed {round}");
        let mut order = Order::new(Work::Write, &place, &conversation);
        order.lease = LEASE;
        let writer = order.start()?;
        let millis = EARLIEST + bench.random.next_u64() % (LATEST - EARLIEST + 1);
        thread::sleep(Duration::from_millis(millis));
        let acknowledged = writer.kill()?;
        sums.kept.add_all(&acknowledged);
        let found = Dead { place: place.clone(), conversation, acknowledged };
        look_at(&found, &mut sums)?;
        dead.push(found);
    }
    thread::sleep(LEASE);
    inherit(&dead, &mut sums)?;
    Ok(rows(bench, rounds, &sums))
}

/// Opens the store like the next process, and checks it.
fn look_at(dead: &Dead, sums: &mut Sums) -> Result {
    let start = Instant::now();
    let store = dead.place.open().map_err(|error| refused(&error))?;
    sums.opened = sums.opened.max(start.elapsed());
    sums.leases += u64::from(is_given_away(&*store, &dead.conversation)?);
    sums.wrong.add(content::compare(&*store, &dead.conversation, &dead.acknowledged)?);
    sums.damaged += u64::from(dead.place.damage()?.is_some());
    Ok(())
}

/// Returns whether another holder gets a lease that has not expired.
fn is_given_away(store: &dyn Store, conversation: &str) -> Result<bool> {
    let until = match store.conversation(conversation) {
        Ok(record) => record.holder.map(|(_, until)| until),
        Err(Error::UnknownConversation(_)) => None,
        Err(error) => return Err(refused(&error)),
    };
    let Some(until) = until else { return Ok(false) };
    match store.lease(conversation, "another", LEASE) {
        Ok(_) => Ok(Timestamp::now() < until),
        Err(Error::Held { .. }) => Ok(false),
        Err(error) => Err(refused(&error)),
    }
}

/// Checks, after all leases have expired, that nothing is missing and that others can continue.
fn inherit(dead: &[Dead], sums: &mut Sums) -> Result {
    let mut opened: Option<(&StoreLocation, Box<dyn Store>)> = None;
    for Dead { place, conversation, acknowledged } in dead {
        if opened.as_ref().is_none_or(|(at, _)| *at != place) {
            opened = Some((place, place.open().map_err(|error| refused(&error))?));
        }
        let Some((_, store)) = &opened else { continue };
        sums.wrong.add(content::compare(&**store, conversation, acknowledged)?);
        if store.conversation(conversation).is_ok() {
            let heir = store.lease(conversation, "an heir", LEASE);
            sums.leases += u64::from(heir.is_err());
        }
    }
    Ok(())
}

fn rows(bench: &Bench<'_>, rounds: u64, sums: &Sums) -> Vec<Row> {
    let Sums { kept, wrong, damaged, leases, opened } = sums;
    let row = |what: &str| bench.row("kill", rounds, what);
    let written = format!("of {} messages and {} hand-offs", kept.messages, kept.handoffs);
    let reopened = row("opened again, at worst").time(*opened);
    let mut rows = vec![
        row("acknowledged and lost").none(wrong.lost).note(written),
        row("other bytes, broken chains").none(wrong.altered),
        row("errors of writers").none(kept.failures_but(&[])).note(kept.failures_in_words()),
        row("leases given too early, or not at all").none(*leases),
    ];
    if let Backend::Sqlite(_) = bench.backend {
        rows.push(row("damaged files").none(*damaged).note("integrity_check"));
        rows.push(reopened.below(OPEN_MS));
    } else {
        rows.push(reopened);
    }
    rows
}
