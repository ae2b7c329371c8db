//! A text piece by piece: many at once where it is ASCII, one by one elsewhere.

use std::ops::ControlFlow;

use super::split::Pattern;
use super::window::{self, WINDOW};

/// Pieces that are cut one by one, where a window found a character that is
/// not ASCII right away: there will be more.
const FOREIGN_PIECES: u32 = 4;

/// Calls `visit` with the start and the end of each piece in turn, until it
/// breaks. The text begins with a piece.
#[inline]
pub(super) fn each<B>(
    pattern: Pattern,
    text: &[u8],
    mut visit: impl FnMut(usize, usize) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut at = 0;
    if pattern != Pattern::Gpt2 {
        let mut one_by_one = 0;
        while let Some(window) = text[at..].first_chunk::<WINDOW>() {
            let mut starts = 0;
            if one_by_one > 0 {
                one_by_one -= 1;
            } else {
                // The first bit is the piece that begins here.
                starts = window::starts(pattern, window) & !1;
            }
            if starts == 0 {
                if !window[..2].is_ascii() {
                    one_by_one = FOREIGN_PIECES;
                }
                let end = pattern.next(text, at);
                visit(at, end)?;
                at = end;
                continue;
            }
            let base = at;
            while starts != 0 {
                let end = base + starts.trailing_zeros() as usize;
                starts &= starts - 1;
                visit(at, end)?;
                at = end;
            }
        }
    }
    while at < text.len() {
        let end = pattern.next(text, at);
        visit(at, end)?;
        at = end;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use lcp_testkit::SplitMix64;

    use super::*;

    const PARTS: &[&str] = &[
        "'s", "'S", "'ſ", "'ll", "'x", "''", "'", "don't", "\r\n", "\n", "\r", "\n\n ", " ", "  ",
        "\t", "\u{a0}", "a", "B", "Ab", "aB", "ABC", "é", "漢", "1", "12", "123456", "/", "//",
        "!", "...", "});", "_", "\0", "\u{7f}", "\u{b}", "word", "Bar", "{", "( ", "\n/", "\n  \n",
        "    ", "        ", "=====", "`", "@", "[", ":", "z", "A", "Z",
    ];

    #[track_caller]
    fn same(pattern: Pattern, text: &str) {
        let text = text.as_bytes();
        let mut expected = 0;
        let done = each(pattern, text, |start, end| {
            let shown = || String::from_utf8_lossy(text).into_owned();
            assert_eq!(start, expected, "{pattern:?} {:?}", shown());
            expected = pattern.next(text, start);
            assert_eq!(end, expected, "{pattern:?} at {start} of {:?}", shown());
            ControlFlow::<()>::Continue(())
        });
        assert!(done.is_continue());
        assert_eq!(expected, text.len());
    }

    /// Windows cut as the patterns do one by one, whatever stands where.
    #[test]
    fn windows_cut_like_the_patterns() {
        let mut random = SplitMix64::new(64);
        for i in 0..60_000 {
            // A few parts come again and again: runs, and edges of windows.
            let few = if i % 3 == 0 { 4 } else { PARTS.len() };
            let from = random.below(PARTS.len());
            let len = 20 + random.below(60);
            let parts = (0..len).map(|_| PARTS[(from + random.below(few)) % PARTS.len()]);
            let text: String = parts.collect();
            for pattern in [Pattern::O200k, Pattern::Cl100k, Pattern::Gpt2] {
                same(pattern, &text);
            }
        }
    }

    /// Every pair of ASCII bytes at every place of a window.
    #[test]
    fn every_pair_at_every_place() {
        for before in 0..128u8 {
            for after in 0..128u8 {
                let pair = [before, after, b'q', b' '];
                let text = String::from_utf8_lossy(&pair).repeat(20) + &" ".repeat(WINDOW);
                for pattern in [Pattern::O200k, Pattern::Cl100k] {
                    same(pattern, &text);
                    same(pattern, &text[1..]);
                }
            }
        }
    }
}
