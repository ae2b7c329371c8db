//! Validation of arguments for all stores.

use lcp_types::limits;

use super::error::{Error, Result};
use super::records::{NewHandoff, NewMessage};

/// Validates an id or the name of a holder.
pub(super) fn id(id: &str) -> Result<()> {
    let max = limits::CONTINUITY_ID_BYTES_MAX;
    size("an ID", "CONTINUITY_ID_BYTES_MAX", id.len(), max as u64)?;
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(Error::BadId { id: id.chars().take(32).collect(), max });
    }
    Ok(())
}

pub(super) fn messages(messages: &[NewMessage], status: Option<&str>) -> Result<()> {
    for message in messages {
        let max = limits::MESSAGE_BYTES_MAX;
        size("a message", "MESSAGE_BYTES_MAX", message.body.len(), max)?;
    }
    self::status(status)
}

pub(super) fn handoff(handoff: &NewHandoff) -> Result<()> {
    id(&handoff.id)?;
    let max = limits::HANDOFF_BYTES_MAX;
    size("a hand-off", "HANDOFF_BYTES_MAX", handoff.pack.len(), max)?;
    status(handoff.status.as_deref())
}

pub(super) fn status(status: Option<&str>) -> Result<()> {
    let max = limits::STATUS_BYTES_MAX;
    size("a status", "STATUS_BYTES_MAX", status.map_or(0, str::len), max)
}

fn size(what: &'static str, limit: &'static str, found: usize, max: u64) -> Result<()> {
    let found = found as u64;
    if found > max { Err(Error::TooLarge { what, limit, found, max }) } else { Ok(()) }
}
