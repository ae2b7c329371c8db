//! Counts of pieces that came before.
//!
//! A piece is its own key, so a wrong entry cannot be: the bytes are compared,
//! not a hash of them. Pieces of up to 15 bytes and longer ones have a table
//! each, with one place a hash, which forgets what was there; so their size
//! never changes. They belong to a thread, so nobody waits for them.

use std::cell::RefCell;

use super::merge;
use super::vocabulary::{self, Vocabulary};

/// Places for short pieces: 16 bytes each, so a MiB for each encoding that
/// a thread uses, which stays in the second cache of most processors.
const PLACES_BITS: u32 = 16;
const PLACES: usize = 1 << PLACES_BITS;

/// Bytes of the longest piece that is remembered.
const KEY_BYTES_MAX: usize = 15;

/// Places for longer pieces: 96 bytes each. There are few: long names, runs of
/// white space, lines of dashes.
const LONG_PLACES_BITS: u32 = 12;
const LONG_PLACES: usize = 1 << LONG_PLACES_BITS;

/// Bytes of the longest of those.
const LONG_BYTES_MAX: usize = LONG_LEN_MAX as usize;
const LONG_LEN_MAX: u8 = 94;

/// A longer piece and its count.
#[derive(Clone, Copy)]
struct Long {
    /// 0 where there is none.
    len: u8,
    count: u8,
    bytes: [u8; LONG_BYTES_MAX],
}

/// The bits of an entry that are its key: fifteen bytes of text and four bits
/// of length. The top four are the count, which is at most the length.
const KEY: u128 = (1 << COUNT_SHIFT) - 1;
const LEN_SHIFT: u32 = 120;
const COUNT_SHIFT: u32 = 124;

/// For each length the bits of a word that are text, and the length itself as
/// it stands in a key.
static LENGTHS: [(u128, u128); KEY_BYTES_MAX + 1] = {
    let mut lengths = [(0, 0); KEY_BYTES_MAX + 1];
    let mut len = 0;
    while len < lengths.len() {
        lengths[len] = ((1 << (8 * len)) - 1, (len as u128) << LEN_SHIFT);
        len += 1;
    }
    lengths
};

pub(super) struct Cache {
    entries: Box<[u128; PLACES]>,
    long: Box<[Long]>,
}

thread_local! {
    static CACHES: RefCell<Vec<Option<Cache>>> = const { RefCell::new(Vec::new()) };
}

impl Cache {
    fn new() -> Self {
        let entries = vec![0; PLACES].into_boxed_slice();
        let none = Long { len: 0, count: 0, bytes: [0; LONG_BYTES_MAX] };
        Self {
            entries: entries.try_into().expect("made with this length"),
            long: vec![none; LONG_PLACES].into(),
        }
    }

    /// Calls `with` with this thread's cache of the encoding `id`.
    pub(super) fn with<T>(id: usize, with: impl FnOnce(&mut Self) -> T) -> T {
        CACHES.with_borrow_mut(|caches| {
            if caches.len() <= id {
                caches.resize_with(id + 1, || None);
            }
            with(caches[id].get_or_insert_with(Self::new))
        })
    }

    /// How many tokens the piece from `at` to `end` is.
    #[inline]
    pub(super) fn count(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        at: usize,
        end: usize,
    ) -> usize {
        let len = end - at;
        let Some((mask, tag)) = LENGTHS.get(len) else {
            return self.count_long(vocabulary, &text[at..end]);
        };
        // A whole word is read at once where the text goes on so long.
        let word = text[at..].first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 16];
            word[..len].copy_from_slice(&text[at..end]);
            word
        });
        let key = u128::from_le_bytes(word) & mask | tag;
        let entry = &mut self.entries[place(key)];
        if *entry & KEY != key {
            let count = merge::count(vocabulary, &text[at..end]);
            *entry = key | (count as u128) << COUNT_SHIFT;
        }
        (*entry >> COUNT_SHIFT) as usize
    }

    fn count_long(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let Ok(len @ ..=LONG_LEN_MAX) = u8::try_from(piece.len()) else {
            return merge::count(vocabulary, piece);
        };
        let place = vocabulary::hash(piece) >> (u64::BITS - LONG_PLACES_BITS);
        let entry = &mut self.long[place as usize];
        if entry.len != len || entry.bytes[..piece.len()] != *piece {
            let count = merge::count(vocabulary, piece);
            entry.len = len;
            entry.count = u8::try_from(count).expect("a piece has at most a token a byte");
            entry.bytes[..piece.len()].copy_from_slice(piece);
        }
        usize::from(entry.count)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of a key are wanted")]
fn place(key: u128) -> usize {
    let mixed = (key as u64) ^ ((key >> 64) as u64).rotate_left(23);
    let mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> (u64::BITS - PLACES_BITS))
        as usize
}

#[cfg(all(test, feature = "cl100k"))]
mod tests {
    use super::*;

    /// Pieces that share a place do not share a count, also where one begins
    /// with the other.
    #[test]
    fn pieces_that_share_a_place_are_told_apart() {
        let vocabulary = Vocabulary::unpack(include_bytes!("../../data/cl100k_base.bpe"));
        let mut cache = Cache::new();
        let place = |piece: &[u8]| vocabulary::hash(piece) >> (u64::BITS - LONG_PLACES_BITS);
        let texts: Vec<String> =
            (0..40_000).map(|i| format!("longer than fifteen bytes {i}")).collect();
        let mut shared = 0;
        for long in &texts {
            let long = long.as_bytes();
            for len in 16..long.len() {
                let short = &long[..len];
                if place(short) == place(long) {
                    shared += 1;
                    for piece in [long, short, long] {
                        let expected = merge::count(&vocabulary, piece);
                        assert_eq!(cache.count(&vocabulary, piece, 0, piece.len()), expected);
                    }
                }
            }
        }
        assert!(shared > 10, "{shared} pairs share a place");
    }
}
