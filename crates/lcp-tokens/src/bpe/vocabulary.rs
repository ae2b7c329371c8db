//! The vocabulary of an encoding: the pairs that merge, and the bytes of each
//! token.
//!
//! Every token of more than one byte is made by exactly one pair of other
//! tokens: what the merges of its own bytes end with. So the pairs are the
//! vocabulary, and merging needs no strings to be looked up, only pairs.

use std::sync::OnceLock;

use super::linear::From;
use super::trie::Trie;

/// A token's number, which is also its rank: the lowest merges first.
pub(super) type Token = u32;

/// No token.
pub(super) const NONE: Token = Token::MAX;

/// Bytes of one token in the packed form: two numbers of three bytes.
const ENTRY_BYTES: usize = 6;

/// The left number of a token that is one byte, or none at all.
const SINGLE: u32 = 0x00FF_FFFF;

/// Bits of a token's number: the largest vocabulary has 200,000.
pub(super) const TOKEN_BITS: u32 = 18;

pub(super) struct Vocabulary {
    packed: &'static [u8],
    /// The tokens of single bytes.
    bytes: [Token; 256],
    /// What two bytes merge to, at hand: every piece begins with such pairs.
    pairs_of_bytes: Box<[Token]>,
    /// Open addressing: left, right and merged token in one number each.
    pairs: Vec<u64>,
    /// The bytes of all tokens in the order of their numbers.
    text: Vec<u8>,
    /// Where the bytes of a token end, and those of the next begin.
    ends: Vec<u32>,
    /// Open addressing: half of a hash of a token's bytes, and its number.
    index: Vec<u64>,
    /// The shift that turns a hash into a place; both tables have one size.
    shift: u32,
    longest: usize,
    trie: OnceLock<Trie>,
    reversed: OnceLock<Trie>,
}

const EMPTY: u64 = u64::MAX;

/// An odd constant with bits all over: multiplying by it spreads keys.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << TOKEN_BITS | u64::from(right)
}

impl Vocabulary {
    /// Unpacks what `cargo xtask vocabulary` packed: six bytes a token, the
    /// numbers of its two parts, or 0xFFFFFF and its byte, or 0xFFFFFF twice
    /// where the number has no ordinary token.
    pub(super) fn unpack(packed: &'static [u8]) -> Self {
        let places = (packed.len() / ENTRY_BYTES * 5 / 4).next_power_of_two();
        // The pairs are half of the work and need no bytes of tokens: another thread
        // makes them, where there are threads.
        std::thread::scope(|scope| {
            let made = || pairs(packed, places);
            let beside = std::thread::Builder::new().spawn_scoped(scope, made);
            let mut this = Self::spelled(packed, places);
            let beside = beside.ok().and_then(|thread| thread.join().ok());
            this.pairs = beside.unwrap_or_else(made);
            for (pair, merged) in this.pairs_of_bytes.iter_mut().enumerate() {
                let tokens = (this.bytes[pair >> 8], this.bytes[pair & 0xFF]);
                *merged = find_pair(&this.pairs, this.shift, tokens.0, tokens.1);
            }
            this
        })
    }

    /// The tokens and their bytes, without the pairs.
    fn spelled(packed: &'static [u8], places: usize) -> Self {
        let tokens = packed.len() / ENTRY_BYTES;
        let mut this = Self {
            packed,
            bytes: [NONE; 256],
            pairs_of_bytes: vec![NONE; 1 << 16].into(),
            pairs: Vec::new(),
            text: Vec::with_capacity(tokens * 7),
            ends: Vec::with_capacity(tokens),
            index: vec![EMPTY; places],
            shift: shift(places),
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

    /// The packed vocabulary, which tells it from any other.
    pub(super) const fn packed(&self) -> &'static [u8] {
        self.packed
    }

    /// How many numbers there are.
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^18 at most")]
    pub(super) const fn len(&self) -> Token {
        (self.packed.len() / ENTRY_BYTES) as Token
    }

    /// Bytes of the longest token.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    /// The two tokens that merge to this one, unless it is a single byte.
    pub(super) fn parts(&self, token: Token) -> Option<(Token, Token)> {
        parts(self.packed, token)
    }

    /// Appends the bytes of a token to the text: a byte, or those of its parts,
    /// which have lower numbers and are there.
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

    /// The bytes of a token; none where the number has no ordinary token.
    pub(super) fn spelling(&self, token: Token) -> &[u8] {
        &self.text[self.span(token)]
    }

    fn insert_token(&mut self, token: Token) {
        let hash = hash(self.spelling(token));
        let mask = self.index.len() - 1;
        let mut place = place(hash, self.shift);
        while self.index[place & mask] != EMPTY {
            place += 1;
        }
        self.index[place & mask] = hash >> 32 << 32 | u64::from(token);
    }

    /// The token of a single byte.
    #[inline]
    pub(super) fn byte(&self, byte: u8) -> Token {
        self.bytes[usize::from(byte)]
    }

    /// What two bytes merge to.
    #[inline]
    pub(super) fn merged_bytes(&self, left: u8, right: u8) -> Token {
        self.pairs_of_bytes[usize::from(left) << 8 | usize::from(right)]
    }

    /// What two tokens merge to, which is also the rank of the merge.
    #[inline]
    pub(super) fn merged(&self, left: Token, right: Token) -> Token {
        find_pair(&self.pairs, self.shift, left, right)
    }

    /// Whether a piece is a token as it stands. Then it is one token however
    /// its bytes merge.
    pub(super) fn is_token(&self, piece: &[u8]) -> bool {
        if piece.len() > self.longest {
            return false;
        }
        let hash = hash(piece);
        let mask = self.index.len() - 1;
        let mut place = place(hash, self.shift);
        loop {
            let entry = self.index[place & mask];
            if entry == EMPTY {
                return false;
            }
            #[expect(clippy::cast_possible_truncation, reason = "the low half is the number")]
            let token = entry as Token;
            if entry >> 32 == hash >> 32 && self.spelling(token) == piece {
                return true;
            }
            place += 1;
        }
    }

    /// The tokens as a trie of their bytes as they are read from the end of a
    /// text (the last one read is the first of the token), or from its start.
    /// Made at its first use.
    pub(super) fn trie(&self, from: From) -> &Trie {
        let tokens = (0..self.len()).map(|token| (token, self.spelling(token).iter().copied()));
        match from {
            From::End => self.trie.get_or_init(|| Trie::new(tokens, self.text.len())),
            From::Start => self.reversed.get_or_init(|| {
                let reversed = tokens.map(|(token, bytes)| (token, bytes.rev()));
                Trie::new(reversed, self.text.len())
            }),
        }
    }
}

/// The packed numbers of a token.
fn entry(packed: &[u8], token: Token) -> (u32, u32) {
    let at = token as usize * ENTRY_BYTES;
    let number = |at: usize| u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], 0]);
    (number(at), number(at + 3))
}

fn parts(packed: &[u8], token: Token) -> Option<(Token, Token)> {
    let (left, right) = entry(packed, token);
    (left != SINGLE).then_some((left, right))
}

/// The table of pairs.
fn pairs(packed: &[u8], places: usize) -> Vec<u64> {
    let (mut pairs, mask, shift) = (vec![EMPTY; places], places - 1, shift(places));
    for (token, _) in (0..).zip(packed.chunks_exact(ENTRY_BYTES)) {
        let Some((left, right)) = parts(packed, token) else { continue };
        let key = key(left, right);
        let mut place = place(key, shift);
        while pairs[place & mask] != EMPTY {
            place += 1;
        }
        pairs[place & mask] = key << TOKEN_BITS | u64::from(token);
    }
    pairs
}

/// The shift that turns a hash into one of so many places.
const fn shift(places: usize) -> u32 {
    u64::BITS - places.trailing_zeros()
}

#[inline]
fn find_pair(pairs: &[u64], shift: u32, left: Token, right: Token) -> Token {
    let key = key(left, right);
    let mask = pairs.len() - 1;
    let mut place = place(key, shift);
    loop {
        let entry = pairs[place & mask];
        if entry >> TOKEN_BITS == key {
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are a token")]
            return entry as Token & ((1 << TOKEN_BITS) - 1);
        }
        if entry == EMPTY {
            return NONE;
        }
        place += 1;
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves the bits of a place")]
fn place(key: u64, shift: u32) -> usize {
    (key.wrapping_mul(SPREAD) >> shift) as usize
}

/// A hash of the bytes of a piece.
#[inline]
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    let (words, rest) = bytes.as_chunks();
    let hash =
        words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    let hash = mix(hash, u64::from_le_bytes(word));
    hash ^ hash >> 32
}

#[cfg(all(test, feature = "cl100k"))]
mod tests {
    use super::*;

    /// What `split::space` relies on for cl100k.
    #[test]
    fn no_token_has_white_space_behind_its_last_newline() {
        let packed = include_bytes!("../../data/cl100k_base.bpe");
        let vocabulary = Vocabulary::unpack(packed);
        let is_newline = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let with_newline = (0..vocabulary.len())
            .map(|token| vocabulary.spelling(token))
            .filter(|bytes| bytes.iter().any(is_newline))
            .inspect(|bytes| assert!(is_newline(&bytes[bytes.len() - 1]), "{bytes:?}"))
            .count();
        assert!(with_newline > 100, "{with_newline} tokens have newlines");
    }
}
