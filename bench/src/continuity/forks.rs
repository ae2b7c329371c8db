//! How large a file gets by forks.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lcp_continuity::store::{NewMessage, SqliteStore, Store};

use super::writers::{STATUS, conversation, text};
use super::{MESSAGE_BYTES, folder};
use crate::error::Error;
use crate::table::{Better, Row};

const FORKS: u64 = 1_000;

/// Messages of the conversation that is forked: a megabyte.
const MESSAGES: u64 = 1_000;

/// What a fork adds to the file, beside what the conversation added.
#[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
pub(super) fn row(progress: &mut dyn FnMut(String)) -> Result<Row, Error> {
    progress("forks".to_owned());
    let folder = folder()?;
    let path = folder.path().join("store");
    drop(SqliteStore::open(&path)?);
    let empty = size(&path)?;

    let store = SqliteStore::open(&path)?;
    store.begin(&conversation("a"))?;
    let lease = store.lease("a", "holder", Duration::from_secs(60 * 60))?;
    let messages: Vec<_> = (0..MESSAGES)
        .map(|number| NewMessage { body: text(number, MESSAGE_BYTES), tokens: 250 })
        .collect();
    store.append(&lease, &messages, Some(STATUS))?;
    drop(store);
    let whole = size(&path)?;

    let store = SqliteStore::open(&path)?;
    for number in 0..FORKS {
        // At many places, as where somebody tries again from there.
        store.fork("a", MESSAGES - number % 100, &format!("fork {number}"))?;
    }
    drop(store);
    let fork = (size(&path)? - whole) as f64 / FORKS as f64;
    let copy = (whole - empty) as f64;
    let what = "SQLite, a fork of a conversation of 1 MB, of 1,000";
    Ok(Row::named(what, Better::Lower, "bytes").figures(fork, "a copy of it", copy))
}

/// Bytes of a file that nobody has open, so that nothing of it is in the log.
fn size(path: &Path) -> Result<u64, Error> {
    Ok(fs::metadata(path).map_err(|error| Error::io("look at", path, error))?.len())
}
