//! The short way through blocks as writers write them: not compressed, no
//! references, each field known, once and in order, none nested; in memory as a
//! whole.
//!
//! It knows no errors. What is not plain is left to the parser, which begins the
//! block anew and says what is wrong, if anything is: this way can only be
//! quicker, not different.

#![expect(clippy::inline_always, reason = "what is handed on in memory takes longer than all else")]

use lcp_types::limits;
use lcp_types::schema::OrderedReader;
use lcp_types::wire::BLOCK_HAS_SUMMARY;

/// Fields that a block of any type has here at most.
pub(crate) const FIELDS_MAX: usize = 8;

/// A frame, and its body as far as it is the same in every type.
pub(crate) struct Frame<'a> {
    /// The summary.
    pub(crate) summary: Option<&'a str>,
    /// The fields.
    pub(crate) fields: Fields<'a>,
    /// What is behind it.
    pub(crate) behind: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The frame at the front of `data`; `None` where it is not plain. Its type is
    /// one byte, which is not looked at.
    #[inline(always)]
    pub(crate) fn new(data: &'a [u8], body_bytes_max: u64) -> Option<Self> {
        let &[_, flags, ref rest @ ..] = data else { return None };
        let (body_bytes, rest) = varint(rest)?;
        if flags & !BLOCK_HAS_SUMMARY != 0 || body_bytes > body_bytes_max {
            return None;
        }
        let (body, behind) = split(rest, body_bytes)?;
        let mut fields = Fields { rest: body };
        let mut summary = None;
        if flags != 0 {
            summary = Some(text(fields.bytes()?, limits::SUMMARY_BYTES_MAX)?);
        }
        Some(Self { summary, fields, behind })
    }
}

/// A varint of up to four bytes.
#[inline(always)]
pub(crate) fn varint(data: &[u8]) -> Option<(u64, &[u8])> {
    match *data {
        [byte @ 0..0x80, ref rest @ ..] => Some((byte.into(), rest)),
        _ => longer_varint(data),
    }
}

#[inline(never)]
fn longer_varint(data: &[u8]) -> Option<(u64, &[u8])> {
    let low = |byte: u8| u64::from(byte & 0x7F);
    Some(match *data {
        [a, b @ 0..0x80, ref rest @ ..] => (low(a) | low(b) << 7, rest),
        [a, b, c @ 0..0x80, ref rest @ ..] => (low(a) | low(b) << 7 | low(c) << 14, rest),
        [a, b, c, d @ 0..0x80, ref rest @ ..] => {
            (low(a) | low(b) << 7 | low(c) << 14 | low(d) << 21, rest)
        }
        _ => return None,
    })
}

#[inline(always)]
fn split(data: &[u8], len: u64) -> Option<(&[u8], &[u8])> {
    data.split_at_checked(usize::try_from(len).ok()?)
}

#[inline(always)]
fn text(window: &[u8], max: u64) -> Option<&str> {
    if window.len() as u64 > max {
        return None;
    }
    std::str::from_utf8(window).ok()
}

/// The fields of a body.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> OrderedReader<'a> for Fields<'a> {
    #[inline(always)]
    fn next_is(&mut self, id: u64, wire: u8) -> bool {
        // Ids below 128 are their own varint.
        let Ok(id @ 0..0x80) = u8::try_from(id) else { return false };
        match self.rest.split_first_chunk() {
            Some((next, rest)) if *next == [id, wire] => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline(always)]
    fn uint(&mut self, max: u64) -> Option<u64> {
        let (value, rest) = varint(self.rest)?;
        self.rest = rest;
        (value <= max).then_some(value)
    }

    #[inline(always)]
    fn text(&mut self) -> Option<&'a str> {
        text(self.bytes()?, limits::TEXT_BYTES_MAX)
    }

    #[inline(always)]
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = varint(self.rest)?;
        let (window, rest) = split(rest, len)?;
        self.rest = rest;
        Some(window)
    }
}
