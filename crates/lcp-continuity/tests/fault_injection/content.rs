//! The content that writers write. It is reproducible, so that it can be compared with the store.

use lcp_continuity::store::{Error, NewConversation, NewHandoff, NewMessage, Store};
use lcp_testkit::SplitMix64;

use super::protocol::Acknowledged;
use super::{failed, refused};
use crate::Result;

const WINDOW: u32 = 200_000;

/// The largest sizes in bytes. Actual sizes vary.
const MESSAGE_BYTES_MAX: usize = 2_000;
const PACK_BYTES_MAX: usize = 9_000;

pub(super) fn conversation(id: &str) -> NewConversation {
    NewConversation { id: id.to_owned(), window_tokens: WINDOW, output_reserve_tokens: 0 }
}

/// Returns the message with this number.
pub(super) fn message(conversation: &str, number: u64) -> NewMessage {
    NewMessage {
        body: noise(&format!("{conversation} says"), number, MESSAGE_BYTES_MAX),
        tokens: 1,
    }
}

/// Returns the hand-off with this number, which follows the message with the same number.
pub(super) fn handoff(conversation: &str, number: u64) -> NewHandoff {
    NewHandoff {
        id: id(conversation, number),
        previous: number.checked_sub(1).map(|before| id(conversation, before)),
        messages: number + 1,
        pack: noise(conversation, number, PACK_BYTES_MAX),
        status: None,
    }
}

/// Returns the id of a hand-off.
pub(super) fn id(conversation: &str, number: u64) -> String {
    format!("{conversation}/{number}")
}

fn noise(whose: &str, number: u64, bytes_max: usize) -> Vec<u8> {
    let mix = |seed: u64, byte: u8| SplitMix64::new(seed ^ u64::from(byte)).next_u64();
    let mut random = SplitMix64::new(whose.bytes().fold(number, mix));
    let bytes = 1 + random.below(bytes_max);
    random.bytes(bytes)
}

/// The number of writes that are missing or altered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Writes that were acknowledged but are missing.
    pub(super) lost: u64,
    /// Writes with other bytes or at another position, and writes beyond those that were begun.
    pub(super) altered: u64,
}

impl Wrong {
    pub(super) fn add(&mut self, other: Self) {
        self.lost += other.lost;
        self.altered += other.altered;
    }
}

/// Compares a conversation with the writes that its writer, which has ended, had acknowledged.
pub(super) fn compare(store: &dyn Store, id: &str, acknowledged: &Acknowledged) -> Result<Wrong> {
    if let Err(Error::UnknownConversation(_)) = store.conversation(id) {
        return Ok(Wrong { lost: acknowledged.all(), altered: 0 });
    }
    let mut wrong = messages(store, id, acknowledged.messages)?;
    wrong.add(handoffs(store, id, acknowledged.handoffs)?);
    wrong.add(chain(store, id, acknowledged.handoffs)?);
    Ok(wrong)
}

fn messages(store: &dyn Store, conversation: &str, acknowledged: u64) -> Result<Wrong> {
    let found = match store.messages(conversation, 0, u64::MAX) {
        Ok(found) => found,
        Err(Error::Damaged(_)) => return Ok(Wrong { lost: 0, altered: 1 }),
        Err(error) => return Err(refused(&error)),
    };
    let lost = acknowledged.saturating_sub(found.len() as u64);
    // One more write may have been stored without being acknowledged.
    let beyond = (found.len() as u64).saturating_sub(acknowledged + 1);
    let is_other = |(number, position, body): (u64, u64, &Vec<u8>)| {
        position != number || *body != message(conversation, number).body
    };
    let found = (0..).zip(&found).map(|(number, found)| (number, found.position, &found.body));
    let altered = found.filter(|found| is_other(*found)).count() as u64;
    Ok(Wrong { lost, altered: altered + beyond })
}

fn handoffs(store: &dyn Store, conversation: &str, acknowledged: u64) -> Result<Wrong> {
    let mut wrong = Wrong::default();
    for number in 0..acknowledged {
        let expected = handoff(conversation, number);
        match store.handoff(&expected.id) {
            Ok(found) if found.pack == expected.pack && found.previous == expected.previous => {}
            Ok(_) | Err(Error::Damaged(_)) => wrong.altered += 1,
            Err(Error::UnknownHandoff(_)) => wrong.lost += 1,
            Err(error) => return Err(refused(&error)),
        }
    }
    Ok(wrong)
}

/// Checks the chain from the newest hand-off back to the first.
fn chain(store: &dyn Store, conversation: &str, acknowledged: u64) -> Result<Wrong> {
    let latest = store.latest(conversation).map_err(|error| refused(&error))?;
    let Some(latest) = latest else {
        return Ok(Wrong { lost: u64::from(acknowledged > 0), altered: 0 });
    };
    let Ok(chain) = store.chain(&latest) else { return Ok(Wrong { lost: 0, altered: 1 }) };
    let length = chain.len() as u64;
    let is_whole = length == acknowledged || length == acknowledged + 1;
    let is_as_written = (0..length).rev().zip(&chain).all(|(number, found)| {
        found.id == id(conversation, number) && found.pack == handoff(conversation, number).pack
    });
    Ok(Wrong { lost: 0, altered: u64::from(!is_whole || !is_as_written) })
}

/// Writes the next message and hand-off after the existing ones. Returns the store's error if that
/// fails.
pub(super) fn goes_on(
    store: &dyn Store,
    conversation: &str,
    holder: &str,
) -> Result<Option<Error>> {
    let there = store.conversation(conversation).map_err(|error| refused(&error))?.messages;
    let minute = std::time::Duration::from_secs(60);
    let wrote = store.lease(conversation, holder, minute).and_then(|lease| {
        // The newest message may lack its hand-off. Otherwise this commit changes nothing.
        if let Some(newest) = there.checked_sub(1) {
            store.commit(&lease, &handoff(conversation, newest))?;
        }
        store.append(&lease, &[message(conversation, there)], None)?;
        store.commit(&lease, &handoff(conversation, there))
    });
    match wrote {
        Ok(kept) if kept.pack == handoff(conversation, there).pack => Ok(None),
        Ok(_) => Err(failed("a hand-off is not as it was given")),
        Err(error) => Ok(Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lcp_continuity::store::MemoryStore;

    use super::*;

    /// Returns a store with three messages and two hand-offs.
    fn written(altered: bool) -> MemoryStore {
        let store = MemoryStore::new();
        store.begin(&conversation("c")).unwrap();
        let lease = store.lease("c", "holder", Duration::from_secs(60)).unwrap();
        for number in 0..3 {
            store.append(&lease, &[message("c", number)], None).unwrap();
            let mut handoff = handoff("c", number);
            if altered && number == 1 {
                handoff.pack.push(0);
            }
            if number < 2 {
                store.commit(&lease, &handoff).unwrap();
            }
        }
        store
    }

    fn acknowledged(messages: u64, handoffs: u64) -> Acknowledged {
        Acknowledged { messages, handoffs, ..Acknowledged::default() }
    }

    #[test]
    fn stored_acknowledged_writes_compare_as_correct() {
        let store = written(false);
        for (messages, handoffs) in [(3, 2), (2, 2), (2, 1)] {
            let wrong = compare(&store, "c", &acknowledged(messages, handoffs)).unwrap();
            assert_eq!(wrong, Wrong::default(), "{messages} {handoffs}");
        }
        assert_eq!(compare(&store, "unknown", &acknowledged(0, 0)).unwrap(), Wrong::default());
    }

    #[test]
    fn lost_and_altered_writes_are_counted() {
        let store = written(false);
        let lost = compare(&store, "c", &acknowledged(5, 4)).unwrap();
        assert_eq!(lost, Wrong { lost: 4, altered: 1 }, "2, 2 and a chain that is too short");
        let beyond = compare(&store, "c", &acknowledged(1, 2)).unwrap();
        assert_eq!(beyond, Wrong { lost: 0, altered: 1 });
        let altered = compare(&written(true), "c", &acknowledged(3, 2)).unwrap();
        assert_eq!(altered, Wrong { lost: 0, altered: 2 }, "the hand-off, and its chain");
        assert_eq!(compare(&store, "unknown", &acknowledged(1, 1)).unwrap().lost, 2);
    }

    #[test]
    fn goes_on_writes_first_message_and_handoff() {
        let store = MemoryStore::new();
        store.begin(&conversation("c")).unwrap();
        assert_eq!(goes_on(&store, "c", "holder").unwrap(), None);
        assert_eq!(compare(&store, "c", &acknowledged(1, 1)).unwrap(), Wrong::default());
    }
}
