//! Messages, each body once.

use lcp_types::ContentHash;
use rusqlite::{Connection, OptionalExtension};

use super::conversations::{self, Conversation};
use super::failed::{Failed, Result};
use super::leases;
use crate::model::Timestamp;
use crate::store::records::{Lease, NewMessage, StoredMessage};

/// Appends messages, whose hashes these are.
pub(super) fn append(
    transaction: &Connection,
    lease: &Lease,
    messages: &[(ContentHash, &NewMessage)],
    status: Option<&str>,
    now: Timestamp,
) -> Result<u64> {
    let mut conversation = leases::writable(transaction, lease, now)?;
    let Conversation { number, record } = &mut conversation;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO messages (conversation, position, epoch, content, tokens, recorded)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (hash, message) in messages {
        let content = keep(transaction, hash, &message.body)?;
        let position = record.messages.cast_signed();
        insert.execute((*number, position, record.epoch, content, message.tokens, now.0))?;
        record.messages = record.messages.saturating_add(1);
    }
    conversations::touch(transaction, &conversation, status, now)?;
    Ok(conversation.record.messages)
}

/// The number of the content that is this body, with this hash.
fn keep(transaction: &Connection, hash: &ContentHash, body: &[u8]) -> Result<i64> {
    let known: Option<(i64, bool)> = transaction
        .prepare_cached("SELECT number, body = ?2 FROM contents WHERE hash = ?1")?
        .query_row((hash, body), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        Some((number, true)) => Ok(number),
        // Damaged; here is the original.
        Some((number, false)) => {
            transaction
                .prepare_cached("UPDATE contents SET body = ?2 WHERE number = ?1")?
                .execute((number, body))?;
            Ok(number)
        }
        None => Ok(transaction
            .prepare_cached("INSERT INTO contents (hash, body) VALUES (?1, ?2)")?
            .insert((hash, body))?),
    }
}

/// The messages of a conversation from `from` on, at most `limit`.
pub(super) fn messages(
    transaction: &Connection,
    id: &str,
    from: u64,
    limit: u64,
) -> Result<Vec<StoredMessage>> {
    let Conversation { number, record } = conversations::known(transaction, id)?;
    let end = from.saturating_add(limit).min(record.messages);
    let mut query = transaction.prepare_cached(
        "SELECT position, epoch, body, tokens, recorded, hash
         FROM messages JOIN contents ON contents.number = messages.content
         WHERE conversation = ?1 AND position >= ?2 AND position < ?3 ORDER BY position",
    )?;
    let mut messages = Vec::new();
    for part in parts(transaction, number, from, end)? {
        let mut rows = query.query(part)?;
        while let Some(row) = rows.next()? {
            let message = StoredMessage {
                position: row.get::<_, i64>(0)?.cast_unsigned(),
                epoch: row.get(1)?,
                body: row.get(2)?,
                tokens: row.get(3)?,
                recorded: Timestamp(row.get(4)?),
            };
            let next = from + messages.len() as u64;
            let hash: ContentHash = row.get(5)?;
            if message.position != next || *blake3::hash(&message.body).as_bytes() != hash {
                return Err(damaged(id, next));
            }
            messages.push(message);
        }
    }
    match from + messages.len() as u64 {
        next if next < end => Err(damaged(id, next)),
        _ => Ok(messages),
    }
}

fn damaged(conversation: &str, position: u64) -> Failed {
    let reason = format!("message {position} of conversation {conversation:?} is not what it was");
    Failed::damaged(reason)
}

/// The epoch of the message at this position, if there is one.
pub(super) fn epoch(
    transaction: &Connection,
    conversation: i64,
    position: u64,
) -> Result<Option<u32>> {
    let parts = parts(transaction, conversation, position, position.saturating_add(1))?;
    let Some((number, ..)) = parts.first() else { return Ok(None) };
    let epoch = transaction
        .prepare_cached("SELECT epoch FROM messages WHERE conversation = ?1 AND position = ?2")?
        .query_row((number, position.cast_signed()), |row| row.get(0))
        .optional()?;
    Ok(epoch)
}

/// Whose messages those of a conversation are, from `from` on before `end`: numbers
/// of conversations, each with the part that is its own, in order.
///
/// Up the parents, as far as they have any of these. A circle, which only a damaged
/// file has, comes to an end.
fn parts(
    transaction: &Connection,
    conversation: i64,
    from: u64,
    end: u64,
) -> Result<Vec<(i64, i64, i64)>> {
    let mut query = transaction.prepare_cached(
        "WITH RECURSIVE line (number, parent, low, high) AS (
             SELECT number, parent, coalesce(shared, 0), ?3 FROM conversations WHERE number = ?1
             UNION
             SELECT c.number, c.parent, coalesce(c.shared, 0), min(low, high)
             FROM line JOIN conversations AS c ON c.number = line.parent
             WHERE low > ?2 AND high > ?2
         )
         SELECT number, max(low, ?2), high FROM line WHERE max(low, ?2) < high ORDER BY 2",
    )?;
    let clamped = |position| i64::try_from(position).unwrap_or(i64::MAX);
    let rows = query.query_map((conversation, clamped(from), clamped(end)), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
