//! Hand-offs: their rows, how they are kept and found.

use lcp_types::ContentHash;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::conversations;
use super::failed::{Failed, Result};
use super::leases;
use super::schema::{EXPIRED, OPEN, RESUMED, SUPERSEDED};
use crate::model::Timestamp;
use crate::store::error::Error;
use crate::store::records::{HandoffRecord, HandoffState, Lease, NewHandoff};

/// A hand-off as its row has it.
pub(super) struct Handoff {
    pub(super) number: i64,
    /// Without its pack.
    pub(super) record: HandoffRecord,
    /// Of its newest claim.
    pub(super) fence: u64,
    /// Whether its pack is there.
    packed: bool,
    hash: ContentHash,
}

/// Keeps a hand-off, the hash of whose pack this is.
pub(super) fn commit(
    transaction: &Connection,
    lease: &Lease,
    (new, hash): (&NewHandoff, &ContentHash),
    expires: Timestamp,
    now: Timestamp,
) -> Result<HandoffRecord> {
    if let Some(known) = find(transaction, &new.id, now)? {
        let is_same = known.hash == *hash
            && known.record.conversation == lease.conversation
            && known.record.previous == new.previous
            && known.record.messages == new.messages;
        return if is_same {
            with_pack(transaction, known)
        } else {
            Err(conversations::exists(&new.id))
        };
    }
    let conversation = leases::writable(transaction, lease, now)?;
    if let Some(previous) = &new.previous {
        // Never itself either, so that every chain has an end.
        known(transaction, previous, now)?;
    }
    conversations::touch(transaction, &conversation, new.status.as_deref(), now)?;
    supersede(
        transaction,
        &lease.conversation,
        &new.id,
        |other| !matches!(other.record.state, HandoffState::Claimed { .. }),
        now,
    )?;
    let number = transaction
        .prepare_cached(
            "INSERT INTO handoffs (id, conversation, epoch, previous, messages, hash, packed,
                 state, claim_fence, created, expires)
             VALUES (:id, :conversation, :epoch, :previous, :messages, :hash, 1, 0, 0, :now,
                 :expires)",
        )?
        .insert(named_params! {
            ":id": new.id,
            ":conversation": lease.conversation,
            ":epoch": lease.epoch,
            ":previous": new.previous,
            ":messages": new.messages.cast_signed(),
            ":hash": hash,
            ":now": now.0,
            ":expires": expires.0,
        })?;
    transaction
        .prepare_cached("INSERT INTO packs (handoff, pack) VALUES (?1, ?2)")?
        .execute((number, &new.pack))?;
    let kept = known(transaction, &new.id, now)?;
    Ok(HandoffRecord { pack: new.pack.clone(), ..kept.record })
}

/// Those of a conversation that nobody resumed, and that are `meant`, by this one.
pub(super) fn supersede(
    transaction: &Connection,
    conversation: &str,
    by: &str,
    meant: impl Fn(&Handoff) -> bool,
    now: Timestamp,
) -> Result<()> {
    for other in open(transaction, conversation, now)? {
        if other.record.id != by && meant(&other) {
            end(transaction, other.number, SUPERSEDED, by)?;
        }
    }
    Ok(())
}

/// What becomes of a hand-off, once and for all.
pub(super) fn end(
    transaction: &Connection,
    number: i64,
    state: i64,
    successor: &str,
) -> Result<()> {
    transaction
        .prepare_cached("UPDATE handoffs SET state = ?2, successor = ?3 WHERE number = ?1")?
        .execute((number, state, successor))?;
    Ok(())
}

pub(super) fn handoff(transaction: &Connection, id: &str, now: Timestamp) -> Result<HandoffRecord> {
    with_pack(transaction, known(transaction, id, now)?)
}

pub(super) fn chain(
    transaction: &Connection,
    id: &str,
    now: Timestamp,
) -> Result<Vec<HandoffRecord>> {
    let mut chain = Vec::new();
    let mut next = Some(id.to_owned());
    let mut newest = i64::MAX;
    while let Some(id) = next {
        let handoff = known(transaction, &id, now)?;
        // Each was kept after the one before it.
        if handoff.number >= newest {
            return Err(Failed::damaged(format!("hand-off {id:?} is not before those after it")));
        }
        newest = handoff.number;
        next = handoff.record.previous.clone().filter(|_| handoff.packed);
        chain.push(with_pack(transaction, handoff)?);
    }
    Ok(chain)
}

/// Those of a conversation, the newest first, without their packs. Looks through all
/// rows: there is an index of the open ones alone.
pub(super) fn page(
    transaction: &Connection,
    conversation: &str,
    limit: u64,
    now: Timestamp,
) -> Result<Vec<HandoffRecord>> {
    conversations::known(transaction, conversation)?;
    let sql = select("WHERE conversation = ?1 ORDER BY number DESC LIMIT ?2");
    let mut query = transaction.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query.query_map((conversation, limit), |row| read(row, now))?;
    rows.map(|row| row?.map(|handoff| handoff.record)).collect()
}

pub(super) fn latest(
    transaction: &Connection,
    conversation: &str,
    now: Timestamp,
) -> Result<Option<String>> {
    conversations::known(transaction, conversation)?;
    let mut open = open(transaction, conversation, now)?;
    open.retain(|handoff| handoff.record.state != HandoffState::Expired);
    Ok(open.pop().map(|handoff| handoff.record.id))
}

/// The record of a hand-off with its pack, if that was not dropped.
pub(super) fn with_pack(transaction: &Connection, handoff: Handoff) -> Result<HandoffRecord> {
    if !handoff.packed {
        return Ok(handoff.record);
    }
    let pack: Option<Vec<u8>> = transaction
        .prepare_cached("SELECT pack FROM packs WHERE handoff = ?1")?
        .query_row([handoff.number], |row| row.get(0))
        .optional()?;
    if let Some(pack) = pack.filter(|pack| *blake3::hash(pack).as_bytes() == handoff.hash) {
        return Ok(HandoffRecord { pack, ..handoff.record });
    }
    let id = &handoff.record.id;
    Err(Failed::damaged(format!("the pack of hand-off {id:?} is not what it was")))
}

pub(super) fn known(transaction: &Connection, id: &str, now: Timestamp) -> Result<Handoff> {
    let unknown = || Error::UnknownHandoff { id: id.to_owned() }.into();
    find(transaction, id, now)?.ok_or_else(unknown)
}

fn find(transaction: &Connection, id: &str, now: Timestamp) -> Result<Option<Handoff>> {
    let sql = select("WHERE id = ?1");
    let row = transaction.prepare_cached(&sql)?.query_row([id], |row| read(row, now)).optional()?;
    row.transpose()
}

/// Those of a conversation that were neither resumed, superseded nor dropped, the
/// oldest first.
fn open(transaction: &Connection, conversation: &str, now: Timestamp) -> Result<Vec<Handoff>> {
    let sql = select("WHERE conversation = ?1 AND state = 0 ORDER BY number");
    let mut query = transaction.prepare_cached(&sql)?;
    let rows = query.query_map([conversation], |row| read(row, now))?;
    rows.map(|row| row?).collect()
}

fn select(which: &str) -> String {
    format!(
        "SELECT number, id, conversation, epoch, previous, messages, hash, packed, state,
             successor, claimant, claim_until, claim_fence, created, expires
         FROM handoffs {which}"
    )
}

fn read(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Result<Handoff>> {
    let id: String = row.get(1)?;
    let expires = Timestamp(row.get(14)?);
    let Some(state) = state(row, expires, now)? else {
        return Ok(Err(Failed::damaged(format!("the state of hand-off {id:?} is unknown"))));
    };
    let record = HandoffRecord {
        id,
        conversation: row.get(2)?,
        epoch: row.get(3)?,
        previous: row.get(4)?,
        messages: row.get::<_, i64>(5)?.cast_unsigned(),
        pack: Vec::new(),
        state,
        created: Timestamp(row.get(13)?),
        expires,
    };
    let (number, hash, packed) = (row.get(0)?, row.get(6)?, row.get(7)?);
    let fence = row.get::<_, i64>(12)?.cast_unsigned();
    Ok(Ok(Handoff { number, record, fence, packed, hash }))
}

/// What became of it by now.
fn state(
    row: &Row<'_>,
    expires: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<Option<HandoffState>> {
    let claim: (Option<String>, Option<i64>) = (row.get(10)?, row.get(11)?);
    let claim = claim.0.zip(claim.1.map(Timestamp)).filter(|(_, until)| *until > now);
    let successor: Option<String> = row.get(9)?;
    Ok(match (row.get(8)?, claim) {
        (OPEN, Some((by, until))) => Some(HandoffState::Claimed { by, until }),
        (OPEN, None) if expires > now => Some(HandoffState::Committed),
        (OPEN | EXPIRED, _) => Some(HandoffState::Expired),
        (RESUMED, _) => successor.map(|into| HandoffState::Resumed { into }),
        (SUPERSEDED, _) => successor.map(|by| HandoffState::Superseded { by }),
        _ => None,
    })
}
