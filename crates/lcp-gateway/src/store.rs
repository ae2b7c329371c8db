//! The memory of a gateway: decisions, beginnings, and the usage of requests, in one SQLite file that
//! several gateways can share.

mod checkpoints;
mod memory;
mod originals;
mod usage_rows;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lcp_app::{Error, ErrorKind, Result};
use lcp_store::sqlite::{self, Options, SchemaSpec};
use rusqlite::{Connection, OptionalExtension as _, ToSql, Transaction, TransactionBehavior};

use crate::beginnings::{Beginning, Cached};
use crate::decisions::{Decision, Hash, Key, Replacement};
use crate::request::Request;
use crate::rewrite::Rewritten;
use memory::{Known, Memory};

pub(crate) use checkpoints::Checkpoints;
pub(crate) use originals::Originals;
pub(crate) use usage_rows::{Row, Unedited, edit_name};

const SCHEMA: SchemaSpec = SchemaSpec {
    // "LCPG"
    application_id: 0x4C43_5047,
    version: 3,
    name: "gateway store",
    page_bytes: 4096,
    row_bytes_max: 256 << 20,
    schema: &[DECISIONS, BEGINNINGS, usage_rows::REQUESTS, usage_rows::EDITS],
    migrations: &[FROM_1, usage_rows::FROM_2],
};

/// Without a replacement, the result stays. `model` is the one that keeps the result in its cache for the
/// longest time, until `expires`.
macro_rules! decisions_table {
    () => {
        "CREATE TABLE decisions (
    call TEXT NOT NULL,
    text BLOB NOT NULL,
    replacement TEXT,
    target_call TEXT,
    target_text BLOB,
    model TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (call, text)
) STRICT, WITHOUT ROWID"
    };
}

const DECISIONS: &str = decisions_table!();

/// In the first version, decisions belonged to other hashes.
const FROM_1: &str =
    concat!("DELETE FROM beginnings; DROP TABLE decisions; ", decisions_table!(), ";");

const BEGINNINGS: &str = "CREATE TABLE beginnings (
    hash BLOB NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

/// The name of the file in the folder of a gateway.
const FILE: &str = "gateway.sqlite";

/// The number of seconds by which a stored time can be too early. Each time has a margin of two
/// minutes, so it need not be written again with each request.
const DELAY_SECONDS: i64 = 60;

/// The minimum time in seconds between two checks that the file of an original exists.
const CHECK_SECONDS: i64 = 60;

/// The time in seconds after which the use of an original is written again.
const USE_SECONDS: i64 = 3_600;

/// The maximum time to wait for another gateway. After that, the request is sent unchanged.
const BUSY: Duration = Duration::from_secs(2);

/// A store. `now` is always in seconds since 1970.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    memory: RefCell<Memory>,
    originals: Originals,
    keep_seconds: i64,
}

impl Store {
    /// Opens the store of a folder, which only the user can read.
    pub(crate) fn open(folder: &Path, keep_days: u32) -> Result<Self> {
        let folder = make_private(folder)?;
        let originals = Originals::new(make_private(&folder.join("originals"))?);
        let connection = connect(&folder)?;
        let memory = RefCell::default();
        Ok(Self { connection, memory, originals, keep_seconds: i64::from(keep_days) * 86_400 })
    }

    /// Returns whether a folder has a store.
    pub(crate) fn exists(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Returns the folder of the originals.
    pub(crate) fn originals(&self) -> &Originals {
        &self.originals
    }

    /// Begins the edit of a request. Other gateways wait until it ends, so that two never decide
    /// differently about a result.
    pub(crate) fn begin(&mut self, now: i64) -> sqlite::Result<EditTransaction<'_>> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        self.memory.get_mut().update(&transaction)?;
        let (memory, originals) = (&self.memory, &self.originals);
        Ok(EditTransaction { transaction, memory, originals, now, failure: RefCell::default() })
    }

    /// Expires the beginnings and results of a request that the provider did not cache.
    pub(crate) fn expire(
        &mut self,
        cached: &CachedParts,
        model: &str,
        now: i64,
    ) -> sqlite::Result<()> {
        if cached.beginnings.is_empty() {
            return Ok(());
        }
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut update = transaction
            .prepare("UPDATE beginnings SET expires = min(expires, ?2) WHERE hash = ?1")?;
        for hash in &cached.beginnings {
            update.execute((hash, now))?;
        }
        drop(update);
        let mut update = transaction.prepare(
            "UPDATE decisions SET expires = min(expires, ?4)
             WHERE call = ?1 AND text = ?2 AND model = ?3",
        )?;
        for key in &cached.results {
            update.execute((&key.call, &key.text, model, now))?;
        }
        drop(update);
        transaction.commit()?;
        let memory = self.memory.get_mut();
        for hash in &cached.beginnings {
            memory.expires.remove(hash);
        }
        for key in &cached.results {
            memory.decisions.remove(key);
        }
        Ok(())
    }

    /// Deletes the entries that no request has used for the time that the store keeps them.
    pub(crate) fn delete_old(&mut self, now: i64) -> sqlite::Result<()> {
        let oldest = now - self.keep_seconds;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute("DELETE FROM decisions WHERE expires < ?1", [oldest])?;
        transaction.execute("DELETE FROM beginnings WHERE expires < ?1", [oldest])?;
        usage_rows::delete_before(&transaction, oldest)?;
        transaction.commit()?;
        self.memory.get_mut().clear();
        self.originals.delete_before(oldest);
        Ok(())
    }

    /// Adds the usage of a request.
    pub(crate) fn add_usage(&mut self, row: &Row) -> sqlite::Result<()> {
        usage_rows::add(&mut self.connection, row)
    }

    /// Returns the usage of all requests, the oldest first.
    pub(crate) fn usage(&self) -> sqlite::Result<Vec<Row>> {
        usage_rows::all(&self.connection)
    }
}

/// The edit of a request.
pub(crate) struct EditTransaction<'s> {
    transaction: Transaction<'s>,
    memory: &'s RefCell<Memory>,
    originals: &'s Originals,
    now: i64,
    /// The error of a lookup.
    failure: RefCell<Option<sqlite::Error>>,
}

impl EditTransaction<'_> {
    /// Returns the decision about a result. After a failure, [`Self::check`] fails.
    pub(crate) fn decision(&self, key: &Key) -> Option<Decision> {
        let mut memory = self.memory.borrow_mut();
        if let Some(known) = memory.decisions.get(key) {
            return Some(known.decision.clone());
        }
        let query = || {
            let sql = "SELECT replacement, target_call, target_text, model, expires FROM decisions
                 WHERE call = ?1 AND text = ?2";
            let known = |row: &rusqlite::Row<'_>| {
                let text: Option<Arc<str>> = row.get(0)?;
                let target: Option<(Arc<str>, Hash)> =
                    row.get::<_, Option<Arc<str>>>(1)?.zip(row.get(2)?);
                let target = target.map(|(call, text)| Key { call, text });
                let decision = text.map_or(Decision::Keep, |text| {
                    Decision::Replace(Replacement::new(text, target))
                });
                Ok(Known { decision, model: row.get(3)?, expires: row.get(4)?, checked_at: 0 })
            };
            self.transaction
                .prepare_cached(sql)?
                .query_row((&key.call, &key.text), known)
                .optional()
        };
        let known = query().unwrap_or_else(|error: rusqlite::Error| {
            *self.failure.borrow_mut() = Some(error.into());
            None
        })?;
        let decision = known.decision.clone();
        memory.decisions.insert(key.clone(), known);
        Some(decision)
    }

    /// Returns whether a new decision replaces a stored one.
    pub(crate) fn has_changes(&self, rewritten: &Rewritten<'_>) -> bool {
        let memory = self.memory.borrow();
        rewritten.decisions.iter().any(|(key, _)| memory.decisions.contains_key(key))
    }

    /// Returns the state of a beginning. After a failure, [`Self::check`] fails.
    pub(crate) fn cached(&self, hash: &Hash) -> Cached {
        let known = self.memory.borrow().expires.get(hash).copied();
        let sql = "SELECT expires FROM beginnings WHERE hash = ?1";
        self.state(known.or_else(|| self.end(sql, hash)))
    }

    /// Returns the state of the results of a call. After a failure, [`Self::check`] fails.
    pub(crate) fn cached_call(&self, call: &str) -> Cached {
        self.state(self.end("SELECT max(expires) FROM decisions WHERE call = ?1", call))
    }

    /// Returns the end that a query finds.
    fn end(&self, sql: &str, key: impl ToSql) -> Option<i64> {
        let query = || self.transaction.prepare_cached(sql)?.query_row([key], |row| row.get(0));
        let end = query().optional().map(Option::flatten);
        end.unwrap_or_else(|error| {
            *self.failure.borrow_mut() = Some(error.into());
            None
        })
    }

    /// Returns the state of a part that providers keep until this time.
    fn state(&self, end: Option<i64>) -> Cached {
        match end {
            Some(end) if end > self.now => Cached::Warm,
            Some(_) => Cached::Expired,
            None => Cached::Unknown,
        }
    }

    /// Returns whether a model other than `model` may have a result in its cache. Call
    /// [`Self::decision`] for the result first.
    pub(crate) fn is_warm(&self, key: &Key, model: &str) -> bool {
        let memory = self.memory.borrow();
        let known = memory.decisions.get(key);
        known.is_some_and(|known| known.expires > self.now && known.model != model)
    }

    /// Returns whether a provider may have a result in its cache. Call [`Self::decision`] for the result first.
    pub(crate) fn is_cached(&self, key: &Key) -> bool {
        let memory = self.memory.borrow();
        memory.decisions.get(key).is_some_and(|known| known.expires > self.now)
    }

    /// Returns the error of a lookup that failed.
    pub(crate) fn check(&self) -> sqlite::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Writes the originals of new edits, and those of earlier ones that are missing. They must exist before
    /// the request is sent.
    pub(crate) fn write_originals(
        &self,
        request: &Request<'_>,
        rewritten: &Rewritten<'_>,
    ) -> sqlite::Result<()> {
        let mut memory = self.memory.borrow_mut();
        for result in &request.outline.results {
            if let Some(known) = memory.decisions.get_mut(&result.key)
                && known.decision.replacement().is_some()
                && known.checked_at + CHECK_SECONDS <= self.now
            {
                let (text, used_before) = (|| request.text(result), self.now - USE_SECONDS);
                let kept = self.originals.keep(&result.key.text, text, used_before);
                kept.map_err(|error| original_error(&error))?;
                known.checked_at = self.now;
            }
        }
        for original in &rewritten.originals {
            self.originals
                .write(&original.hash, &original.text)
                .map_err(|error| original_error(&error))?;
        }
        Ok(())
    }

    /// Stores the decisions and beginnings of an edit.
    pub(crate) fn commit(
        self,
        request: &Request<'_>,
        rewritten: &Rewritten<'_>,
    ) -> sqlite::Result<()> {
        let mut memory = self.memory.borrow_mut();
        let seconds = rewritten.beginnings.first().map_or(0, |it| i64::from(it.seconds));
        let mut used = Vec::new();
        for (at, result) in request.outline.results.iter().enumerate() {
            let is_cached = at < rewritten.cached_results.len();
            let expires = if is_cached { self.now + seconds } else { self.now };
            let known = memory.decisions.get(&result.key);
            if known.is_none_or(|known| expires > known.expires + DELAY_SECONDS) {
                used.push((&result.key, expires));
            }
        }
        let is_new = |(hash, expires): &(Hash, i64)| {
            memory.expires.get(hash).is_none_or(|known| *expires > known + DELAY_SECONDS)
        };
        let beginnings = rewritten.beginnings.iter();
        let mut beginnings: Vec<_> = beginnings
            .map(|Beginning { hash, seconds }| (*hash, self.now + i64::from(*seconds)))
            .filter(is_new)
            .collect();
        {
            let mut insert = self.transaction.prepare_cached(
                "INSERT INTO decisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (call, text) DO UPDATE SET replacement = excluded.replacement,
                 target_call = excluded.target_call, target_text = excluded.target_text",
            )?;
            for (key, decision) in &rewritten.decisions {
                let replacement = decision.replacement();
                let target = replacement.and_then(|it| it.target.as_ref());
                insert.execute((
                    &key.call,
                    &key.text,
                    replacement.map(Replacement::text),
                    target.map(|key| &key.call),
                    target.map(|key| &key.text),
                    &request.model,
                    self.now,
                ))?;
            }
            let mut touch = self.transaction.prepare_cached(
                "UPDATE decisions SET model = ?3, expires = ?4 WHERE call = ?1 AND text = ?2",
            )?;
            for (key, expires) in &used {
                touch.execute((&key.call, &key.text, &request.model, expires))?;
            }
            let mut send = self.transaction.prepare_cached(
                "INSERT INTO beginnings VALUES (?1, ?2)
                 ON CONFLICT (hash) DO UPDATE SET expires = max(expires, excluded.expires)
                 RETURNING expires",
            )?;
            for beginning in &mut beginnings {
                beginning.1 = send.query_row(*beginning, |row| row.get(0))?;
            }
        }
        self.transaction.commit()?;
        memory.expires.extend(beginnings);
        let new = |decision| Known {
            decision,
            model: request.model.clone(),
            expires: self.now,
            checked_at: self.now,
        };
        for (key, decision) in rewritten.decisions.iter().cloned() {
            let entry = memory.decisions.entry(key);
            let changed = entry.and_modify(|known| known.decision.clone_from(&decision));
            changed.or_insert_with(|| new(decision));
        }
        for (key, expires) in used {
            let entry = memory.decisions.entry(key.clone());
            entry.and_modify(|known| {
                known.model.clone_from(&request.model);
                known.expires = expires;
            });
        }
        Ok(())
    }
}

/// Returns the error of a file of an original.
fn original_error(error: &std::io::Error) -> sqlite::Error {
    sqlite::Error::Io(format!("originals: {error}"))
}

/// The parts of a request that the provider may cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct CachedParts {
    pub(crate) beginnings: Vec<Hash>,
    pub(crate) results: Vec<Key>,
}

/// Connects to the file in a folder.
fn connect(folder: &Path) -> Result<Connection> {
    let options = Options {
        busy_timeout: BUSY,
        // A power failure makes the gateway judge the results since the last checkpoint again, no more.
        durable: false,
        private: true,
        ..Options::default()
    };
    let path = folder.join(FILE);
    let failed = |error: sqlite::Error| {
        Error::new(ErrorKind::Io, format!("cannot open {}: {error}", path.display()))
            .with_hint("pass --data to use another folder")
    };
    let connection = sqlite::open(&path, &SCHEMA, &options).map_err(failed)?;
    checkpoints::limit_automatic(&connection).map_err(|error| failed(error.into()))?;
    Ok(connection)
}

/// Creates a folder that only the user can read. Returns its absolute path.
fn make_private(folder: &Path) -> Result<PathBuf> {
    let failed = |error| {
        Error::io("create", folder.display(), &error).with_hint("pass --data to use another folder")
    };
    lcp_app::create_private(folder).map_err(failed)?;
    folder.canonicalize().map_err(failed)
}

#[cfg(test)]
mod tests;
