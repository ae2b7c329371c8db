//! Access to the records of a store: conversations, hand-offs and messages.

use lcp_continuity::store::{
    self, ConversationRecord, DEFAULT_EXPIRY, HandoffRecord, Store, StoredMessage,
};
use lcp_continuity::{Timestamp, holder_has_ended};

use super::failed;
use crate::config::Config;
use crate::error::Result;

/// The number of records that are read at a time.
pub(super) const PAGE: u64 = 1_000;

/// A conversation or a hand-off.
#[derive(Debug)]
pub enum Record {
    /// A conversation.
    Conversation(ConversationRecord),
    /// A hand-off.
    Handoff(HandoffRecord),
}

/// Returns the conversation with this ID, or the hand-off with this ID.
pub fn find_record(store: &dyn Store, id: &str) -> Result<Record> {
    let unknown = match store.conversation(id) {
        Ok(record) => return Ok(Record::Conversation(record)),
        Err(error @ store::Error::UnknownConversation(_)) => error,
        Err(error) => return Err(failed(error)),
    };
    match store.handoff(id) {
        Ok(record) => Ok(Record::Handoff(record)),
        Err(store::Error::UnknownHandoff(_)) => Err(failed(unknown)),
        Err(error) => Err(failed(error)),
    }
}

/// Returns all conversations, sorted by ID.
pub fn conversations(store: &dyn Store) -> Result<Vec<ConversationRecord>> {
    let mut all: Vec<ConversationRecord> = Vec::new();
    loop {
        let after = all.last().map_or("", |last| last.id.as_str());
        let page = store.conversations(after, PAGE).map_err(failed)?;
        let is_last = (page.len() as u64) < PAGE;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Calls `each` with all messages of a conversation, in order.
pub fn for_each_message(
    store: &dyn Store,
    record: &ConversationRecord,
    mut each: impl FnMut(&StoredMessage) -> Result,
) -> Result {
    let mut from = 0;
    while from < record.messages {
        let page = store.messages(&record.id, from, PAGE.min(record.messages - from));
        let page = page.map_err(failed)?;
        if page.is_empty() {
            break;
        }
        from += page.len() as u64;
        page.iter().try_for_each(&mut each)?;
    }
    Ok(())
}

/// Returns the time after which a conversation may be deleted, unless another record needs it.
pub fn expiry(record: &ConversationRecord, config: &Config) -> Timestamp {
    record.last_active.after(config.continuity.expiry().unwrap_or(DEFAULT_EXPIRY))
}

/// Returns the holder of a conversation and the end of its lease, if the lease has not expired by
/// the local clock and the process of the holder is not known to have ended.
pub fn holder(record: &ConversationRecord) -> Option<&(String, Timestamp)> {
    let is_valid = |(holder, until): &&(String, Timestamp)| {
        *until > Timestamp::now() && !holder_has_ended(holder)
    };
    record.holder.as_ref().filter(is_valid)
}
