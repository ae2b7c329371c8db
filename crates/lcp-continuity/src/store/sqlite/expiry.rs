//! What is dropped once nothing alive needs it.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::Connection;

use super::failed::Result;
use crate::model::Timestamp;
use crate::store::records::Expired;

/// The numbers of what is alive now (`?1`), conversations by something that was
/// recorded after `?2`, and of all that this came from. A hand-off that was dropped
/// came from nothing that is left.
const ALIVE: &str = "WITH RECURSIVE alive (is_handoff, number) AS (
    SELECT 0, number FROM conversations WHERE active > ?2 OR until > ?1
    UNION
    SELECT 1, number FROM handoffs WHERE state = 0 AND (expires > ?1 OR claim_until > ?1)
    UNION
    SELECT 0, c.parent FROM alive
        JOIN conversations AS c ON NOT is_handoff AND c.number = alive.number
        WHERE c.parent IS NOT NULL
    UNION
    SELECT 1, h.number FROM alive
        JOIN conversations AS c ON NOT is_handoff AND c.number = alive.number
        JOIN handoffs AS h ON h.id = c.origin AND h.packed
    UNION
    SELECT 0, c.number FROM alive
        JOIN handoffs AS h ON is_handoff AND h.number = alive.number
        JOIN conversations AS c ON c.id = h.conversation
    UNION
    SELECT 1, p.number FROM alive
        JOIN handoffs AS h ON is_handoff AND h.number = alive.number
        JOIN handoffs AS p ON p.id = h.previous AND p.packed
)";

pub(super) fn expire(
    transaction: &Connection,
    expiry: Duration,
    now: Timestamp,
) -> Result<Expired> {
    let span = i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX);
    let numbers = |which: &str| {
        let mut query = transaction.prepare(&format!("{ALIVE} {which}"))?;
        let numbers = query.query_map((now.0, now.0.saturating_sub(span)), |row| row.get(0))?;
        numbers.collect::<rusqlite::Result<Vec<i64>>>()
    };
    // Both are asked for before anything is dropped.
    let conversations = numbers(
        "SELECT number FROM conversations
         WHERE number NOT IN (SELECT number FROM alive WHERE NOT is_handoff)",
    )?;
    let handoffs = numbers(
        "SELECT number FROM handoffs WHERE packed AND expires <= ?1
         AND number NOT IN (SELECT number FROM alive WHERE is_handoff)",
    )?;
    for number in &handoffs {
        drop_pack(transaction, *number)?;
    }
    Ok(Expired {
        conversations: conversations.len() as u64,
        handoffs: handoffs.len() as u64,
        bodies: drop_conversations(transaction, &conversations)?,
    })
}

fn drop_pack(transaction: &Connection, handoff: i64) -> Result<()> {
    transaction.prepare_cached("DELETE FROM packs WHERE handoff = ?1")?.execute([handoff])?;
    transaction
        .prepare_cached(
            "UPDATE handoffs SET packed = 0, state = iif(state = 0, 3, state) WHERE number = ?1",
        )?
        .execute([handoff])?;
    Ok(())
}

/// Drops conversations, and the bodies that no other has: how many of these.
fn drop_conversations(transaction: &Connection, conversations: &[i64]) -> Result<u64> {
    let mut contents = BTreeSet::new();
    for number in conversations {
        let mut query =
            transaction.prepare_cached("SELECT content FROM messages WHERE conversation = ?1")?;
        for content in query.query_map([number], |row| row.get::<_, i64>(0))? {
            contents.insert(content?);
        }
        transaction
            .prepare_cached("DELETE FROM messages WHERE conversation = ?1")?
            .execute([number])?;
        transaction
            .prepare_cached("DELETE FROM conversations WHERE number = ?1")?
            .execute([number])?;
    }
    let mut dropped = 0;
    let mut unneeded = transaction.prepare_cached(
        "DELETE FROM contents WHERE number = ?1
         AND NOT EXISTS (SELECT 1 FROM messages WHERE content = ?1)",
    )?;
    for content in contents {
        dropped += unneeded.execute([content])? as u64;
    }
    Ok(dropped)
}
