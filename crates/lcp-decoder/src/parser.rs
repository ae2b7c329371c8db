//! The sans-I/O parser: bytes go in, frames or "I need more" come out.

use std::borrow::Cow;

use lcp_types::wire::{
    BLOCK_COMPRESSED, BLOCK_IS_REFERENCE, HEADER_BYTES, HEADER_PAYLOAD_ZSTD, HEADER_RESERVED,
    HEADER_TRAILER, MAGIC_BCP, MAGIC_LCP, TYPE_END, VERSION_MAJOR,
};
use lcp_types::{Block, BlockType};

use crate::error::{Error, ErrorKind, Result, Warning};
use crate::inflate;
use crate::options::DecodeOptions;
use crate::reader::Reader;

/// Which of the two magics a pack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Magic {
    /// `LCP\0`.
    Lcp,
    /// `BCP\0`.
    Bcp,
}

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
    pub fn payload_compressed(&self) -> bool {
        self.flags & HEADER_PAYLOAD_ZSTD != 0
    }

    /// Whether an index trailer is announced behind END.
    #[must_use]
    pub fn has_trailer(&self) -> bool {
        self.flags & HEADER_TRAILER != 0
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let found = |i| bytes.get(i).copied().unwrap_or_default();
        let magic = [found(0), found(1), found(2), found(3)];
        let known = match magic {
            MAGIC_LCP => Some(Magic::Lcp),
            MAGIC_BCP => Some(Magic::Bcp),
            _ => None,
        };
        if bytes.len() < HEADER_BYTES {
            let begun = |magic: [u8; 4]| bytes.iter().zip(&magic).all(|(a, b)| a == b);
            if begun(MAGIC_LCP) || begun(MAGIC_BCP) {
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
        Ok(Self { magic: magic_known, minor, flags: found(6) })
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
}

/// What the parser found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The header; always the first event.
    Header(Header),
    /// A block. [`Parser::decode`] looks into it.
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

/// The outcome of one call of [`Parser::parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// How many bytes to drop from the front of the data.
    pub consumed: usize,
    /// What was found. `None`: call again with more data, or with `eof`.
    pub event: Option<Event<'a>>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum State {
    Header,
    /// The header had these reserved flags, and nobody was told yet.
    OddHeader(u8),
    Blocks,
    AfterEnd {
        warned: bool,
    },
    Done,
}

/// A push parser for the block stream (RFC 0001).
///
/// It does no I/O and keeps none of your bytes (a compressed payload excepted,
/// whose decompressed bytes it must hold until a block is whole). Give it the
/// bytes you have; drop those it consumed; give it the rest and more. The same
/// stream gives the same events and the same error, however it is cut.
///
/// ```
/// use lcp_decoder::{DecodeOptions, Event, Parser};
///
/// # let pack = b"LCP\0\x01\0\0\0\xFF\x01\0\0";
/// let mut parser = Parser::new(DecodeOptions::default());
/// let mut data = &pack[..];
/// loop {
///     let step = parser.parse(data, true)?;
///     data = &data[step.consumed..];
///     match step.event {
///         Some(Event::Frame(frame)) => println!("{:?}", parser.decode(&frame)?),
///         Some(Event::Done) => break,
///         Some(_) => {}
///         None => unreachable!("all data was given, with eof"),
///     }
/// }
/// # Ok::<(), lcp_decoder::Error>(())
/// ```
pub struct Parser<'s> {
    options: DecodeOptions<'s>,
    state: State,
    /// The stream offset of the next byte: of the input, or of `buffer`.
    offset: u64,
    index: u64,
    /// Bytes that bodies gave when they were decompressed or resolved.
    inflated: u64,
    payload: Option<Box<PayloadState>>,
    has_trailer: bool,
    /// The first error; given again for ever after.
    failed: Option<Error>,
}

struct PayloadState {
    inflate: inflate::Payload,
    /// Decompressed bytes; those before `start` are done with.
    buffer: Vec<u8>,
    start: usize,
    /// What zstd found wrong, told when the bytes before it are used up.
    failed: Option<Error>,
    ended: bool,
}

impl<'s> Parser<'s> {
    /// A parser at the first byte of a pack.
    #[must_use]
    pub fn new(options: DecodeOptions<'s>) -> Self {
        Self {
            options,
            state: State::Header,
            offset: 0,
            index: 0,
            inflated: 0,
            payload: None,
            has_trailer: false,
            failed: None,
        }
    }

    /// The stream offset of the next byte that the parser will look at.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Parses the front of `data`, which must begin where the last call's
    /// consumed bytes end; `eof` says that no more will come after it.
    ///
    /// # Errors
    ///
    /// If the stream is malformed or exceeds a limit; the error is final.
    pub fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Step<'a>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.step(data, eof).inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn step<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Step<'a>> {
        match self.state {
            State::Header => self.header(data, eof),
            State::Done => Ok(Step { consumed: 0, event: Some(Event::Done) }),
            State::OddHeader(flags) => {
                self.state = State::Blocks;
                let event = Some(Event::Warning(Warning::ReservedFlags { flags }));
                Ok(Step { consumed: 0, event })
            }
            State::Blocks | State::AfterEnd { .. } if self.payload.is_some() => {
                self.compressed(data, eof)
            }
            State::Blocks => {
                let start = self.offset;
                let event = self.frame(data, eof)?.map(|raw| raw.event(Cow::Borrowed));
                let consumed = usize::try_from(self.offset - start).unwrap_or(data.len());
                Ok(Step { consumed, event })
            }
            State::AfterEnd { warned } => {
                let event = self.after_end(!data.is_empty(), eof, warned)?;
                let consumed =
                    if matches!(event, Some(Event::Warning(_))) { 0 } else { data.len() };
                self.offset += consumed as u64;
                Ok(Step { consumed, event })
            }
        }
    }

    fn header<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Step<'a>> {
        if data.len() < HEADER_BYTES && !eof {
            return Ok(Step { consumed: 0, event: None });
        }
        let header = Header::parse(data)?;
        self.offset = HEADER_BYTES as u64;
        self.has_trailer = header.has_trailer();
        if header.payload_compressed() {
            self.payload = Some(Box::new(PayloadState {
                inflate: inflate::Payload::new(&self.options)?,
                buffer: Vec::new(),
                start: 0,
                failed: None,
                ended: false,
            }));
        }
        let reserved = header.flags & HEADER_RESERVED;
        if reserved != 0 && self.options.strict {
            return Err(Error::new(ErrorKind::ReservedHeader { found: reserved }, 6));
        }
        self.state = if reserved == 0 { State::Blocks } else { State::OddHeader(reserved) };
        Ok(Step { consumed: HEADER_BYTES, event: Some(Event::Header(header)) })
    }

    /// Parses the next frame of `data`, which begins at `self.offset`, and
    /// moves behind it; `None` if it is not there as a whole.
    fn frame<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Option<RawFrame<'a>>> {
        let mut reader = Reader::new(data, self.offset);
        match self.whole_frame(&mut reader) {
            Ok(raw) => {
                self.offset = reader.offset();
                if raw.block_type == BlockType::End {
                    self.state = State::AfterEnd { warned: false };
                } else {
                    self.index += 1;
                }
                Ok(Some(raw))
            }
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof { .. }) && !eof => {
                Ok(None)
            }
            Err(_) if eof && data.is_empty() => Err(Error::new(ErrorKind::MissingEnd, self.offset)),
            Err(error) => Err(error.in_block(self.index)),
        }
    }

    fn whole_frame<'a>(&self, reader: &mut Reader<'a>) -> Result<RawFrame<'a>> {
        let offset = reader.offset();
        let type_id = reader.varint("a block type")?;
        let Ok(type_id) = u8::try_from(type_id) else {
            let (found, max) = (type_id, u64::from(u8::MAX));
            return Err(Error::new(
                ErrorKind::OutOfRange { field: "block type", found, max },
                offset,
            ));
        };
        let block_type = BlockType::from_code(type_id);
        let flags = reader.byte("the flags of a block")?;
        let length_offset = reader.offset();
        let length = reader.varint("the length of a block")?;
        if type_id == TYPE_END {
            if flags != 0 || length != 0 {
                return Err(Error::new(ErrorKind::BadEnd, offset));
            }
        } else if self.index >= self.options.blocks_max {
            let (found, max) = (self.index + 1, self.options.blocks_max);
            return Err(Error::new(
                ErrorKind::TooLarge { limit: "BLOCKS_MAX", found, max },
                offset,
            ));
        }
        if length > self.options.body_bytes_max {
            let (found, max) = (length, self.options.body_bytes_max);
            let kind = ErrorKind::TooLarge { limit: "BODY_BYTES_MAX", found, max };
            return Err(Error::new(kind, length_offset));
        }
        let body_offset = reader.offset();
        let body = reader.bytes(length, "the body of a block")?;
        Ok(RawFrame { index: self.index, offset, body_offset, block_type, flags, body })
    }

    /// A step through a compressed payload: the frames lie in the buffer, the
    /// input only fills it.
    fn compressed<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Step<'a>> {
        let Some(mut payload) = self.payload.take() else {
            return Ok(Step { consumed: 0, event: None });
        };
        let step = self.compressed_step(&mut payload, data, eof);
        self.payload = Some(payload);
        step
    }

    fn compressed_step<'a>(
        &mut self,
        payload: &mut PayloadState,
        data: &'a [u8],
        eof: bool,
    ) -> Result<Step<'a>> {
        let mut consumed = 0;
        loop {
            let ended = payload.ended && payload.failed.is_none();
            let ready = payload.buffer.get(payload.start..).unwrap_or_default();
            let event = if let State::AfterEnd { warned } = self.state {
                let found = !ready.is_empty();
                let event = self.after_end(found, ended, warned)?;
                if !matches!(event, Some(Event::Warning(_))) {
                    self.offset += ready.len() as u64;
                    payload.start = payload.buffer.len();
                }
                event
            } else {
                let start = self.offset;
                let event = self
                    .frame(ready, ended)?
                    .map(|raw| raw.event(|body| Cow::Owned(body.to_vec())));
                payload.start += usize::try_from(self.offset - start).unwrap_or_default();
                event
            };
            if event.is_some() {
                return Ok(Step { consumed, event });
            }
            if let Some(error) = &payload.failed {
                return Err(error.clone());
            }
            let to_feed = data.len() > consumed || (eof && !payload.ended);
            if !to_feed {
                return Ok(Step { consumed, event: None });
            }
            payload.buffer.drain(..payload.start);
            payload.start = 0;
            let rest = data.get(consumed..).unwrap_or_default();
            match payload.inflate.feed(rest, eof, &mut payload.buffer) {
                Ok(taken) => {
                    consumed += taken;
                    payload.ended = eof && consumed == data.len();
                }
                Err(error) => payload.failed = Some(error),
            }
        }
    }

    /// What comes behind END: nothing, an announced trailer, or a warning.
    fn after_end<'a>(&mut self, found: bool, eof: bool, warned: bool) -> Result<Option<Event<'a>>> {
        if found && !warned && !self.has_trailer {
            let offset = self.offset;
            if self.options.strict {
                return Err(Error::new(ErrorKind::TrailingData, offset));
            }
            self.state = State::AfterEnd { warned: true };
            return Ok(Some(Event::Warning(Warning::TrailingData { offset })));
        }
        if eof {
            self.state = State::Done;
            return Ok(Some(Event::Done));
        }
        Ok(None)
    }

    /// How it was told to decode.
    pub(crate) fn options(&self) -> &DecodeOptions<'s> {
        &self.options
    }

    /// The index of the next block.
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// Whether a frame comes next that stands in the input as it is.
    pub(crate) fn is_at_plain_frame(&self) -> bool {
        self.state == State::Blocks && self.payload.is_none() && self.failed.is_none()
    }

    /// Moves behind a frame of so many bytes, which was read without the parser.
    pub(crate) fn pass(&mut self, frame_bytes: usize) {
        self.offset += frame_bytes as u64;
        self.index += 1;
    }

    /// Looks into a frame: resolves its reference, decompresses it, reads its
    /// summary and fields. What is stored as it is stays borrowed.
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit. The frames after it can
    /// still be parsed and decoded.
    pub fn decode<'a>(&mut self, frame: &Frame<'a>) -> Result<Block<'a>> {
        // Bytes of a compressed payload count by how far it was used, not by
        // how far it happens to be decompressed.
        let payload = match self.payload {
            Some(_) => frame.body_offset + frame.body.len() as u64 - HEADER_BYTES as u64,
            None => 0,
        };
        crate::body::decode(frame, &self.options, payload, &mut self.inflated)
            .map_err(|error| error.in_block(frame.index))
    }
}

/// A frame whose body is still a window of what was parsed.
struct RawFrame<'d> {
    index: u64,
    offset: u64,
    body_offset: u64,
    block_type: BlockType,
    flags: u8,
    body: &'d [u8],
}

impl<'d> RawFrame<'d> {
    fn event<'a>(self, body: impl FnOnce(&'d [u8]) -> Cow<'a, [u8]>) -> Event<'a> {
        let Self { index, offset, body_offset, block_type, flags, .. } = self;
        if block_type == BlockType::End {
            return Event::End { offset };
        }
        Event::Frame(Frame { index, offset, body_offset, block_type, flags, body: body(self.body) })
    }
}
