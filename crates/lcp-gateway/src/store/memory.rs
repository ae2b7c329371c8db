//! The part of the store that the last requests used, so that the next one needs no query for it.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rusqlite::Connection;

use crate::decisions::{Decision, Hash, Key};

/// The maximum number of decisions, and of beginnings.
const ENTRIES_MAX: usize = 1 << 15;

/// A stored decision.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) decision: Decision,
    /// The model that keeps the result in its cache for the longest time, and the end of this time.
    pub(super) model: String,
    pub(super) expires: i64,
    /// The time of the last check that the file of the original exists.
    pub(super) checked_at: i64,
}

/// The entries that were read or written last.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The number of the version of the file, which changes if another gateway writes to it.
    version: i64,
    pub(super) decisions: HashMap<Key, Known, RandomState>,
    /// The times until which providers keep beginnings.
    pub(super) expires: HashMap<Hash, i64, RandomState>,
}

impl Memory {
    /// Forgets the entries that another gateway may have changed, and those above the limit.
    pub(super) fn update(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        let is_full = self.decisions.len().max(self.expires.len()) > ENTRIES_MAX;
        if version != self.version || is_full {
            *self = Self { version, ..Self::default() };
        }
        Ok(())
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
