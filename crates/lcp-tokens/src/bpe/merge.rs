//! Merges a piece by definition: repeatedly merges the pair with the lowest rank, the leftmost if
//! there are several, until no pair can be merged.
//!
//! Scanning all pairs for each merge is fastest for pieces of usual length. Longer pieces go to
//! [`linear`](super::linear).

use super::linear;
use super::trie::Token;
use super::vocabulary::{NONE, TOKEN_BITS, Vocabulary};

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
    if piece.len() < 2 || vocabulary.is_token(piece) {
        return piece.len().min(1);
    }
    match piece.len() {
        len if len <= SHORT => merge::<SHORT>(vocabulary, piece).0,
        len if len <= MIDDLE => merge::<MIDDLE>(vocabulary, piece).0,
        len if len <= LONG => merge::<LONG>(vocabulary, piece).0,
        _ => linear::count(vocabulary, piece),
    }
}

/// Returns the length in bytes of each token of a piece. It is at most 255.
pub(super) fn lengths(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<u8> {
    if piece.len() < 2 || vocabulary.is_token(piece) {
        return vec![linear::to_u8(piece.len())];
    }
    if piece.len() > LONG {
        return linear::lengths(vocabulary, piece);
    }
    let (_, next) = merge::<LONG>(vocabulary, piece);
    let ends = std::iter::successors(Some(usize::from(next[0])), |end| {
        next[..piece.len()].get(*end).map(|end| usize::from(*end))
    });
    let mut at = 0;
    ends.map(|end| linear::to_u8(end - std::mem::replace(&mut at, end))).collect()
}

/// Merges a piece of 2 to `N` bytes. Returns the number of tokens, and the end of the token at each
/// position.
#[inline]
fn merge<const N: usize>(vocabulary: &Vocabulary, piece: &[u8]) -> (usize, [u16; N]) {
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
            return (count, next);
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
