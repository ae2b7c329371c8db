//! What is dropped once nothing alive needs it.

use super::PostgresStore;
use super::error::Failure;
use super::rows::{millis, number};
use super::sql::{now, open, resumable};
use crate::store::error::{Error, Result};
use crate::store::records::Expired;

/// Whoever writes waits until it is done, and then sees what it did; who reads does
/// not wait. Everything that writes needs this table.
const LOCK: &str = "LOCK TABLE conversations IN EXCLUSIVE MODE";

/// From all that is alive to what it came from; behind a hand-off that was dropped
/// there is nothing left. The rest goes. Every part of this sees the tables as they
/// were before.
const DROP: &str = concat!(
    "WITH RECURSIVE moment AS MATERIALIZED (SELECT ",
    now!("$1"),
    " AS now), ",
    "needed (handoff, id) AS (\
       (SELECT false, c.id FROM conversations c, moment \
         WHERE c.active::numeric + $2::bigint > now OR (c.holder IS NOT NULL AND c.held_until > now) \
        UNION ALL SELECT true, h.id FROM handoffs h, moment WHERE ",
    resumable!(),
    ") UNION \
       SELECT f.handoff, f.id FROM needed n CROSS JOIN LATERAL (\
         SELECT false AS handoff, c.parent AS id FROM conversations c \
           WHERE NOT n.handoff AND c.id = n.id AND c.parent IS NOT NULL \
         UNION ALL SELECT true, c.origin FROM conversations c \
           WHERE NOT n.handoff AND c.id = n.id AND c.origin IS NOT NULL \
         UNION ALL SELECT false, h.conversation FROM handoffs h \
           WHERE n.handoff AND h.id = n.id AND h.pack IS NOT NULL \
         UNION ALL SELECT true, h.previous FROM handoffs h \
           WHERE n.handoff AND h.id = n.id AND h.pack IS NOT NULL AND h.previous IS NOT NULL) f), ",
    "gone AS (DELETE FROM conversations c \
       WHERE NOT EXISTS (SELECT FROM needed n WHERE NOT n.handoff AND n.id = c.id) RETURNING c.id), ",
    "emptied AS (UPDATE handoffs h SET pack = NULL, claimant = NULL, claimed_until = NULL \
       FROM moment WHERE h.pack IS NOT NULL AND h.expires <= now \
         AND NOT EXISTS (SELECT FROM needed n WHERE n.handoff AND n.id = h.id) RETURNING h.id), ",
    "removed AS (DELETE FROM messages m USING gone WHERE m.conversation = gone.id \
       RETURNING m.hash), ",
    "unused AS (DELETE FROM contents t USING (SELECT DISTINCT hash FROM removed) r \
       WHERE t.hash = r.hash AND NOT EXISTS (SELECT FROM messages m WHERE m.hash = t.hash \
         AND NOT EXISTS (SELECT FROM gone WHERE gone.id = m.conversation)) RETURNING t.hash) \
     SELECT (SELECT count(*) FROM gone) AS conversations, \
       (SELECT count(*) FROM emptied) AS handoffs, (SELECT count(*) FROM unused) AS bodies"
);

/// How often it is tried: others may be in the way.
const TRIES: u32 = 3;

impl PostgresStore {
    pub(super) fn drop_expired(&self) -> Result<Expired> {
        self.database.wait_for(async {
            for _ in 0..TRIES {
                match self.try_to_drop().await {
                    Err(Failure::Conflict(_)) => {}
                    other => return other.map_err(Failure::into_error),
                }
            }
            Err(Error::Busy)
        })
    }

    async fn try_to_drop(&self) -> Result<Expired, Failure> {
        let (now, expiry) = (self.now(), millis(self.expiry));
        let mut client = None;
        let work = self.database.bounded(&mut client, async |client| {
            let transaction = client.transaction().await?;
            transaction.batch_execute(LOCK).await?;
            let statement = transaction.prepare_cached(DROP).await?;
            let row = transaction.query_one(&statement, &[&now, &expiry]).await?;
            transaction.commit().await?;
            Ok(Expired {
                conversations: number(&row, "conversations")?,
                handoffs: number(&row, "handoffs")?,
                bodies: number(&row, "bodies")?,
            })
        });
        work.await
    }
}
