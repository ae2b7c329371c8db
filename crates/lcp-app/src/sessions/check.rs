//! Checks of stores: reads all records and compares them with their hashes.

use lcp_continuity::SessionHandoff;
use lcp_continuity::store::{ConversationRecord, HandoffRecord, Store};
use serde_json::{Value, json};

use super::failed;
use super::records::{PAGE, conversations};
use crate::error::Result;

/// The number of problems after which the check ends.
const PROBLEMS_MAX: usize = 1_000;

/// The counts and problems of a checked store.
#[derive(Debug, Default)]
pub struct StoreCheck {
    /// The number of conversations read.
    pub conversations: u64,
    /// The number of messages read.
    pub messages: u64,
    /// The number of hand-offs read.
    pub handoffs: u64,
    /// A line for each problem.
    pub problems: Vec<String>,
}

/// Reads all records of a store.
///
/// # Errors
///
/// Returns an error if the conversations cannot be listed. All other problems are in the result.
pub fn check_store(store: &dyn Store) -> Result<StoreCheck> {
    let mut check = StoreCheck::default();
    for record in conversations(store)? {
        check.conversations += 1;
        check.read_messages(store, &record);
        check.read_handoffs(store, &record);
    }
    Ok(check)
}

impl StoreCheck {
    /// Returns it as JSON (`lcp.check.v1`).
    pub fn to_json(&self) -> Value {
        json!({
            "schema": "lcp.check.v1",
            "conversations": self.conversations,
            "messages": self.messages,
            "handoffs": self.handoffs,
            "problems": self.problems,
        })
    }

    fn read_messages(&mut self, store: &dyn Store, record: &ConversationRecord) {
        let mut from = 0;
        while from < record.messages && self.problems.len() < PROBLEMS_MAX {
            // If a page is damaged, its messages are read one by one.
            for limit in [PAGE, 1] {
                match store.messages(&record.id, from, limit) {
                    Ok(page) if !page.is_empty() => {
                        from += page.len() as u64;
                        for message in &page {
                            self.messages += 1;
                            let (position, id) = (message.position, &record.id);
                            self.problems.extend(message.message().err().map(|error| {
                                format!("message {position} of session {id:?}: {error}")
                            }));
                        }
                        break;
                    }
                    Err(error) if limit == 1 => {
                        self.problems.push(error.to_string());
                        from += 1;
                    }
                    Err(_) => {}
                    Ok(_) => return,
                }
            }
        }
    }

    fn read_handoffs(&mut self, store: &dyn Store, record: &ConversationRecord) {
        let handoffs = store.handoffs(&record.id, u64::MAX).unwrap_or_else(|error| {
            self.problems.push(error.to_string());
            Vec::new()
        });
        for handoff in handoffs {
            self.handoffs += 1;
            let checked = match store.handoff(&handoff.id) {
                Ok(handoff) => check_pack(&handoff),
                Err(error) => Some(failed(error).message),
            };
            self.problems.extend(checked);
        }
    }
}

/// Returns the problem of the pack of a hand-off, if it has a pack.
fn check_pack(handoff: &HandoffRecord) -> Option<String> {
    if handoff.pack.is_empty() {
        return None;
    }
    let error = SessionHandoff::from_pack(&handoff.pack).err()?;
    Some(format!("hand-off {:?}: {error}", handoff.id))
}
