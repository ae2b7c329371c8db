//! The vocabulary of an encoding: the pairs of tokens that merge, and the bytes of each token.
//!
//! Every token of more than one byte is the merge of exactly one pair of other tokens, the last
//! merge of its own bytes. Therefore the pairs define the vocabulary, and merging looks up pairs
//! instead of strings.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::tables::{self, ENTRY_BYTES, SINGLE, SPREAD, Tables, Token, insert, shift, slot_of};
use super::trie::{Direction, Trie};

/// The number of pieces that are merged before the bytes of all tokens are indexed. Merging that many
/// takes as long as building the index.
const PIECES_BEFORE_INDEX: u32 = 1 << 14;

/// A vocabulary that is built in, or was loaded.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    /// Each token in six bytes: the numbers of its two parts, or 0xFFFFFF and its byte, or 0xFFFFFF
    /// twice for a number without an ordinary token.
    pub(crate) packed: &'static [u8],
    /// The [tables].
    pub(crate) tables: &'static [u8],
}

impl Data {
    /// Builds the tables of a vocabulary in its packed form. They are never freed.
    pub(crate) fn new(packed: &'static [u8]) -> Self {
        Self { packed, tables: tables::build(packed).leak() }
    }
}

pub(super) struct Vocabulary {
    packed: &'static [u8],
    tables: Tables,
    index: OnceLock<Index>,
    /// The number of pieces that were looked up without an index.
    pieces: AtomicU32,
    trie: OnceLock<Trie>,
    reversed: OnceLock<Trie>,
}

impl Vocabulary {
    pub(super) fn new(data: Data) -> Self {
        Self {
            packed: data.packed,
            tables: Tables::new(data.tables).expect("built from the packed form"),
            index: OnceLock::new(),
            pieces: AtomicU32::new(0),
            trie: OnceLock::new(),
            reversed: OnceLock::new(),
        }
    }

    /// Returns the packed form, which identifies the vocabulary.
    pub(super) const fn packed(&self) -> &'static [u8] {
        self.packed
    }

    /// Returns the number of tokens, including special ones.
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^18 at most")]
    pub(super) const fn len(&self) -> Token {
        (self.packed.len() / ENTRY_BYTES) as Token
    }

    /// Returns the length in bytes of the longest token.
    pub(super) const fn longest(&self) -> usize {
        self.tables.longest()
    }

    /// Returns the two tokens that merge to this one, unless it is a single byte.
    pub(super) fn parts(&self, token: Token) -> Option<(Token, Token)> {
        let (left, right) = tables::entry(self.packed, token);
        (left != SINGLE).then_some((left, right))
    }

    /// Returns the token of a byte.
    #[inline]
    pub(super) fn byte(&self, byte: u8) -> Token {
        self.tables.byte(byte)
    }

    /// Returns the token that two bytes merge to.
    #[inline]
    pub(super) fn merged_bytes(&self, left: u8, right: u8) -> Token {
        self.tables.merged_bytes(left, right)
    }

    /// Returns the token that two tokens merge to, which is also the rank of the merge.
    #[inline]
    pub(super) fn merged(&self, left: Token, right: Token) -> Token {
        self.tables.merged(left, right)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self.packed))
    }

    /// Returns the bytes of a token; empty for a number without an ordinary token.
    pub(super) fn spelling(&self, token: Token) -> &[u8] {
        self.index().spelling(token)
    }

    /// Returns the token with these bytes.
    pub(super) fn find(&self, piece: &[u8]) -> Option<Token> {
        (piece.len() <= self.longest()).then(|| self.index().find(piece)).flatten()
    }

    /// Returns the token with these bytes, unless the index does not exist yet. The bytes of a token
    /// merge to it, so looking them up only saves the time to merge them. Few pieces do not pay for the
    /// index.
    #[inline]
    pub(super) fn find_indexed(&self, piece: &[u8]) -> Option<Token> {
        let is_worth = || self.pieces.fetch_add(1, Ordering::Relaxed) >= PIECES_BEFORE_INDEX;
        if self.index.get().is_some() || is_worth() { self.find(piece) } else { None }
    }

    /// Returns the trie of all tokens for segments that grow in this direction.
    pub(super) fn trie(&self, direction: Direction) -> &Trie {
        let bytes = self.index().text.len();
        let tokens = (0..self.len()).map(|token| (token, self.spelling(token).iter().copied()));
        match direction {
            Direction::Backward => self.trie.get_or_init(|| Trie::new(tokens, bytes)),
            Direction::Forward => self.reversed.get_or_init(|| {
                let reversed = tokens.map(|(token, bytes)| (token, bytes.rev()));
                Trie::new(reversed, bytes)
            }),
        }
    }
}

/// The bytes of all tokens, and the tokens by their bytes.
struct Index {
    /// The bytes of all tokens in the order of their numbers.
    text: Vec<u8>,
    /// The end of the bytes of each token.
    ends: Vec<u32>,
    /// An open-addressing table. An entry holds half of the hash of the bytes of a token, and its
    /// number.
    entries: Vec<u64>,
    shift: u32,
}

impl Index {
    fn new(packed: &[u8]) -> Self {
        let tokens = packed.len() / ENTRY_BYTES;
        let slots = tables::slots(tokens);
        let mut this = Self {
            text: Vec::with_capacity(tokens * 7),
            ends: Vec::with_capacity(tokens),
            entries: vec![tables::EMPTY; slots],
            shift: shift(slots),
        };
        for token in (0..).take(tokens) {
            let start = this.text.len();
            this.append(tables::entry(packed, token));
            let end = this.text.len();
            this.ends.push(u32::try_from(end).expect("a vocabulary has a few MB of text"));
            if end > start {
                let hash = hash(&this.text[start..]);
                let entry = hash >> 32 << 32 | u64::from(token);
                insert(&mut this.entries, slot_of(hash, this.shift), entry);
            }
        }
        this
    }

    /// Appends the bytes of a token. Its parts have lower numbers, so their bytes are already
    /// present.
    fn append(&mut self, entry: (u32, u32)) {
        match entry {
            (SINGLE, SINGLE) => {}
            (SINGLE, byte) => self.text.push(u8::try_from(byte).expect("packed as a byte")),
            (left, right) => {
                self.text.extend_from_within(self.span(left));
                self.text.extend_from_within(self.span(right));
            }
        }
    }

    fn span(&self, token: Token) -> std::ops::Range<usize> {
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[token] as usize
    }

    fn spelling(&self, token: Token) -> &[u8] {
        &self.text[self.span(token)]
    }

    fn find(&self, piece: &[u8]) -> Option<Token> {
        let hash = hash(piece);
        let mask = self.entries.len() - 1;
        let mut slot = slot_of(hash, self.shift);
        loop {
            let entry = self.entries[slot & mask];
            if entry == tables::EMPTY {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "the low half is the number")]
            let token = entry as Token;
            if entry >> 32 == hash >> 32 && self.spelling(token) == piece {
                return Some(token);
            }
            slot += 1;
        }
    }
}

/// Returns a hash of the bytes of a piece.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    let (words, rest) = bytes.as_chunks();
    let hash =
        words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    let hash = mix(hash, u64::from_le_bytes(word));
    hash ^ hash >> 32
}
