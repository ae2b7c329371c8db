//! The index after END and its footer (RFC 0003 §1 to §5).

mod columns;
mod error;
mod verify;

use std::ops::Range;

use lcp_types::wire::{
    FOOTER_BYTES, FOOTER_MAGIC, HEADER_BYTES, HEADER_FLAGS_OFFSET, INDEX_VERSION, Magic, TYPE_END,
    TYPE_INDEX,
};
use lcp_types::{BlockIndex, limits};

use crate::events::Header;
use crate::reader::{Reader, within};
pub use error::{IndexError, IndexErrorKind};
pub(crate) use verify::{verify, verify_source};

/// The maximum size of an END frame in bytes, with varints of maximum length.
const END_BYTES_MAX: u64 = 21;

type Result<T> = std::result::Result<T, IndexError>;

/// The footer of an index: the last bytes of a pack (RFC 0003 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexFooter {
    /// The offset of END.
    pub end_offset: u64,
    /// The offset of INDEX, which follows END.
    pub index_offset: u64,
    /// The length of INDEX in bytes, its frame included.
    pub index_len: u64,
    /// The number of blocks, annotations counted.
    pub blocks: u64,
    /// CRC-32C of all bytes before INDEX.
    pub blocks_checksum: u32,
    /// CRC-32C of INDEX.
    pub index_checksum: u32,
}

impl IndexFooter {
    /// Parses the footer: the last [`FOOTER_BYTES`] bytes of a pack of `size` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`IndexError`] if the bytes are not a footer or its values are impossible.
    pub fn parse(bytes: &[u8], size: u64) -> Result<Self> {
        let offset = size.saturating_sub(FOOTER_BYTES as u64);
        let footer = Self::read(bytes, offset)?;
        if footer.end_and_index().end != offset {
            return Err(IndexError::new(IndexErrorKind::Offsets, offset));
        }
        Ok(footer)
    }

    /// Parses the footer of a damaged pack, whose size may have changed. INDEX ends directly before
    /// the footer.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::parse`], except those about the size. Offsets count from the
    /// first byte of the footer.
    pub fn parse_at_unknown_offset(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes, 0)
    }

    /// Returns the size in bytes of the pack when it was written.
    #[must_use]
    pub fn pack_bytes(&self) -> u64 {
        self.end_and_index().end.saturating_add(FOOTER_BYTES as u64)
    }

    /// Parses the footer at `offset`, without a check that its values agree with `offset`.
    fn read(bytes: &[u8], offset: u64) -> Result<Self> {
        let fail = |kind| IndexError::new(kind, offset);
        let Some((footer, [])) = bytes.split_first_chunk::<FOOTER_BYTES>() else {
            return Err(fail(IndexErrorKind::NoFooter));
        };
        let (values, magic) = footer.split_at(FOOTER_BYTES - FOOTER_MAGIC.len());
        if magic != FOOTER_MAGIC {
            return Err(fail(IndexErrorKind::NoFooter));
        }
        let (values, check) = values.split_at(values.len() - 4);
        if crc32c::crc32c_append(crc32c::crc32c(values), magic) != u32_at(check, 0) {
            return Err(fail(IndexErrorKind::FooterChecksum));
        }
        let version = u32_at(values, 40);
        if version != INDEX_VERSION {
            return Err(fail(IndexErrorKind::Version { found: version }));
        }
        let long =
            |at: usize| u64::from(u32_at(values, at)) | u64::from(u32_at(values, at + 4)) << 32;
        let footer = Self {
            end_offset: long(0),
            index_offset: long(8),
            index_len: long(16),
            blocks: long(24),
            blocks_checksum: u32_at(values, 32),
            index_checksum: u32_at(values, 36),
        };
        let index_end = footer.index_offset.checked_add(footer.index_len);
        if footer.end_offset < HEADER_BYTES as u64
            || footer.end_offset >= footer.index_offset
            || footer.index_offset - footer.end_offset > END_BYTES_MAX
            || index_end.is_none()
        {
            return Err(fail(IndexErrorKind::Offsets));
        }
        let max = limits::BODY_BYTES_MAX;
        if footer.index_len > max || footer.blocks > limits::BLOCKS_MAX {
            return Err(fail(IndexErrorKind::TooLarge));
        }
        Ok(footer)
    }

    /// Returns the byte range of END and INDEX, which are read together.
    pub(crate) fn end_and_index(&self) -> Range<u64> {
        // The fields are public, so the values may be arbitrary.
        self.end_offset..self.index_offset.saturating_add(self.index_len)
    }
}

/// Returns the little-endian `u32` at this position of the footer.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let number = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_le_bytes(number.copied().unwrap_or_default())
}

/// The index of a pack: the byte ranges of its frames and the columns of its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct PackIndex {
    footer: IndexFooter,
    pub(crate) table: BlockTable,
}

/// The frames and the columns of all blocks, from an index or from a pass over the blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BlockTable {
    pub(crate) frames: FrameTable,
    pub(crate) blocks: BlockIndex,
}

/// The position, flags and checksum of every frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FrameTable {
    pub(crate) flags: Vec<u8>,
    lengths: Vec<u32>,
    /// The CRC-32C of each frame, if the index has them.
    checksums: Option<Vec<u32>>,
    /// The offset of every [`STRIDE`]th frame.
    offsets: Vec<u64>,
}

/// The number of frames per stored offset.
const STRIDE: usize = 256;

impl FrameTable {
    /// Returns the byte range of frame `index`.
    pub(crate) fn range(&self, index: usize) -> Option<Range<u64>> {
        let len = u64::from(*self.lengths.get(index)?);
        let base = index / STRIDE * STRIDE;
        let before = self.lengths.get(base..index)?.iter().map(|&len| u64::from(len)).sum::<u64>();
        let start = self.offsets.get(index / STRIDE)? + before;
        Some(start..start + len)
    }

    /// Returns the CRC-32C of frame `index`, if the index has it.
    pub(crate) fn checksum(&self, index: usize) -> Option<u32> {
        self.checksums.as_ref()?.get(index).copied()
    }

    /// Computes the offsets of the frames. Returns the end of the last frame.
    fn compute_offsets(&mut self) -> u64 {
        let mut offset = HEADER_BYTES as u64;
        for chunk in self.lengths.chunks(STRIDE) {
            self.offsets.push(offset);
            offset += chunk.iter().map(|&len| u64::from(len)).sum::<u64>();
        }
        offset
    }

    /// Adds the next frame, which begins at `start`.
    pub(crate) fn push(&mut self, flags: u8, start: u64, len: u32) {
        if self.lengths.len().is_multiple_of(STRIDE) {
            self.offsets.push(start);
        }
        self.flags.push(flags);
        self.lengths.push(len);
    }
}

impl PackIndex {
    /// Finds and parses the index of a pack in memory. Returns `None` if the header is invalid or
    /// does not announce an index.
    ///
    /// # Errors
    ///
    /// Returns [`IndexError`] if the announced index is rejected (RFC 0003 §2). The blocks can
    /// still be read without it.
    #[must_use]
    pub fn find(pack: &[u8]) -> Option<Result<Self>> {
        let header = Header::parse(pack.get(..HEADER_BYTES)?).ok()?;
        if !header.has_index() {
            return None;
        }
        let size = pack.len() as u64;
        let tail = pack.len().saturating_sub(FOOTER_BYTES);
        let footer = check_header(header)
            .and_then(|()| IndexFooter::parse(pack.get(tail..).unwrap_or_default(), size));
        Some(footer.and_then(|footer| {
            let bytes = within(pack, 0, &footer.end_and_index());
            Self::parse(footer, bytes.unwrap_or_default())
        }))
    }

    /// Parses the index of this footer. `bytes` are the bytes of END and INDEX.
    ///
    /// # Errors
    ///
    /// Returns [`IndexError`] if the index is damaged, inconsistent, or does not agree with the
    /// footer.
    pub fn parse(footer: IndexFooter, bytes: &[u8]) -> Result<Self> {
        let end_len = footer.index_offset.checked_sub(footer.end_offset);
        let end_len = end_len.and_then(|len| usize::try_from(len).ok());
        let Some((end, index)) = end_len.and_then(|len| bytes.split_at_checked(len)) else {
            return Err(IndexError::new(IndexErrorKind::Offsets, footer.end_offset));
        };
        if frame(end, footer.end_offset) != Some((TYPE_END, &[][..])) {
            return Err(IndexError::new(IndexErrorKind::Offsets, footer.end_offset));
        }
        let fail = |kind| IndexError::new(kind, footer.index_offset);
        if index.len() as u64 != footer.index_len || crc32c::crc32c(index) != footer.index_checksum
        {
            return Err(fail(IndexErrorKind::IndexChecksum));
        }
        let Some((TYPE_INDEX, body)) = frame(index, footer.index_offset) else {
            return Err(fail(IndexErrorKind::Offsets));
        };
        let body_offset = footer.index_offset + (index.len() - body.len()) as u64;
        let mut table = columns::read(Reader::new(body, body_offset), footer.blocks)?;
        if table.frames.compute_offsets() != footer.end_offset {
            return Err(fail(IndexErrorKind::Offsets));
        }
        Ok(Self { footer, table })
    }

    /// Returns the footer.
    #[must_use]
    pub fn footer(&self) -> &IndexFooter {
        &self.footer
    }

    /// Returns the columns of the blocks.
    #[must_use]
    pub fn block_index(&self) -> &BlockIndex {
        &self.table.blocks
    }

    /// Returns the byte range of the frame of block `index` in the pack.
    #[must_use]
    pub fn frame(&self, index: u32) -> Option<Range<u64>> {
        self.table.frames.range(index as usize)
    }

    /// Returns the flags of the frame of block `index`.
    #[must_use]
    pub fn flags(&self, index: u32) -> Option<u8> {
        self.table.frames.flags.get(index as usize).copied()
    }

    /// Returns the CRC-32C of the frame of block `index`, if the index has checksums.
    #[must_use]
    pub fn checksum(&self, index: u32) -> Option<u32> {
        self.table.frames.checksum(index as usize)
    }
}

/// Checks that a pack with this header can have an index.
pub(crate) fn check_header(header: Header) -> Result<()> {
    if header.magic != Magic::Lcp || header.is_payload_compressed() {
        return Err(IndexError::new(IndexErrorKind::Header, HEADER_FLAGS_OFFSET as u64));
    }
    Ok(())
}

/// Parses one frame without flags. Returns its type and its body.
fn frame(bytes: &[u8], offset: u64) -> Option<(u8, &[u8])> {
    let mut reader = Reader::new(bytes, offset);
    let code = reader.varint("block type").ok()?;
    let flags = reader.byte("block flags").ok()?;
    let body = reader.length_prefixed("block body").ok()?;
    let whole = reader.is_empty() && flags == 0;
    Some((u8::try_from(code).ok().filter(|_| whole)?, body.rest()))
}
