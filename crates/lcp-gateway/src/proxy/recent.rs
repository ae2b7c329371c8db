//! The last requests. The next request of a session begins with the same bytes, so that these need not
//! be read again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;

use crate::request::{Api, Outline, Request};

/// The maximum number of requests.
const REQUESTS_MAX: usize = 16;

/// The maximum number of bytes of all requests.
const BYTES_MAX: usize = 16 << 20;

/// The bytes that are compared at once.
const BLOCK: usize = 4_096;

/// The last requests, the oldest first.
#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<Arc<Entry>>>);

/// A request.
pub(super) struct Entry {
    api: Api,
    body: Bytes,
    outline: Outline,
}

impl Recent {
    fn entries(&self) -> MutexGuard<'_, VecDeque<Arc<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a request. Returns it with the one that it continues, if that is known.
    pub(super) fn parse<'b>(
        &self,
        api: Api,
        body: &'b [u8],
    ) -> Option<(Request<'b>, Option<Arc<Entry>>)> {
        let entries: Vec<_> = self.entries().iter().cloned().collect();
        let mut longest: Option<(usize, Arc<Entry>)> = None;
        for entry in entries.into_iter().rev().filter(|entry| entry.api == api) {
            let common = common_bytes(&entry.body, body);
            // All sessions of an agent begin with the same tools, so the others need not be compared.
            let is_continued = common >= entry.body.len() / 8 * 7;
            if longest.as_ref().is_none_or(|(longest, _)| common > *longest) {
                longest = Some((common, entry));
            }
            if is_continued {
                break;
            }
        }
        let Some((common, entry)) = longest else {
            return Some((Request::parse(api, body)?, None));
        };
        let request = Request::parse_after(api, body, &entry.outline, common)?;
        // Requests of a session differ in their last messages, because cache marks move.
        let messages = &entry.outline.messages;
        let end = messages.get(messages.len().saturating_sub(3)).map_or(0, |it| it.place.end);
        Some((request, Some(entry).filter(|_| common >= end)))
    }

    /// Adds a request, in place of the one that it continues.
    pub(super) fn add(
        &self,
        api: Api,
        body: Bytes,
        outline: Outline,
        predecessor: Option<Arc<Entry>>,
    ) {
        if body.len() > BYTES_MAX {
            return;
        }
        let mut entries = self.entries();
        if let Some(predecessor) = predecessor {
            entries.retain(|entry| !Arc::ptr_eq(entry, &predecessor));
        }
        entries.push_back(Arc::new(Entry { api, body, outline }));
        let is_above_limit = |entries: &VecDeque<Arc<Entry>>| {
            let bytes: usize = entries.iter().map(|entry| entry.body.len()).sum();
            entries.len() > REQUESTS_MAX || bytes > BYTES_MAX
        };
        while is_above_limit(&entries) {
            entries.pop_front();
        }
    }
}

/// Returns the number of bytes with which both begin.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks(BLOCK).zip(other.chunks(BLOCK));
    let start = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    let start = start.min(one.len()).min(other.len());
    let rest = one[start..].iter().zip(&other[start..]);
    start + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_beginnings_have_any_length() {
        let one = vec![b'a'; 3 * BLOCK + 5];
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 5] {
            assert_eq!(common_bytes(&one, &one[..length]), length);
            let mut other = one.clone();
            if let Some(byte) = other.get_mut(length) {
                *byte = b'b';
            }
            assert_eq!(common_bytes(&one, &other), length);
        }
    }

    #[test]
    fn requests_are_replaced_by_their_continuation_and_limited() {
        let recent = Recent::default();
        let count = || recent.entries().len();
        let body = |session: usize, turns: usize| {
            let turn = |at| format!("{{\"role\":\"user\",\"content\":\"{session} {at}\"}}");
            let turns: Vec<_> = (0..turns).map(turn).collect();
            Bytes::from(format!("{{\"model\":\"m\",\"messages\":[{}]}}", turns.join(",")))
        };
        let add = |body: Bytes| {
            let (request, predecessor) = recent.parse(Api::OpenAiChat, &body).unwrap();
            recent.add(Api::OpenAiChat, body.clone(), request.outline, predecessor);
        };
        for turns in 1..10 {
            add(body(0, turns));
        }
        assert!(count() < 4, "{}", count());
        for session in 0..2 * REQUESTS_MAX {
            add(body(session, 5));
        }
        assert_eq!(count(), REQUESTS_MAX);
        let large = |bytes| {
            let text = "x".repeat(bytes);
            let message = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
            Bytes::from(format!("{{\"model\":\"m\",\"messages\":[{message}]}}"))
        };
        add(large(BYTES_MAX));
        assert_eq!(count(), REQUESTS_MAX);
        add(large(BYTES_MAX - 1_000));
        assert!((1..REQUESTS_MAX).contains(&count()));
    }
}
