//! What a conversation knows beside its messages: what is kept with it or, where a fork
//! keeps nothing yet, with the conversation that it came from.

use super::SessionContinuityService;
use super::session::{Status, likely_memories};
use crate::error::Result;
use crate::model::Recorded;
use crate::store::ConversationRecord;

/// What is kept with a conversation, or with the nearest before it that keeps anything.
pub(super) struct Kept {
    status: Status,
    /// How many of the messages it is about, from the first on.
    shared: u64,
}

impl SessionContinuityService {
    /// What is kept, if anything is.
    pub(super) fn kept(&self, record: &ConversationRecord) -> Result<Option<Kept>> {
        let mut shared = u64::MAX;
        let (mut status, mut parent) = (Status::of(record), record.parent.clone());
        loop {
            if let Some(status) = status {
                return Ok(Some(Kept { status, shared }));
            }
            let Some(point) = parent else { return Ok(None) };
            shared = shared.min(point.messages);
            let record = self.store.conversation(&point.conversation)?;
            (status, parent) = (Status::of(&record), record.parent);
        }
    }
}

/// The places of memories in a conversation.
pub(super) fn memories(
    kept: Option<&Kept>,
    record: &ConversationRecord,
    messages: &[Recorded],
) -> Vec<u64> {
    match kept {
        Some(kept) => {
            let memories = kept.status.memories(messages).into_iter();
            memories.filter(|at| *at < kept.shared).collect()
        }
        // Something is kept that cannot be read.
        None if record.status.is_some() => likely_memories(messages),
        None => Vec::new(),
    }
}
