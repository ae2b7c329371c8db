//! Conversations: begun, forked, leased.

use std::time::Duration;

use tokio_postgres::Row;

use super::PostgresStore;
use super::pool::{Call, Values};
use super::rows::{self, big, millis, name, number, value};
use super::sql::{after, leased, moment, now};
use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{ConversationRecord, Lease, NewConversation};

const BEGIN: &str = concat!(
    "WITH known AS (SELECT * FROM conversations WHERE id = $1::text), ",
    "moment AS (SELECT ",
    now!("$4"),
    " AS now), ",
    "made AS (INSERT INTO conversations \
       (id, window_tokens, output_reserve_tokens, epoch, messages, created, active) \
       SELECT $1::text, $2::bigint, $3::bigint, 0, 0, now, now FROM moment \
       WHERE NOT EXISTS (SELECT FROM known) RETURNING *) \
     SELECT * FROM known UNION ALL SELECT * FROM made"
);

const FIND: &str = "SELECT * FROM conversations WHERE id = $1::text";

const LIST: &str = "SELECT * FROM conversations WHERE id > $1::text ORDER BY id LIMIT $2::bigint";

/// The window of a fork is the one that the next message found: so is its epoch. All
/// of it is read as it was at one moment, so nothing need be locked.
const FORK: &str = concat!(
    "WITH RECURSIVE known AS (SELECT * FROM conversations WHERE id = $3::text), ",
    "source AS (SELECT * FROM conversations WHERE id = $1::text), ",
    "line (id, parent, inherited, until) AS (\
       SELECT id, parent, coalesce(parent_messages, 0), messages FROM source \
       UNION ALL \
       SELECT c.id, c.parent, coalesce(c.parent_messages, 0), least(line.inherited, line.until) \
       FROM line JOIN conversations c ON c.id = line.parent WHERE line.inherited > $2::bigint), ",
    "next AS (SELECT m.epoch FROM line JOIN messages m ON m.conversation = line.id \
       AND m.position = $2::bigint \
       WHERE $2::bigint >= line.inherited AND $2::bigint < line.until), ",
    "moment AS (SELECT ",
    now!("$4"),
    " AS now), ",
    "made AS (INSERT INTO conversations (id, window_tokens, output_reserve_tokens, parent, \
       parent_messages, origin, epoch, messages, created, active) \
       SELECT $3::text, window_tokens, output_reserve_tokens, $1::text, $2::bigint, origin, \
         coalesce((SELECT epoch FROM next), epoch), $2::bigint, now, now FROM source, moment \
       WHERE messages >= $2::bigint AND NOT EXISTS (SELECT FROM known) RETURNING *), ",
    "found AS (SELECT * FROM known UNION ALL SELECT * FROM made) \
     SELECT source.messages AS there, found.* FROM source LEFT JOIN found ON true"
);

const LEASE: &str = concat!(
    "WITH locked AS MATERIALIZED (SELECT * FROM conversations WHERE id = $1::text FOR UPDATE), ",
    moment!("$3", "locked"),
    ", judged AS MATERIALIZED (SELECT locked.*, now, CASE \
       WHEN continued_as IS NOT NULL THEN 'continued' \
       WHEN holder <> $2::text AND held_until > now THEN 'held' \
       ELSE 'ok' END AS verdict FROM locked, moment), ",
    "taken AS (UPDATE conversations c SET fence = c.fence + 1, holder = $2::text, held_until = ",
    after!("$4"),
    " FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.fence, c.held_until) \
     SELECT j.verdict, j.continued_as, j.holder, j.epoch, \
       coalesce(t.fence, j.fence) AS fence, coalesce(t.held_until, j.held_until) AS held_until \
     FROM judged j LEFT JOIN taken t ON true"
);

/// A lease that ran out can be renewed: its end is not asked for.
const RENEW: &str = concat!(
    "WITH locked AS MATERIALIZED (SELECT * FROM conversations WHERE id = $1::text FOR UPDATE), ",
    moment!("$5", "locked"),
    " UPDATE conversations c SET held_until = ",
    after!("$6"),
    " FROM locked l, moment WHERE c.id = l.id AND l.holder = $2::text AND l.fence = $3::bigint \
       AND l.epoch = $4::bigint RETURNING c.held_until"
);

const RELEASE: &str = "UPDATE conversations SET holder = NULL, held_until = NULL \
     WHERE id = $1::text AND holder = $2::text AND fence = $3::bigint AND epoch = $4::bigint";

const NEXT_EPOCH: &str = concat!(
    "WITH ",
    leased!(),
    ", changed AS (UPDATE conversations c SET epoch = c.epoch + 1, active = j.now, \
         status = coalesce($6::bytea, c.status) \
       FROM judged j WHERE c.id = j.id AND j.verdict = 'ok' RETURNING c.epoch) \
     SELECT j.verdict, j.continued_as, j.held_until, coalesce(n.epoch, j.epoch) AS epoch \
     FROM judged j LEFT JOIN changed n ON true"
);

impl PostgresStore {
    pub(super) fn begin_conversation(&self, new: &NewConversation) -> Result<ConversationRecord> {
        let (window, reserve) =
            (i64::from(new.window_tokens), i64::from(new.output_reserve_tokens));
        let values: Values<'_> = &[&new.id, &window, &reserve, &self.now()];
        let row = self.database.row(&Call::repeatable(BEGIN, values))?;
        let record = rows::conversation(&row)?;
        if record.is(new, None) { Ok(record) } else { Err(Error::Exists { id: new.id.clone() }) }
    }

    pub(super) fn find_conversation(&self, id: &str) -> Result<ConversationRecord> {
        let rows = self.database.rows(&Call::repeatable(FIND, &[&name(id)]))?;
        rows.first().map_or_else(|| Err(unknown(id)), rows::conversation)
    }

    pub(super) fn list_conversations(
        &self,
        after: &str,
        limit: u64,
    ) -> Result<Vec<ConversationRecord>> {
        // No id has a NUL, so nothing lies between a text and the same cut there.
        let after = after.split('\0').next().unwrap_or_default();
        let values: Values<'_> = &[&after, &big(limit)];
        let rows = self.database.rows(&Call::repeatable(LIST, values))?;
        rows.iter().map(rows::conversation).collect()
    }

    pub(super) fn fork_conversation(
        &self,
        parent: &str,
        messages: u64,
        id: &str,
    ) -> Result<ConversationRecord> {
        let at = big(messages);
        let values: Values<'_> = &[&name(parent), &at, &id, &self.now()];
        let rows = self.database.rows(&Call::repeatable(FORK, values))?;
        let row = rows.first().ok_or_else(|| unknown(parent))?;
        if !rows::is_there(row)? {
            let conversation = parent.to_owned();
            return Err(Error::BadFork {
                conversation,
                messages: number(row, "there")?,
                at: messages,
            });
        }
        let record = rows::conversation(row)?;
        let point = record.parent.as_ref();
        if point.is_some_and(|p| p.conversation == parent && p.messages == messages) {
            return Ok(record);
        }
        Err(Error::Exists { id: id.to_owned() })
    }

    pub(super) fn take_lease(&self, id: &str, holder: &str, span: Duration) -> Result<Lease> {
        let values: Values<'_> = &[&name(id), &holder, &self.now(), &millis(span)];
        let rows = self.database.rows(&Call::once(LEASE, values))?;
        let row = rows.first().ok_or_else(|| unknown(id))?;
        let until = Timestamp(value::<Option<i64>>(row, "held_until")?.unwrap_or_default());
        match value(row, "verdict")? {
            "ok" => Ok(Lease {
                conversation: id.to_owned(),
                holder: holder.to_owned(),
                fence: number(row, "fence")?,
                epoch: number(row, "epoch")?,
                until,
            }),
            "held" => {
                let (conversation, holder) = (id.to_owned(), value(row, "holder")?);
                Err(Error::Held { conversation, holder, until })
            }
            _ => Err(continued(row, id)?),
        }
    }

    pub(super) fn renew_lease(&self, lease: &Lease, span: Duration) -> Result<Lease> {
        let (fence, epoch) = (big(lease.fence), i64::from(lease.epoch));
        let (id, holder) = (name(&lease.conversation), name(&lease.holder));
        let (now, span) = (self.now(), millis(span));
        let values: Values<'_> = &[&id, &holder, &fence, &epoch, &now, &span];
        let rows = self.database.rows(&Call::once(RENEW, values))?;
        let row = rows.first().ok_or_else(|| lost(lease))?;
        Ok(Lease { until: rows::moment(row, "held_until")?, ..lease.clone() })
    }

    pub(super) fn release_lease(&self, lease: &Lease) -> Result<()> {
        let (fence, epoch) = (big(lease.fence), i64::from(lease.epoch));
        let (id, holder) = (name(&lease.conversation), name(&lease.holder));
        let values: Values<'_> = &[&id, &holder, &fence, &epoch];
        self.database.rows(&Call::once(RELEASE, values)).map(drop)
    }

    pub(super) fn begin_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        let (fence, epoch) = (big(lease.fence), i64::from(lease.epoch));
        let (id, holder) = (name(&lease.conversation), name(&lease.holder));
        let (now, status) = (self.now(), status.map(str::as_bytes));
        let values: Values<'_> = &[&id, &holder, &fence, &epoch, &now, &status];
        let rows = self.database.rows(&Call::once(NEXT_EPOCH, values))?;
        let row = written(&rows, lease)?;
        let until = rows::moment(row, "held_until")?;
        Ok(Lease { epoch: number(row, "epoch")?, until, ..lease.clone() })
    }
}

/// The row of a statement that [`leased!`] judged, if the lease let it write.
pub(super) fn written<'a>(rows: &'a [Row], lease: &Lease) -> Result<&'a Row> {
    let row = rows.first().ok_or_else(|| lost(lease))?;
    match value(row, "verdict")? {
        "continued" => Err(continued(row, &lease.conversation)?),
        "lost" => Err(lost(lease)),
        _ => Ok(row),
    }
}

fn continued(row: &Row, id: &str) -> Result<Error> {
    Ok(Error::Continued { conversation: id.to_owned(), into: value(row, "continued_as")? })
}

fn lost(lease: &Lease) -> Error {
    Error::LeaseLost { conversation: lease.conversation.clone() }
}

pub(super) fn unknown(id: &str) -> Error {
    Error::UnknownConversation { id: id.to_owned() }
}
