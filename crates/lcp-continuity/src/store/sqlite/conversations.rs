//! Conversations, their leases and messages. Each body is stored once.

use lcp_types::ContentHash;
use rusqlite::{Row, named_params};

use super::transaction::{Transaction, damaged, to_limit};
use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{
    ConversationRecord, ForkPoint, Lease, NewConversation, NewMessage, StoredMessage,
};

/// A conversation, and the number of its row.
pub(super) struct Conversation {
    number: i64,
    pub(super) record: ConversationRecord,
}

/// The columns that [`read`] reads.
const COLUMNS: &str = "SELECT c.number, c.id, c.window_tokens, c.output_reserve_tokens, c.origin,
         c.continued_as, c.epoch, c.fence, c.holder, c.until, c.messages, c.status,
         c.created, c.active, c.parent, p.id, c.shared
     FROM conversations AS c LEFT JOIN conversations AS p ON p.number = c.parent";

impl Transaction<'_> {
    pub(super) fn begin(&self, new: &NewConversation) -> Result<ConversationRecord> {
        if let Some(existing) = self.find_conversation(&new.id)? {
            return existing.record.if_begun_as(new, None);
        }
        self.insert_conversation(&ConversationRecord::new(new, self.now), None)
    }

    pub(super) fn fork(&self, parent: &str, messages: u64, id: &str) -> Result<ConversationRecord> {
        let Conversation { number, record } = self.conversation(parent)?;
        if let Some(existing) = self.find_conversation(id)? {
            return existing.record.if_forked_at(parent, messages);
        }
        if messages > record.messages {
            let conversation = parent.to_owned();
            return Err(Error::BadFork { conversation, messages: record.messages, at: messages });
        }
        // The window of a fork is the one that the next message found.
        let epoch = self.message_epoch(number, messages)?.unwrap_or(record.epoch);
        let fork = ConversationRecord { id: id.to_owned(), epoch, messages, ..record };
        self.insert_conversation(&fork, Some(number))
    }

    /// Inserts a conversation that begins now; `parent` is the number of the one whose messages
    /// it shares.
    pub(super) fn insert_conversation(
        &self,
        new: &ConversationRecord,
        parent: Option<i64>,
    ) -> Result<ConversationRecord> {
        self.insert(
            "INSERT INTO conversations (id, window_tokens, output_reserve_tokens, parent, shared,
                 origin, epoch, fence, messages, created, active)
             VALUES (:id, :window, :reserve, :parent, :shared, :origin, :epoch, 0,
                 coalesce(:shared, 0), :now, :now)",
            named_params! {
                ":id": new.id,
                ":window": new.window_tokens,
                ":reserve": new.output_reserve_tokens,
                ":parent": parent,
                ":shared": parent.map(|_| new.messages.cast_signed()),
                ":origin": new.origin,
                ":epoch": new.epoch,
                ":now": self.now.0,
            },
        )?;
        Ok(self.conversation(&new.id)?.record)
    }

    pub(super) fn conversation(&self, id: &str) -> Result<Conversation> {
        self.find_conversation(id)?.ok_or_else(|| Error::unknown_conversation(id))
    }

    pub(super) fn find_conversation(&self, id: &str) -> Result<Option<Conversation>> {
        self.row(&format!("{COLUMNS} WHERE c.id = ?1"), [id], read)?.transpose()
    }

    pub(super) fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        let sql = format!("{COLUMNS} WHERE c.id > ?1 ORDER BY c.id LIMIT ?2");
        let rows = self.rows(&sql, (after, to_limit(limit)), read)?;
        rows.into_iter().map(|row| Ok(row?.record)).collect()
    }

    pub(super) fn lease(&self, id: &str, holder: &str, until: Timestamp) -> Result<Lease> {
        let Conversation { number, mut record } = self.conversation(id)?;
        let lease = record.take_lease(holder, until, self.now)?;
        self.execute(
            "UPDATE conversations SET fence = ?2, holder = ?3, until = ?4 WHERE number = ?1",
            (number, lease.fence.cast_signed(), holder, until.0),
        )?;
        Ok(lease)
    }

    pub(super) fn renew(&self, lease: &Lease, until: Timestamp) -> Result<Lease> {
        let Some(Conversation { number, .. }) = self.leased(lease)? else {
            return Err(Error::lease_lost(&lease.conversation));
        };
        self.execute("UPDATE conversations SET until = ?2 WHERE number = ?1", (number, until.0))?;
        Ok(Lease { until, ..lease.clone() })
    }

    pub(super) fn release(&self, lease: &Lease) -> Result<()> {
        if let Some(Conversation { number, .. }) = self.leased(lease)? {
            let sql = "UPDATE conversations SET holder = NULL, until = NULL WHERE number = ?1";
            self.execute(sql, [number])?;
        }
        Ok(())
    }

    pub(super) fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        let mut conversation = self.writable(lease)?;
        let lease = conversation.record.begin_epoch(lease);
        self.touch(&conversation, status)?;
        Ok(lease)
    }

    /// Returns the conversation of a lease, if this is its newest one, run out or not.
    fn leased(&self, lease: &Lease) -> Result<Option<Conversation>> {
        let conversation = self.find_conversation(&lease.conversation)?;
        Ok(conversation.filter(|conversation| conversation.record.has_lease(lease)))
    }

    /// Returns the conversation of a lease, if it can be written to under that.
    pub(super) fn writable(&self, lease: &Lease) -> Result<Conversation> {
        let conversation = self.find_conversation(&lease.conversation)?;
        let conversation = conversation.ok_or_else(|| Error::lease_lost(&lease.conversation))?;
        conversation.record.check_writable(lease, self.now)?;
        Ok(conversation)
    }

    /// Notes that something was recorded: stores the number of messages and the epoch of
    /// `conversation`, and `status` if there is any.
    pub(super) fn touch(&self, conversation: &Conversation, status: Option<&str>) -> Result<()> {
        let Conversation { number, record } = conversation;
        self.execute(
            "UPDATE conversations SET messages = ?2, epoch = ?3, active = ?4,
                 status = coalesce(?5, status) WHERE number = ?1",
            (number, record.messages.cast_signed(), record.epoch, self.now.0, status),
        )?;
        Ok(())
    }

    /// Appends messages, each with its hash.
    pub(super) fn append(
        &self,
        lease: &Lease,
        messages: &[(ContentHash, &NewMessage)],
        status: Option<&str>,
    ) -> Result<u64> {
        let mut conversation = self.writable(lease)?;
        let Conversation { number, record } = &mut conversation;
        for (hash, message) in messages {
            let content = self.put_content(hash, &message.body)?;
            let position = record.messages.cast_signed();
            self.execute(
                "INSERT INTO messages (conversation, position, epoch, content, tokens, recorded)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (*number, position, record.epoch, content, message.tokens, self.now.0),
            )?;
            record.messages = record.messages.saturating_add(1);
        }
        self.touch(&conversation, status)?;
        Ok(conversation.record.messages)
    }

    /// Stores a body with this hash, and returns the number of its content.
    fn put_content(&self, hash: &ContentHash, body: &[u8]) -> Result<i64> {
        let sql = "SELECT number, body = ?2 FROM contents WHERE hash = ?1";
        match self.row(sql, (hash, body), |row| Ok((row.get(0)?, row.get(1)?)))? {
            Some((number, true)) => Ok(number),
            // Damaged; here is the original.
            Some((number, false)) => {
                self.execute("UPDATE contents SET body = ?2 WHERE number = ?1", (number, body))?;
                Ok(number)
            }
            None => self.insert("INSERT INTO contents (hash, body) VALUES (?1, ?2)", (hash, body)),
        }
    }

    pub(super) fn messages(&self, id: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let Conversation { number, record } = self.conversation(id)?;
        let end = from.saturating_add(limit).min(record.messages);
        let damaged = |position| {
            damaged(format!("message {position} of conversation {id:?} is not what it was"))
        };
        let mut query = self.connection.prepare_cached(
            "SELECT position, epoch, body, tokens, recorded, hash
             FROM messages JOIN contents ON contents.number = messages.content
             WHERE conversation = ?1 AND position >= ?2 AND position < ?3 ORDER BY position",
        )?;
        let mut messages = Vec::new();
        for range in self.message_ranges(number, from, end)? {
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

    fn message_epoch(&self, conversation: i64, position: u64) -> Result<Option<u32>> {
        let ranges = self.message_ranges(conversation, position, position.saturating_add(1))?;
        let Some((number, ..)) = ranges.first() else { return Ok(None) };
        let sql = "SELECT epoch FROM messages WHERE conversation = ?1 AND position = ?2";
        self.row(sql, (number, position.cast_signed()), |row| row.get(0))
    }

    /// Returns which conversations have the messages of this one, from `from` on before `end`:
    /// their numbers, each with the range of positions that is its own, in order.
    ///
    /// Up the parents, as far as they have any of these. A circle, which only a damaged
    /// file has, comes to an end.
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
}

fn read(row: &Row<'_>) -> rusqlite::Result<Result<Conversation>> {
    let id: String = row.get(1)?;
    let holder: (Option<String>, Option<i64>) = (row.get(8)?, row.get(9)?);
    let parent: (Option<i64>, Option<String>, Option<i64>) =
        (row.get(14)?, row.get(15)?, row.get(16)?);
    let point = parent.1.zip(parent.2);
    if parent.0.is_some() && point.is_none() {
        return Ok(Err(damaged(format!("the parent of conversation {id:?} is missing"))));
    }
    let record = ConversationRecord {
        id,
        window_tokens: row.get(2)?,
        output_reserve_tokens: row.get(3)?,
        parent: point.map(|(conversation, shared)| ForkPoint {
            conversation,
            messages: shared.cast_unsigned(),
        }),
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
    Ok(Ok(Conversation { number: row.get(0)?, record }))
}
