//! A cursor over bytes with an offset. All input is read through it.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::varint::{self, VarintError};

/// The minimum size of a frame in bytes: type, flags and length.
pub(crate) const FRAME_BYTES_MIN: u64 = 3;

/// A window of the input and the offset of its first byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Shortens the window to its first `len` bytes.
    pub(crate) fn shorten(&mut self, len: usize) {
        self.rest = self.rest.get(..len).unwrap_or(self.rest);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.offset)
    }

    /// Takes `len` bytes. If the window is shorter, returns an error and takes nothing.
    pub(crate) fn bytes(&mut self, len: u64, what: &'static str) -> Result<&'a [u8]> {
        let parts = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((head, rest)) = parts else {
            return Err(self.eof(len - self.rest.len() as u64, what));
        };
        self.rest = rest;
        self.offset += len;
        Ok(head)
    }

    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8> {
        match self.bytes(1, what)? {
            &[byte, ..] => Ok(byte),
            [] => Err(self.eof(1, what)),
        }
    }

    /// Reads an unsigned LEB128 varint. Errors have the offset of its first byte if it is too long,
    /// and the end of the input if it is incomplete.
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64> {
        match varint::decode(self.rest) {
            Ok((value, rest)) => {
                self.offset += (self.rest.len() - rest.len()) as u64;
                self.rest = rest;
                Ok(value)
            }
            Err(VarintError::CutShort) => Err(self.eof(1, what)),
            Err(VarintError::TooLong) => Err(self.error(ErrorKind::BadVarint)),
        }
    }

    /// Reads a length and a window of that many bytes, which must be within the rest of this
    /// window.
    pub(crate) fn length_prefixed(&mut self, what: &'static str) -> Result<Reader<'a>> {
        let len = self.varint(what)?;
        let offset = self.offset;
        Ok(Reader::new(self.bytes(len, what)?, offset))
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the error for the end of the input, with the offset after the last byte.
    fn eof(&self, missing: u64, what: &'static str) -> Error {
        let end = self.offset + self.rest.len() as u64;
        Error::new(ErrorKind::UnexpectedEof { what, missing }, end)
    }
}

/// Returns the part of `bytes` in `range`, where `bytes` begins at offset `start`.
pub(crate) fn within<'a>(bytes: &'a [u8], start: u64, range: &Range<u64>) -> Option<&'a [u8]> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    bytes.get(from..usize::try_from(range.end.checked_sub(start)?).ok()?)
}
