//! A long conversation is forked a thousand times.

use std::time::Duration;

use lcp_continuity::store::{NewMessage, Store};
use lcp_testkit::SplitMix64;

use super::row::Row;
use super::{Bench, content, refused};
use crate::Result;

const MESSAGES: usize = 1_000;
const MESSAGE_BYTES: usize = 1_000;

/// A fork that adds more bytes than this copies something.
const FORK_BYTES: f64 = 1_024.0;

/// The default numbers of forks. Each fork counts as a round.
const LONG: u64 = 1_000;
const SHORT: u64 = 100;

const ROOT: &str = "root";

pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let forks = bench.rounds(LONG, SHORT);
    let place = bench.backend.fresh();
    let mut random = SplitMix64::new(1);
    let bodies: Vec<_> = (0..MESSAGES).map(|_| random.bytes(MESSAGE_BYTES)).collect();
    let open = || place.open().map_err(|error| refused(&error));
    begin(&*open()?, &bodies).map_err(|error| refused(&error))?;
    // All handles are closed before the size is measured.
    let before = bench.backend.bytes(&place)?;
    let store = open()?;
    for number in 0..forks {
        store.fork(ROOT, MESSAGES as u64, &id(number)).map_err(|error| refused(&error))?;
    }
    drop(store);
    let after = bench.backend.bytes(&place)?;
    let store = open()?;
    let mut wrong = 0;
    for number in 0..forks {
        let found = store.messages(&id(number), 0, u64::MAX).map_err(|error| refused(&error))?;
        wrong += u64::from(!found.iter().map(|message| &message.body).eq(&bodies));
    }
    let row = |what: &str| bench.row("forks", forks, what);
    let grown = after.saturating_sub(before);
    let sizes = format!("{before} bytes before, {after} after");
    Ok(vec![
        row("forks without all messages").none(wrong),
        row("bytes of a fork").bytes(grown.div_ceil(forks)).below(FORK_BYTES).note(sizes),
    ])
}

fn id(number: u64) -> String {
    format!("fork {number}")
}

fn begin(store: &dyn Store, bodies: &[Vec<u8>]) -> lcp_continuity::store::Result<()> {
    store.begin(&content::conversation(ROOT))?;
    let lease = store.lease(ROOT, "holder", Duration::from_secs(60))?;
    for batch in bodies.chunks(100) {
        let message = |body: &Vec<u8>| NewMessage { body: body.clone(), tokens: 250 };
        store.append(&lease, &batch.iter().map(message).collect::<Vec<_>>(), None)?;
    }
    store.release(&lease)
}
