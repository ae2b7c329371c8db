//! Truncates a text to a number of tokens.
//!
//! A cut within a piece changes the counts: two parts of a word can have more tokens than the word,
//! and white space at the end of a text is one piece. But patterns never look back. So a cut at the
//! end of a text changes only its own piece and, if that begins with white space, the one before. A
//! cut at the start changes the pieces up to the next boundary that both texts have in common.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::Bpe;
use super::linear;
use super::trie::Direction;
use crate::truncate::{ceil_char_boundary, floor_char_boundary};

/// The maximum length in bytes of a piece in which every cut is tried. In a longer piece only cuts
/// between its tokens are tried, as if the remaining part were one piece.
const EXHAUSTIVE_BYTES: usize = 256;

/// The number of pieces after the first fitting one whose starts are recorded, to find a boundary
/// that they have in common with the pieces of a shorter suffix. Usually the first or second piece
/// is one. Otherwise the rest is counted again.
const SYNC_PIECES: usize = 64;

#[derive(Clone, Copy, Default)]
struct Piece {
    start: usize,
    end: usize,
    /// The number of tokens before the piece.
    tokens_before: usize,
}

impl Bpe {
    /// Returns the end of the longest prefix of `text` with at most `max_tokens` tokens.
    pub(crate) fn longest_prefix(&self, text: &str, max_tokens: usize) -> usize {
        // A longer prefix always has more tokens.
        let reach = max_tokens.saturating_mul(self.longest_token());
        let text = &text[..floor_char_boundary(text, reach)];
        // The last pieces, from one whose end certainly fits to the first that begins too late. The
        // cut is in one of them.
        let mut last = [Piece::default(); 8];
        let (mut pieces, mut at, mut tokens) = (0usize, 0, 0);
        let late = self.for_each_piece(text, |end, count| {
            let previous = last[pieces.wrapping_sub(1) % last.len()];
            last[pieces % last.len()] = Piece { start: at, end, tokens_before: tokens };
            (at, tokens, pieces) = (end, tokens + count, pieces + 1);
            if pieces > 1 && previous.tokens_before >= max_tokens {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if late.is_continue() && tokens <= max_tokens {
            return text.len();
        }
        for i in (pieces.saturating_sub(last.len() - 1)..pieces).rev() {
            let piece = last[i % last.len()];
            let from = last[i.saturating_sub(1) % last.len()];
            let fits = |end: &usize| {
                from.tokens_before + self.count(&text[from.start..*end]) <= max_tokens
            };
            let left = max_tokens.saturating_sub(piece.tokens_before);
            if let Some(end) = self.cuts(text, piece, Direction::Forward, left).find(fits) {
                return end;
            }
        }
        0
    }

    /// Returns the start of the longest suffix of `text` with at most `max_tokens` tokens.
    pub(crate) fn longest_suffix(&self, text: &str, max_tokens: usize) -> usize {
        let reach = max_tokens.saturating_mul(self.longest_token());
        let least = ceil_char_boundary(text, text.len().saturating_sub(reach));
        // A token has about four bytes, so begin with a suffix that is probably long enough.
        let mut bytes = max_tokens.saturating_mul(8).saturating_add(EXHAUSTIVE_BYTES);
        loop {
            let from = floor_char_boundary(text, text.len().saturating_sub(bytes)).max(least);
            let start = self.longest_suffix_of(&text[from..], from == least, max_tokens);
            if let Some(start) = start {
                return from + start;
            }
            bytes = bytes.saturating_mul(2);
        }
    }

    /// Returns the start for the tail of a text. Returns `None` if the suffix may begin before the
    /// tail, which is impossible if `is_all`.
    fn longest_suffix_of(&self, tail: &str, is_all: bool, max_tokens: usize) -> Option<usize> {
        let tokens = self.count(tail);
        // The pieces around the first one from which the rest fits. A second pass finds them
        // without storing the others.
        let mut pieces = VecDeque::new();
        let (mut at, mut tokens_before, mut seen, mut fitting) = (0, 0, 0, 0);
        let _stopped = self.for_each_piece(tail, |end, count| {
            let too_much = tokens - tokens_before > max_tokens;
            pieces.push_back(Piece { start: at, end, tokens_before });
            (at, tokens_before, seen) = (end, tokens_before + count, seen + 1);
            if too_much {
                // The cut is in one of the two pieces before. The pieces after an earlier cut
                // coincide with these pieces before the end, and count more.
                fitting = seen;
                if pieces.len() > 2 {
                    pieces.pop_front();
                }
            }
            if seen > fitting + SYNC_PIECES {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if fitting < 3 && !is_all {
            return None;
        }
        let pieces = Vec::from(pieces);
        let fitting = fitting.min(2);
        let known = |start: usize| {
            let place = pieces.binary_search_by_key(&start, |piece| piece.start);
            place.map(|i| tokens - pieces[i].tokens_before)
        };
        let fits = |start: &usize| {
            let mut count = 0;
            let synced = self.for_each_piece(&tail[*start..], |end, more| {
                count += more;
                match known(start + end) {
                    _ if count > max_tokens => ControlFlow::Break(false),
                    Ok(rest) => ControlFlow::Break(count + rest <= max_tokens),
                    Err(_) => ControlFlow::Continue(()),
                }
            });
            // Without a common boundary, the whole suffix has been counted.
            synced.break_value().unwrap_or(count <= max_tokens)
        };
        for piece in &pieces[..fitting] {
            let rest = known(piece.end).unwrap_or(0);
            let left = max_tokens.saturating_sub(rest);
            let start = self.cuts(tail, *piece, Direction::Backward, left).find(fits);
            if start.is_some() {
                return start;
            }
        }
        Some(pieces.get(fitting).map_or(tail.len(), |piece| piece.start))
    }

    /// Returns the cuts of a piece whose start (forward) or end (backward) has at most `max_tokens`
    /// tokens, longest first and including the complete piece. For short pieces it returns every
    /// cut.
    fn cuts<'t>(
        &self,
        text: &'t str,
        piece: Piece,
        direction: Direction,
        max_tokens: usize,
    ) -> impl Iterator<Item = usize> + use<'t> {
        let len = piece.end - piece.start;
        let sizes = if len <= EXHAUSTIVE_BYTES {
            (1..=len).rev().collect()
        } else {
            let bytes = &text.as_bytes()[piece.start..piece.end];
            linear::longest_segments(&self.vocabulary, bytes, direction, max_tokens)
        };
        let cut = move |size| match direction {
            Direction::Forward => piece.start + size,
            Direction::Backward => piece.end - size,
        };
        sizes.into_iter().map(cut).filter(|at| text.is_char_boundary(*at))
    }
}
