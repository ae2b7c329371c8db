//! The pre-tokenizers of cl100k and o200k on 64 bytes of ASCII at once.
//!
//! Each class of characters is a mask with a bit a byte, and each rule of the patterns is
//! a few operations on masks, so the time does not depend on the text. What a window
//! cannot decide (characters outside ASCII, contractions, a piece that continues after
//! it) is left to [`scalar`](super::scalar), with which the tests compare this module.

use wide::u8x16;

/// The number of bytes classified together.
pub(in super::super) const WINDOW: usize = 64;

/// The bytes of a window by class. Bit `i` stands for byte `i`.
#[derive(Clone, Copy, Default)]
struct ByteClassMasks {
    upper: u64,
    lower: u64,
    digit: u64,
    /// The space itself.
    space: u64,
    /// White space, newlines among it.
    white: u64,
    /// `\r` and `\n`.
    newline: u64,
    slash: u64,
    apostrophe: u64,
    /// Not ASCII; the other masks are of no meaning there.
    foreign: u64,
}

impl ByteClassMasks {
    #[inline]
    fn classify(window: &[u8; WINDOW]) -> Self {
        let all = u8x16::splat;
        // For ASCII, the high bit tells whether a byte is `least` or more.
        let from = |bytes: u8x16, least: u8| bytes + all(128 - least);
        let mut masks = Self::default();
        for (i, chunk) in window.as_chunks::<16>().0.iter().enumerate() {
            let mask = |high: u8x16| u64::from(high.to_bitmask()) << (16 * i);
            let bytes = u8x16::new(*chunk);
            let folded = bytes | all(0x20);
            let letter = mask(from(folded, b'a') & !from(folded, b'z' + 1));
            // The bit that tells the cases apart, moved to where a mask reads.
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

/// Returns where pieces begin, given that one begins with this window: bit `i` for byte
/// `i`, bit 0 among them. The rules are those of o200k if `o200k`, else those of cl100k.
///
/// Between the first bit and the last no beginning is left out; after the last there may
/// be more.
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

    // ` ?[^\s\p{L}\p{N}]+[\r\n]*`: newlines right behind punctuation are part
    // of it, and in o200k so are the slashes behind those. A carry runs from
    // the first newline to the end of them.
    let trail = if o200k { newline | slash } else { newline };
    let first = newline & (punctuation << 1);
    let trailing = (trail & !trail.wrapping_add(first)) | first;
    let punctuation = punctuation & !trailing;
    let before = white;
    let white = white & !trailing;
    let blank = white & !newline;

    // `\s*[\r\n]+|\s+(?!\S)|\s+`: a run of white space ends behind its last
    // newline, and what is left of it gives its last character to what follows.
    let run_start = white & !(white << 1);
    let run_last = blank & !(before >> 1) & !last;
    let behind_newline = ((white & newline) << 1) & blank;

    // A space belongs to punctuation behind it, and any other single character
    // but newlines, letters and numbers to the word behind it.
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

    // What is certain ends where white space goes on behind the window, where
    // a run of it has a newline behind what `behind_newline` took for its last,
    // and at what may be a contraction: before its word in o200k.
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
