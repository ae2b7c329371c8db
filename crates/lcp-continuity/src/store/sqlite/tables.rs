//! The tables of the file. Each message body is stored once.

use std::collections::BTreeSet;
use std::time::Duration;

use lcp_types::ContentHash;
use rusqlite::{Row, named_params};

use super::schema::{EXPIRED, OPEN, RESUMED, SUPERSEDED};
use super::{Transaction, to_limit};
use crate::model::{Timestamp, to_millis};
use crate::store::error::{Error, Result};
use crate::store::records::{
    ConversationRecord, ExpiryStats, ForkPoint, HandoffRecord, HandoffState, NewMessage,
    StoredHandoff, StoredMessage,
};
use crate::store::tables::Tables;

/// The columns that [`read_conversation`] reads.
const CONVERSATIONS: &str = "SELECT c.id, c.window_tokens, c.output_reserve_tokens,
         c.origin, c.continued_as, c.epoch, c.fence, c.holder, c.until, c.messages, c.status,
         c.created, c.active, c.parent, p.id, c.shared
     FROM conversations AS c LEFT JOIN conversations AS p ON p.number = c.parent";

/// The columns that [`read_handoff`] reads.
const HANDOFFS: &str = "SELECT number, id, conversation, epoch, previous, messages, hash, packed,
         state, successor, claimant, claim_until, claim_fence, created, expires
     FROM handoffs";

/// The numbers of all live conversations and hand-offs at the time `?1`, and of everything they
/// depend on. Conversations are live if they were active after `?2`. The dependencies of a deleted
/// hand-off are not followed.
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

impl Tables for Transaction<'_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn find_conversation(&self, id: &str) -> Result<Option<ConversationRecord>> {
        self.row(&format!("{CONVERSATIONS} WHERE c.id = ?1"), [id], read_conversation)
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        let sql = format!("{CONVERSATIONS} WHERE c.id > ?1 ORDER BY c.id LIMIT ?2");
        self.rows(&sql, (after, to_limit(limit)), read_conversation)
    }

    fn insert_conversation(&mut self, record: &ConversationRecord) -> Result<()> {
        let parent = record.parent.as_ref();
        self.insert(
            "INSERT INTO conversations (id, window_tokens, output_reserve_tokens, parent, shared,
                 origin, epoch, fence, messages, created, active)
             VALUES (:id, :window, :reserve, (SELECT number FROM conversations WHERE id = :parent),
                 :shared, :origin, :epoch, 0, :messages, :created, :active)",
            named_params! {
                ":id": record.id,
                ":window": record.window_tokens,
                ":reserve": record.output_reserve_tokens,
                ":parent": parent.map(|parent| &parent.conversation),
                ":shared": parent.map(|parent| parent.messages.cast_signed()),
                ":origin": record.origin,
                ":epoch": record.epoch,
                ":messages": record.messages.cast_signed(),
                ":created": record.created.0,
                ":active": record.last_active.0,
            },
        )?;
        Ok(())
    }

    fn update_conversation(&mut self, record: &ConversationRecord) -> Result<()> {
        let holder = record.holder.as_ref();
        self.execute(
            "UPDATE conversations SET window_tokens = :window, output_reserve_tokens = :reserve,
                 continued_as = :continued_as, epoch = :epoch, fence = :fence, holder = :holder,
                 until = :until, messages = :messages, active = :active, status = :status
             WHERE id = :id",
            named_params! {
                ":id": record.id,
                ":window": record.window_tokens,
                ":reserve": record.output_reserve_tokens,
                ":continued_as": record.continued_as,
                ":epoch": record.epoch,
                ":fence": record.fence.cast_signed(),
                ":holder": holder.map(|(holder, _)| holder),
                ":until": holder.map(|(_, until)| until.0),
                ":messages": record.messages.cast_signed(),
                ":active": record.last_active.0,
                ":status": record.status,
            },
        )?;
        Ok(())
    }

    fn insert_messages(
        &mut self,
        record: &ConversationRecord,
        messages: &[(ContentHash, &NewMessage)],
    ) -> Result<()> {
        if messages.is_empty() {
            return Ok(());
        }
        let number = self.number_of(&record.id)?;
        for (position, (hash, message)) in (record.messages.cast_signed()..).zip(messages) {
            let content = self.put_content(hash, &message.body)?;
            self.execute(
                "INSERT INTO messages (conversation, position, epoch, content, tokens, recorded)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (number, position, record.epoch, content, message.tokens, self.now.0),
            )?;
        }
        Ok(())
    }

    fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let record = self.find_conversation(id)?;
        let record = record.ok_or_else(|| Error::UnknownConversation(id.to_owned()))?;
        let end = from.saturating_add(limit).min(record.messages);
        let damaged = |position| {
            let message = format!("message {position} of session {id:?} is missing or corrupt");
            Error::Damaged(message)
        };
        let mut query = self.connection.prepare_cached(
            "SELECT position, epoch, body, tokens, recorded, hash
             FROM messages JOIN contents ON contents.number = messages.content
             WHERE conversation = ?1 AND position >= ?2 AND position < ?3 ORDER BY position",
        )?;
        let mut messages = Vec::new();
        for range in self.message_ranges(self.number_of(id)?, from, end)? {
            let mut rows = query.query(range)?;
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
                    return Err(damaged(next));
                }
                messages.push(message);
            }
        }
        match from + messages.len() as u64 {
            next if next < end => Err(damaged(next)),
            _ => Ok(messages),
        }
    }

    fn message_epoch(&self, conversation: &str, position: u64) -> Result<Option<u32>> {
        let number = self.number_of(conversation)?;
        let ranges = self.message_ranges(number, position, position.saturating_add(1))?;
        let Some((number, ..)) = ranges.first() else { return Ok(None) };
        let sql = "SELECT epoch FROM messages WHERE conversation = ?1 AND position = ?2";
        self.row(sql, (number, position.cast_signed()), |row| Ok(row.get(0)?))
    }

    fn find_handoff(&self, id: &str) -> Result<Option<StoredHandoff>> {
        self.row(&format!("{HANDOFFS} WHERE id = ?1"), [id], read_handoff)
    }

    /// Scans all rows, because only open hand-offs are indexed.
    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<StoredHandoff>> {
        let sql = format!("{HANDOFFS} WHERE conversation = ?1 ORDER BY number DESC LIMIT ?2");
        self.rows(&sql, (conversation, to_limit(limit)), read_handoff)
    }

    fn open_handoffs(&self, conversation: &str) -> Result<Vec<StoredHandoff>> {
        let sql = format!("{HANDOFFS} WHERE conversation = ?1 AND state = 0 ORDER BY number");
        self.rows(&sql, [conversation], read_handoff)
    }

    fn insert_handoff(&mut self, handoff: &StoredHandoff, pack: &[u8]) -> Result<()> {
        let StoredHandoff { record, hash, .. } = handoff;
        let number = self.insert(
            "INSERT INTO handoffs (id, conversation, epoch, previous, messages, hash, packed,
                 state, claim_fence, created, expires)
             VALUES (:id, :conversation, :epoch, :previous, :messages, :hash, 1, 0, 0, :created,
                 :expires)",
            named_params! {
                ":id": record.id,
                ":conversation": record.conversation,
                ":epoch": record.epoch,
                ":previous": record.previous,
                ":messages": record.messages.cast_signed(),
                ":hash": hash,
                ":created": record.created.0,
                ":expires": record.expires.0,
            },
        )?;
        self.execute("INSERT INTO packs (handoff, pack) VALUES (?1, ?2)", (number, pack))?;
        Ok(())
    }

    fn update_handoff(&mut self, handoff: &StoredHandoff) -> Result<()> {
        let (state, successor, claim) = match &handoff.record.state {
            HandoffState::Committed => (OPEN, None, None),
            HandoffState::Claimed { by, until } => (OPEN, None, Some((by, until.0))),
            HandoffState::Resumed { into } => (RESUMED, Some(into), None),
            HandoffState::Superseded { by } => (SUPERSEDED, Some(by), None),
            HandoffState::Expired => (EXPIRED, None, None),
        };
        let (claimant, until) = claim.unzip();
        // A finished claim remains in the row.
        self.execute(
            "UPDATE handoffs SET state = ?2, successor = ?3,
                 claimant = iif(?2 = 0, ?4, claimant), claim_until = iif(?2 = 0, ?5, claim_until),
                 claim_fence = ?6 WHERE number = ?1",
            (handoff.order, state, successor, claimant, until, handoff.fence.cast_signed()),
        )?;
        Ok(())
    }

    fn pack(&self, handoff: &StoredHandoff) -> Result<Vec<u8>> {
        let sql = "SELECT pack FROM packs WHERE handoff = ?1";
        let pack: Option<Vec<u8>> = self.row(sql, [handoff.order], |row| Ok(row.get(0)?))?;
        pack.filter(|pack| *blake3::hash(pack).as_bytes() == handoff.hash).ok_or_else(|| {
            let id = &handoff.record.id;
            Error::Damaged(format!("the pack of hand-off {id:?} is missing or corrupt"))
        })
    }

    fn expire(&mut self, expiry: Duration) -> Result<ExpiryStats> {
        let numbers = |which: &str| -> Result<Vec<i64>> {
            let times = (self.now.0, self.now.0.saturating_sub(to_millis(expiry)));
            self.rows(&format!("{ALIVE} {which}"), times, |row| Ok(row.get(0)?))
        };
        // Run both queries before anything is deleted.
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
}

impl Transaction<'_> {
    fn number_of(&self, id: &str) -> Result<i64> {
        let sql = "SELECT number FROM conversations WHERE id = ?1";
        let number = self.row(sql, [id], |row| Ok(row.get(0)?))?;
        number.ok_or_else(|| Error::UnknownConversation(id.to_owned()))
    }

    /// Stores a body with this hash. Returns the number of its content.
    fn put_content(&self, hash: &ContentHash, body: &[u8]) -> Result<i64> {
        let sql = "SELECT number, body = ?2 FROM contents WHERE hash = ?1";
        match self.row(sql, (hash, body), |row| Ok((row.get(0)?, row.get(1)?)))? {
            Some((number, true)) => Ok(number),
            // The stored body is damaged, so replace it with this one.
            Some((number, false)) => {
                self.execute("UPDATE contents SET body = ?2 WHERE number = ?1", (number, body))?;
                Ok(number)
            }
            None => self.insert("INSERT INTO contents (hash, body) VALUES (?1, ?2)", (hash, body)),
        }
    }

    /// Returns the conversations that store the messages of this one from `from` to `end`,
    /// exclusive. Each is returned with the range of positions that it stores, in order.
    ///
    /// Follows the parents as long as they store any of these messages. A cycle, which only a
    /// damaged file can contain, does not cause an endless loop.
    fn message_ranges(
        &self,
        conversation: i64,
        from: u64,
        end: u64,
    ) -> Result<Vec<(i64, i64, i64)>> {
        let sql = "WITH RECURSIVE line (number, parent, low, high) AS (
                 SELECT number, parent, coalesce(shared, 0), ?3 FROM conversations
                 WHERE number = ?1
                 UNION
                 SELECT c.number, c.parent, coalesce(c.shared, 0), min(low, high)
                 FROM line JOIN conversations AS c ON c.number = line.parent
                 WHERE low > ?2 AND high > ?2
             )
             SELECT number, max(low, ?2), high FROM line WHERE max(low, ?2) < high ORDER BY 2";
        self.rows(sql, (conversation, to_limit(from), to_limit(end)), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// Deletes conversations, and the bodies that no other conversation uses. Returns the number of
    /// deleted bodies.
    fn drop_conversations(&self, conversations: &[i64]) -> Result<u64> {
        let mut contents = BTreeSet::new();
        for number in conversations {
            let sql = "SELECT content FROM messages WHERE conversation = ?1";
            contents.extend(self.rows(sql, [number], |row| Ok(row.get::<_, i64>(0)?))?);
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

fn read_conversation(row: &Row<'_>) -> Result<ConversationRecord> {
    let id: String = row.get(0)?;
    let holder: (Option<String>, Option<i64>) = (row.get(7)?, row.get(8)?);
    let parent: (Option<i64>, Option<String>, Option<i64>) =
        (row.get(13)?, row.get(14)?, row.get(15)?);
    let point = parent.1.zip(parent.2);
    if parent.0.is_some() && point.is_none() {
        return Err(Error::Damaged(format!("the parent of session {id:?} is missing")));
    }
    Ok(ConversationRecord {
        id,
        window_tokens: row.get(1)?,
        output_reserve_tokens: row.get(2)?,
        parent: point.map(|(conversation, shared)| ForkPoint {
            conversation,
            messages: shared.cast_unsigned(),
        }),
        origin: row.get(3)?,
        continued_as: row.get(4)?,
        epoch: row.get(5)?,
        fence: row.get::<_, i64>(6)?.cast_unsigned(),
        holder: holder.0.zip(holder.1.map(Timestamp)),
        messages: row.get::<_, i64>(9)?.cast_unsigned(),
        status: row.get(10)?,
        created: Timestamp(row.get(11)?),
        last_active: Timestamp(row.get(12)?),
    })
}

fn read_handoff(row: &Row<'_>) -> Result<StoredHandoff> {
    let id: String = row.get(1)?;
    let claim: (Option<String>, Option<i64>) = (row.get(10)?, row.get(11)?);
    let successor: Option<String> = row.get(9)?;
    let state = match (row.get(8)?, claim, successor) {
        (OPEN, (Some(by), Some(until)), _) => HandoffState::Claimed { by, until: Timestamp(until) },
        (OPEN, ..) => HandoffState::Committed,
        (EXPIRED, ..) => HandoffState::Expired,
        (RESUMED, _, Some(into)) => HandoffState::Resumed { into },
        (SUPERSEDED, _, Some(by)) => HandoffState::Superseded { by },
        _ => return Err(Error::Damaged(format!("the state of hand-off {id:?} is unknown"))),
    };
    Ok(StoredHandoff {
        record: HandoffRecord {
            id,
            conversation: row.get(2)?,
            epoch: row.get(3)?,
            previous: row.get(4)?,
            messages: row.get::<_, i64>(5)?.cast_unsigned(),
            pack: Vec::new(),
            state,
            created: Timestamp(row.get(13)?),
            expires: Timestamp(row.get(14)?),
        },
        hash: row.get(6)?,
        fence: row.get::<_, i64>(12)?.cast_unsigned(),
        order: row.get(0)?,
        has_pack: row.get(7)?,
    })
}
