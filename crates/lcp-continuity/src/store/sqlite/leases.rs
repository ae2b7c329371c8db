//! Who may write to a conversation.

use rusqlite::Connection;

use super::conversations::{self, Conversation};
use super::failed::Result;
use crate::model::Timestamp;
use crate::store::error::Error;
use crate::store::records::{ConversationRecord, Lease};

pub(super) fn lease(
    transaction: &Connection,
    id: &str,
    holder: &str,
    until: Timestamp,
    now: Timestamp,
) -> Result<Lease> {
    let Conversation { number, record } = conversations::known(transaction, id)?;
    goes_on(&record)?;
    if let Some((other, until)) = record.holder
        && other != holder
        && until > now
    {
        return Err(Error::Held { conversation: id.to_owned(), holder: other, until }.into());
    }
    let fence = record.fence.saturating_add(1);
    transaction
        .prepare_cached(
            "UPDATE conversations SET fence = ?2, holder = ?3, until = ?4 WHERE number = ?1",
        )?
        .execute((number, fence.cast_signed(), holder, until.0))?;
    let (conversation, holder) = (id.to_owned(), holder.to_owned());
    Ok(Lease { conversation, holder, fence, epoch: record.epoch, until })
}

pub(super) fn renew(transaction: &Connection, lease: &Lease, until: Timestamp) -> Result<Lease> {
    let Some(Conversation { number, .. }) = newest(transaction, lease)? else {
        return Err(lost(lease).into());
    };
    transaction
        .prepare_cached("UPDATE conversations SET until = ?2 WHERE number = ?1")?
        .execute((number, until.0))?;
    Ok(Lease { until, ..lease.clone() })
}

pub(super) fn release(transaction: &Connection, lease: &Lease) -> Result<()> {
    if let Some(Conversation { number, .. }) = newest(transaction, lease)? {
        transaction
            .prepare_cached(
                "UPDATE conversations SET holder = NULL, until = NULL WHERE number = ?1",
            )?
            .execute([number])?;
    }
    Ok(())
}

pub(super) fn next_epoch(
    transaction: &Connection,
    lease: &Lease,
    status: Option<&str>,
    now: Timestamp,
) -> Result<Lease> {
    let mut conversation = writable(transaction, lease, now)?;
    let record = &mut conversation.record;
    record.epoch = record.epoch.saturating_add(1);
    let until = record.holder.as_ref().map_or(lease.until, |(_, until)| *until);
    let lease = Lease { epoch: record.epoch, until, ..lease.clone() };
    conversations::touch(transaction, &conversation, status, now)?;
    Ok(lease)
}

/// The conversation of a lease, if it may be written to under that.
pub(super) fn writable(
    transaction: &Connection,
    lease: &Lease,
    now: Timestamp,
) -> Result<Conversation> {
    let conversation =
        conversations::find(transaction, &lease.conversation)?.ok_or_else(|| lost(lease))?;
    goes_on(&conversation.record)?;
    let in_force = conversation.record.holder.as_ref().is_some_and(|(_, until)| *until > now);
    if in_force && is_newest(&conversation.record, lease) {
        Ok(conversation)
    } else {
        Err(lost(lease).into())
    }
}

/// The conversation of a lease, if this is its newest one, run out or not.
fn newest(transaction: &Connection, lease: &Lease) -> Result<Option<Conversation>> {
    let conversation = conversations::find(transaction, &lease.conversation)?;
    Ok(conversation.filter(|conversation| is_newest(&conversation.record, lease)))
}

fn is_newest(record: &ConversationRecord, lease: &Lease) -> bool {
    let holder = record.holder.as_ref().is_some_and(|(holder, _)| *holder == lease.holder);
    holder && record.fence == lease.fence && record.epoch == lease.epoch
}

/// Whether the conversation goes on under its own id.
fn goes_on(record: &ConversationRecord) -> Result<()> {
    match &record.continued_as {
        Some(into) => {
            let (conversation, into) = (record.id.clone(), into.clone());
            Err(Error::Continued { conversation, into }.into())
        }
        None => Ok(()),
    }
}

fn lost(lease: &Lease) -> Error {
    Error::LeaseLost { conversation: lease.conversation.clone() }
}
