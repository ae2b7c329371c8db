//! Hand-offs: committed, looked for, in chains.

use super::PostgresStore;
use super::conversations::{unknown, written};
use super::pool::{Call, Values};
use super::rows::{self, big, millis, name, value};
use super::sql::{after, leased, moment, now, open, resumable};
use crate::store::error::{Error, Result};
use crate::store::records::{HandoffRecord, Lease, NewHandoff};

/// `there` is the hand-off of this id, if there is one. Hand-offs that were committed
/// while this one waited for the lock are not seen by it: then it is stale.
///
/// The pack is not sent back.
const COMMIT: &str = concat!(
    "WITH seen AS (SELECT changes FROM conversations WHERE id = $1::text), ",
    "there AS (SELECT * FROM handoffs WHERE id = $6::text), ",
    leased!(),
    ", decided AS MATERIALIZED (SELECT j.id AS conversation, j.now, j.continued_as, CASE \
       WHEN j.changes IS DISTINCT FROM (SELECT changes FROM seen) THEN 'stale' \
       WHEN j.verdict <> 'ok' THEN j.verdict \
       WHEN $7::text IS NOT NULL AND NOT EXISTS (SELECT FROM handoffs WHERE id = $7::text) \
         THEN 'unknown' \
       ELSE 'ok' END AS verdict FROM judged j WHERE NOT EXISTS (SELECT FROM there)), ",
    "made AS (INSERT INTO handoffs \
         (id, conversation, epoch, previous, messages, hash, pack, created, expires) \
       SELECT $6::text, conversation, $4::bigint, $7::text, $8::bigint, $9::bytea, $10::bytea, now, ",
    after!("$11"),
    " FROM decided WHERE verdict = 'ok' RETURNING *), ",
    "superseded AS (UPDATE handoffs h SET superseded_by = $6::text FROM decided d \
       WHERE d.verdict = 'ok' AND h.conversation = d.conversation AND ",
    open!(),
    " AND (h.claimant IS NULL OR h.claimed_until <= d.now)), ",
    "changed AS (UPDATE conversations c SET changes = c.changes + 1, active = d.now, \
         status = coalesce($12::bytea, c.status) \
       FROM decided d WHERE c.id = d.conversation AND d.verdict = 'ok'), ",
    "answer AS (SELECT * FROM made UNION ALL SELECT * FROM there) \
     SELECT d.verdict, d.continued_as, ",
    now!("$5"),
    " AS now, a.id, a.conversation, a.epoch, a.previous, a.messages, a.hash, \
       CASE WHEN a.pack IS NOT NULL THEN ''::bytea END AS pack, a.claimant, a.claimed_until, \
       a.resumed_into, a.superseded_by, a.created, a.expires \
     FROM decided d FULL JOIN answer a ON true"
);

/// What [`COMMIT`] decides by.
const LOCK: &str = "SELECT FROM conversations WHERE id = $1::text FOR UPDATE";

const FIND: &str = concat!("SELECT *, ", now!("$2"), " AS now FROM handoffs WHERE id = $1::text");

/// Every hand-off was committed after the one before it, so this ends.
const CHAIN: &str = concat!(
    "WITH RECURSIVE line AS (SELECT *, 0 AS back FROM handoffs WHERE id = $1::text UNION ALL \
       SELECT h.*, line.back + 1 FROM line JOIN handoffs h ON h.id = line.previous \
       WHERE line.pack IS NOT NULL) \
     SELECT *, ",
    now!("$2"),
    " AS now FROM line ORDER BY back"
);

/// A pack is told by whether it is there. A conversation without hand-offs is one row.
const LIST: &str = concat!(
    "SELECT ",
    now!("$2"),
    " AS now, h.id, h.conversation, h.epoch, h.previous, h.messages, \
       CASE WHEN h.pack IS NOT NULL THEN ''::bytea END AS pack, h.claimant, h.claimed_until, \
       h.resumed_into, h.superseded_by, h.created, h.expires \
     FROM conversations c LEFT JOIN handoffs h ON h.conversation = c.id \
     WHERE c.id = $1::text ORDER BY h.serial DESC LIMIT $3::bigint"
);

const LATEST: &str = concat!(
    "WITH moment AS (SELECT ",
    now!("$2"),
    " AS now) SELECT (SELECT h.id FROM handoffs h, moment WHERE h.conversation = c.id AND ",
    resumable!(),
    " ORDER BY h.serial DESC LIMIT 1) AS id FROM conversations c WHERE c.id = $1::text"
);

impl PostgresStore {
    pub(super) fn commit_handoff(&self, lease: &Lease, new: &NewHandoff) -> Result<HandoffRecord> {
        let hash = *blake3::hash(&new.pack).as_bytes();
        let hash = hash.as_slice();
        let (fence, epoch) = (big(lease.fence), i64::from(lease.epoch));
        let (conversation, holder) = (name(&lease.conversation), name(&lease.holder));
        let (now, expiry) = (self.now(), millis(self.expiry));
        let previous = new.previous.as_deref().map(name);
        let (messages, status) = (big(new.messages), new.status.as_ref().map(String::as_bytes));
        let values: Values<'_> = &[
            &conversation, &holder, &fence, &epoch, &now, &new.id, &previous, &messages, &hash,
            &new.pack, &expiry, &status,
        ];
        let call =
            Call { lock: Some((LOCK, &[&conversation])), ..Call::repeatable(COMMIT, values) };
        let rows = self.database.rows(&call)?;
        let Some(row) = rows.first() else {
            return Err(Error::LeaseLost { conversation: lease.conversation.clone() });
        };
        if !rows::is_there(row)? {
            written(&rows, lease)?;
            let id = new.previous.clone().unwrap_or_default();
            return Err(Error::UnknownHandoff { id });
        }
        let same = value::<&[u8]>(row, "hash")? == hash
            && value::<&str>(row, "conversation")? == lease.conversation
            && value::<Option<&str>>(row, "previous")? == new.previous.as_deref()
            && value::<i64>(row, "messages")? == messages;
        if !same {
            return Err(Error::Exists { id: new.id.clone() });
        }
        let dropped = value::<Option<&[u8]>>(row, "pack")?.is_none();
        let pack = if dropped { Vec::new() } else { new.pack.clone() };
        rows::handoff_with(row, pack)
    }

    pub(super) fn find_handoff(&self, id: &str) -> Result<HandoffRecord> {
        let values: Values<'_> = &[&name(id), &self.now()];
        let rows = self.database.rows(&Call::repeatable(FIND, values))?;
        rows.first().map_or_else(|| Err(unknown_handoff(id)), rows::handoff)
    }

    pub(super) fn read_chain(&self, id: &str) -> Result<Vec<HandoffRecord>> {
        let values: Values<'_> = &[&name(id), &self.now()];
        let rows = self.database.rows(&Call::repeatable(CHAIN, values))?;
        if rows.is_empty() {
            return Err(unknown_handoff(id));
        }
        rows.iter().map(rows::handoff).collect()
    }

    pub(super) fn list_handoffs(
        &self,
        conversation: &str,
        limit: u64,
    ) -> Result<Vec<HandoffRecord>> {
        // One at least, which tells that there is such a conversation.
        let values: Values<'_> = &[&name(conversation), &self.now(), &big(limit.max(1))];
        let rows = self.database.rows(&Call::repeatable(LIST, values))?;
        let Some(first) = rows.first() else { return Err(unknown(conversation)) };
        if limit == 0 || !rows::is_there(first)? {
            return Ok(Vec::new());
        }
        rows.iter().map(|row| rows::handoff_with(row, Vec::new())).collect()
    }

    pub(super) fn latest_handoff(&self, conversation: &str) -> Result<Option<String>> {
        let values: Values<'_> = &[&name(conversation), &self.now()];
        let rows = self.database.rows(&Call::repeatable(LATEST, values))?;
        value(rows.first().ok_or_else(|| unknown(conversation))?, "id")
    }
}

pub(super) fn unknown_handoff(id: &str) -> Error {
    Error::UnknownHandoff { id: id.to_owned() }
}
