//! A thread-local cache of the counts of pieces.
//!
//! The key of a piece is its bytes and not a hash, so entries cannot be confused. There is one
//! table for pieces of up to 15 bytes and one for longer pieces. A new entry replaces the entry in
//! its slot, so the tables do not grow.

use std::cell::RefCell;

use super::merge;
use super::vocabulary::{self, Vocabulary};

/// The number of slots for short pieces. A slot has 16 bytes, so the table takes 1 MiB per encoding
/// that a thread uses.
const SLOT_BITS: u32 = 16;
const SLOTS: usize = 1 << SLOT_BITS;

/// The maximum length of a short piece in bytes.
const KEY_BYTES_MAX: usize = 15;

/// The number of slots for longer pieces (long names, runs of white space, lines of dashes), of 96
/// bytes each.
pub(super) const LONG_SLOT_BITS: u32 = 12;
const LONG_SLOTS: usize = 1 << LONG_SLOT_BITS;

/// The maximum length of a cached piece in bytes.
const LONG_LEN_MAX: u8 = 94;

/// A longer piece and its count.
#[derive(Clone, Copy)]
struct LongEntry {
    /// 0 in an empty slot.
    len: u8,
    count: u8,
    bytes: [u8; LONG_LEN_MAX as usize],
}

/// The bits of an entry that are its key: fifteen bytes of text and four bits of length. The top
/// four bits are the count, which is at most the length.
const KEY: u128 = (1 << COUNT_SHIFT) - 1;
const LEN_SHIFT: u32 = 120;
const COUNT_SHIFT: u32 = 124;

/// The mask of the text bits and the length bits of a key, for each length.
static MASKS_AND_TAGS: [(u128, u128); KEY_BYTES_MAX + 1] = {
    let mut table = [(0, 0); KEY_BYTES_MAX + 1];
    let mut len = 0;
    while len < table.len() {
        table[len] = ((1 << (8 * len)) - 1, (len as u128) << LEN_SHIFT);
        len += 1;
    }
    table
};

pub(super) struct PieceCache {
    entries: Box<[u128; SLOTS]>,
    long: Box<[LongEntry]>,
}

thread_local! {
    static CACHES: RefCell<Vec<Option<PieceCache>>> = const { RefCell::new(Vec::new()) };
}

impl PieceCache {
    pub(super) fn new() -> Self {
        let entries = vec![0; SLOTS].into_boxed_slice();
        let empty = LongEntry { len: 0, count: 0, bytes: [0; LONG_LEN_MAX as usize] };
        Self {
            entries: entries.try_into().expect("made with this length"),
            long: vec![empty; LONG_SLOTS].into(),
        }
    }

    /// Calls `run` with the cache of this thread for the encoding `id`.
    pub(super) fn with_local<T>(id: usize, run: impl FnOnce(&mut Self) -> T) -> T {
        CACHES.with_borrow_mut(|caches| {
            if caches.len() <= id {
                caches.resize_with(id + 1, || None);
            }
            run(caches[id].get_or_insert_with(Self::new))
        })
    }

    /// Returns the number of tokens of the piece from `at` to `end`.
    #[inline]
    pub(super) fn count(
        &mut self,
        vocabulary: &Vocabulary,
        text: &[u8],
        at: usize,
        end: usize,
    ) -> usize {
        let len = end - at;
        let Some((mask, tag)) = MASKS_AND_TAGS.get(len) else {
            return self.count_long(vocabulary, &text[at..end]);
        };
        // Read 16 bytes at once if the text is long enough.
        let word = text[at..].first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; 16];
            word[..len].copy_from_slice(&text[at..end]);
            word
        });
        let key = u128::from_le_bytes(word) & mask | tag;
        let entry = &mut self.entries[slot(key)];
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
        let slot = vocabulary::hash(piece) >> (u64::BITS - LONG_SLOT_BITS);
        let entry = &mut self.long[slot as usize];
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
#[expect(clippy::cast_possible_truncation, reason = "splits a key into its halves")]
fn slot(key: u128) -> usize {
    let mixed = (key as u64) ^ ((key >> 64) as u64).rotate_left(23);
    let mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> (u64::BITS - SLOT_BITS)) as usize
}
