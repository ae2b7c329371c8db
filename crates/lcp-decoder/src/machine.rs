//! The state of a parser: all of it but the store that references are found in.

use std::borrow::Cow;

use lcp_types::wire::{HEADER_BYTES, HEADER_FLAGS_AT, HEADER_RESERVED, TYPE_END};
use lcp_types::{Block, BlockType, ContentStore};

use crate::error::{Error, ErrorKind, Result, Warning};
use crate::events::{Event, Frame, Header, Step};
use crate::inflate;
use crate::options::Limits;
use crate::reader::Reader;

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

/// The state of a [`Parser`](crate::Parser).
pub(crate) struct Machine {
    limits: Limits,
    state: State,
    /// The stream offset of the next byte: of the input, or of `buffer`.
    offset: u64,
    index: u64,
    /// Bytes that bodies gave when they were decompressed or resolved.
    inflated: u64,
    payload: Option<Box<PayloadState>>,
    has_trailer: bool,
    /// What the next event needs at least, where the last call found none.
    missing: u64,
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
}

impl Machine {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::Header,
            offset: 0,
            index: 0,
            inflated: 0,
            payload: None,
            has_trailer: false,
            missing: HEADER_BYTES as u64,
            failed: None,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    pub(crate) fn is_at_plain_frame(&self) -> bool {
        self.state == State::Blocks && self.payload.is_none() && self.failed.is_none()
    }

    pub(crate) fn pass(&mut self, blocks: u64, bytes: usize) {
        self.offset += bytes as u64;
        self.index += blocks;
    }

    pub(crate) fn seek(&mut self, offset: u64, index: u64) {
        (self.state, self.offset, self.index) = (State::Blocks, offset, index);
        self.failed = None;
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// Bytes of memory that a compressed payload takes.
    pub(crate) fn capacity(&self) -> usize {
        let payload = self.payload.as_ref();
        payload.map_or(0, |payload| payload.buffer.capacity() + payload.inflate.capacity())
    }

    pub(crate) fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Step<'a>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.missing = 1;
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
            self.missing = (HEADER_BYTES - data.len()) as u64;
            return Ok(Step { consumed: 0, event: None });
        }
        let header = Header::parse(data)?;
        self.offset = HEADER_BYTES as u64;
        self.has_trailer = header.has_trailer();
        if header.payload_compressed() {
            self.payload = Some(Box::new(PayloadState {
                inflate: inflate::Payload::new(&self.limits)?,
                buffer: Vec::new(),
                start: 0,
                failed: None,
            }));
        }
        let reserved = header.flags & HEADER_RESERVED;
        if reserved != 0 && self.limits.strict {
            return Err(Error::new(
                ErrorKind::ReservedHeader { found: reserved },
                HEADER_FLAGS_AT as u64,
            ));
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
            Err(_) if eof && data.is_empty() => Err(Error::new(ErrorKind::MissingEnd, self.offset)),
            Err(error) => match *error.kind() {
                ErrorKind::UnexpectedEof { missing, .. } if !eof => {
                    self.missing = missing;
                    Ok(None)
                }
                _ => Err(error.in_block(self.index)),
            },
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
        } else if self.index >= self.limits.blocks_max {
            let (found, max) = (self.index + 1, self.limits.blocks_max);
            return Err(Error::new(
                ErrorKind::TooLarge { limit: "BLOCKS_MAX", found, max },
                offset,
            ));
        }
        if length > self.limits.body_bytes_max {
            let (found, max) = (length, self.limits.body_bytes_max);
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
            let ended = payload.inflate.ended();
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
            payload.buffer.drain(..payload.start);
            payload.start = 0;
            if payload.inflate.is_running() {
                payload.failed = payload.inflate.run(&mut payload.buffer).err();
                continue;
            }
            if data.len() == consumed && (ended || !eof) {
                self.missing = payload.inflate.missing();
                return Ok(Step { consumed, event: None });
            }
            let rest = data.get(consumed..).unwrap_or_default();
            consumed += payload.inflate.fill(rest, eof);
        }
    }

    /// What comes behind END: nothing, an announced trailer, or a warning.
    fn after_end<'a>(&mut self, found: bool, eof: bool, warned: bool) -> Result<Option<Event<'a>>> {
        if found && !warned && !self.has_trailer {
            let offset = self.offset;
            if self.limits.strict {
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

    pub(crate) fn decode<'a>(
        &mut self,
        frame: &Frame<'a>,
        store: Option<&dyn ContentStore>,
    ) -> Result<Block<'a>> {
        let payload = self.payload_bytes(frame);
        crate::body::decode(frame, &self.limits, store, payload, &mut self.inflated)
            .map_err(|error| error.in_block(frame.index))
    }

    /// Decodes a compressed block without counting it, after `spent` bytes more than
    /// were counted; with how many bytes it has. `None` if anything is wrong.
    #[cfg(feature = "rayon")]
    pub(crate) fn decode_apart(
        &self,
        frame: &Frame<'_>,
        spent: u64,
    ) -> Option<(Block<'static>, u64)> {
        let before = self.inflated + spent;
        let mut inflated = before;
        let payload = self.payload_bytes(frame);
        let block = crate::body::decode(frame, &self.limits, None, payload, &mut inflated).ok()?;
        Some((block.into_owned(), inflated - before))
    }

    /// Counts a block that was decoded apart, unless that exceeds the limit.
    #[cfg(feature = "rayon")]
    pub(crate) fn count(&mut self, frame: &Frame<'_>, bytes: u64) -> bool {
        let spent = self.payload_bytes(frame) + self.inflated + bytes;
        let fits = spent <= self.limits.total_decompressed_bytes_max;
        self.inflated += if fits { bytes } else { 0 };
        fits
    }

    /// How many bytes of a compressed payload were used up to the end of this
    /// frame: they count by that, not by how far it happens to be decompressed.
    fn payload_bytes(&self, frame: &Frame<'_>) -> u64 {
        match self.payload {
            Some(_) => frame.body_offset + frame.body.len() as u64 - HEADER_BYTES as u64,
            None => 0,
        }
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
