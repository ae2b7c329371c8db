//! Messages: appended, and read through forks.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::PostgresStore;
use super::conversations::{unknown, written};
use super::pool::{Call, Values};
use super::rows::{self, big, name, number, value};
use super::sql::{leased, moment};
use crate::store::error::{Error, Result};
use crate::store::records::{Lease, NewMessage, StoredMessage};

/// Bodies that are there already are left; a body that is being put by somebody else
/// is waited for. They come in the order of their hashes, so that two of these never
/// wait for each other.
const APPEND: &str = concat!(
    "WITH ",
    leased!(),
    ", kept AS (INSERT INTO contents (hash, body) \
       SELECT u.hash, u.body FROM judged j, unnest($7::bytea[], $8::bytea[]) AS u (hash, body) \
       WHERE j.verdict = 'ok' ON CONFLICT (hash) DO NOTHING), ",
    "added AS (INSERT INTO messages (conversation, position, epoch, hash, tokens, recorded) \
       SELECT j.id, j.messages + u.n - 1, j.epoch, u.hash, u.tokens, j.now \
       FROM judged j, \
         unnest($9::bytea[], $10::bigint[]) WITH ORDINALITY AS u (hash, tokens, n) \
       WHERE j.verdict = 'ok'), ",
    "changed AS (UPDATE conversations c SET messages = c.messages + cardinality($9::bytea[]), \
         active = j.now, status = coalesce($6::bytea, c.status) \
       FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.messages) \
     SELECT j.verdict, j.continued_as, coalesce(n.messages, j.messages) AS messages \
     FROM judged j LEFT JOIN changed n ON true"
);

/// Up the parents as far as there is something to read.
const READ: &str = "WITH RECURSIVE whole AS (SELECT * FROM conversations WHERE id = $1::text), \
     line (id, parent, inherited, until) AS (\
       SELECT id, parent, coalesce(parent_messages, 0), messages FROM whole \
       UNION ALL \
       SELECT c.id, c.parent, coalesce(c.parent_messages, 0), least(line.inherited, line.until) \
       FROM line JOIN conversations c ON c.id = line.parent WHERE line.inherited > $2::bigint) \
     SELECT whole.messages AS there, m.position, m.epoch, m.hash, m.tokens, m.recorded, t.body \
     FROM whole LEFT JOIN (line JOIN messages m ON m.conversation = line.id \
         AND m.position >= line.inherited AND m.position < line.until \
         AND m.position >= $2::bigint AND m.position < $3::bigint \
       LEFT JOIN contents t ON t.hash = m.hash) ON true \
     ORDER BY m.position";

impl PostgresStore {
    pub(super) fn append_messages(
        &self,
        lease: &Lease,
        messages: &[NewMessage],
        status: Option<&str>,
    ) -> Result<u64> {
        let hashes: Vec<[u8; 32]> =
            messages.iter().map(|message| *blake3::hash(&message.body).as_bytes()).collect();
        // Each body once, in the order of the hashes.
        let bodies: BTreeMap<&[u8], &[u8]> = hashes
            .iter()
            .zip(messages)
            .map(|(hash, message)| (hash.as_slice(), message.body.as_slice()))
            .collect();
        let (body_hashes, bodies): (Vec<&[u8]>, Vec<&[u8]>) = bodies.into_iter().unzip();
        let hashes: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
        let tokens: Vec<i64> = messages.iter().map(|message| i64::from(message.tokens)).collect();

        let (fence, epoch) = (big(lease.fence), i64::from(lease.epoch));
        let (id, holder) = (name(&lease.conversation), name(&lease.holder));
        let (now, status) = (self.now(), status.map(str::as_bytes));
        let values: Values<'_> =
            &[&id, &holder, &fence, &epoch, &now, &status, &body_hashes, &bodies, &hashes, &tokens];
        let rows = self.database.rows(&Call::once(APPEND, values))?;
        number(written(&rows, lease)?, "messages")
    }

    pub(super) fn read_messages(
        &self,
        id: &str,
        from: u64,
        limit: u64,
    ) -> Result<Vec<StoredMessage>> {
        let end = from.saturating_add(limit);
        let values: Values<'_> = &[&name(id), &big(from), &big(end)];
        let rows = self.database.rows(&Call::repeatable(READ, values))?;
        let there: u64 = number(rows.first().ok_or_else(|| unknown(id))?, "there")?;
        let mut messages = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(position) = value::<Option<i64>>(row, "position")? else { break };
            let position = u64::try_from(position).unwrap_or(u64::MAX);
            if position != from.saturating_add(messages.len() as u64) {
                break;
            }
            messages.push(message(row, id, position)?);
        }
        let expected = end.min(there).saturating_sub(from);
        if messages.len() as u64 == expected {
            return Ok(messages);
        }
        let missing = from.saturating_add(messages.len() as u64);
        Err(damaged(id, missing, "missing"))
    }
}

fn message(row: &Row, id: &str, position: u64) -> Result<StoredMessage> {
    let Some(body) = value::<Option<&[u8]>>(row, "body")? else {
        return Err(damaged(id, position, "missing its body"));
    };
    if !rows::is(body, value(row, "hash")?) {
        return Err(damaged(id, position, "not what its hash says"));
    }
    Ok(StoredMessage {
        position,
        epoch: number(row, "epoch")?,
        body: body.to_vec(),
        tokens: number(row, "tokens")?,
        recorded: rows::moment(row, "recorded")?,
    })
}

fn damaged(id: &str, position: u64, how: &str) -> Error {
    Error::Damaged { reason: format!("message {position} of {id:?} is {how}") }
}
