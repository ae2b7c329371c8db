//! Merges a piece by definition: repeatedly merges the pair with the lowest rank, the leftmost if
//! there are several, until no pair can be merged.
//!
//! Scanning all pairs for each merge is fastest for pieces of usual length. Longer pieces go to
//! [`linear`](super::linear).

use super::linear;
use super::tables::{NONE, TOKEN_BITS, Token};
use super::vocabulary::Vocabulary;

/// The maximum lengths of most pieces, in bytes. Smaller arrays take less time.
const SHORT: usize = 16;
const MIDDLE: usize = 64;

/// The maximum length in bytes of a piece that is merged here.
pub(super) const LONG: usize = 512;

/// The number of bits of the position in a key, below the rank. The lowest key is the leftmost
/// merge of the lowest rank.
const POSITION_BITS: u32 = LONG.trailing_zeros();

/// The key of a position without a merge.
const NEVER: i32 = i32::MAX;
const _: () = assert!(TOKEN_BITS + POSITION_BITS < i32::BITS - 1, "a key is not negative");

/// Returns the number of tokens of a piece.
pub(super) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    if piece.len() < 2 || vocabulary.find_indexed(piece).is_some() {
        return piece.len().min(1);
    }
    match piece.len() {
        len if len <= SHORT => merge::<SHORT>(vocabulary, piece).count,
        len if len <= MIDDLE => merge::<MIDDLE>(vocabulary, piece).count,
        len if len <= LONG => merge::<LONG>(vocabulary, piece).count,
        _ => linear::count(vocabulary, piece),
    }
}

/// Appends the tokens of a piece to `tokens`.
pub(super) fn append_tokens(vocabulary: &Vocabulary, piece: &[u8], tokens: &mut Vec<Token>) {
    if let Some(token) = vocabulary.find_indexed(piece) {
        return tokens.push(token);
    }
    match piece.len() {
        len if len <= SHORT => append_merged::<SHORT>(vocabulary, piece, tokens),
        len if len <= MIDDLE => append_merged::<MIDDLE>(vocabulary, piece, tokens),
        len if len <= LONG => append_merged::<LONG>(vocabulary, piece, tokens),
        _ => linear::append_tokens(vocabulary, piece, tokens),
    }
}

fn append_merged<const N: usize>(vocabulary: &Vocabulary, piece: &[u8], tokens: &mut Vec<Token>) {
    let merged = merge::<N>(vocabulary, piece);
    let mut at = 0;
    while at < piece.len() {
        tokens.push(merged.tokens[at]);
        at = usize::from(merged.ends[at]);
    }
}

/// A merged piece.
struct Merged<const N: usize> {
    /// The number of tokens.
    count: usize,
    /// The token that begins at each position, where one does.
    tokens: [Token; N],
    /// The end of that token.
    ends: [u16; N],
}

/// Merges a piece of 2 to `N` bytes.
#[inline]
fn merge<const N: usize>(vocabulary: &Vocabulary, piece: &[u8]) -> Merged<N> {
    const { assert!(N <= LONG && N.is_multiple_of(8)) }
    let len = piece.len();
    let mut tokens: [Token; N] = [NONE; N];
    // The ranks and positions of the merges of each token with the next one.
    let mut keys = [NEVER; N];
    let mut next = [0u16; N];
    let mut previous = [0u16; N];
    for (i, byte) in (0u16..).zip(piece) {
        let at = usize::from(i);
        tokens[at] = vocabulary.byte(*byte);
        next[at] = i + 1;
        previous[at] = i.wrapping_sub(1);
    }
    for (at, pair) in piece.windows(2).enumerate() {
        keys[at] = merge_key(vocabulary.merged_bytes(pair[0], pair[1]), at);
    }
    let mut count = len;
    loop {
        let lowest = lowest(&keys[..len.next_multiple_of(8)]);
        if lowest == NEVER {
            return Merged { count, tokens, ends: next };
        }
        #[expect(clippy::cast_sign_loss, reason = "keys are not negative")]
        let (merged, at) =
            ((lowest >> POSITION_BITS) as Token, (lowest & ((1 << POSITION_BITS) - 1)) as usize);
        let gone = usize::from(next[at]);
        let after = usize::from(next[gone]);
        tokens[at] = merged;
        next[at] = next[gone];
        keys[gone] = NEVER;
        count -= 1;
        keys[at] = NEVER;
        if after < len {
            previous[after] = previous[gone];
            keys[at] = merge_key(vocabulary.merged(merged, tokens[after]), at);
        }
        if at > 0 {
            let before = usize::from(previous[at]);
            keys[before] = merge_key(vocabulary.merged(tokens[before], merged), before);
        }
    }
}

/// Returns the lowest key; compares eight at a time.
#[inline]
fn lowest(keys: &[i32]) -> i32 {
    let mut lowest = [NEVER; 8];
    for eight in keys.as_chunks::<8>().0 {
        for (lowest, key) in lowest.iter_mut().zip(eight) {
            *lowest = (*lowest).min(*key);
        }
    }
    lowest.into_iter().fold(NEVER, i32::min)
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a token and a position have 27 bits together"
)]
fn merge_key(rank: Token, position: usize) -> i32 {
    if rank == NONE { NEVER } else { (rank << POSITION_BITS) as i32 | position as i32 }
}
