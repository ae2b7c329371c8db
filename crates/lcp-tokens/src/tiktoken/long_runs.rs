//! Runs of white space that `tiktoken-rs` cannot take.
//!
//! Its regex backtracks once a character over a run of white space, and panics
//! at a million. The pre-tokenizers make one piece of such a run: all of it
//! but the last character, which goes to what follows. Here that piece is
//! counted by itself, and the text before and after it as ever.

use tiktoken_rs::CoreBPE;

use super::{Encoding, whole_piece};

/// Characters of white space from which on a run is taken out.
const RUN_CHARS_MIN: usize = 400_000;

/// Whether `text` has a run that long.
pub(super) fn has_one(encoding: Encoding, text: &str) -> bool {
    text.len() >= RUN_CHARS_MIN && next(encoding, text).is_some()
}

/// The first long run, as a range of bytes. Where the encoding cuts a run at
/// its last newline, only what stands behind that counts: it begins a piece.
fn next(encoding: Encoding, text: &str) -> Option<(usize, usize)> {
    let (mut start, mut chars) = (0, 0);
    for (at, c) in text.char_indices() {
        let newline = matches!(c, '\r' | '\n') && encoding.cuts_at_newlines();
        if c.is_whitespace() && !newline {
            if chars == 0 {
                start = at;
            }
            chars += 1;
        } else {
            // A newline after the run makes it part of a piece that needs no
            // backtracking.
            if chars >= RUN_CHARS_MIN && !newline {
                return Some((start, at));
            }
            chars = 0;
        }
    }
    (chars >= RUN_CHARS_MIN).then_some((start, text.len()))
}

/// The count of a text that has long runs.
pub(super) fn count(encoding: Encoding, mut text: &str) -> usize {
    let mut tokens = 0;
    while let Some((start, end)) = next(encoding, text) {
        let run = &text[start..end];
        let last = if end == text.len() { None } else { run.chars().next_back() };
        let (piece, _) = run.split_at(run.len() - last.map_or(0, char::len_utf8));
        tokens += encoding.core().count_ordinary(&text[..start]);
        tokens += whole_piece(encoding).count_ordinary(piece);
        text = &text[start + piece.len()..];
    }
    tokens + encoding.core().count_ordinary(text)
}

/// The vocabulary of `encoding` behind a pattern that matches any text whole.
pub(super) fn piece_counter(encoding: Encoding) -> CoreBPE {
    let core = encoding.core();
    let ranks = (0..).map_while(|rank| Some((core.decode_bytes(&[rank]).ok()?, rank))).collect();
    CoreBPE::new(ranks, [].into_iter().collect(), "(?s)^.+$").expect("the pattern is a constant")
}
