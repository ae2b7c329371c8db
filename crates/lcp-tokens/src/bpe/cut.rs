//! Texts cut to a number of tokens.
//!
//! A text that is cut within a piece counts otherwise than its pieces did: a
//! word in two can be more tokens than the word, and white space at the end of
//! a text is one piece. But pieces never look back, so a cut changes no more
//! than the piece it is in and, where that begins with white space, the one
//! before; and from the end, the pieces up to the next place where the cutting
//! of both texts meets.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::Bpe;
use super::linear::{self, From};
use crate::truncate::{ceil, floor};

/// Bytes of a piece in which every cut is tried; in longer ones only those
/// that its tokens allow, as if what is left of the piece were one piece.
const TRIED: usize = 256;

/// Pieces behind the first that fits whose beginnings are kept: where the
/// cutting of a text that begins elsewhere is looked for to meet this one. It
/// mostly does with the first or second; else what is behind is counted anew.
const MEETING: usize = 64;

#[derive(Clone, Copy, Default)]
struct Piece {
    start: usize,
    end: usize,
    /// Tokens of the text before the piece.
    before: usize,
}

impl Bpe {
    /// The end of the longest start of `text` that counts `most` tokens at
    /// most.
    pub(crate) fn longest_start(&self, text: &str, most: usize) -> usize {
        // More bytes than that are more tokens.
        let reach = most.saturating_mul(self.longest_token());
        let text = &text[..floor(text, reach)];
        // The last pieces, which are all that a cut can be in: from the one
        // whose end fits for sure to the first that begins too late.
        let mut last = [Piece::default(); 8];
        let (mut pieces, mut at, mut tokens) = (0usize, 0, 0);
        let late = self.each_piece(text, |end, count| {
            let previous = last[pieces.wrapping_sub(1) % last.len()];
            last[pieces % last.len()] = Piece { start: at, end, before: tokens };
            (at, tokens, pieces) = (end, tokens + count, pieces + 1);
            if pieces > 1 && previous.before >= most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if late.is_continue() && tokens <= most {
            return text.len();
        }
        for i in (pieces.saturating_sub(last.len() - 1)..pieces).rev() {
            let piece = last[i % last.len()];
            let from = last[i.saturating_sub(1) % last.len()];
            let fits = |end: usize| from.before + self.count(&text[from.start..end]) <= most;
            let left = most.saturating_sub(piece.before);
            let found = self.cuts(text, piece, From::Start, left).find(|end| fits(*end));
            if let Some(end) = found {
                return end;
            }
        }
        0
    }

    /// The start of the longest end of `text` that counts `most` tokens at
    /// most.
    pub(crate) fn longest_end(&self, text: &str, most: usize) -> usize {
        let reach = most.saturating_mul(self.longest_token());
        let least = ceil(text, text.len().saturating_sub(reach));
        // A token has about four bytes: begin with what should be enough.
        let mut bytes = most.saturating_mul(8).saturating_add(TRIED);
        loop {
            let from = floor(text, text.len().saturating_sub(bytes)).max(least);
            if let Some(start) = self.longest_end_from(text, from, from == least, most) {
                return start;
            }
            bytes = bytes.saturating_mul(2);
        }
    }

    /// The same, of what is behind `from`; `None` if there may be more before.
    fn longest_end_from(
        &self,
        text: &str,
        from: usize,
        is_all: bool,
        most: usize,
    ) -> Option<usize> {
        let behind = &text[from..];
        let tokens = self.count(behind);
        // The pieces around the first from which all fits; a second reading
        // finds them without keeping the others.
        let mut pieces = VecDeque::new();
        let (mut at, mut before, mut seen, mut fitting) = (0, 0, 0, 0);
        let _stopped = self.each_piece(behind, |end, count| {
            let too_much = tokens - before > most;
            pieces.push_back(Piece { start: at, end, before });
            (at, before, seen) = (end, before + count, seen + 1);
            if too_much {
                // The cut is in one of the two pieces before it; a cut in one
                // that is further left meets the other cutting before, and
                // counts more.
                fitting = seen;
                if pieces.len() > 2 {
                    pieces.pop_front();
                }
            }
            if seen > fitting + MEETING {
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
            let found = pieces.binary_search_by_key(&start, |piece| piece.start);
            found.map(|i| tokens - pieces[i].before)
        };
        let fits = |start: usize| {
            let mut count = 0;
            let met = self.each_piece(&behind[start..], |end, more| {
                count += more;
                match known(start + end) {
                    _ if count > most => ControlFlow::Break(false),
                    Ok(rest) => ControlFlow::Break(count + rest <= most),
                    Err(_) => ControlFlow::Continue(()),
                }
            });
            // It met nothing that is known: all of it was counted.
            met.break_value().unwrap_or(count <= most)
        };
        for piece in &pieces[..fitting] {
            let rest = known(piece.end).unwrap_or(0);
            let left = most.saturating_sub(rest);
            let found = self.cuts(behind, *piece, From::End, left).find(|start| fits(*start));
            if let Some(start) = found {
                return Some(from + start);
            }
        }
        Some(from + pieces.get(fitting).map_or(behind.len(), |piece| piece.start))
    }

    /// Where a piece may be cut so that what is left of it, from one side, is
    /// `most` tokens at most: what leaves most of it first, and the piece whole
    /// among them. Of short pieces it is everywhere.
    fn cuts<'t>(
        &self,
        text: &'t str,
        piece: Piece,
        from: From,
        most: usize,
    ) -> impl Iterator<Item = usize> + use<'t> {
        let len = piece.end - piece.start;
        let sizes = if len <= TRIED {
            (1..=len).rev().collect()
        } else {
            let bytes = &text.as_bytes()[piece.start..piece.end];
            linear::longest_parts(&self.vocabulary, bytes, from, most)
        };
        let place = move |size| match from {
            From::Start => piece.start + size,
            From::End => piece.end - size,
        };
        sizes.into_iter().map(place).filter(|at| text.is_char_boundary(*at))
    }
}
