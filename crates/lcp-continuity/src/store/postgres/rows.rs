//! Conversion between rows and records, and between values and column types.

use std::fmt;

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{
    ConversationRecord, ForkPoint, HandoffRecord, HandoffState, StoredMessage,
};

pub(super) fn value<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T> {
    row.try_get(column).map_err(|error| damaged(column, &error))
}

/// Returns the value of a column of numbers that are not negative.
pub(super) fn number<T: TryFrom<i64, Error: fmt::Display>>(row: &Row, column: &str) -> Result<T> {
    let found: i64 = value(row, column)?;
    T::try_from(found).map_err(|error| damaged(column, &error))
}

pub(super) fn moment(row: &Row, column: &str) -> Result<Timestamp> {
    value(row, column).map(Timestamp)
}

/// Returns whether the outer join of a row found a record.
pub(super) fn exists(row: &Row) -> Result<bool> {
    Ok(value::<Option<&str>>(row, "id")?.is_some())
}

fn damaged(column: &str, reason: &dyn fmt::Display) -> Error {
    Error::Damaged(format!("invalid value in the column {column}: {reason}"))
}

/// Converts a column of bytes to text. Unlike a text column, it can contain any character.
fn text(bytes: Option<&[u8]>, column: &str) -> Result<Option<String>> {
    let Some(bytes) = bytes else { return Ok(None) };
    let text = String::from_utf8(bytes.to_vec()).map_err(|error| damaged(column, &error))?;
    Ok(Some(text))
}

/// Reads a row of `conversations`.
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
        last_active: moment(row, "active")?,
    })
}

/// Reads a row of `handoffs` with the time `now`, and verifies the pack by its hash.
pub(super) fn handoff(row: &Row) -> Result<HandoffRecord> {
    let pack: Option<&[u8]> = value(row, "pack")?;
    let hash = value(row, "hash")?;
    if pack.is_some_and(|pack| !has_hash(pack, hash)) {
        let id: &str = value(row, "id")?;
        let reason = format!("hand-off {id:?} does not match its hash");
        return Err(Error::Damaged(reason));
    }
    handoff_with(row, pack.unwrap_or_default().to_vec())
}

/// Reads such a row, with a pack that needs no verification.
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

/// Returns the state at the time `now` of the row.
fn state(row: &Row) -> Result<HandoffState> {
    let state = if let Some(into) = value(row, "resumed_into")? {
        HandoffState::Resumed { into }
    } else if let Some(by) = value(row, "superseded_by")? {
        HandoffState::Superseded { by }
    } else if value::<Option<&[u8]>>(row, "pack")?.is_none() {
        HandoffState::Expired
    } else if let Some(by) = value(row, "claimant")? {
        HandoffState::Claimed { by, until: moment(row, "claimed_until")? }
    } else {
        HandoffState::Committed
    };
    Ok(state.at(moment(row, "expires")?, moment(row, "now")?))
}

pub(super) fn message(row: &Row, id: &str, position: u64) -> Result<StoredMessage> {
    let Some(body) = value::<Option<&[u8]>>(row, "body")? else {
        return Err(damaged_message(id, position, "missing its content"));
    };
    if !has_hash(body, value(row, "hash")?) {
        return Err(damaged_message(id, position, "corrupt (hash mismatch)"));
    }
    Ok(StoredMessage {
        position,
        epoch: number(row, "epoch")?,
        body: body.to_vec(),
        tokens: number(row, "tokens")?,
        recorded: moment(row, "recorded")?,
    })
}

pub(super) fn damaged_message(id: &str, position: u64, how: &str) -> Error {
    Error::Damaged(format!("message {position} of session {id:?} is {how}"))
}

fn has_hash(body: &[u8], hash: &[u8]) -> bool {
    blake3::hash(body).as_bytes() == hash
}

/// Converts a number to a `bigint`. Larger numbers become `i64::MAX`, which no row contains.
pub(super) fn to_bigint(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Prepares a name for a query. Texts in the database contain no NUL. A name with a NUL becomes the
/// empty name, which does not exist either.
pub(super) fn name(name: &str) -> &str {
    if name.contains('\0') { "" } else { name }
}
