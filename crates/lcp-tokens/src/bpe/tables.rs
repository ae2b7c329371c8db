//! The tables by which bytes and pairs of tokens merge.
//!
//! They are one sequence of bytes that is read in place. The build script, which contains this file,
//! writes the tables of the built-in vocabularies, so a program uses them without building them first.
//! The tables of other vocabularies are built when these are loaded.
//!
//! In order: the token of each byte, the merge of each two bytes, the merges of all pairs, and the length
//! in bytes of the longest token. All numbers are little-endian.

/// The number of a token, which is also its rank. The lowest rank merges first.
pub(crate) type Token = u32;

/// No token.
pub(super) const NONE: Token = Token::MAX;

/// The number of bits of a token number. The largest vocabulary has 200,000 tokens.
pub(super) const TOKEN_BITS: u32 = 18;

/// The length in bytes of a token in the packed form of a vocabulary: two numbers of three bytes.
pub(super) const ENTRY_BYTES: usize = 6;

/// The left number of a single-byte token, and of a number without an ordinary token.
pub(super) const SINGLE: u32 = 0x00FF_FFFF;

pub(super) const EMPTY: u64 = u64::MAX;

/// An odd constant with evenly distributed bits. Multiplication by it spreads the keys.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

const BYTES: usize = 1 << 8;
const BYTE_PAIRS: usize = 1 << 16;

/// The tables of a vocabulary.
pub(super) struct Tables {
    bytes: &'static [[u8; 4]; BYTES],
    /// Every piece begins with merges of two bytes.
    byte_pairs: &'static [[u8; 4]; BYTE_PAIRS],
    /// An open-addressing table. An entry holds the left, right and merged token in one number.
    pairs: &'static [[u8; 8]],
    shift: u32,
    longest: usize,
}

impl Tables {
    /// Reads tables that [`build`] returned.
    pub(super) fn new(tables: &'static [u8]) -> Option<Self> {
        let (numbers, _) = tables.as_chunks();
        let (bytes, rest) = numbers.split_first_chunk()?;
        let (byte_pairs, _) = rest.split_first_chunk()?;
        let (pairs, longest) = tables[(BYTES + BYTE_PAIRS) * size_of::<Token>()..].as_chunks();
        let longest = Token::from_le_bytes(longest.try_into().ok()?) as usize;
        Some(Self { bytes, byte_pairs, pairs, shift: shift(pairs.len()), longest })
    }

    /// Returns the length in bytes of the longest token.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the token of a byte.
    #[inline]
    pub(super) fn byte(&self, byte: u8) -> Token {
        Token::from_le_bytes(self.bytes[usize::from(byte)])
    }

    /// Returns the token that two bytes merge to.
    #[inline]
    pub(super) fn merged_bytes(&self, left: u8, right: u8) -> Token {
        Token::from_le_bytes(self.byte_pairs[usize::from(left) << 8 | usize::from(right)])
    }

    /// Returns the token that two tokens merge to, which is also the rank of the merge.
    #[inline]
    pub(super) fn merged(&self, left: Token, right: Token) -> Token {
        find(|slot| u64::from_le_bytes(self.pairs[slot]), self.pairs.len(), self.shift, left, right)
    }
}

/// Builds the tables of a vocabulary in its packed form.
pub(super) fn build(packed: &[u8]) -> Vec<u8> {
    let tokens = packed.len() / ENTRY_BYTES;
    let slots = slots(tokens);
    let shift = shift(slots);
    let mut bytes = [NONE; BYTES];
    let mut pairs = vec![EMPTY; slots];
    let mut lengths: Vec<u32> = Vec::with_capacity(tokens);
    for token in 0..Token::try_from(tokens).expect("a vocabulary has less than 2^18 tokens") {
        let length = match entry(packed, token) {
            (SINGLE, SINGLE) => 0,
            (SINGLE, byte) => {
                bytes[byte as usize] = token;
                1
            }
            (left, right) => {
                let key = key(left, right);
                let entry = key << TOKEN_BITS | u64::from(token);
                insert(&mut pairs, slot_of(key, shift), entry);
                lengths[left as usize] + lengths[right as usize]
            }
        };
        lengths.push(length);
    }
    let byte_pairs = (0..BYTE_PAIRS)
        .map(|pair| find(|slot| pairs[slot], slots, shift, bytes[pair >> 8], bytes[pair & 0xFF]));
    let longest = lengths.iter().max().copied().unwrap_or(0);
    let mut tables: Vec<u8> =
        bytes.into_iter().chain(byte_pairs).flat_map(Token::to_le_bytes).collect();
    tables.extend(pairs.iter().flat_map(|pair| pair.to_le_bytes()));
    tables.extend(longest.to_le_bytes());
    tables
}

/// Returns the packed numbers of a token.
pub(super) fn entry(packed: &[u8], token: Token) -> (u32, u32) {
    let at = token as usize * ENTRY_BYTES;
    let number = |at: usize| u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], 0]);
    (number(at), number(at + 3))
}

/// Returns the size of a hash table with this number of entries.
pub(super) const fn slots(entries: usize) -> usize {
    (entries * 5 / 4).next_power_of_two()
}

/// Returns the shift that converts a hash to one of this number of slots.
pub(super) const fn shift(slots: usize) -> u32 {
    u64::BITS - slots.trailing_zeros()
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves the bits of a slot")]
pub(super) fn slot_of(key: u64, shift: u32) -> usize {
    (key.wrapping_mul(SPREAD) >> shift) as usize
}

/// Inserts an entry into the first empty slot, starting at this one.
pub(super) fn insert(table: &mut [u64], mut slot: usize, entry: u64) {
    let mask = table.len() - 1;
    while table[slot & mask] != EMPTY {
        slot += 1;
    }
    table[slot & mask] = entry;
}

fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << TOKEN_BITS | u64::from(right)
}

/// Returns the merge of two tokens in a table of pairs.
#[inline]
fn find(
    pairs: impl Fn(usize) -> u64,
    slots: usize,
    shift: u32,
    left: Token,
    right: Token,
) -> Token {
    let key = key(left, right);
    let mut slot = slot_of(key, shift);
    loop {
        let entry = pairs(slot & (slots - 1));
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
