//! Deletion of what has expired and nothing alive needs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::transaction::Transaction;
use crate::store::error::Result;
use crate::store::records::ExpiryStats;

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

impl Transaction<'_> {
    pub(super) fn drop_expired(&self, expiry: Duration) -> Result<ExpiryStats> {
        let span = i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX);
        let numbers = |which: &str| -> Result<Vec<i64>> {
            let mut query = self.connection.prepare(&format!("{ALIVE} {which}"))?;
            let times = (self.now.0, self.now.0.saturating_sub(span));
            let numbers = query.query_map(times, |row| row.get(0))?;
            Ok(numbers.collect::<rusqlite::Result<_>>()?)
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
            self.execute("DELETE FROM packs WHERE handoff = ?1", [number])?;
            self.execute(
                "UPDATE handoffs SET packed = 0, state = iif(state = 0, 3, state)
                 WHERE number = ?1",
                [number],
            )?;
        }
        Ok(ExpiryStats {
            conversations: conversations.len() as u64,
            handoffs: handoffs.len() as u64,
            bodies: self.drop_conversations(&conversations)?,
        })
    }

    /// Deletes conversations, and the bodies that no other has; returns the number of these.
    fn drop_conversations(&self, conversations: &[i64]) -> Result<u64> {
        let mut contents = BTreeSet::new();
        for number in conversations {
            let sql = "SELECT content FROM messages WHERE conversation = ?1";
            contents.extend(self.rows(sql, [number], |row| row.get::<_, i64>(0))?);
            self.execute("DELETE FROM messages WHERE conversation = ?1", [number])?;
            self.execute("DELETE FROM conversations WHERE number = ?1", [number])?;
        }
        let mut dropped = 0;
        for content in contents {
            dropped += self.execute(
                "DELETE FROM contents WHERE number = ?1
                 AND NOT EXISTS (SELECT 1 FROM messages WHERE content = ?1)",
                [content],
            )? as u64;
        }
        Ok(dropped)
    }
}
