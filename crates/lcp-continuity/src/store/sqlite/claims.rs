//! Who resumes a hand-off.

use rusqlite::Connection;

use super::conversations::{self, Beginning};
use super::failed::Result;
use super::handoffs::{self, Handoff};
use super::schema::RESUMED;
use crate::model::Timestamp;
use crate::store::check;
use crate::store::error::Error;
use crate::store::records::{
    Claim, ConversationRecord, HandoffRecord, HandoffState, NewConversation,
};

pub(super) fn claim(
    transaction: &Connection,
    id: &str,
    claimant: &str,
    until: Timestamp,
    now: Timestamp,
) -> Result<Claim> {
    let mut known = handoffs::known(transaction, id, now)?;
    match &known.record.state {
        HandoffState::Committed => known.fence = known.fence.saturating_add(1),
        HandoffState::Claimed { by, .. } if by == claimant => {}
        other => return Err(check::unclaimable(id, other.clone()).into()),
    }
    let (fence, claimant) = (known.fence, claimant.to_owned());
    transaction
        .prepare_cached(
            "UPDATE handoffs SET claimant = ?2, claim_until = ?3, claim_fence = ?4
             WHERE number = ?1",
        )?
        .execute((known.number, &claimant, until.0, fence.cast_signed()))?;
    let state = HandoffState::Claimed { by: claimant.clone(), until };
    let handoff = HandoffRecord { state, ..handoffs::with_pack(transaction, known)? };
    Ok(Claim { handoff, claimant, fence, until })
}

pub(super) fn resume(
    transaction: &Connection,
    claim: &Claim,
    new: &NewConversation,
    now: Timestamp,
) -> Result<ConversationRecord> {
    let id = &claim.handoff.id;
    let Handoff { number, record, fence, .. } = handoffs::known(transaction, id, now)?;
    let known = conversations::find(transaction, &new.id)?.map(|known| known.record);
    match record.state {
        HandoffState::Resumed { into } => {
            // The claim that resumed it was the last one it had.
            let known = known.filter(|_| into == new.id && fence == claim.fence);
            return match known {
                Some(known) if known.is(new, Some(id)) => Ok(known),
                Some(_) => Err(conversations::exists(&new.id)),
                None => Err(Error::AlreadyResumed { handoff: id.clone(), into }.into()),
            };
        }
        HandoffState::Claimed { by, .. } if by == claim.claimant && fence == claim.fence => {}
        _ => return Err(Error::ClaimLost { handoff: id.clone() }.into()),
    }
    if known.is_some() {
        return Err(conversations::exists(&new.id));
    }
    handoffs::end(transaction, number, RESUMED, &new.id)?;
    transaction
        .prepare_cached(
            "UPDATE conversations SET continued_as = ?2, holder = NULL, until = NULL,
                 fence = fence + 1 WHERE id = ?1",
        )?
        .execute((&record.conversation, &new.id))?;
    // A conversation goes on once.
    handoffs::supersede(transaction, &record.conversation, id, |_| true, now)?;
    let epoch = record.epoch.saturating_add(1);
    let from = Beginning { origin: Some(id), epoch, ..Beginning::default() };
    conversations::insert(transaction, new, &from, now)
}

pub(super) fn abandon(transaction: &Connection, claim: &Claim) -> Result<()> {
    transaction
        .prepare_cached(
            "UPDATE handoffs SET claimant = NULL, claim_until = NULL
             WHERE id = ?1 AND state = 0 AND claim_fence = ?2",
        )?
        .execute((&claim.handoff.id, claim.fence.cast_signed()))?;
    Ok(())
}
