//! From rows to records.

use std::fmt;
use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{ConversationRecord, ForkPoint, HandoffRecord, HandoffState};

/// The value of a column.
pub(super) fn value<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(|error| damaged(column, &error))
}

/// The value of a column that holds no negative ones.
pub(super) fn number<T: TryFrom<i64, Error: fmt::Display>>(row: &Row, column: &str) -> Result<T> {
    let found: i64 = value(row, column)?;
    T::try_from(found).map_err(|error| damaged(column, &error))
}

/// The moment in a column.
pub(super) fn moment(row: &Row, column: &str) -> Result<Timestamp> {
    value(row, column).map(Timestamp)
}

/// Whether a row of an outer join is there.
pub(super) fn is_there(row: &Row) -> Result<bool> {
    Ok(value::<Option<&str>>(row, "id")?.is_some())
}

fn damaged(column: &str, reason: &dyn fmt::Display) -> Error {
    Error::Damaged { reason: format!("the column {column} has a value that is none: {reason}") }
}

/// A text in a column of bytes, which unlike those of texts can hold any.
fn text(bytes: Option<&[u8]>, column: &str) -> Result<Option<String>> {
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8(bytes.to_vec()).map_err(|error| damaged(column, &error))?;
    Ok(Some(text))
}

/// A row of `conversations`.
pub(super) fn conversation(row: &Row) -> Result<ConversationRecord> {
    let parent = match value(row, "parent")? {
        Some(conversation) => {
            Some(ForkPoint { conversation, messages: number(row, "parent_messages")? })
        }
        None => None,
    };
    let holder = match value(row, "holder")? {
        Some(holder) => Some((holder, moment(row, "held_until")?)),
        None => None,
    };
    Ok(ConversationRecord {
        id: value(row, "id")?,
        window_tokens: number(row, "window_tokens")?,
        output_reserve_tokens: number(row, "output_reserve_tokens")?,
        parent,
        origin: value(row, "origin")?,
        continued_as: value(row, "continued_as")?,
        epoch: number(row, "epoch")?,
        fence: number(row, "fence")?,
        holder,
        messages: number(row, "messages")?,
        status: text(value(row, "status")?, "status")?,
        created: moment(row, "created")?,
        active: moment(row, "active")?,
    })
}

/// A row of `handoffs`, and the moment `now`. Its pack is what its hash says.
pub(super) fn handoff(row: &Row) -> Result<HandoffRecord> {
    let pack: Option<&[u8]> = value(row, "pack")?;
    let hash = value(row, "hash")?;
    if pack.is_some_and(|pack| !is(pack, hash)) {
        let id: &str = value(row, "id")?;
        let reason = format!("hand-off {id:?} is not what its hash says");
        return Err(Error::Damaged { reason });
    }
    handoff_with(row, pack.unwrap_or_default().to_vec())
}

/// The same with a pack that need not be looked at.
pub(super) fn handoff_with(row: &Row, pack: Vec<u8>) -> Result<HandoffRecord> {
    Ok(HandoffRecord {
        id: value(row, "id")?,
        conversation: value(row, "conversation")?,
        epoch: number(row, "epoch")?,
        previous: value(row, "previous")?,
        messages: number(row, "messages")?,
        pack,
        state: state(row)?,
        created: moment(row, "created")?,
        expires: moment(row, "expires")?,
    })
}

fn state(row: &Row) -> Result<HandoffState> {
    let now = moment(row, "now")?;
    if let Some(into) = value(row, "resumed_into")? {
        return Ok(HandoffState::Resumed { into });
    }
    if let Some(by) = value(row, "superseded_by")? {
        return Ok(HandoffState::Superseded { by });
    }
    if let Some(by) = value(row, "claimant")? {
        let until = moment(row, "claimed_until")?;
        if until > now {
            return Ok(HandoffState::Claimed { by, until });
        }
    }
    let dropped = value::<Option<&[u8]>>(row, "pack")?.is_none();
    if dropped || moment(row, "expires")? <= now {
        return Ok(HandoffState::Expired);
    }
    Ok(HandoffState::Committed)
}

/// Whether a body is the one of this hash.
pub(super) fn is(body: &[u8], hash: &[u8]) -> bool {
    blake3::hash(body).as_bytes() == hash
}

/// A number as the database has them: one that is too large is none that it has.
pub(super) fn big(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A span in milliseconds.
pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// A name to look for. Texts of the database have no NUL, so what has one is not
/// there; neither is the empty name.
pub(super) fn name(name: &str) -> &str {
    if name.contains('\0') { "" } else { name }
}
