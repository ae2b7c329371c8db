//! The last requests. The next request of a session begins with the same bytes, so that these need not
//! be read again.

use std::collections::VecDeque;
use std::string::FromUtf8Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::text::Text;
use crate::request::{Api, Outline};

/// The maximum number of requests.
const REQUESTS_MAX: usize = 16;

/// The maximum number of bytes of all requests, without the memory reserved for the next messages.
const BYTES_MAX: usize = 16 << 20;

/// The bytes that are compared at once.
const BLOCK: usize = 4_096;

/// The divisor of the length of a request that gives the bytes reserved for the next messages of its session.
const SPARE_DIVISOR: usize = 4;

/// The last requests, the oldest first.
#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<Arc<Entry>>>);

/// A request.
struct Entry {
    api: Api,
    body: Text,
    outline: Outline,
    /// The end of the messages that all later requests of the session have. The last ones can differ, because cache
    /// marks move.
    end: usize,
}

impl Recent {
    fn entries(&self) -> MutexGuard<'_, VecDeque<Arc<Entry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to read a request.
    pub(super) fn arriving(&self, api: Api) -> Arriving<'_> {
        let (entries, rest) = (Vec::new(), Vec::new());
        Arriving { recent: self, api, entries, common: 0, rest, length: 0 }
    }

    /// Adds a request.
    pub(super) fn add(&self, api: Api, body: Text, outline: Outline) {
        if body.len() > BYTES_MAX {
            return;
        }
        let messages = &outline.messages;
        // The first message can be that of many sessions.
        let last = messages.len().checked_sub(3).filter(|last| *last > 0);
        let end = last.map_or(usize::MAX, |last| messages[last].place.end);
        let mut entries = self.entries();
        entries.push_back(Arc::new(Entry { api, body, outline, end }));
        let is_above_limit = |entries: &VecDeque<Arc<Entry>>| {
            let bytes: usize = entries.iter().map(|entry| entry.body.len()).sum();
            entries.len() > REQUESTS_MAX || bytes > BYTES_MAX
        };
        while is_above_limit(&entries) {
            entries.pop_front();
        }
    }

    /// Removes a request. Its memory can be used again if no other request is compared with it.
    fn remove(&self, entry: Arc<Entry>) -> Result<Entry, Arc<Entry>> {
        self.entries().retain(|other| !Arc::ptr_eq(other, &entry));
        Arc::try_unwrap(entry)
    }
}

/// A request that arrives in parts. The bytes that its session sent before are not stored again.
pub(super) struct Arriving<'r> {
    recent: &'r Recent,
    api: Api,
    /// The recent requests. The first one begins with all bytes up to the first difference. Behind it, the others
    /// are dropped.
    entries: Vec<Arc<Entry>>,
    /// The number of these bytes.
    common: usize,
    /// The bytes from the first difference on. For a request that continues no session, all bytes. It is empty until
    /// there is a difference.
    rest: Vec<u8>,
    /// The number of bytes that have arrived.
    length: usize,
}

/// A request that has arrived, with the outline of the one that begins with the same `common` bytes.
pub(super) struct Arrived {
    pub(super) text: Text,
    pub(super) outline: Outline,
    pub(super) common: usize,
}

impl Arriving<'_> {
    /// Returns the number of bytes that have arrived.
    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// Adds bytes. The complete request is expected to have `expected` bytes; 0 if that is not known.
    pub(super) fn add(&mut self, part: &[u8], expected: usize) {
        let mut part = part;
        if self.length == 0 && !part.is_empty() {
            let entries = self.recent.entries();
            let entries = entries.iter().rev().filter(|entry| entry.api == self.api);
            self.entries = entries.cloned().collect();
        }
        self.length += part.len();
        if self.rest.is_empty() {
            let common = self.compare(part);
            self.common += common;
            part = &part[common..];
            if part.is_empty() {
                return;
            }
            self.entries.truncate(1);
            let left = part.len() + expected.saturating_sub(self.length);
            if self.continues_session() {
                self.rest.reserve_exact(left);
            } else {
                self.rest.reserve_exact(self.common + left + expected / SPARE_DIVISOR);
                self.store_beginning();
            }
        }
        self.rest.extend_from_slice(part);
    }

    /// Returns whether the request takes over the memory of another one. One that is too long to be recent leaves
    /// it to the next request.
    fn continues_session(&self) -> bool {
        let entry = self.entries.first();
        entry.is_some_and(|entry| self.common >= entry.end) && self.length <= BYTES_MAX
    }

    /// Stores the bytes before the first difference.
    fn store_beginning(&mut self) {
        if let Some(entry) = self.entries.first() {
            self.rest.extend_from_slice(&entry.body.as_bytes()[..self.common]);
        }
    }

    /// Returns the number of bytes of the next part that a recent request has at this place, too.
    fn compare(&mut self, part: &[u8]) -> usize {
        let Some(first) = self.entries.first() else { return 0 };
        let (known, next) = first.body.as_bytes().split_at(self.common);
        let common = common_bytes(next, part);
        if common == part.len() {
            return common;
        }
        let others = self.entries.iter().enumerate().skip(1).rev().filter_map(|(at, other)| {
            let next = other.body.as_bytes().strip_prefix(known)?;
            Some((at, common_bytes(next, part)))
        });
        match others.max_by_key(|(_, common)| *common) {
            Some((at, other_common)) if other_common > common => {
                self.entries.drain(..at);
                other_common
            }
            _ => common,
        }
    }

    /// Returns the request, or its bytes if they are not UTF-8.
    pub(super) fn finish(mut self) -> Result<Arrived, Vec<u8>> {
        if !self.continues_session() {
            // The length can have exceeded the limit after the first difference.
            if self.rest.len() < self.length {
                let new = std::mem::take(&mut self.rest);
                self.store_beginning();
                self.rest.extend(new);
            }
            let outline = self.entries.first().map(|entry| entry.outline.beginning(self.common));
            let text = String::from_utf8(self.rest).map_err(FromUtf8Error::into_bytes)?.into();
            return Ok(Arrived { text, outline: outline.unwrap_or_default(), common: self.common });
        }
        let Self { recent, mut entries, mut common, mut rest, .. } = self;
        let entry = entries.swap_remove(0);
        drop(entries);
        // The first difference can be within a character.
        while !entry.body.is_char_boundary(common) {
            common -= 1;
            rest.insert(0, entry.body.as_bytes()[common]);
        }
        let Ok(new) = simdutf8::basic::from_utf8(&rest) else {
            return Err([&entry.body.as_bytes()[..common], &rest].concat());
        };
        let (mut text, outline) = match recent.remove(entry) {
            Ok(entry) => (entry.body.into_beginning(common), entry.outline),
            Err(entry) => (entry.body[..common].to_owned(), entry.outline.beginning(common)),
        };
        if text.capacity() - common < new.len() {
            text.reserve_exact(new.len() + common / SPARE_DIVISOR);
        }
        text.push_str(new);
        Ok(Arrived { text: text.into(), outline, common })
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
    use proptest::prelude::*;

    use super::*;
    use crate::request::Request;

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

    fn body(session: &str, turns: usize) -> String {
        let turn = |at| format!("{{\"role\":\"user\",\"content\":\"{session} {at}\"}}");
        let turns: Vec<_> = (0..turns).map(turn).collect();
        format!("{{\"model\":\"m\",\"messages\":[{}]}}", turns.join(","))
    }

    /// Reads a request in parts of a length.
    fn read(recent: &Recent, body: &[u8], length: usize) -> Result<Arrived, Vec<u8>> {
        let mut arriving = recent.arriving(Api::OpenAiChat);
        for part in body.chunks(length) {
            arriving.add(part, body.len());
        }
        assert_eq!(arriving.len(), body.len());
        arriving.finish()
    }

    /// Reads a request, and adds it to the recent ones.
    fn add(recent: &Recent, body: &str, length: usize) {
        let Arrived { text, outline, common } = read(recent, body.as_bytes(), length).unwrap();
        assert_eq!(&*text, body);
        let request = Request::parse_after(Api::OpenAiChat, &text, outline, common).unwrap();
        let unknown = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
        assert_eq!(format!("{request:?}"), format!("{unknown:?}"));
        recent.add(Api::OpenAiChat, text.clone(), request.outline);
    }

    #[test]
    fn requests_are_replaced_by_their_continuation_and_limited() {
        let recent = Recent::default();
        let count = || recent.entries().len();
        for turns in 1..10 {
            add(&recent, &body("a", turns), 50);
        }
        // The first three have too few messages to be continued.
        assert_eq!(count(), 4);
        for session in 0..2 * REQUESTS_MAX {
            add(&recent, &body(&session.to_string(), 5), 1_000);
        }
        assert_eq!(count(), REQUESTS_MAX);
        let large = |bytes| body(&"x".repeat(bytes), 1);
        add(&recent, &large(BYTES_MAX), 1 << 20);
        assert_eq!(count(), REQUESTS_MAX);
        add(&recent, &large(BYTES_MAX - 1_000), 1 << 20);
        assert!((1..REQUESTS_MAX).contains(&count()));
    }

    #[test]
    fn request_that_continues_another_one_uses_its_memory() {
        let recent = Recent::default();
        add(&recent, &body("a", 20), 100);
        add(&recent, &body("a", 21), 100);
        let memory = || recent.entries().back().unwrap().body.as_ptr();
        let before = memory();
        // Another request, which begins with the same bytes, arrives at the same time.
        let mut other = recent.arriving(Api::OpenAiChat);
        other.add(&body("a", 9).as_bytes()[..200], 0);
        add(&recent, &body("a", 22), 100);
        let copied = memory();
        assert_ne!(before, copied);
        drop(other);
        add(&recent, &body("a", 23), 100);
        assert_eq!(copied, memory());
    }

    #[test]
    fn bytes_that_are_no_text_are_returned() {
        let recent = Recent::default();
        let text = body("äöü", 5);
        let mut wrong = text.clone().into_bytes();
        let place = text.rfind('ö').unwrap();
        for byte in [0xFF, b'x'] {
            wrong[place + 1] = byte;
            assert_eq!(read(&recent, &wrong, 7).err().as_ref(), Some(&wrong));
        }
        add(&recent, &text, 7);
        for byte in [0xFF, b'x'] {
            wrong[place + 1] = byte;
            assert_eq!(read(&recent, &wrong, 7).err().as_ref(), Some(&wrong));
        }
        assert_eq!(read(&recent, b"\x28\xB5\x2F\xFD", 3).err().unwrap(), b"\x28\xB5\x2F\xFD");
        assert!(read(&recent, b"", 1).unwrap().text.is_empty());
        // The first byte of both characters is the same.
        let place = text.rfind('ü').unwrap();
        let mut other = text.clone();
        other.replace_range(place.., "ö 4\"}]}");
        let Arrived { text, common, .. } = read(&recent, other.as_bytes(), 7).unwrap();
        assert_eq!((&*text, common), (&*other, place));
    }

    #[test]
    fn request_finds_its_session_behind_a_new_one_with_the_same_beginning() {
        let recent = Recent::default();
        let first = "{\"role\":\"system\",\"content\":\"rules\"}";
        let with = |rest: &str, turns| body(rest, turns).replacen('[', &format!("[{first},"), 1);
        add(&recent, &with("a", 20), 100);
        let memory = |at: usize| recent.entries()[at].body.as_ptr();
        let old = memory(0);
        add(&recent, &with("b", 1), 100);
        add(&recent, &with("a", 20), 100);
        assert_eq!(memory(1), old);
        assert_eq!(recent.entries().len(), 2);
    }

    #[test]
    fn request_that_is_still_sent_is_not_overwritten() {
        let recent = Recent::default();
        add(&recent, &body("a", 20), 100);
        let sent = recent.entries()[0].body.to_bytes();
        add(&recent, &body("a", 21), 100);
        assert_eq!(sent, body("a", 20));
    }

    #[test]
    fn request_that_is_too_long_leaves_its_predecessor() {
        let recent = Recent::default();
        let text = "x".repeat(BYTES_MAX / 8);
        add(&recent, &body(&text, 6), 1 << 20);
        let length = body(&text, 9).len();
        assert_eq!(read(&recent, body(&text, 9).as_bytes(), 1 << 20).unwrap().text.len(), length);
        assert_eq!(recent.entries().len(), 1);
    }

    proptest! {
        #[test]
        fn requests_are_read_like_their_bytes(
            sessions in prop::collection::vec(("[aä]{0,2}", 1..9_usize, 1..300_usize), 1..12),
        ) {
            let recent = Recent::default();
            for (session, turns, length) in sessions {
                add(&recent, &body(&session, turns), length);
            }
        }
    }
}
