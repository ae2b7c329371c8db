//! What every store refuses.

use lcp_types::limits;

use super::error::{Error, Result};
use super::records::{HandoffState, NewHandoff, NewMessage};

/// Whether an id, or the name of a holder, can be used.
pub(super) fn id(id: &str) -> Result<()> {
    let max = limits::CONTINUITY_ID_BYTES_MAX;
    size("an id", "CONTINUITY_ID_BYTES_MAX", id.len(), max as u64)?;
    if id.is_empty() || id.chars().any(char::is_control) {
        return Err(Error::BadId { id: id.chars().take(32).collect(), max });
    }
    Ok(())
}

/// Whether messages, and what is to be kept with them, are not too large.
pub(super) fn messages(messages: &[NewMessage], status: Option<&str>) -> Result<()> {
    for message in messages {
        let max = limits::MESSAGE_BYTES_MAX;
        size("a message", "MESSAGE_BYTES_MAX", message.body.len(), max)?;
    }
    self::status(status)
}

/// Whether a hand-off can be kept.
pub(super) fn handoff(handoff: &NewHandoff) -> Result<()> {
    id(&handoff.id)?;
    let max = limits::HANDOFF_BYTES_MAX;
    size("a hand-off", "HANDOFF_BYTES_MAX", handoff.pack.len(), max)?;
    status(handoff.status.as_deref())
}

/// Whether what is to be kept with a conversation is not too large.
pub(super) fn status(status: Option<&str>) -> Result<()> {
    let max = limits::STATUS_BYTES_MAX;
    size("a status", "STATUS_BYTES_MAX", status.map_or(0, str::len), max)
}

/// Why a hand-off in this state cannot be claimed.
pub(super) fn unclaimable(id: &str, state: HandoffState) -> Error {
    let handoff = id.to_owned();
    match state {
        HandoffState::Claimed { by, until } => Error::Claimed { handoff, by, until },
        HandoffState::Resumed { into } => Error::AlreadyResumed { handoff, into },
        HandoffState::Superseded { by } => Error::Superseded { handoff, by },
        HandoffState::Committed | HandoffState::Expired => Error::HandoffExpired { handoff },
    }
}

fn size(what: &'static str, limit: &'static str, found: usize, max: u64) -> Result<()> {
    let found = found as u64;
    if found > max { Err(Error::TooLarge { what, limit, found, max }) } else { Ok(()) }
}
