//! Hand-offs: committed, found, claimed, resumed.

use lcp_types::ContentHash;
use rusqlite::{Row, named_params};

use super::schema::{EXPIRED, OPEN, RESUMED, SUPERSEDED};
use super::transaction::{Transaction, damaged, to_limit};
use crate::model::Timestamp;
use crate::store::error::{Error, Result};
use crate::store::records::{
    Claim, ConversationRecord, HandoffRecord, HandoffState, Lease, NewConversation, NewHandoff,
    StoredHandoff,
};

/// A hand-off, and the number of its row. Its record has no pack.
pub(super) struct Handoff {
    number: i64,
    stored: StoredHandoff,
    has_pack: bool,
}

/// The columns that [`read`] reads.
const COLUMNS: &str = "SELECT number, id, conversation, epoch, previous, messages, hash, packed,
         state, successor, claimant, claim_until, claim_fence, created, expires
     FROM handoffs";

impl Transaction<'_> {
    pub(super) fn commit(
        &self,
        lease: &Lease,
        new: &NewHandoff,
        hash: &ContentHash,
        expires: Timestamp,
    ) -> Result<HandoffRecord> {
        if let Some(existing) = self.find_handoff(&new.id)? {
            existing.stored.check_same(new, hash, lease)?;
            return self.with_pack(existing);
        }
        let conversation = self.writable(lease)?;
        if let Some(previous) = &new.previous {
            // Never itself either, so that every chain has an end.
            self.handoff_row(previous)?;
        }
        self.touch(&conversation, new.status.as_deref())?;
        self.supersede(&lease.conversation, &new.id, |state| {
            !matches!(state, HandoffState::Claimed { .. })
        })?;
        let number = self.insert(
            "INSERT INTO handoffs (id, conversation, epoch, previous, messages, hash, packed,
                 state, claim_fence, created, expires)
             VALUES (:id, :conversation, :epoch, :previous, :messages, :hash, 1, 0, 0, :now,
                 :expires)",
            named_params! {
                ":id": new.id,
                ":conversation": lease.conversation,
                ":epoch": lease.epoch,
                ":previous": new.previous,
                ":messages": new.messages.cast_signed(),
                ":hash": hash,
                ":now": self.now.0,
                ":expires": expires.0,
            },
        )?;
        self.execute("INSERT INTO packs (handoff, pack) VALUES (?1, ?2)", (number, &new.pack))?;
        let record = self.handoff_row(&new.id)?.stored.record;
        Ok(HandoffRecord { pack: new.pack.clone(), ..record })
    }

    /// Supersedes the open hand-offs of a conversation whose state now is one of these.
    fn supersede(
        &self,
        conversation: &str,
        by: &str,
        includes: impl Fn(&HandoffState) -> bool,
    ) -> Result<()> {
        for Handoff { number, stored, .. } in self.open_handoffs(conversation)? {
            if stored.record.id != by && includes(&stored.record.state) {
                self.set_successor(number, SUPERSEDED, by)?;
            }
        }
        Ok(())
    }

    fn set_successor(&self, number: i64, state: i64, successor: &str) -> Result<usize> {
        let sql = "UPDATE handoffs SET state = ?2, successor = ?3 WHERE number = ?1";
        self.execute(sql, (number, state, successor))
    }

    pub(super) fn claim(&self, id: &str, claimant: &str, until: Timestamp) -> Result<Claim> {
        let mut handoff = self.handoff_row(id)?;
        handoff.stored.claim(claimant, until, self.now)?;
        let (fence, claimant) = (handoff.stored.fence, claimant.to_owned());
        self.execute(
            "UPDATE handoffs SET claimant = ?2, claim_until = ?3, claim_fence = ?4
             WHERE number = ?1",
            (handoff.number, &claimant, until.0, fence.cast_signed()),
        )?;
        Ok(Claim { handoff: self.with_pack(handoff)?, claimant, fence, until })
    }

    pub(super) fn resume(
        &self,
        claim: &Claim,
        new: &NewConversation,
    ) -> Result<ConversationRecord> {
        let Handoff { number, stored, .. } = self.handoff_row(&claim.handoff.id)?;
        let existing = self.find_conversation(&new.id)?.map(|existing| existing.record);
        if let Some(resumed) = stored.check_resume(claim, new, existing, self.now)? {
            return Ok(resumed);
        }
        let HandoffRecord { id, conversation, epoch, .. } = stored.record;
        self.set_successor(number, RESUMED, &new.id)?;
        self.execute(
            "UPDATE conversations SET continued_as = ?2, holder = NULL, until = NULL,
                 fence = fence + 1 WHERE id = ?1",
            (&conversation, &new.id),
        )?;
        // A conversation goes on once.
        self.supersede(&conversation, &id, |_| true)?;
        let (origin, epoch) = (Some(id), epoch.saturating_add(1));
        let record = ConversationRecord { origin, epoch, ..ConversationRecord::new(new, self.now) };
        self.insert_conversation(&record, None)
    }

    pub(super) fn abandon(&self, claim: &Claim) -> Result<()> {
        self.execute(
            "UPDATE handoffs SET claimant = NULL, claim_until = NULL
             WHERE id = ?1 AND state = 0 AND claim_fence = ?2",
            (&claim.handoff.id, claim.fence.cast_signed()),
        )?;
        Ok(())
    }

    pub(super) fn handoff(&self, id: &str) -> Result<HandoffRecord> {
        self.with_pack(self.handoff_row(id)?)
    }

    pub(super) fn chain(&self, id: &str) -> Result<Vec<HandoffRecord>> {
        let mut chain = Vec::new();
        let mut next = Some(id.to_owned());
        let mut newest = i64::MAX;
        while let Some(id) = next {
            let handoff = self.handoff_row(&id)?;
            // Each was committed after the one before it.
            if handoff.number >= newest {
                return Err(damaged(format!("hand-off {id:?} is not before those after it")));
            }
            newest = handoff.number;
            next = handoff.stored.record.previous.clone().filter(|_| handoff.has_pack);
            chain.push(self.with_pack(handoff)?);
        }
        Ok(chain)
    }

    /// Returns those of a conversation, the newest first, without their packs. Looks through
    /// all rows: there is an index of the open ones alone.
    pub(super) fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>> {
        self.conversation(conversation)?;
        let which = "WHERE conversation = ?1 ORDER BY number DESC LIMIT ?2";
        let handoffs = self.handoff_rows(which, (conversation, to_limit(limit)))?;
        Ok(handoffs.into_iter().map(|handoff| handoff.stored.record).collect())
    }

    pub(super) fn latest(&self, conversation: &str) -> Result<Option<String>> {
        self.conversation(conversation)?;
        let mut open = self.open_handoffs(conversation)?;
        open.retain(|handoff| handoff.stored.record.state != HandoffState::Expired);
        Ok(open.pop().map(|handoff| handoff.stored.record.id))
    }

    /// Returns the record of a hand-off with its pack, if that was not dropped.
    fn with_pack(&self, handoff: Handoff) -> Result<HandoffRecord> {
        let StoredHandoff { record, hash, .. } = handoff.stored;
        if !handoff.has_pack {
            return Ok(record);
        }
        let sql = "SELECT pack FROM packs WHERE handoff = ?1";
        let pack: Option<Vec<u8>> = self.row(sql, [handoff.number], |row| row.get(0))?;
        if let Some(pack) = pack.filter(|pack| *blake3::hash(pack).as_bytes() == hash) {
            return Ok(HandoffRecord { pack, ..record });
        }
        let id = &record.id;
        Err(damaged(format!("the pack of hand-off {id:?} is not what it was")))
    }

    fn handoff_row(&self, id: &str) -> Result<Handoff> {
        self.find_handoff(id)?.ok_or_else(|| Error::unknown_handoff(id))
    }

    fn find_handoff(&self, id: &str) -> Result<Option<Handoff>> {
        Ok(self.handoff_rows("WHERE id = ?1", [id])?.pop())
    }

    /// Returns those of a conversation that were neither resumed, superseded nor dropped, the
    /// oldest first.
    fn open_handoffs(&self, conversation: &str) -> Result<Vec<Handoff>> {
        let which = "WHERE conversation = ?1 AND state = 0 ORDER BY number";
        self.handoff_rows(which, [conversation])
    }

    fn handoff_rows(&self, which: &str, values: impl rusqlite::Params) -> Result<Vec<Handoff>> {
        let rows = self.rows(&format!("{COLUMNS} {which}"), values, |row| read(row, self.now))?;
        rows.into_iter().collect()
    }
}

/// Reads a row of [`COLUMNS`]; the state is that of now.
fn read(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Result<Handoff>> {
    let id: String = row.get(1)?;
    let expires = Timestamp(row.get(14)?);
    let Some(state) = state(row)? else {
        return Ok(Err(damaged(format!("the state of hand-off {id:?} is unknown"))));
    };
    let record = HandoffRecord {
        id,
        conversation: row.get(2)?,
        epoch: row.get(3)?,
        previous: row.get(4)?,
        messages: row.get::<_, i64>(5)?.cast_unsigned(),
        pack: Vec::new(),
        state: state.at(expires, now),
        created: Timestamp(row.get(13)?),
        expires,
    };
    let fence = row.get::<_, i64>(12)?.cast_unsigned();
    let stored = StoredHandoff { record, hash: row.get(6)?, fence };
    Ok(Ok(Handoff { number: row.get(0)?, stored, has_pack: row.get(7)? }))
}

/// Reads the state that a hand-off was left in; `None` if it is not known.
fn state(row: &Row<'_>) -> rusqlite::Result<Option<HandoffState>> {
    let claim: (Option<String>, Option<i64>) = (row.get(10)?, row.get(11)?);
    let successor: Option<String> = row.get(9)?;
    Ok(match (row.get(8)?, claim) {
        (OPEN, (Some(by), Some(until))) => {
            Some(HandoffState::Claimed { by, until: Timestamp(until) })
        }
        (OPEN, _) => Some(HandoffState::Committed),
        (EXPIRED, _) => Some(HandoffState::Expired),
        (RESUMED, _) => successor.map(|into| HandoffState::Resumed { into }),
        (SUPERSEDED, _) => successor.map(|by| HandoffState::Superseded { by }),
        _ => None,
    })
}
