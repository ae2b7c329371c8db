//! Byte-pair encoding of pieces of any length in linear time and constant memory.
//!
//! The encoding of a text is its first token and the encoding of the rest. Of all tokens
//! that a text can begin with, exactly one is compatible with the first token of the rest.
//! So the text is read backward, and the first token of each suffix is found from the
//! first tokens of shorter suffixes, as many as the longest token has bytes; or it is read
//! forward, and the last token of each prefix is found. (That one token fits follows from
//! merges being decided by their own bytes, see RFC 0009 §3; the idea is that of the crate
//! `bpe`.)

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::ControlFlow;

use super::tables::Token;
use super::trie::Direction;
use super::vocabulary::Vocabulary;

/// A prefix or suffix of a piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Segment {
    /// Its token at the edge that moves.
    token: Token,
    /// The length of that token in bytes.
    len: usize,
    /// The number of tokens of the segment.
    pub(super) tokens: usize,
}

/// The period in bytes of repetitive text that takes a short cut.
const PERIOD: usize = 256;

/// Calls `visit` with each prefix (forward) or suffix (backward) of a piece, the shortest first.
pub(super) fn each_segment<B>(
    vocabulary: &Vocabulary,
    piece: &[u8],
    direction: Direction,
    mut visit: impl FnMut(Segment) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let trie = vocabulary.trie(direction);
    let longest = vocabulary.longest();
    // The byte that a step reads.
    let byte = |time: usize| match direction {
        Direction::Forward => piece[time],
        Direction::Backward => piece[piece.len() - 1 - time],
    };
    let compatible = |token: Token, before: Token| match direction {
        Direction::Forward => is_compatible_pair(vocabulary, before, token),
        Direction::Backward => is_compatible_pair(vocabulary, token, before),
    };
    // The segments by length, as many as a token or a period reaches over.
    let mut segments = vec![Segment::default(); longest.max(PERIOD).next_power_of_two() * 2];
    let mask = segments.len() - 1;
    let mut fitting: Vec<(Token, usize)> = Vec::with_capacity(longest);
    // The number of bytes for which text and tokens equal those one period earlier. A token depends
    // only on the bytes within the length of the longest token.
    let mut repeated = 0;
    for time in 0..piece.len() {
        let size = time + 1;
        let ago = segments[size.wrapping_sub(PERIOD) & mask];
        let repeats = time >= PERIOD + longest && byte(time) == byte(time - PERIOD);
        let segment = if repeats && repeated >= longest {
            Segment { tokens: segments[(size - ago.len) & mask].tokens + 1, ..ago }
        } else {
            fitting.clear();
            fitting.extend(trie.prefixes((0..size).rev().map(byte)));
            // Try long tokens first, because they are more likely.
            let segment = fitting.iter().rev().find_map(|(token, len)| {
                if *len == size {
                    return Some(Segment { token: *token, len: *len, tokens: 1 });
                }
                let before = segments[(size - len) & mask];
                compatible(*token, before.token).then_some(Segment {
                    token: *token,
                    len: *len,
                    tokens: before.tokens + 1,
                })
            });
            segment.expect("some token fits every text: each byte is one")
        };
        repeated = if repeats && segment.token == ago.token { repeated + 1 } else { 0 };
        segments[size & mask] = segment;
        visit(segment)?;
    }
    ControlFlow::Continue(())
}

/// Returns the number of tokens of a piece.
pub(super) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let mut count = 0;
    let ControlFlow::Continue(()) =
        each_segment(vocabulary, piece, Direction::Backward, |segment| {
            count = segment.tokens;
            ControlFlow::<Infallible>::Continue(())
        });
    count
}

/// Returns the number of tokens of a piece if it is at most `limit`. Reads only slightly further.
pub(super) fn count_up_to(vocabulary: &Vocabulary, piece: &[u8], limit: usize) -> Option<usize> {
    let (mut count, mut beyond) = (0, 0);
    let read = each_segment(vocabulary, piece, Direction::Forward, |segment| {
        count = segment.tokens;
        // Every longer segment contains one of the last segments and at least one more token.
        beyond = if count > limit { beyond + 1 } else { 0 };
        if beyond > vocabulary.longest() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    (read.is_continue() && count <= limit).then_some(count)
}

/// Appends the tokens of a piece to `tokens`.
pub(super) fn append_tokens(vocabulary: &Vocabulary, piece: &[u8], tokens: &mut Vec<Token>) {
    // The length of the first token of each suffix, the shortest suffix first. The tokens would
    // take four times the memory.
    let mut firsts: Vec<u8> = Vec::with_capacity(piece.len());
    let ControlFlow::Continue(()) =
        each_segment(vocabulary, piece, Direction::Backward, |segment| {
            firsts.push(u8::try_from(segment.len).expect("no token has more than 255 bytes"));
            ControlFlow::<Infallible>::Continue(())
        });
    let mut rest = piece;
    while !rest.is_empty() {
        let (token, after) = rest.split_at(usize::from(firsts[rest.len() - 1]));
        tokens.push(vocabulary.find(token).expect("a segment begins with a token"));
        rest = after;
    }
}

/// Returns the lengths of the longest segments that count at most `max_tokens`, the longest first.
pub(super) fn longest_segments(
    vocabulary: &Vocabulary,
    piece: &[u8],
    direction: Direction,
    max_tokens: usize,
) -> Vec<usize> {
    let mut fitting = VecDeque::with_capacity(CANDIDATES + 1);
    let mut size = 0;
    // A segment ends with a token, and the segment before this token also fits.
    let too_far = |last: usize, size: usize| size - last > vocabulary.longest();
    let _stopped = each_segment(vocabulary, piece, direction, |segment| {
        size += 1;
        if segment.tokens <= max_tokens {
            fitting.push_front(size);
            fitting.truncate(CANDIDATES);
        }
        if too_far(fitting.front().copied().unwrap_or(0), size) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    fitting.into()
}

/// The maximum number of segments that [`longest_segments`] returns. Some may end within a
/// character.
const CANDIDATES: usize = 64;

/// Returns whether merging the bytes of two adjacent tokens results in these tokens, that is,
/// whether no merge across their boundary comes before one of their own merges.
///
/// Repeatedly undoes the later of the two last merges, and checks whether the tokens that then meet
/// at the boundary would have merged earlier.
fn is_compatible_pair(vocabulary: &Vocabulary, mut left: Token, mut right: Token) -> bool {
    // A merge across the boundary with a lower rank comes first.
    let mut limit = Token::MAX;
    loop {
        if vocabulary.merged(left, right) < limit {
            return false;
        }
        match (vocabulary.parts(left), vocabulary.parts(right)) {
            (None, None) => return true,
            (Some((_, part)), None) => (limit, left) = (left, part),
            (Some((_, part)), Some(_)) if left > right => (limit, left) = (left, part),
            // Of two merges with equal ranks, the left one comes first. So the right one is undone
            // first, and a merge at the boundary with the same rank would come before it.
            (_, Some((part, _))) => (limit, right) = (right + 1, part),
        }
    }
}
