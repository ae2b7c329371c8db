//! How soon a store is there again.

use std::time::Duration;

use lcp_continuity::store::{SqliteStore, Store};

use super::folder;
use super::race::{Times, timed};
use super::writers::{Own, Writer, open};
use crate::error::Error;
use crate::table::{Row, Wanted};

/// Hand-offs in it.
const HANDOFFS: usize = 1_000;

/// Milliseconds that it may take.
const MOST: f64 = 50.0;

const ROUNDS: usize = 21;

/// To open it, and to read the newest hand-off.
pub(super) fn row(progress: &mut dyn FnMut(String)) -> Result<Row, Error> {
    progress("a store is opened again".to_owned());
    let folder = folder()?;
    let path = folder.path().join("store");
    let mut own = Own::begin(SqliteStore::open(&path)?, "a")?;
    for _ in 0..HANDOFFS {
        own.commit()?;
    }
    drop(own);

    let by_store = || -> Result<Duration, Error> {
        timed(|| {
            let store = SqliteStore::open(&path)?;
            let newest = store.latest("a")?.unwrap_or_default();
            Ok(store.handoff(&newest)?)
        })
    };
    let alone = || -> Result<Duration, Error> {
        timed(|| {
            let select = "SELECT pack FROM packs ORDER BY handoff DESC LIMIT 1";
            let pack = open(&path)?.query_row(select, (), |row| row.get::<_, Vec<u8>>(0))?;
            Ok(pack)
        })
    };
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        own.push(by_store()?);
        bare.push(alone()?);
    }
    let what = "SQLite, reopened with 1,000 hand-offs, newest read";
    let row = Times::new(&own).row(what, "rusqlite alone", &Times::new(&bare));
    Ok(row.wants(Wanted::OwnAtMost(MOST)))
}
