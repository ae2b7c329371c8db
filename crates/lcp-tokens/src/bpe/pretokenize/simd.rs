//! The pre-tokenizers of cl100k and o200k for 64 bytes of ASCII at once.
//!
//! Each class of characters is a mask with one bit per byte, and each rule of the patterns is a few
//! operations on masks, so the time does not depend on the text. Cases that a window cannot decide
//! (characters outside ASCII, contractions, a piece that continues after the window) are left to
//! [`scalar`](super::scalar). The tests compare both modules.

use wide::u8x16;

/// The number of bytes that are classified together.
pub(in super::super) const WINDOW: usize = 64;

/// The bytes of a window by class. Bit `i` stands for byte `i`.
#[derive(Clone, Copy, Default)]
struct ByteClassMasks {
    upper: u64,
    lower: u64,
    digit: u64,
    /// The space character.
    space: u64,
    /// White space, including newlines.
    white: u64,
    /// `\r` and `\n`.
    newline: u64,
    slash: u64,
    apostrophe: u64,
    /// Bytes outside ASCII. The other masks are undefined for them.
    foreign: u64,
}

impl ByteClassMasks {
    #[inline]
    fn classify(window: &[u8; WINDOW]) -> Self {
        let all = u8x16::splat;
        // For ASCII, the high bit shows whether a byte is at least `least`.
        let from = |bytes: u8x16, least: u8| bytes + all(128 - least);
        let mut masks = Self::default();
        for (i, chunk) in window.as_chunks::<16>().0.iter().enumerate() {
            let mask = |high: u8x16| u64::from(high.to_bitmask()) << (16 * i);
            let bytes = u8x16::new(*chunk);
            let folded = bytes | all(0x20);
            let letter = mask(from(folded, b'a') & !from(folded, b'z' + 1));
            // Move the bit of the case to the high bit, which the mask reads.
            let twice = bytes + bytes;
            let lower = mask(twice + twice);
            let space = bytes.simd_eq(all(b' '));
            let newline = bytes.simd_eq(all(b'\n')) | bytes.simd_eq(all(b'\r'));
            masks.lower |= letter & lower;
            masks.upper |= letter & !lower;
            masks.digit |= mask(from(bytes, b'0') & !from(bytes, b'9' + 1));
            masks.space |= mask(space);
            masks.white |= mask(space | (from(bytes, b'\t') & !from(bytes, b'\r' + 1)));
            masks.newline |= mask(newline);
            masks.slash |= mask(bytes.simd_eq(all(b'/')));
            masks.apostrophe |= mask(bytes.simd_eq(all(b'\'')));
            masks.foreign |= mask(bytes);
        }
        masks
    }

    /// Keeps only the bytes of `known`.
    #[inline]
    fn within(self, known: u64) -> Self {
        Self {
            upper: self.upper & known,
            lower: self.lower & known,
            digit: self.digit & known,
            space: self.space & known,
            white: self.white & known,
            newline: self.newline & known,
            slash: self.slash & known,
            apostrophe: self.apostrophe & known,
            foreign: self.foreign,
        }
    }
}

/// Returns the starts of pieces in a window, given that a piece starts at its beginning. Bit `i` is
/// byte `i`, and bit 0 is always set. The rules are those of o200k if `o200k`, else those of
/// cl100k.
///
/// All starts between the first and the last set bit are included. There may be more starts after
/// the last one.
#[inline]
pub(super) fn piece_starts(o200k: bool, window: &[u8; WINDOW]) -> u64 {
    let masks = ByteClassMasks::classify(window);
    let bytes = masks.foreign.trailing_zeros();
    if bytes == 0 {
        return 1;
    }
    let known = u64::MAX >> (64 - bytes);
    let last = 1 << (bytes - 1);
    let ByteClassMasks { upper, lower, digit, space, white, newline, slash, apostrophe, .. } =
        masks.within(known);
    let letter = upper | lower;
    let punctuation = known & !(letter | digit | white);

    // ` ?[^\s\p{L}\p{N}]+[\r\n]*`: newlines directly after punctuation are part of the piece, and
    // in o200k so are slashes after them. A carry runs from the first newline to the end of them.
    let trail = if o200k { newline | slash } else { newline };
    let first = newline & (punctuation << 1);
    let trailing = (trail & !trail.wrapping_add(first)) | first;
    let punctuation = punctuation & !trailing;
    let before = white;
    let white = white & !trailing;
    let blank = white & !newline;

    // `\s*[\r\n]+|\s+(?!\S)|\s+`: a run of white space ends after its last newline, and the last
    // character of the rest belongs to the following piece.
    let run_start = white & !(white << 1);
    let run_last = blank & !(before >> 1) & !last;
    let behind_newline = ((white & newline) << 1) & blank;

    // A space belongs to the punctuation after it. Any other single character except newlines,
    // letters and numbers belongs to the word after it.
    let punctuation_run = punctuation & !(punctuation << 1) & !(space << 1);
    let single = punctuation_run & !(punctuation >> 1);
    let letter_run = letter & !(letter << 1) & !((blank | single) << 1);
    let case_change = if o200k { (lower << 1) & upper } else { 0 };

    // `\p{N}{1,3}`.
    let digit_run = digit & !(digit << 1);
    let third = digit & (digit << 1) & (digit << 2) & (digit << 3);
    let (mut digits, mut next) = (digit_run, (digit_run << 3) & third);
    while next != 0 {
        digits |= next;
        next = (next << 3) & third;
    }

    let starts = 1
        | run_start
        | run_last
        | behind_newline
        | punctuation_run
        | letter_run
        | case_change
        | digits;

    // The result is certain only up to the first of these: white space that continues after the
    // window, a run of white space with a newline after the one that `behind_newline` assumed to be
    // the last, and a possible contraction (in o200k, before its word).
    let mut certain = known;
    let reopened = blank.wrapping_add(behind_newline) & newline & white;
    if reopened != 0 {
        let place = reopened & reopened.wrapping_neg();
        certain &= up_to_run(!white, place);
    }
    if before & last != 0 {
        certain &= up_to_run(!before & known, last);
    }
    let contraction = apostrophe & ((letter >> 1) | last);
    let contraction = contraction & if o200k { letter << 1 } else { starts };
    if contraction != 0 {
        let place = contraction & contraction.wrapping_neg();
        certain &= if o200k { place - 1 } else { place | (place - 1) };
    }
    starts & certain
}

/// Returns the bits up to the start of the run at `place`; `gaps` are the bits outside runs.
#[inline]
fn up_to_run(gaps: u64, place: u64) -> u64 {
    let before = gaps & (place - 1);
    let start = u64::BITS - before.leading_zeros();
    u64::MAX >> (63 - start)
}
