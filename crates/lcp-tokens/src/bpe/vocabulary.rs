//! The vocabulary of an encoding: the pairs of tokens that merge, and the bytes of each token.
//!
//! Every token of more than one byte is the merge of exactly one pair of other tokens, the last
//! merge of its own bytes. Therefore the pairs define the vocabulary, and merging looks up pairs
//! instead of strings.

use std::sync::OnceLock;

use super::trie::{Direction, Token, Trie};

/// No token.
pub(super) const NONE: Token = Token::MAX;

/// The length in bytes of a token in the packed form: two numbers of three bytes.
const ENTRY_BYTES: usize = 6;

/// The left number of a single-byte token, and of a number without an ordinary token.
const SINGLE: u32 = 0x00FF_FFFF;

/// The number of bits of a token number. The largest vocabulary has 200,000 tokens.
pub(super) const TOKEN_BITS: u32 = 18;

pub(super) struct Vocabulary {
    packed: &'static [u8],
    /// The token of each byte.
    bytes: [Token; 256],
    /// The merges of two bytes. Every piece begins with such pairs.
    byte_pairs: Box<[Token]>,
    /// An open-addressing table. An entry holds the left, right and merged token in one number.
    pairs: Vec<u64>,
    /// The bytes of all tokens in the order of their numbers.
    text: Vec<u8>,
    /// The end of the bytes of each token.
    ends: Vec<u32>,
    /// An open-addressing table. An entry holds half of the hash of the bytes of a token, and its
    /// number.
    index: Vec<u64>,
    /// The shift that converts a hash to a slot. Both tables have the same size.
    shift: u32,
    longest: usize,
    trie: OnceLock<Trie>,
    reversed: OnceLock<Trie>,
}

const EMPTY: u64 = u64::MAX;

/// An odd constant with evenly distributed bits. Multiplication by it spreads the keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << TOKEN_BITS | u64::from(right)
}

impl Vocabulary {
    /// Loads a table that `cargo xtask gen-vocab` generated. Each token has six bytes: the numbers
    /// of its two parts, or 0xFFFFFF and its byte, or 0xFFFFFF twice for a number without an
    /// ordinary token.
    pub(super) fn unpack(packed: &'static [u8]) -> Self {
        let slots = (packed.len() / ENTRY_BYTES * 5 / 4).next_power_of_two();
        // The pairs are half of the work and do not need the bytes of the tokens. So another thread
        // builds their table, if the platform has threads.
        std::thread::scope(|scope| {
            let build = || pair_table(packed, slots);
            let thread = std::thread::Builder::new().spawn_scoped(scope, build);
            let mut this = Self::without_pairs(packed, slots);
            let pairs = thread.ok().and_then(|thread| thread.join().ok());
            this.pairs = pairs.unwrap_or_else(build);
            for (pair, merged) in this.byte_pairs.iter_mut().enumerate() {
                let tokens = (this.bytes[pair >> 8], this.bytes[pair & 0xFF]);
                *merged = find_pair(&this.pairs, this.shift, tokens.0, tokens.1);
            }
            this
        })
    }

    fn without_pairs(packed: &'static [u8], slots: usize) -> Self {
        let tokens = packed.len() / ENTRY_BYTES;
        let mut this = Self {
            packed,
            bytes: [NONE; 256],
            byte_pairs: vec![NONE; 1 << 16].into(),
            pairs: Vec::new(),
            text: Vec::with_capacity(tokens * 7),
            ends: Vec::with_capacity(tokens),
            index: vec![EMPTY; slots],
            shift: shift(slots),
            longest: 0,
            trie: OnceLock::new(),
            reversed: OnceLock::new(),
        };
        for token in 0..this.len() {
            let start = this.text.len();
            this.spell(token);
            let end = this.text.len();
            this.longest = this.longest.max(end - start);
            this.ends.push(u32::try_from(end).expect("a vocabulary has a few MB of text"));
            if let ([byte], (SINGLE, _)) = (&this.text[start..], entry(packed, token)) {
                this.bytes[usize::from(*byte)] = token;
            }
            if end > start {
                this.insert_token(token);
            }
        }
        this
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
        self.longest
    }

    /// Returns the two tokens that merge to this one, unless it is a single byte.
    pub(super) fn parts(&self, token: Token) -> Option<(Token, Token)> {
        parts(self.packed, token)
    }

    /// Appends the bytes of a token. Its parts have lower numbers, so their bytes are already
    /// present.
    fn spell(&mut self, token: Token) {
        match entry(self.packed, token) {
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

    /// Returns the bytes of a token; empty for a number without an ordinary token.
    pub(super) fn spelling(&self, token: Token) -> &[u8] {
        &self.text[self.span(token)]
    }

    fn insert_token(&mut self, token: Token) {
        let hash = hash(self.spelling(token));
        let entry = hash >> 32 << 32 | u64::from(token);
        insert(&mut self.index, slot_of(hash, self.shift), entry);
    }

    /// Returns the token of a byte.
    #[inline]
    pub(super) fn byte(&self, byte: u8) -> Token {
        self.bytes[usize::from(byte)]
    }

    /// Returns the token that two bytes merge to.
    #[inline]
    pub(super) fn merged_bytes(&self, left: u8, right: u8) -> Token {
        self.byte_pairs[usize::from(left) << 8 | usize::from(right)]
    }

    /// Returns the token that two tokens merge to, which is also the rank of the merge.
    #[inline]
    pub(super) fn merged(&self, left: Token, right: Token) -> Token {
        find_pair(&self.pairs, self.shift, left, right)
    }

    /// Returns the token with these bytes. A piece that is a token counts as one, even if its bytes
    /// would merge otherwise.
    pub(super) fn find(&self, piece: &[u8]) -> Option<Token> {
        if piece.len() > self.longest {
            return None;
        }
        let hash = hash(piece);
        let mask = self.index.len() - 1;
        let mut slot = slot_of(hash, self.shift);
        loop {
            let entry = self.index[slot & mask];
            if entry == EMPTY {
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

    /// Returns the trie of all tokens for segments that grow in this direction.
    pub(super) fn trie(&self, direction: Direction) -> &Trie {
        let tokens = (0..self.len()).map(|token| (token, self.spelling(token).iter().copied()));
        match direction {
            Direction::Backward => self.trie.get_or_init(|| Trie::new(tokens, self.text.len())),
            Direction::Forward => self.reversed.get_or_init(|| {
                let reversed = tokens.map(|(token, bytes)| (token, bytes.rev()));
                Trie::new(reversed, self.text.len())
            }),
        }
    }
}

/// Returns the packed numbers of a token.
fn entry(packed: &[u8], token: Token) -> (u32, u32) {
    let at = token as usize * ENTRY_BYTES;
    let number = |at: usize| u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], 0]);
    (number(at), number(at + 3))
}

fn parts(packed: &[u8], token: Token) -> Option<(Token, Token)> {
    let (left, right) = entry(packed, token);
    (left != SINGLE).then_some((left, right))
}

/// Returns the hash table of pairs.
fn pair_table(packed: &[u8], slots: usize) -> Vec<u64> {
    let (mut pairs, shift) = (vec![EMPTY; slots], shift(slots));
    for (token, _) in (0..).zip(packed.chunks_exact(ENTRY_BYTES)) {
        let Some((left, right)) = parts(packed, token) else { continue };
        let key = key(left, right);
        insert(&mut pairs, slot_of(key, shift), key << TOKEN_BITS | u64::from(token));
    }
    pairs
}

/// Inserts an entry into the first empty slot, starting at this one.
fn insert(table: &mut [u64], mut slot: usize, entry: u64) {
    let mask = table.len() - 1;
    while table[slot & mask] != EMPTY {
        slot += 1;
    }
    table[slot & mask] = entry;
}

/// Returns the shift that converts a hash to one of this number of slots.
const fn shift(slots: usize) -> u32 {
    u64::BITS - slots.trailing_zeros()
}

#[inline]
fn find_pair(pairs: &[u64], shift: u32, left: Token, right: Token) -> Token {
    let key = key(left, right);
    let mask = pairs.len() - 1;
    let mut slot = slot_of(key, shift);
    loop {
        let entry = pairs[slot & mask];
        if entry >> TOKEN_BITS == key {
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are a token")]
            return entry as Token & ((1 << TOKEN_BITS) - 1);
        }
        if entry == EMPTY {
            return NONE;
        }
        slot += 1;
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves the bits of a slot")]
fn slot_of(key: u64, shift: u32) -> usize {
    (key.wrapping_mul(SPREAD) >> shift) as usize
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
