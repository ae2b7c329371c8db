//! A writer among many that measures the time of each commit.

use std::thread;
use std::time::{Duration, Instant};

use lcp_continuity::Timestamp;
use lcp_continuity::store::Store;
use rusqlite::{Connection, TransactionBehavior};

use super::super::protocol::Line;
use super::super::{content, failed, refused};
use super::{Args, next_command};
use crate::Result;

/// The number of hand-offs that each writer commits.
const COMMITS: u64 = 50;

/// The busy timeout of a plain file, the same as that of a store.
const BUSY: Duration = Duration::from_secs(30);

/// Commits hand-offs from the time that the parent names, and reports the duration of each commit.
pub(super) fn run(store: &dyn Store, args: &Args) -> Result {
    let name = &args.name;
    store.begin(&content::conversation(name)).map_err(|error| refused(&error))?;
    let lease = store.lease(name, name, args.lease()).map_err(|error| refused(&error))?;
    let first = content::message(name, 0);
    store.append(&lease, &[first], None).map_err(|error| refused(&error))?;
    wait_for_all()?;
    for number in 0..COMMITS {
        let mut handoff = content::handoff(name, number);
        handoff.messages = 1;
        let start = Instant::now();
        match store.commit(&lease, &handoff) {
            Ok(_) => Line::Done(start.elapsed()).say()?,
            Err(error) => Line::failed(start.elapsed(), &error).say()?,
        }
    }
    Ok(())
}

/// Does the same with a plain SQLite file, which is as durable but relies on SQLite's own waiting.
pub(super) fn plain(args: &Args) -> Result {
    let mut connection = Connection::open(&args.store).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    let made = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE IF NOT EXISTS packs (id TEXT NOT NULL UNIQUE, pack BLOB NOT NULL)";
    let start = Instant::now();
    // SQLite's timeout does not apply while another connection switches to WAL mode.
    while let Err(error) = connection.execute_batch(made) {
        if start.elapsed() > BUSY {
            return Err(failed(error));
        }
        thread::sleep(Duration::from_millis(2));
    }
    wait_for_all()?;
    for number in 0..COMMITS {
        let handoff = content::handoff(&args.name, number);
        let start = Instant::now();
        let kept = connection.transaction_with_behavior(TransactionBehavior::Immediate).and_then(
            |transaction| {
                let sql = "INSERT INTO packs (id, pack) VALUES (?1, ?2)";
                transaction.execute(sql, (&handoff.id, &handoff.pack))?;
                transaction.commit()
            },
        );
        match kept {
            Ok(()) => Line::Done(start.elapsed()).say()?,
            Err(_) => Line::Failed(start.elapsed(), "busy".to_owned()).say()?,
        }
    }
    Ok(())
}

fn wait_for_all() -> Result {
    Line::Ready.say()?;
    let at = next_command()?.ok_or_else(|| failed("no moment"))?;
    super::claim::wait_until(Timestamp(at.parse().map_err(failed)?));
    Ok(())
}
