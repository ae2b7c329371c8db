//! The fast path for plain blocks in the form that writers produce. Such a block is completely in
//! memory, uncompressed and not a reference; its fields are known, unique, in order and not nested.
//!
//! The fast path has no errors. The parser reads every other block from its start and reports its
//! errors. So the fast path changes the speed, but never the result.

#![expect(
    clippy::inline_always,
    reason = "passing results through memory takes longer than the rest"
)]

use lcp_types::codec::OrderedReader;
use lcp_types::limits;
use lcp_types::wire::{BLOCK_HAS_SUMMARY, WireType};

use crate::varint;

/// The maximum number of fields of a block type that uses the fast path.
pub(crate) const FIELDS_MAX: usize = 8;

/// A frame with the parts of its body that all block types share.
pub(crate) struct PlainFrame<'a> {
    pub(crate) summary: Option<&'a str>,
    pub(crate) fields: PlainFields<'a>,
    /// The bytes after the frame.
    pub(crate) rest: &'a [u8],
}

impl<'a> PlainFrame<'a> {
    /// Reads the frame at the front of `data`, whose one-byte type the caller has checked. Returns
    /// `None` if the frame is not plain.
    #[inline(always)]
    pub(crate) fn new(data: &'a [u8], body_bytes_max: u64) -> Option<Self> {
        let &[_, flags, ref rest @ ..] = data else { return None };
        let (body_bytes, rest) = varint::decode(rest).ok()?;
        if flags & !BLOCK_HAS_SUMMARY != 0 || body_bytes > body_bytes_max {
            return None;
        }
        let (body, behind) = split(rest, body_bytes)?;
        let mut fields = PlainFields { rest: body };
        let mut summary = None;
        if flags != 0 {
            summary = Some(text(fields.bytes()?, limits::SUMMARY_BYTES_MAX)?);
        }
        Some(Self { summary, fields, rest: behind })
    }
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
    simdutf8::basic::from_utf8(window).ok()
}

pub(crate) struct PlainFields<'a> {
    rest: &'a [u8],
}

impl<'a> OrderedReader<'a> for PlainFields<'a> {
    #[inline(always)]
    fn next_is(&mut self, id: u64, wire: WireType) -> bool {
        // Ids below 128 are encoded as one byte.
        let Ok(id @ 0..0x80) = u8::try_from(id) else { return false };
        match self.rest.split_first_chunk() {
            Some((next, rest)) if *next == [id, wire as u8] => {
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
        let (value, rest) = varint::decode(self.rest).ok()?;
        self.rest = rest;
        (value <= max).then_some(value)
    }

    #[inline(always)]
    fn text(&mut self) -> Option<&'a str> {
        text(self.bytes()?, limits::TEXT_BYTES_MAX)
    }

    #[inline(always)]
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = varint::decode(self.rest).ok()?;
        let (window, rest) = split(rest, len)?;
        self.rest = rest;
        Some(window)
    }
}
