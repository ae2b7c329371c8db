//! Counts of pieces that came before.
//!
//! A piece of up to 15 bytes is its own key, so a wrong entry cannot be: the
//! bytes are compared, not a hash of them. The table has one place a hash and
//! forgets what was there; its size never changes. It belongs to a thread, so
//! nobody waits for it.

use std::cell::RefCell;

use super::vocabulary::Vocabulary;

/// Places of a table: 16 bytes each, so half a MiB for each encoding that a
/// thread uses.
const PLACES_BITS: u32 = 15;

/// Bytes of the longest piece that is remembered.
const KEY_BYTES_MAX: usize = 15;

/// The bits of an entry that are its key: fifteen bytes of text and four bits
/// of length. The top four are the count, which is at most the length.
const KEY: u128 = (1 << 124) - 1;

pub(super) struct Cache {
    entries: Vec<u128>,
}

thread_local! {
    static CACHES: RefCell<Vec<Option<Cache>>> = const { RefCell::new(Vec::new()) };
}

impl Cache {
    /// Calls `with` with this thread's cache of the encoding `id`.
    pub(super) fn with<T>(id: usize, with: impl FnOnce(&mut Self) -> T) -> T {
        CACHES.with_borrow_mut(|caches| {
            if caches.len() <= id {
                caches.resize_with(id + 1, || None);
            }
            with(caches[id].get_or_insert_with(|| Self { entries: vec![0; 1 << PLACES_BITS] }))
        })
    }

    /// How many tokens the piece from `at` to `end` is.
    #[inline]
    pub(super) fn count(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
        vocabulary: &Vocabulary,
    ) -> usize {
        let len = end - at;
        if len == 1 {
            return 1;
        }
        if len > KEY_BYTES_MAX {
            return vocabulary.count(&text[at..end]);
        }
        // A whole word is read at once where the text goes on so long.
        let whole = text.get(at..at + 16).and_then(|word| word.try_into().ok());
        let word = if let Some(word) = whole {
            u128::from_le_bytes(word) & ((1 << (8 * len)) - 1)
        } else {
            let mut word = [0; 16];
            word[..len].copy_from_slice(&text[at..end]);
            u128::from_le_bytes(word)
        };
        let key = word | (len as u128) << 120;
        let place = place(key);
        let entry = self.entries[place];
        if entry & KEY == key {
            return (entry >> 124) as usize;
        }
        let count = vocabulary.count(&text[at..end]);
        self.entries[place] = key | (count as u128) << 124;
        count
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
