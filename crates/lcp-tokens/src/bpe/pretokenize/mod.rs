//! The pre-tokenizers, which split a text into pieces, if possible 64 bytes of ASCII at once.

mod scalar;
pub(super) mod simd;

use std::ops::ControlFlow;

use simd::WINDOW;

/// The number of pieces that are split one by one after a window that does not begin with ASCII.
const SCALAR_PIECES: u32 = 4;

/// The pattern by which an encoding splits text into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// The o200k family.
    O200k,
    /// `cl100k_base`.
    Cl100k,
    /// `p50k_base` and `r50k_base`.
    Gpt2,
}

impl Pattern {
    /// Returns the name of the pattern and the version of its implementation.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k/1",
            Self::Cl100k => "cl100k/1",
            Self::Gpt2 => "gpt2/1",
        }
    }

    /// Returns the end of the piece that begins at `at`, which must be less than `text.len()`.
    #[inline]
    pub(crate) fn piece_end(self, text: &[u8], at: usize) -> usize {
        match self {
            Self::O200k => scalar::o200k(text, at),
            Self::Cl100k => scalar::cl100k(text, at),
            Self::Gpt2 => scalar::gpt2(text, at),
        }
    }
}

/// Calls `visit` with the start and the end of each piece in turn, until it breaks.
#[inline]
pub(super) fn for_each_piece<B>(
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
                // The first bit is the start of the current piece.
                starts = simd::piece_starts(pattern == Pattern::O200k, window) & !1;
            }
            if starts == 0 {
                if !window[..2].is_ascii() {
                    one_by_one = SCALAR_PIECES;
                }
                let end = pattern.piece_end(text, at);
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
        let end = pattern.piece_end(text, at);
        visit(at, end)?;
        at = end;
    }
    ControlFlow::Continue(())
}
