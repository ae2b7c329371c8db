//! Pieces of any length in linear time and constant memory.
//!
//! What the merges make of a text begins with a token, and goes on with what
//! they make of the rest. Of all tokens that a text can begin with there is
//! one that stays apart from the token behind it. So the text is read from its
//! end to its start, and the first token of each rest is found from those of
//! the rests before, of which the longest token tells how many are needed; or
//! the other way round, and the last token of each beginning is found. (That
//! one token fits follows from merges being decided by their own bytes, see
//! RFC 0009 §3; the idea is that of the crate `bpe`.)

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::vocabulary::{Token, Vocabulary};

/// Where to begin to read a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Start,
    End,
}

/// A part of a piece: what was read so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    /// Its token at the edge that moves.
    token: Token,
    /// Bytes of that token.
    len: usize,
    /// Tokens of the part.
    pub(super) count: usize,
}

/// Text that comes again after so many bytes is found out: runs of one
/// character, whose tokens are powers of two long.
const PERIOD: usize = 256;

/// Calls `visit` with each part of a piece that begins at one side, from one
/// byte to all of them.
pub(super) fn each_part<B>(
    vocabulary: &Vocabulary,
    piece: &[u8],
    from: From,
    mut visit: impl FnMut(Part) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let trie = vocabulary.trie(from);
    let longest = vocabulary.longest();
    // The byte that is read at a time.
    let byte = |time: usize| match from {
        From::Start => piece[time],
        From::End => piece[piece.len() - 1 - time],
    };
    let apart = |token: Token, before: Token| match from {
        From::Start => stay_apart(vocabulary, before, token),
        From::End => stay_apart(vocabulary, token, before),
    };
    // The parts by their length, as many as a token or a period reaches over.
    let mut parts = vec![Part::default(); longest.max(PERIOD).next_power_of_two() * 2];
    let mask = parts.len() - 1;
    let mut fitting: Vec<(Token, usize)> = Vec::with_capacity(longest);
    // For how many bytes text and tokens are those of a period ago. A token
    // depends on no more than those that a token reaches over.
    let mut repeated = 0;
    for time in 0..piece.len() {
        let size = time + 1;
        let ago = parts[size.wrapping_sub(PERIOD) & mask];
        let repeats = time >= PERIOD + longest && byte(time) == byte(time - PERIOD);
        let part = if repeats && repeated >= longest {
            Part { count: parts[(size - ago.len) & mask].count + 1, ..ago }
        } else {
            fitting.clear();
            fitting.extend(trie.prefixes((0..size).rev().map(byte)));
            // A long token is the likelier one.
            let part = fitting.iter().rev().find_map(|(token, len)| {
                if *len == size {
                    return Some(Part { token: *token, len: *len, count: 1 });
                }
                let before = parts[(size - len) & mask];
                apart(*token, before.token).then_some(Part {
                    token: *token,
                    len: *len,
                    count: before.count + 1,
                })
            });
            part.expect("some token fits every text: each byte is one")
        };
        repeated = if repeats && part.token == ago.token { repeated + 1 } else { 0 };
        parts[size & mask] = part;
        visit(part)?;
    }
    ControlFlow::Continue(())
}

/// How many tokens a piece is.
pub(super) fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let mut count = 0;
    let ControlFlow::Continue(()) = each_part(vocabulary, piece, From::End, |part| {
        count = part.count;
        ControlFlow::<Infallible>::Continue(())
    });
    count
}

/// How many tokens a piece is, if that is `limit` at most; it is not read much
/// further than that.
pub(super) fn count_up_to(vocabulary: &Vocabulary, piece: &[u8], limit: usize) -> Option<usize> {
    let (mut count, mut beyond) = (0, 0);
    let read = each_part(vocabulary, piece, From::Start, |part| {
        count = part.count;
        // Every longer part has one of the last ones in it, and a token more.
        beyond = if count > limit { beyond + 1 } else { 0 };
        if beyond > vocabulary.longest() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    (read.is_continue() && count <= limit).then_some(count)
}

/// The bytes of each token of a piece.
pub(super) fn lengths(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<u8> {
    // The first token of each rest, the shortest rest first.
    let mut firsts: Vec<u8> = Vec::with_capacity(piece.len());
    let ControlFlow::Continue(()) = each_part(vocabulary, piece, From::End, |part| {
        firsts.push(short(part.len));
        ControlFlow::<Infallible>::Continue(())
    });
    firsts.reverse();
    let mut at = 0;
    let next = || {
        let len = *firsts.get(at)?;
        at += usize::from(len);
        Some(len)
    };
    std::iter::from_fn(next).collect()
}

/// The bytes of a token in a byte.
pub(super) fn short(len: usize) -> u8 {
    u8::try_from(len).expect("no token has more than 255 bytes")
}

/// The lengths of the longest parts of a piece that count `most` tokens at
/// most, the longest first: up to [`FOUND`] of them.
pub(super) fn longest_parts(
    vocabulary: &Vocabulary,
    piece: &[u8],
    from: From,
    most: usize,
) -> Vec<usize> {
    let mut found = std::collections::VecDeque::with_capacity(FOUND + 1);
    let mut size = 0;
    // A part ends with a token, before which there is a part that fits, too.
    let too_far = |last: usize, size: usize| size - last > vocabulary.longest();
    let _stopped = each_part(vocabulary, piece, from, |part| {
        size += 1;
        if part.count <= most {
            found.push_front(size);
            found.truncate(FOUND);
        }
        if too_far(found.front().copied().unwrap_or(0), size) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found.into()
}

/// How many parts [`longest_parts`] returns at most: some may end within a
/// character, or be of no use otherwise.
const FOUND: usize = 64;

/// Whether two tokens side by side stay what they are when their bytes are
/// merged from the start: no merge across the edge comes before one of theirs.
///
/// Goes back in time: undoes the later of the two last merges, and looks
/// whether what then meets at the edge would have merged before it.
fn stay_apart(vocabulary: &Vocabulary, mut left: Token, mut right: Token) -> bool {
    // Merges across the edge of a lower rank than this come first.
    let mut limit = Token::MAX;
    loop {
        if vocabulary.merged(left, right) < limit {
            return false;
        }
        match (vocabulary.parts(left), vocabulary.parts(right)) {
            (None, None) => return true,
            (Some((_, part)), None) => (limit, left) = (left, part),
            (Some((_, part)), Some(_)) if left > right => (limit, left) = (left, part),
            // Of equal ranks the left one merges first, so the right one is
            // undone first, and an equal rank at the edge would come before it.
            (_, Some((part, _))) => (limit, right) = (right + 1, part),
        }
    }
}

#[cfg(test)]
mod tests {
    use lcp_testkit::SplitMix64;

    use super::*;
    use crate::bpe::merge;

    fn vocabulary() -> Vocabulary {
        Vocabulary::unpack(include_bytes!("../../data/cl100k_base.bpe"))
    }

    /// Both ways make the same tokens of the same bytes.
    #[test]
    fn the_same_tokens_as_merging() {
        let vocabulary = vocabulary();
        let mut random = SplitMix64::new(512);
        for alphabet in [&b"a"[..], b"ab", b" ", b" \n", b"=-", b"etaoin", b"\xE6\xBC\xA2\x97"] {
            for len in (2..40).chain([63, 64, 65, 200, 511, 512]) {
                let piece: Vec<u8> = (0..len).map(|_| random.pick(alphabet)).collect();
                let expected = merge::lengths(&vocabulary, &piece);
                let found = lengths(&vocabulary, &piece);
                assert_eq!(found, expected, "{piece:?}");
                assert_eq!(count(&vocabulary, &piece), expected.len(), "{piece:?}");
                let mut from_start = 0;
                let all = each_part(&vocabulary, &piece, From::Start, |part| {
                    from_start = part.count;
                    ControlFlow::<()>::Continue(())
                });
                assert!(all.is_continue());
                assert_eq!(from_start, expected.len(), "{piece:?} from its start");
            }
        }
    }
}
