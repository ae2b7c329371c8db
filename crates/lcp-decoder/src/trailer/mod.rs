//! The trailer behind END: footer and index (RFC 0003 §1 to §5).

mod columns;
mod error;
mod verify;

use std::ops::Range;

use lcp_types::wire::{
    FOOTER_BYTES, FOOTER_MAGIC, HEADER_BYTES, HEADER_FLAGS_AT, TRAILER_VERSION, TYPE_END,
    TYPE_INDEX,
};
use lcp_types::{BlockIndex, limits};

use crate::events::{Header, Magic};
use crate::reader::{Reader, within};
#[cfg(test)]
pub(crate) use columns::short_varint;
pub use error::{TrailerError, TrailerErrorKind};
pub(crate) use verify::verify;

/// Bytes of an END whose varints are as long as they may be.
const END_BYTES_MAX: u64 = 21;

type Result<T> = std::result::Result<T, TrailerError>;

/// What the last bytes of a pack say of it (RFC 0003 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footer {
    /// Where END begins.
    pub end_offset: u64,
    /// Where INDEX begins: behind END.
    pub index_offset: u64,
    /// Bytes of INDEX, its frame included.
    pub index_len: u64,
    /// How many blocks there are, annotations counted.
    pub blocks: u64,
    /// CRC-32C of all bytes before INDEX.
    pub blocks_check: u32,
    /// CRC-32C of INDEX.
    pub index_check: u32,
}

impl Footer {
    /// Reads the footer of a pack of `size` bytes: `bytes` are the last
    /// [`FOOTER_BYTES`] of it.
    ///
    /// # Errors
    ///
    /// If it is none, or what it says cannot be.
    pub fn parse(bytes: &[u8], size: u64) -> Result<Self> {
        let offset = size.saturating_sub(FOOTER_BYTES as u64);
        let footer = Self::read(bytes, offset)?;
        if footer.end_and_index().end != offset {
            return Err(TrailerError::new(TrailerErrorKind::Places, offset));
        }
        Ok(footer)
    }

    /// Reads the footer of a damaged pack, whose size may be another than the pack had when it
    /// was written: places are those of then. INDEX ends right before the footer, wherever
    /// that is now.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`], but for the size; offsets count from the footer's first byte.
    pub fn parse_displaced(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes, 0)
    }

    /// Bytes that the pack had when it was written.
    #[must_use]
    pub fn pack_bytes(&self) -> u64 {
        self.end_and_index().end.saturating_add(FOOTER_BYTES as u64)
    }

    /// Reads the footer that begins at `offset`, whatever it says of where that is.
    fn read(bytes: &[u8], offset: u64) -> Result<Self> {
        let fail = |kind| TrailerError::new(kind, offset);
        let Some((footer, [])) = bytes.split_first_chunk::<FOOTER_BYTES>() else {
            return Err(fail(TrailerErrorKind::NoFooter));
        };
        let (said, magic) = footer.split_at(FOOTER_BYTES - FOOTER_MAGIC.len());
        if magic != FOOTER_MAGIC {
            return Err(fail(TrailerErrorKind::NoFooter));
        }
        let (said, check) = said.split_at(said.len() - 4);
        if crc32c::crc32c_append(crc32c::crc32c(said), magic) != number(check, 0) {
            return Err(fail(TrailerErrorKind::FooterCheck));
        }
        let version = number(said, 40);
        if version != TRAILER_VERSION {
            return Err(fail(TrailerErrorKind::Version { found: version }));
        }
        let long = |at: usize| u64::from(number(said, at)) | u64::from(number(said, at + 4)) << 32;
        let footer = Self {
            end_offset: long(0),
            index_offset: long(8),
            index_len: long(16),
            blocks: long(24),
            blocks_check: number(said, 32),
            index_check: number(said, 36),
        };
        let index_end = footer.index_offset.checked_add(footer.index_len);
        if footer.end_offset < HEADER_BYTES as u64
            || footer.end_offset >= footer.index_offset
            || footer.index_offset - footer.end_offset > END_BYTES_MAX
            || index_end.is_none()
        {
            return Err(fail(TrailerErrorKind::Places));
        }
        let max = limits::BODY_BYTES_MAX;
        if footer.index_len > max || footer.blocks > limits::BLOCKS_MAX {
            return Err(fail(TrailerErrorKind::TooLarge));
        }
        Ok(footer)
    }

    /// Where END and INDEX stand, which are read together.
    pub(crate) fn end_and_index(&self) -> Range<u64> {
        // The fields are public: anybody may have made it.
        self.end_offset..self.index_offset.saturating_add(self.index_len)
    }
}

/// Four bytes of the footer, the lowest first.
fn number(bytes: &[u8], at: usize) -> u32 {
    let of = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_le_bytes(of.copied().unwrap_or_default())
}

/// An accepted trailer: what stands where, and what is known of the blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Trailer {
    footer: Footer,
    pub(crate) frames: Frames,
    pub(crate) facts: BlockIndex,
}

/// Where frames stand, and what they must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frames {
    pub(crate) flags: Vec<u8>,
    lengths: Vec<u32>,
    /// CRC-32C of each, where the index has it.
    checks: Option<Vec<u32>>,
    /// Where every [`STRIDE`]th frame begins.
    places: Vec<u64>,
}

/// How many frames lie between two whose places are kept.
const STRIDE: usize = 256;

impl Frames {
    /// Where frame `index` stands.
    pub(crate) fn range(&self, index: usize) -> Option<Range<u64>> {
        let len = u64::from(*self.lengths.get(index)?);
        let base = index / STRIDE * STRIDE;
        let before = self.lengths.get(base..index)?.iter().map(|&len| u64::from(len)).sum::<u64>();
        let start = self.places.get(index / STRIDE)? + before;
        Some(start..start + len)
    }

    /// The CRC-32C of frame `index`, if it is known.
    pub(crate) fn check(&self, index: usize) -> Option<u32> {
        self.checks.as_ref()?.get(index).copied()
    }

    /// Keeps places; gives where the last frame ends.
    fn set_places(&mut self) -> u64 {
        let mut offset = HEADER_BYTES as u64;
        for chunk in self.lengths.chunks(STRIDE) {
            self.places.push(offset);
            offset += chunk.iter().map(|&len| u64::from(len)).sum::<u64>();
        }
        offset
    }
}

impl Trailer {
    /// The trailer of a pack in memory; `None` if its header announces none.
    ///
    /// # Errors
    ///
    /// If one is announced and not accepted (RFC 0003 §2). The blocks can be
    /// read all the same.
    #[must_use]
    pub fn of(pack: &[u8]) -> Option<Result<Self>> {
        let header = Header::parse(pack.get(..HEADER_BYTES)?).ok()?;
        if !header.has_trailer() {
            return None;
        }
        let size = pack.len() as u64;
        let tail = pack.len().saturating_sub(FOOTER_BYTES);
        let footer = may_have_one(header)
            .and_then(|()| Footer::parse(pack.get(tail..).unwrap_or_default(), size));
        Some(footer.and_then(|footer| {
            let bytes = within(pack, 0, &footer.end_and_index());
            Self::parse(footer, bytes.unwrap_or_default())
        }))
    }

    /// The trailer of this footer; `bytes` are END and INDEX, as
    /// they stand from [`Footer::end_offset`] on.
    ///
    /// # Errors
    ///
    /// If the index is damaged, or does not agree with itself or the footer.
    pub fn parse(footer: Footer, bytes: &[u8]) -> Result<Self> {
        let end_len = footer.index_offset.checked_sub(footer.end_offset);
        let end_len = end_len.and_then(|len| usize::try_from(len).ok());
        let Some((end, index)) = end_len.and_then(|len| bytes.split_at_checked(len)) else {
            return Err(TrailerError::new(TrailerErrorKind::Places, footer.end_offset));
        };
        if frame(end, footer.end_offset) != Some((TYPE_END, &[][..])) {
            return Err(TrailerError::new(TrailerErrorKind::Places, footer.end_offset));
        }
        let fail = |kind| TrailerError::new(kind, footer.index_offset);
        if index.len() as u64 != footer.index_len || crc32c::crc32c(index) != footer.index_check {
            return Err(fail(TrailerErrorKind::IndexCheck));
        }
        let Some((TYPE_INDEX, body)) = frame(index, footer.index_offset) else {
            return Err(fail(TrailerErrorKind::Places));
        };
        let body_offset = footer.index_offset + (index.len() - body.len()) as u64;
        let (mut frames, facts) = columns::read(Reader::new(body, body_offset), footer.blocks)?;
        if frames.set_places() != footer.end_offset {
            return Err(fail(TrailerErrorKind::Places));
        }
        Ok(Self { footer, frames, facts })
    }

    /// Its footer.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// What it says of the blocks.
    #[must_use]
    pub fn block_index(&self) -> &BlockIndex {
        &self.facts
    }

    /// Where the frame of block `index` stands, in bytes of the pack.
    #[must_use]
    pub fn frame(&self, index: u32) -> Option<Range<u64>> {
        self.frames.range(index as usize)
    }

    /// The flags that the frame of block `index` has.
    #[must_use]
    pub fn flags(&self, index: u32) -> Option<u8> {
        self.frames.flags.get(index as usize).copied()
    }

    /// The CRC-32C that the frame of block `index` has, where it is known.
    #[must_use]
    pub fn check(&self, index: u32) -> Option<u32> {
        self.frames.check(index as usize)
    }
}

/// Whether a pack with such a header can have a trailer that is used.
pub(crate) fn may_have_one(header: Header) -> Result<()> {
    if header.magic != Magic::Lcp || header.payload_compressed() {
        return Err(TrailerError::new(TrailerErrorKind::Header, HEADER_FLAGS_AT as u64));
    }
    Ok(())
}

/// The type and the body of what must be one frame without flags.
fn frame(bytes: &[u8], offset: u64) -> Option<(u8, &[u8])> {
    let mut reader = Reader::new(bytes, offset);
    let code = reader.varint("a block type").ok()?;
    let flags = reader.byte("the flags of a block").ok()?;
    let body = reader.length_prefixed("the body of a block").ok()?;
    let whole = reader.is_empty() && flags == 0;
    Some((u8::try_from(code).ok().filter(|_| whole)?, body.rest()))
}
