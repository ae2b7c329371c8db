//! The events of the parser: header, frames, END.

use std::borrow::Cow;
use std::ops::Range;

use lcp_types::BlockType;
use lcp_types::wire::{
    BLOCK_COMPRESSED, BLOCK_IS_REFERENCE, HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_INDEX,
    HEADER_PAYLOAD_ZSTD, Magic, VERSION_MAJOR,
};

use crate::error::{Error, ErrorKind, Result, Warning};

/// The header: the first eight bytes of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The magic.
    pub magic: Magic,
    /// The minor version. Every minor version is accepted.
    pub minor: u8,
    /// The flags, including unknown ones.
    pub flags: u8,
}

impl Header {
    /// Returns whether everything after the header is one zstd stream.
    #[must_use]
    pub fn is_payload_compressed(&self) -> bool {
        self.flags & HEADER_PAYLOAD_ZSTD != 0
    }

    /// Returns whether the header announces an index after END.
    #[must_use]
    pub fn has_index(&self) -> bool {
        self.flags & HEADER_INDEX != 0
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let found = |i| bytes.get(i).copied().unwrap_or_default();
        let magic = [found(0), found(1), found(2), found(3)];
        let known = Magic::ALL.into_iter().find(|known| known.bytes() == magic);
        if bytes.len() < HEADER_BYTES {
            let begun = |magic: Magic| bytes.iter().zip(&magic.bytes()).all(|(a, b)| a == b);
            if Magic::ALL.into_iter().any(begun) {
                let missing = (HEADER_BYTES - bytes.len()) as u64;
                let kind = ErrorKind::UnexpectedEof { what: "header", missing };
                return Err(Error::new(kind, bytes.len() as u64));
            }
        }
        let Some(magic_known) = known else {
            return Err(Error::new(ErrorKind::BadMagic { found: magic }, 0));
        };
        let (major, minor) = (found(4), found(5));
        if major != VERSION_MAJOR {
            return Err(Error::new(ErrorKind::UnsupportedVersion { major, minor }, 4));
        }
        if found(7) != 0 {
            return Err(Error::new(ErrorKind::ReservedHeader { found: found(7) }, 7));
        }
        Ok(Self { magic: magic_known, minor, flags: found(HEADER_FLAGS_OFFSET) })
    }
}

/// A block as stored in the stream, with its body not yet decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The index of the block; annotations count as well.
    pub index: u64,
    /// The offset of the frame in bytes from the start of the stream.
    pub offset: u64,
    /// The offset of the body.
    pub body_offset: u64,
    /// The block type.
    pub block_type: BlockType,
    /// The flags, including unknown ones.
    pub flags: u8,
    /// The number of input bytes read up to the end of the frame. For a compressed payload, these
    /// are stored bytes.
    pub input_bytes: u64,
    /// The body as stored. It begins with the summary, if any, and may be compressed or a hash.
    pub body: Cow<'a, [u8]>,
}

impl Frame<'_> {
    /// Returns the byte range of the frame in an uncompressed pack.
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.body_offset + self.body.len() as u64
    }

    /// Returns whether the stored body is a zstd stream.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.flags & BLOCK_COMPRESSED != 0
    }

    /// Returns whether the stored body is the hash of a body in a content store.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.flags & BLOCK_IS_REFERENCE != 0
    }

    /// Converts the frame into one that owns its body.
    #[must_use]
    pub fn into_owned(self) -> Frame<'static> {
        Frame { body: Cow::Owned(self.body.into_owned()), ..self }
    }
}

impl<'a> Frame<'a> {
    /// Returns the event for this frame. END has an event of its own.
    pub(crate) fn into_event(self) -> Event<'a> {
        match self.block_type {
            BlockType::End => Event::End { offset: self.offset },
            _ => Event::Frame(self),
        }
    }
}

/// An event of the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The header, which is always the first event.
    Header(Header),
    /// A block. [`Parser::decode`](crate::Parser::decode) decodes its body.
    Frame(Frame<'a>),
    /// END, which comes after the last block.
    End {
        /// The offset of the END block.
        offset: u64,
    },
    /// A problem that does not stop decoding.
    Warning(Warning),
    /// The end of the input, which is the last event.
    Done,
}

impl Event<'_> {
    /// Converts the event into one that owns its body.
    #[must_use]
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Self::Header(header) => Event::Header(header),
            Self::Frame(frame) => Event::Frame(frame.into_owned()),
            Self::End { offset } => Event::End { offset },
            Self::Warning(warning) => Event::Warning(warning),
            Self::Done => Event::Done,
        }
    }
}

/// The result of one call of [`Parser::parse`](crate::Parser::parse).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The number of bytes to drop from the front of the data.
    pub consumed: usize,
    /// The event. If it is `None`, call again with more data or with `eof`.
    pub event: Option<Event<'a>>,
}
