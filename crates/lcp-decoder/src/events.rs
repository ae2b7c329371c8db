//! The events of a parser: header, frames, the end.

use std::borrow::Cow;

use lcp_types::BlockType;
use lcp_types::wire::{
    BLOCK_COMPRESSED, BLOCK_IS_REFERENCE, HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_INDEX,
    HEADER_PAYLOAD_ZSTD, Magic, VERSION_MAJOR,
};

use crate::error::{Error, ErrorKind, Result, Warning};

/// The first eight bytes of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which magic it has.
    pub magic: Magic,
    /// The minor version; any is read.
    pub minor: u8,
    /// The flags as they stand.
    pub flags: u8,
}

impl Header {
    /// Whether all that follows is one zstd stream.
    #[must_use]
    pub fn is_payload_compressed(&self) -> bool {
        self.flags & HEADER_PAYLOAD_ZSTD != 0
    }

    /// Whether an index is announced after END.
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
                let kind = ErrorKind::UnexpectedEof { what: "the header", missing };
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

/// One block as it stands in the stream, its body not yet looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The index of the block, annotations counted.
    pub index: u64,
    /// Where the frame begins, in bytes from the start of the stream.
    pub offset: u64,
    /// Where its body begins.
    pub body_offset: u64,
    /// The type.
    pub block_type: BlockType,
    /// The flags as they stand.
    pub flags: u8,
    /// How many bytes of the input were read up to its end; those of a compressed payload
    /// as stored.
    pub input_bytes: u64,
    /// The body as stored: with its summary, perhaps compressed or a hash.
    pub body: Cow<'a, [u8]>,
}

impl Frame<'_> {
    /// Whether the stored body is a zstd stream.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.flags & BLOCK_COMPRESSED != 0
    }

    /// Whether the stored body is a hash.
    #[must_use]
    pub fn is_reference(&self) -> bool {
        self.flags & BLOCK_IS_REFERENCE != 0
    }

    /// Copies a body that is borrowed.
    #[must_use]
    pub fn into_owned(self) -> Frame<'static> {
        Frame { body: Cow::Owned(self.body.into_owned()), ..self }
    }
}

impl<'a> Frame<'a> {
    /// Returns the event of this frame; END is one of its own.
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
    /// The header; always the first event.
    Header(Header),
    /// A block. [`Parser::decode`](crate::Parser::decode) looks into it.
    Frame(Frame<'a>),
    /// END: no more blocks come.
    End {
        /// Where the END block begins.
        offset: u64,
    },
    /// Something odd that does not stop decoding.
    Warning(Warning),
    /// The input has ended; nothing more comes.
    Done,
}

impl Event<'_> {
    /// Copies a body that is borrowed.
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

/// The outcome of one call of [`Parser::parse`](crate::Parser::parse).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// How many bytes to drop from the front of the data.
    pub consumed: usize,
    /// What was found. `None`: call again with more data, or with `eof`.
    pub event: Option<Event<'a>>,
}
