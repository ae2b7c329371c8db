//! The vocabulary of an encoding as pairs, and what they make of a piece.
//!
//! Every token of more than one byte is made by exactly one pair of other
//! tokens: what the merges of its own bytes end with. So the pairs are the
//! vocabulary, and a piece needs no strings to be looked up, only pairs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A token's number, which is also its rank: the lowest merges first.
type Token = u32;

/// No token.
const NONE: Token = Token::MAX;

/// Bytes of one token in the packed form: two numbers of three bytes.
const ENTRY_BYTES: usize = 6;

/// The left number of a token that is one byte, or none at all.
const SINGLE: u32 = 0x00FF_FFFF;

/// Bits of a token's number: the largest vocabulary has 200,000.
const TOKEN_BITS: u32 = 18;

/// Bytes of the longest piece whose merges are found by looking at all of it
/// each time; a longer one needs a heap.
const SHORT_BYTES_MAX: usize = 128;

/// All pairs that merge, and what they merge to.
pub(crate) struct Vocabulary {
    /// The tokens of single bytes.
    bytes: [Token; 256],
    /// Open addressing: left, right and merged token in one number each.
    pairs: Vec<u64>,
    /// The shift that turns a hash into a place.
    shift: u32,
}

const EMPTY: u64 = u64::MAX;

fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << TOKEN_BITS | u64::from(right)
}

impl Vocabulary {
    /// Unpacks what `cargo xtask vocabulary` packed: six bytes a token, the
    /// numbers of its two parts, or 0xFFFFFF and its byte, or 0xFFFFFF twice
    /// where the number has no ordinary token.
    pub(crate) fn unpack(packed: &[u8]) -> Self {
        let tokens = packed.len() / ENTRY_BYTES;
        let places = (tokens * 2).next_power_of_two();
        let mut this = Self {
            bytes: [NONE; 256],
            pairs: vec![EMPTY; places],
            shift: u64::BITS - places.trailing_zeros(),
        };
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
        for (token, entry) in (0..).zip(packed.chunks_exact(ENTRY_BYTES)) {
            match (number(&entry[..3]), number(&entry[3..])) {
                (SINGLE, SINGLE) => {}
                (SINGLE, byte) => this.bytes[byte as usize & 0xFF] = token,
                (left, right) => this.insert(left, right, token),
            }
        }
        this
    }

    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the bits of a place")]
    fn place(&self, key: u64) -> usize {
        // Any odd constant with bits all over spreads the keys.
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    fn insert(&mut self, left: Token, right: Token, merged: Token) {
        let key = key(left, right);
        let mut place = self.place(key);
        while self.pairs[place] != EMPTY {
            place = (place + 1) % self.pairs.len();
        }
        self.pairs[place] = key << TOKEN_BITS | u64::from(merged);
    }

    /// What two tokens merge to, which is also the rank of the merge.
    #[inline]
    fn merged(&self, left: Token, right: Token) -> Token {
        let key = key(left, right);
        let mask = self.pairs.len() - 1;
        let mut place = self.place(key);
        loop {
            let entry = self.pairs[place & mask];
            if entry >> TOKEN_BITS == key {
                return (entry & ((1 << TOKEN_BITS) - 1)) as Token;
            }
            if entry == EMPTY {
                return NONE;
            }
            place += 1;
        }
    }

    /// How many tokens a piece is.
    pub(crate) fn count(&self, piece: &[u8]) -> usize {
        match piece.len() {
            0 | 1 => piece.len(),
            2..=SHORT_BYTES_MAX => self.count_short(piece),
            _ => self.count_long(piece),
        }
    }

    /// Merges the pair of the lowest rank, the leftmost of several, until none
    /// merges.
    fn count_short(&self, piece: &[u8]) -> usize {
        let mut tokens = [NONE; SHORT_BYTES_MAX];
        // The rank of the merge of each token with the next.
        let mut ranks = [NONE; SHORT_BYTES_MAX];
        let mut len = piece.len();
        for (token, byte) in tokens.iter_mut().zip(piece) {
            *token = self.bytes[usize::from(*byte)];
        }
        for i in 0..len - 1 {
            ranks[i] = self.merged(tokens[i], tokens[i + 1]);
        }
        while len > 1 {
            let (mut at, mut lowest) = (0, NONE);
            for (i, rank) in ranks[..len - 1].iter().enumerate() {
                if *rank < lowest {
                    (at, lowest) = (i, *rank);
                }
            }
            if lowest == NONE {
                break;
            }
            tokens[at] = lowest;
            tokens.copy_within(at + 2..len, at + 1);
            ranks.copy_within(at + 1..len, at);
            len -= 1;
            ranks[at] = if at + 1 < len { self.merged(lowest, tokens[at + 1]) } else { NONE };
            if at > 0 {
                ranks[at - 1] = self.merged(tokens[at - 1], lowest);
            }
        }
        len
    }

    /// The same with a heap and a linked list, for pieces of any length.
    fn count_long(&self, piece: &[u8]) -> usize {
        // Numbers of four bytes: a piece may be as long as a text. Beyond four
        // GiB the rest of it is counted apart.
        let (piece, rest) = piece.split_at(piece.len().min(u32::MAX as usize - 1));
        let len = piece.len();
        let mut tokens: Vec<Token> =
            piece.iter().map(|byte| self.bytes[usize::from(*byte)]).collect();
        let mut ranks = vec![NONE; len];
        let mut next: Vec<u32> = (1..).take(len).collect();
        let mut previous: Vec<u32> = (0..).take(len).map(|i: u32| i.wrapping_sub(1)).collect();
        let mut heap = BinaryHeap::new();
        let mut alive = len;
        for (i, at) in (0..len - 1).zip(0u32..) {
            ranks[i] = self.merged(tokens[i], tokens[i + 1]);
            if ranks[i] != NONE {
                heap.push(Reverse((ranks[i], at)));
            }
        }
        while let Some(Reverse((rank, here))) = heap.pop() {
            let at = here as usize;
            if ranks[at] != rank {
                // One of the two has merged otherwise since.
                continue;
            }
            let gone = next[at] as usize;
            tokens[at] = rank;
            ranks[gone] = NONE;
            ranks[at] = NONE;
            next[at] = next[gone];
            alive -= 1;
            let (before, after) = (previous[at], next[at]);
            if let Some(previous) = previous.get_mut(after as usize) {
                *previous = here;
            }
            for (left, right) in [(before, here), (here, after)] {
                let (l, r) = (left as usize, right as usize);
                if l < len && r < len {
                    ranks[l] = self.merged(tokens[l], tokens[r]);
                    if ranks[l] != NONE {
                        heap.push(Reverse((ranks[l], left)));
                    }
                }
            }
        }
        alive + if rest.is_empty() { 0 } else { self.count(rest) }
    }
}
