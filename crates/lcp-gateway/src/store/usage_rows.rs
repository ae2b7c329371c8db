//! The usage of requests, in the store.

use lcp_store::sqlite;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::rewrite::Reason;
use crate::usage::Usage;

/// Without usage, the response had none that could be read. The last column is written as [`FROM_2`] adds it,
/// because schemas are compared as texts.
pub(super) const REQUESTS: &str = "CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    session TEXT NOT NULL,
    model TEXT NOT NULL,
    input INTEGER,
    written INTEGER,
    written_hour INTEGER,
    read INTEGER,
    output INTEGER,
    saved_warm INTEGER NOT NULL,
    saved_cold INTEGER NOT NULL,
    broken INTEGER NOT NULL,
    micros INTEGER NOT NULL
, unedited TEXT) STRICT";

/// The second version did not record requests that could not be edited.
pub(super) const FROM_2: &str = "ALTER TABLE requests ADD COLUMN unedited TEXT;";

pub(super) const EDITS: &str = "CREATE TABLE edits (
    request INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT";

/// The reason why a request was sent as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unedited {
    /// The gateway does not edit requests of this form.
    Unsupported,
    /// The edit failed.
    Failed,
}

impl Unedited {
    const ALL: [Self; 2] = [Self::Unsupported, Self::Failed];

    const fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        }
    }
}

/// A request with its usage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The time in seconds since 1970.
    pub(crate) time: i64,
    pub(crate) session: String,
    pub(crate) model: String,
    pub(crate) usage: Option<Usage>,
    /// The tokens that edits saved in the warm prefix and after it, in tokens of the provider.
    pub(crate) saved_tokens: (u64, u64),
    /// The tokens that the provider wrote again, because new edits changed its warm prefix.
    pub(crate) broken_tokens: u64,
    /// The time in microseconds that the gateway added.
    pub(crate) micros: u64,
    /// The reasons of new edits.
    pub(crate) edits: Vec<String>,
    /// The reason why the request could not be edited.
    pub(crate) unedited: Option<Unedited>,
}

pub(super) fn add(connection: &mut Connection, row: &Row) -> sqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let usage = row.usage.map(|it| [it.input, it.written, it.written_hour, it.read, it.output]);
    let number = |at: usize| usage.map(|usage| integer(usage[at]));
    let numbers = (number(0), number(1), number(2), number(3), number(4));
    transaction.execute(
        "INSERT INTO requests (time, session, model, input, written, written_hour, read, output,
         saved_warm, saved_cold, broken, micros, unedited)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (
            row.time,
            &row.session,
            &row.model,
            numbers.0,
            numbers.1,
            numbers.2,
            numbers.3,
            numbers.4,
            integer(row.saved_tokens.0),
            integer(row.saved_tokens.1),
            integer(row.broken_tokens),
            integer(row.micros),
            row.unedited.map(Unedited::name),
        ),
    )?;
    let id = transaction.last_insert_rowid();
    let mut insert = transaction.prepare("INSERT INTO edits VALUES (?1, ?2)")?;
    for reason in &row.edits {
        insert.execute((id, reason))?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

pub(super) fn all(connection: &Connection) -> sqlite::Result<Vec<Row>> {
    let mut query = connection.prepare(
        "SELECT time, session, model, input, written, written_hour, read, output, saved_warm,
         saved_cold, broken, micros, unedited,
         (SELECT group_concat(reason) FROM edits WHERE request = id) FROM requests ORDER BY id",
    )?;
    let rows = query.query_map((), |row| {
        let number = |at: usize| row.get::<_, Option<i64>>(at).map(|it| it.map(unsigned));
        let usage = match (number(3)?, number(4)?, number(5)?, number(6)?, number(7)?) {
            (Some(input), Some(written), Some(written_hour), Some(read), Some(output)) => {
                Some(Usage { input, written, written_hour, read, output })
            }
            _ => None,
        };
        let (unedited, edits): (Option<String>, Option<String>) = (row.get(12)?, row.get(13)?);
        let unedited =
            unedited.and_then(|name| Unedited::ALL.into_iter().find(|it| it.name() == name));
        Ok(Row {
            time: row.get(0)?,
            session: row.get(1)?,
            model: row.get(2)?,
            usage,
            saved_tokens: (unsigned(row.get(8)?), unsigned(row.get(9)?)),
            broken_tokens: unsigned(row.get(10)?),
            micros: unsigned(row.get(11)?),
            edits: edits.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect(),
            unedited,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn delete_before(transaction: &Transaction<'_>, oldest: i64) -> sqlite::Result<()> {
    let old = "SELECT id FROM requests WHERE time < ?1";
    transaction.execute(&format!("DELETE FROM edits WHERE request IN ({old})"), [oldest])?;
    transaction.execute("DELETE FROM requests WHERE time < ?1", [oldest])?;
    Ok(())
}

/// Returns the name of the reason of an edit.
pub(crate) const fn edit_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Duplicate => "duplicate",
        Reason::Cold => "cold",
        Reason::OverBudget => "over_budget",
        Reason::LostTarget => "lost_target",
    }
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
