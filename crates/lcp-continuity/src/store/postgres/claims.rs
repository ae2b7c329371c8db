//! Hand-offs: claimed, resumed, given back.

use std::time::Duration;

use tokio_postgres::Row;

use super::PostgresStore;
use super::handoffs::unknown_handoff;
use super::pool::{Call, Values};
use super::rows::{self, big, millis, name, number, value};
use super::sql::{after, moment, open};
use crate::store::check;
use crate::store::error::{Error, Result};
use crate::store::records::{
    Claim, ConversationRecord, HandoffRecord, HandoffState, NewConversation,
};

/// Locks the conversation before the hand-off, as everybody does. A share of it will
/// do, since nothing of it is changed.
const CLAIM: &str = concat!(
    "WITH source AS MATERIALIZED (SELECT FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR SHARE), ",
    "locked AS MATERIALIZED (SELECT * FROM handoffs \
       WHERE id = $1::text AND (SELECT count(*) FROM source) >= 0 FOR UPDATE), ",
    moment!("$3", "locked"),
    ", judged AS MATERIALIZED (SELECT h.*, now, CASE \
       WHEN NOT (",
    open!(),
    ") THEN 'closed' \
       WHEN h.claimant IS NOT NULL AND h.claimed_until > now \
         THEN CASE WHEN h.claimant = $2::text THEN 'again' ELSE 'claimed' END \
       WHEN h.expires <= now THEN 'closed' \
       ELSE 'ok' END AS verdict FROM locked h, moment), ",
    "taken AS (UPDATE handoffs h SET claimant = $2::text, claimed_until = ",
    after!("$4"),
    ", fence = h.fence + (j.verdict = 'ok')::int FROM judged j \
       WHERE h.id = j.id AND j.verdict IN ('ok', 'again') RETURNING h.fence, h.claimed_until) \
     SELECT j.verdict, j.now, j.id, j.conversation, j.epoch, j.previous, j.messages, j.hash, \
       j.pack, j.resumed_into, j.superseded_by, j.created, j.expires, j.claimant, \
       coalesce(t.claimed_until, j.claimed_until) AS claimed_until, \
       coalesce(t.fence, j.fence) AS fence \
     FROM judged j LEFT JOIN taken t ON true"
);

/// `known` is the conversation that is to begin, if there is one of its id. What was
/// done while this waited for the lock is not seen in it: then it is stale.
const RESUME: &str = concat!(
    "WITH seen AS (SELECT id, changes FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text)), ",
    "source AS MATERIALIZED (SELECT * FROM conversations \
       WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR UPDATE), ",
    "locked AS MATERIALIZED (SELECT * FROM handoffs \
       WHERE id = $1::text AND (SELECT count(*) FROM source) >= 0 FOR UPDATE), ",
    moment!("$7", "locked"),
    ", known AS (SELECT * FROM conversations WHERE id = $4::text), ",
    "judged AS MATERIALIZED (SELECT h.*, now, CASE \
       WHEN (SELECT changes FROM source) IS DISTINCT FROM (SELECT changes FROM seen) THEN 'stale' \
       WHEN h.resumed_into IS NOT NULL THEN 'resumed' \
       WHEN ",
    open!(),
    " AND h.claimant = $2::text AND h.claimed_until > now AND h.fence = $3::bigint \
         THEN CASE WHEN EXISTS (SELECT FROM known) THEN 'exists' ELSE 'ok' END \
       ELSE 'lost' END AS verdict FROM locked h, moment), ",
    "ended AS (UPDATE handoffs h SET resumed_into = $4::text FROM judged j \
       WHERE h.id = j.id AND j.verdict = 'ok'), ",
    "superseded AS (UPDATE handoffs h SET superseded_by = j.id FROM judged j \
       WHERE j.verdict = 'ok' AND h.conversation = j.conversation AND h.id <> j.id AND ",
    open!(),
    "), ",
    "handed_over AS (UPDATE conversations c SET continued_as = $4::text, holder = NULL, \
         held_until = NULL, fence = c.fence + 1, changes = c.changes + 1 \
       FROM judged j WHERE c.id = j.conversation AND j.verdict = 'ok'), ",
    "made AS (INSERT INTO conversations (id, window_tokens, output_reserve_tokens, origin, epoch, \
         messages, created, active) \
       SELECT $4::text, $5::bigint, $6::bigint, j.id, j.epoch + 1, 0, now, now \
       FROM judged j WHERE j.verdict = 'ok' RETURNING *), ",
    "answer AS (SELECT * FROM made UNION ALL SELECT * FROM known) \
     SELECT j.verdict, j.resumed_into, j.fence AS claim_fence, a.* \
     FROM judged j LEFT JOIN answer a ON true"
);

/// What [`RESUME`] decides by.
const LOCK: &str = "SELECT FROM conversations \
     WHERE id = (SELECT conversation FROM handoffs WHERE id = $1::text) FOR UPDATE";

const ABANDON: &str = concat!(
    "UPDATE handoffs h SET claimant = NULL, claimed_until = NULL \
     WHERE h.id = $1::text AND h.claimant = $2::text AND h.fence = $3::bigint AND ",
    open!()
);

impl PostgresStore {
    pub(super) fn claim_handoff(&self, id: &str, claimant: &str, span: Duration) -> Result<Claim> {
        let values: Values<'_> = &[&name(id), &claimant, &self.now(), &millis(span)];
        let rows = self.database.rows(&Call::repeatable(CLAIM, values))?;
        let row = rows.first().ok_or_else(|| unknown_handoff(id))?;
        let verdict: &str = value(row, "verdict")?;
        if !matches!(verdict, "ok" | "again") {
            let record = rows::handoff(row)?;
            return Err(check::unclaimable(&record.id, record.state));
        }
        let until = rows::moment(row, "claimed_until")?;
        let state = HandoffState::Claimed { by: claimant.to_owned(), until };
        let handoff = HandoffRecord { state, ..rows::handoff(row)? };
        let (claimant, fence) = (claimant.to_owned(), number(row, "fence")?);
        Ok(Claim { handoff, claimant, fence, until })
    }

    pub(super) fn resume_handoff(
        &self,
        claim: &Claim,
        new: &NewConversation,
    ) -> Result<ConversationRecord> {
        let (id, claimant) = (name(&claim.handoff.id), name(&claim.claimant));
        let (fence, now) = (big(claim.fence), self.now());
        let (window, reserve) =
            (i64::from(new.window_tokens), i64::from(new.output_reserve_tokens));
        let values: Values<'_> = &[&id, &claimant, &fence, &new.id, &window, &reserve, &now];
        let call = Call { lock: Some((LOCK, &[&id])), ..Call::repeatable(RESUME, values) };
        let rows = self.database.rows(&call)?;
        let row = rows.first().ok_or_else(|| unknown_handoff(&claim.handoff.id))?;
        match value(row, "verdict")? {
            "ok" => rows::conversation(row),
            "exists" => Err(Error::Exists { id: new.id.clone() }),
            "resumed" => again(row, claim, new),
            _ => Err(Error::ClaimLost { handoff: claim.handoff.id.clone() }),
        }
    }

    pub(super) fn abandon_claim(&self, claim: &Claim) -> Result<()> {
        let (id, claimant) = (name(&claim.handoff.id), name(&claim.claimant));
        let values: Values<'_> = &[&id, &claimant, &big(claim.fence)];
        self.database.rows(&Call::once(ABANDON, values)).map(drop)
    }
}

/// What a hand-off that was resumed before gives: the conversation, if it was this
/// claim, which was the last one it had.
fn again(row: &Row, claim: &Claim, new: &NewConversation) -> Result<ConversationRecord> {
    let into: String = value(row, "resumed_into")?;
    let same = into == new.id && value::<i64>(row, "claim_fence")? == big(claim.fence);
    if !same || !rows::is_there(row)? {
        return Err(Error::AlreadyResumed { handoff: claim.handoff.id.clone(), into });
    }
    let record = rows::conversation(row)?;
    if record.is(new, Some(&claim.handoff.id)) {
        Ok(record)
    } else {
        Err(Error::Exists { id: new.id.clone() })
    }
}
