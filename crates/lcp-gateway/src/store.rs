//! The memory of a gateway: decisions, beginnings, and the usage of requests, in one SQLite file that
//! several gateways can share.

mod originals;
mod usage_rows;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::{Error, ErrorKind, Result};
use lcp_store::sqlite::{self, Options, SchemaSpec};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::beginnings::{Beginning, Cached};
use crate::decisions::{Decision, Decisions, Hash, Key, Replacement};
use crate::rewrite::Rewritten;

pub(crate) use originals::Originals;
pub(crate) use usage_rows::{Row, edit_name};

const SCHEMA: SchemaSpec = SchemaSpec {
    // "LCPG"
    application_id: 0x4C43_5047,
    version: 1,
    name: "gateway store",
    page_bytes: 4096,
    row_bytes_max: 256 << 20,
    schema: &[DECISIONS, BEGINNINGS, usage_rows::REQUESTS, usage_rows::EDITS],
    migrations: &[],
};

/// Without a replacement, the result stays.
const DECISIONS: &str = "CREATE TABLE decisions (
    call TEXT NOT NULL,
    text BLOB NOT NULL,
    replacement TEXT,
    target_call TEXT,
    target_text BLOB,
    used INTEGER NOT NULL,
    PRIMARY KEY (call, text)
) STRICT, WITHOUT ROWID";

const BEGINNINGS: &str = "CREATE TABLE beginnings (
    hash BLOB NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID";

/// The name of the file in the folder of a gateway.
const FILE: &str = "gateway.sqlite";

/// The time in seconds after which the use of a decision is written again.
const USE_SECONDS: i64 = 3_600;

/// The maximum time to wait for another gateway. After that, the request is sent unchanged.
const BUSY: Duration = Duration::from_secs(2);

/// A store. `now` is always in seconds since 1970.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    originals: Originals,
    keep_seconds: i64,
}

impl Store {
    /// Opens the store of a folder, which only the user can read.
    pub(crate) fn open(folder: &Path, keep_days: u32) -> Result<Self> {
        let folder = make_private(folder)?;
        let originals = Originals::new(make_private(&folder.join("originals"))?);
        let options = Options {
            busy_timeout: BUSY,
            // A power failure makes the gateway judge the last results again, no more.
            durable: false,
            private: true,
            ..Options::default()
        };
        let path = folder.join(FILE);
        let connection = sqlite::open(&path, &SCHEMA, &options).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot open {}: {error}", path.display()))
                .with_hint("pass --data to use another folder")
        })?;
        Ok(Self { connection, originals, keep_seconds: i64::from(keep_days) * 86_400 })
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
        let (used, failure) = (RefCell::default(), RefCell::default());
        Ok(EditTransaction { transaction, originals: &self.originals, now, used, failure })
    }

    /// Ends the time of beginnings, because the provider did not cache them.
    pub(crate) fn expire(&mut self, beginnings: &[Hash], now: i64) -> sqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut update = transaction
            .prepare("UPDATE beginnings SET expires = min(expires, ?2) WHERE hash = ?1")?;
        for hash in beginnings {
            update.execute((hash, now))?;
        }
        drop(update);
        Ok(transaction.commit()?)
    }

    /// Deletes the entries that no request has used for the time that the store keeps them.
    pub(crate) fn delete_old(&mut self, now: i64) -> sqlite::Result<()> {
        let oldest = now - self.keep_seconds;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // The last use may be an hour newer than is noted, and a beginning can be warm for a day.
        let unused = oldest.min(now - 86_400) - 2 * USE_SECONDS;
        transaction.execute("DELETE FROM decisions WHERE used < ?1", [unused])?;
        transaction.execute("DELETE FROM beginnings WHERE expires < ?1", [oldest])?;
        usage_rows::delete_before(&transaction, oldest)?;
        transaction.commit()?;
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
    originals: &'s Originals,
    now: i64,
    /// The keys of decisions whose use must be noted.
    used: RefCell<Vec<Key>>,
    /// The error of a lookup.
    failure: RefCell<Option<sqlite::Error>>,
}

impl EditTransaction<'_> {
    /// Returns the decisions about these results.
    pub(crate) fn decisions(&self, keys: &[Key]) -> sqlite::Result<Decisions> {
        let mut query = self.transaction.prepare_cached(
            "SELECT replacement, target_call, target_text, used FROM decisions
             WHERE call = ?1 AND text = ?2",
        )?;
        let mut decisions = Decisions::new();
        for key in keys {
            let decision = query.query_row((&key.call, &key.text), |row| {
                let text: Option<String> = row.get(0)?;
                let target: Option<(String, Hash)> =
                    row.get::<_, Option<String>>(1)?.zip(row.get(2)?);
                let target = target.map(|(call, text)| Key { call, text });
                if row.get::<_, i64>(3)? < self.now - USE_SECONDS {
                    self.used.borrow_mut().push(key.clone());
                }
                Ok(text
                    .map_or(Decision::Keep, |text| Decision::Replace(Replacement { text, target })))
            });
            if let Some(decision) = decision.optional()? {
                decisions.insert(key.clone(), decision);
            }
        }
        Ok(decisions)
    }

    /// Returns the state of a beginning. After a failure, [`Self::commit`] fails.
    pub(crate) fn cached(&self, hash: &Hash) -> Cached {
        let expires = || -> rusqlite::Result<Option<i64>> {
            let sql = "SELECT expires FROM beginnings WHERE hash = ?1";
            self.transaction.prepare_cached(sql)?.query_row([hash], |row| row.get(0)).optional()
        };
        match expires() {
            Ok(Some(expires)) if expires > self.now => Cached::Warm,
            Ok(Some(_)) => Cached::Expired,
            Ok(None) => Cached::Unknown,
            Err(error) => {
                *self.failure.borrow_mut() = Some(error.into());
                Cached::Unknown
            }
        }
    }

    /// Writes the results of an edit before the request is sent. `texts` has the texts of all results
    /// of the request by their keys.
    pub(crate) fn commit(
        self,
        rewritten: &Rewritten<'_>,
        texts: &[(Key, &str)],
        decisions: &Decisions,
    ) -> sqlite::Result<()> {
        if let Some(error) = self.failure.into_inner() {
            return Err(error);
        }
        let failed = |error: std::io::Error| sqlite::Error::Io(format!("originals: {error}"));
        for original in &rewritten.originals {
            self.originals.write(&original.hash, &original.text).map_err(failed)?;
        }
        for (key, text) in texts {
            if matches!(decisions.get(key), Some(Decision::Replace(_))) {
                self.originals.keep(&key.text, text, self.now - USE_SECONDS).map_err(failed)?;
            }
        }
        {
            let mut insert = self.transaction.prepare_cached(
                "INSERT OR REPLACE INTO decisions VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for (key, decision) in &rewritten.decisions {
                let replacement = match decision {
                    Decision::Keep => None,
                    Decision::Replace(replacement) => Some(replacement),
                };
                let target = replacement.and_then(|it| it.target.as_ref());
                insert.execute((
                    &key.call,
                    &key.text,
                    replacement.map(|it| &it.text),
                    target.map(|key| &key.call),
                    target.map(|key| &key.text),
                    self.now,
                ))?;
            }
            let mut touch = self
                .transaction
                .prepare_cached("UPDATE decisions SET used = ?3 WHERE call = ?1 AND text = ?2")?;
            for key in self.used.take() {
                touch.execute((&key.call, &key.text, self.now))?;
            }
            // Most beginnings were sent a moment ago. Their time has a margin of two minutes, so it is not
            // written again each time.
            let mut send = self.transaction.prepare_cached(
                "INSERT INTO beginnings VALUES (?1, ?2)
                 ON CONFLICT (hash) DO UPDATE SET expires = excluded.expires
                 WHERE excluded.expires > expires + 60",
            )?;
            for Beginning { hash, seconds } in &rewritten.beginnings {
                send.execute((hash, self.now + i64::from(*seconds)))?;
            }
        }
        Ok(self.transaction.commit()?)
    }
}

/// Creates a folder that only the user can read. Returns its absolute path.
fn make_private(folder: &Path) -> Result<PathBuf> {
    let failed = |error| {
        Error::io("create", folder.display(), &error).with_hint("pass --data to use another folder")
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed)?;
    folder.canonicalize().map_err(failed)
}

#[cfg(test)]
mod tests;
