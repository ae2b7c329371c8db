//! A writer is suspended until its lease has expired.

use std::thread;
use std::time::Duration;

use lcp_continuity::Timestamp;
use lcp_continuity::store::{Error, Store};

use super::child::Work;
use super::process::{Order, Process};
use super::protocol::Line;
use super::row::Row;
use super::{Bench, content, failed, refused};
use crate::Result;

const LEASE: Duration = Duration::from_millis(300);

/// The pause between two attempts to get the lease.
const PAUSE: Duration = Duration::from_millis(10);

/// The number of writes that a holder tries when it continues.
const TRIES: u64 = 3;

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let rounds = bench.rounds(20, 2);
    let place = bench.backend.fresh();
    let store = place.open().map_err(|error| refused(&error))?;
    let (mut early, mut accepted, mut stored) = (0, 0, 0);
    for round in 0..rounds {
        let name = format!("asleep {round}");
        let mut order = Order::new(Work::Hold, &place, &name);
        order.lease = LEASE;
        let mut holder = order.start()?;
        match holder.must_say()? {
            Line::Ready => {}
            other => return Err(failed(format!("a holder said {other:?}"))),
        }
        holder.signal("STOP")?;
        early += u64::from(take_over(&*store, &name)?);
        // The holder reads this when it continues, without knowing that its lease has expired.
        holder.tell("go on")?;
        holder.signal("CONT")?;
        accepted += accepted_of(&mut holder)?;
        holder.end()?;
        stored += u64::from(!is_as_left(&*store, &name)?);
    }
    let row = |what: &str| bench.row("lease", rounds, what);
    let tried = format!("of {} writes, all lease_lost", rounds * TRIES);
    Ok(vec![
        row("leases given too early").none(early),
        row("late writes that were not refused").none(accepted).note(tried),
        row("conversations with anything of these").none(stored),
    ])
}

/// Takes the lease when it has expired, and writes. Returns whether that was too early.
fn take_over(store: &dyn Store, name: &str) -> Result<bool> {
    let record = store.conversation(name).map_err(|error| refused(&error))?;
    let (_, until) = record.holder.ok_or_else(|| failed("nobody holds it"))?;
    let minute = Duration::from_secs(60);
    let lease = loop {
        match store.lease(name, "another", minute) {
            Ok(lease) => break lease,
            Err(Error::Held { .. }) => thread::sleep(PAUSE),
            Err(error) => return Err(refused(&error)),
        }
    };
    let is_early = Timestamp::now() < until;
    store
        .append(&lease, &[content::message("another", 0)], None)
        .map_err(|error| refused(&error))?;
    Ok(is_early)
}

/// Returns how many writes of the suspended holder were accepted.
fn accepted_of(holder: &mut Process) -> Result<u64> {
    let mut accepted = 0;
    for _ in 0..TRIES {
        match holder.must_say()? {
            Line::Failed(_, code) if code == "lease_lost" => {}
            _ => accepted += 1,
        }
    }
    Ok(accepted)
}

/// Returns whether the conversation has exactly the writes that both holders made in time.
fn is_as_left(store: &dyn Store, name: &str) -> Result<bool> {
    let found = store.messages(name, 0, u64::MAX).map_err(|error| refused(&error))?;
    let bodies: Vec<_> = found.into_iter().map(|message| message.body).collect();
    let expected = [content::message(name, 0).body, content::message("another", 0).body];
    let latest = store.latest(name).map_err(|error| refused(&error))?;
    let epoch = store.conversation(name).map_err(|error| refused(&error))?.epoch;
    let began = store.messages(name, 0, 1).map_err(|error| refused(&error))?[0].epoch;
    Ok(bodies == expected && latest.is_none() && epoch == began)
}
