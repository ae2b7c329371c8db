//! Many processes claim the same hand-off.

use std::time::Duration;

use lcp_continuity::Timestamp;
use lcp_continuity::store::{Error, HandoffState, Store};

use super::child::{Work, successor};
use super::process::{self, Order, Process};
use super::protocol::Line;
use super::row::Row;
use super::{Bench, content, failed, refused};
use crate::Result;

/// The numbers of processes.
const SIZES: [u64; 3] = [4, 8, 16];

/// The delay between announcing and beginning a race, so that all processes know of it.
pub(super) const SOON: Duration = Duration::from_millis(10);

/// A claim that takes longer seems to hang, in milliseconds.
pub(super) const WAIT_MS: f64 = 250.0;

/// The error codes that losers may get.
const TYPED: [&str; 2] = ["claimed", "already_resumed"];

#[derive(Default)]
struct Sums {
    /// Races with no winner or several, or in which the store names another winner.
    unfair: u64,
    untyped: u64,
    worst: Duration,
}

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let rounds = bench.rounds(50, 5);
    let mut rows = Vec::new();
    for size in SIZES {
        let place = bench.backend.fresh();
        let store = place.open().map_err(|error| refused(&error))?;
        let order = |number| Order::new(Work::Claim, &place, format!("claimant {number}"));
        let mut claimants = process::start_all((0..size).map(order))?;
        let mut sums = Sums::default();
        for round in 0..rounds {
            race(&*store, &format!("wanted {round}"), &mut claimants, &mut sums)?;
        }
        for claimant in claimants {
            claimant.end()?;
        }
        let row = |what: &str| bench.row("race", rounds, format!("{size} processes: {what}"));
        rows.extend([
            row("races without one winner").none(sums.unfair),
            row("losers told anything else").none(sums.untyped),
            row("an answer, at worst").time(sums.worst).below(WAIT_MS),
        ]);
    }
    Ok(rows)
}

fn race(store: &dyn Store, name: &str, claimants: &mut [Process], sums: &mut Sums) -> Result {
    let handoff = content::id(name, 0);
    store.begin(&content::conversation(name)).map_err(|error| refused(&error))?;
    if content::goes_on(store, name, "the one before")?.is_some() {
        return Err(failed("the hand-off of a race was not kept"));
    }
    let at = Timestamp::now().after(SOON).0;
    for claimant in claimants.iter_mut() {
        claimant.tell(&format!("{at} {handoff}"))?;
    }
    let mut winners = Vec::new();
    for (number, claimant) in claimants.iter_mut().enumerate() {
        let waited = match claimant.must_say()? {
            Line::Done(waited) => {
                winners.push(successor(&handoff, &format!("claimant {number}")));
                waited
            }
            Line::Failed(waited, code) => {
                sums.untyped += u64::from(!TYPED.contains(&code.as_str()));
                waited
            }
            other => return Err(failed(format!("a claimant said {other:?}"))),
        };
        sums.worst = sums.worst.max(waited);
    }
    let is_fair = winners.len() == 1 && is_told(store, name, &handoff, &winners[0])?;
    let others = (0..claimants.len()).map(|number| format!("claimant {number}"));
    let mut others = others.map(|claimant| successor(&handoff, &claimant));
    let is_alone = others.all(|id| {
        winners.contains(&id)
            || matches!(store.conversation(&id), Err(Error::UnknownConversation(_)))
    });
    sums.unfair += u64::from(!is_fair || !is_alone);
    Ok(())
}

/// Returns whether the store agrees that this conversation is the continuation.
fn is_told(store: &dyn Store, name: &str, handoff: &str, winner: &str) -> Result<bool> {
    let state = store.handoff(handoff).map_err(|error| refused(&error))?.state;
    let old = store.conversation(name).map_err(|error| refused(&error))?;
    let new = store.conversation(winner).map_err(|error| refused(&error))?;
    let resumed = HandoffState::Resumed { into: winner.to_owned() };
    Ok(state == resumed
        && old.continued_as.as_deref() == Some(winner)
        && new.origin.as_deref() == Some(handoff))
}
