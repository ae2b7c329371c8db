//! Conversations: their rows, how they begin.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::failed::{Failed, Result};
use super::messages;
use crate::model::Timestamp;
use crate::store::error::Error;
use crate::store::records::{ConversationRecord, ForkPoint, NewConversation};

/// A conversation as its row has it.
pub(super) struct Conversation {
    pub(super) number: i64,
    pub(super) record: ConversationRecord,
}

/// Where a conversation comes from.
#[derive(Default)]
pub(super) struct Beginning<'a> {
    /// Its parent's number, and how many messages they share.
    pub(super) parent: Option<(i64, u64)>,
    /// The hand-off that it began with.
    pub(super) origin: Option<&'a str>,
    pub(super) epoch: u32,
}

pub(super) fn begin(
    transaction: &Connection,
    new: &NewConversation,
    now: Timestamp,
) -> Result<ConversationRecord> {
    if let Some(Conversation { record, .. }) = find(transaction, &new.id)? {
        return if record.is(new, None) { Ok(record) } else { Err(exists(&new.id)) };
    }
    insert(transaction, new, &Beginning::default(), now)
}

pub(super) fn fork(
    transaction: &Connection,
    parent: &str,
    messages: u64,
    id: &str,
    now: Timestamp,
) -> Result<ConversationRecord> {
    let Conversation { number, record } = known(transaction, parent)?;
    if let Some(Conversation { record: fork, .. }) = find(transaction, id)? {
        let point = ForkPoint { conversation: parent.to_owned(), messages };
        return if fork.parent == Some(point) { Ok(fork) } else { Err(exists(id)) };
    }
    if messages > record.messages {
        let conversation = parent.to_owned();
        let error = Error::BadFork { conversation, messages: record.messages, at: messages };
        return Err(error.into());
    }
    // The window of a fork is the one that the next message found.
    let epoch = messages::epoch(transaction, number, messages)?.unwrap_or(record.epoch);
    let new = NewConversation {
        id: id.to_owned(),
        window_tokens: record.window_tokens,
        output_reserve_tokens: record.output_reserve_tokens,
    };
    let origin = record.origin.as_deref();
    let from = Beginning { parent: Some((number, messages)), origin, epoch };
    insert(transaction, &new, &from, now)
}

pub(super) fn exists(id: &str) -> Failed {
    Error::Exists { id: id.to_owned() }.into()
}

pub(super) fn insert(
    transaction: &Connection,
    new: &NewConversation,
    from: &Beginning<'_>,
    now: Timestamp,
) -> Result<ConversationRecord> {
    let shared = from.parent.map(|(_, messages)| messages.cast_signed());
    transaction
        .prepare_cached(
            "INSERT INTO conversations (id, window_tokens, output_reserve_tokens, parent, shared,
                 origin, epoch, fence, messages, created, active)
             VALUES (:id, :window, :reserve, :parent, :shared, :origin, :epoch, 0,
                 coalesce(:shared, 0), :now, :now)",
        )?
        .execute(named_params! {
            ":id": new.id,
            ":window": new.window_tokens,
            ":reserve": new.output_reserve_tokens,
            ":parent": from.parent.map(|(number, _)| number),
            ":shared": shared,
            ":origin": from.origin,
            ":epoch": from.epoch,
            ":now": now.0,
        })?;
    Ok(known(transaction, &new.id)?.record)
}

/// Keeps the number of messages and the epoch as they are in `record`, and `status`
/// if there is any: something was recorded.
pub(super) fn touch(
    transaction: &Connection,
    conversation: &Conversation,
    status: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let Conversation { number, record } = conversation;
    transaction
        .prepare_cached(
            "UPDATE conversations SET messages = ?2, epoch = ?3, active = ?4,
                 status = coalesce(?5, status) WHERE number = ?1",
        )?
        .execute((number, record.messages.cast_signed(), record.epoch, now.0, status))?;
    Ok(())
}

pub(super) fn known(transaction: &Connection, id: &str) -> Result<Conversation> {
    let unknown = || Error::UnknownConversation { id: id.to_owned() }.into();
    find(transaction, id)?.ok_or_else(unknown)
}

pub(super) fn find(transaction: &Connection, id: &str) -> Result<Option<Conversation>> {
    let found = transaction
        .prepare_cached(&select("WHERE c.id = ?1"))?
        .query_row([id], |row| Ok((read(row)?, parent(row)?)))
        .optional()?;
    found.map(with_parent).transpose()
}

/// Those behind `after`, in the order of their ids.
pub(super) fn page(
    transaction: &Connection,
    after: &str,
    limit: u64,
) -> Result<Vec<ConversationRecord>> {
    let mut query =
        transaction.prepare_cached(&select("WHERE c.id > ?1 ORDER BY c.id LIMIT ?2"))?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query.query_map((after, limit), |row| Ok((read(row)?, parent(row)?)))?;
    rows.map(|row| Ok(with_parent(row?)?.record)).collect()
}

fn select(which: &str) -> String {
    format!(
        "SELECT c.number, c.id, c.window_tokens, c.output_reserve_tokens, c.origin,
             c.continued_as, c.epoch, c.fence, c.holder, c.until, c.messages, c.status,
             c.created, c.active, c.parent, p.id, c.shared
         FROM conversations AS c LEFT JOIN conversations AS p ON p.number = c.parent
         {which}"
    )
}

/// A conversation and its parent, as the row has them.
fn with_parent(
    (mut conversation, (number, parent)): (Conversation, (Option<i64>, Option<ForkPoint>)),
) -> Result<Conversation> {
    if number.is_some() && parent.is_none() {
        let id = &conversation.record.id;
        return Err(Failed::damaged(format!("the parent of conversation {id:?} is missing")));
    }
    conversation.record.parent = parent;
    Ok(conversation)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let holder: (Option<String>, Option<i64>) = (row.get(8)?, row.get(9)?);
    let record = ConversationRecord {
        id: row.get(1)?,
        window_tokens: row.get(2)?,
        output_reserve_tokens: row.get(3)?,
        parent: None,
        origin: row.get(4)?,
        continued_as: row.get(5)?,
        epoch: row.get(6)?,
        fence: row.get::<_, i64>(7)?.cast_unsigned(),
        holder: holder.0.zip(holder.1.map(Timestamp)),
        messages: row.get::<_, i64>(10)?.cast_unsigned(),
        status: row.get(11)?,
        created: Timestamp(row.get(12)?),
        active: Timestamp(row.get(13)?),
    };
    Ok(Conversation { number: row.get(0)?, record })
}

/// The number of the parent, and where it was forked off.
fn parent(row: &Row<'_>) -> rusqlite::Result<(Option<i64>, Option<ForkPoint>)> {
    let (id, shared): (Option<String>, Option<i64>) = (row.get(15)?, row.get(16)?);
    let point = id
        .zip(shared)
        .map(|(conversation, shared)| ForkPoint { conversation, messages: shared.cast_unsigned() });
    Ok((row.get(14)?, point))
}
