//! Checkpoints of the store, outside of requests.
//!
//! A checkpoint copies SQLite's log into the database file, and waits for the disk. By default, SQLite does
//! this in the commit that fills the log, which would delay that request.

use std::path::Path;

use lcp_app::Result;
use rusqlite::Connection;

/// The number of recorded requests between two checkpoints.
const REQUESTS: u32 = 128;

/// The size of the log in pages (64 MiB) at which a commit runs a checkpoint after all.
const PAGES_MAX: u32 = 1 << 14;

/// A runner of checkpoints. It has its own connection, so that requests can be edited meanwhile.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    connection: Connection,
    requests: u32,
}

impl Checkpoints {
    /// Connects to the store of a folder.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        Ok(Self { connection: super::connect(folder)?, requests: 0 })
    }

    /// Counts a recorded request. Runs a checkpoint after every [`REQUESTS`] of them.
    pub(crate) fn add_request(&mut self) -> rusqlite::Result<()> {
        self.requests += 1;
        if self.requests < REQUESTS {
            return Ok(());
        }
        self.requests = 0;
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }
}

/// Raises the size of the log at which commits run checkpoints, so that [`Checkpoints`] runs almost all.
pub(super) fn limit_automatic(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "wal_autocheckpoint", PAGES_MAX, |_| Ok(()))
}
