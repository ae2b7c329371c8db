//! The Unicode classes that the patterns of the encodings distinguish.

/// Upper and title case, and what has no case: `\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`.
pub(super) const UPPER: u8 = 1 << 0;
/// Lower case, and what has no case: `\p{Ll}\p{Lm}\p{Lo}\p{M}`.
pub(super) const LOWER: u8 = 1 << 1;
/// Letters: `\p{L}`.
pub(super) const LETTER: u8 = 1 << 2;
/// Numbers: `\p{N}`.
pub(super) const NUMBER: u8 = 1 << 3;
/// White space: `\s`.
pub(super) const SPACE: u8 = 1 << 4;

/// The page of each 128 characters, then the pages, from `cargo xtask gen-vocab`.
pub(super) const TABLES: &[u8] = include_bytes!("../../data/classes.bin");

const PAGE: usize = 128;
/// Pages that cover all of Unicode.
const INDICES: usize = 0x11_0000 / PAGE;

/// Returns the classes of the character at the boundary `at`, and its length in bytes.
#[inline]
pub(super) fn class(text: &[u8], at: usize) -> (u8, usize) {
    let lead = text[at];
    if lead < 0x80 {
        return (ASCII[usize::from(lead)], 1);
    }
    let more = |i: usize| u32::from(text[at + i] & 0x3F);
    let lead = u32::from(lead);
    let (c, len) = match lead {
        0..0xE0 => ((lead & 0x1F) << 6 | more(1), 2),
        0xE0..0xF0 => ((lead & 0x0F) << 12 | more(1) << 6 | more(2), 3),
        _ => ((lead & 0x07) << 18 | more(1) << 12 | more(2) << 6 | more(3), 4),
    };
    (lookup(c as usize), len)
}

#[inline]
const fn lookup(c: usize) -> u8 {
    let page = TABLES[c / PAGE] as usize;
    TABLES[INDICES + page * PAGE + c % PAGE]
}

/// The classes of ASCII.
static ASCII: [u8; 128] = {
    let mut ascii = [0; 128];
    let mut c = 0;
    while c < ascii.len() {
        ascii[c] = lookup(c);
        c += 1;
    }
    ascii
};
