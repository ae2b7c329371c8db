//! The state of a parser, without the store of referenced bodies.

use std::borrow::Cow;
use std::mem;

use lcp_types::wire::{HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_RESERVED, TYPE_END};
use lcp_types::{Block, BlockType, ContentStore};

use crate::body::{self, ResourceUse, block_memory};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::events::{Event, Frame, Header, Parsed};
use crate::fields;
use crate::options::Limits;
use crate::reader::Reader;
use crate::zstd_payload::PayloadDecoder;

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Phase {
    Header,
    /// The header had these reserved flags, and the warning has not been returned yet.
    ReservedFlags(u8),
    Blocks,
    AfterEnd {
        warned: bool,
    },
    Done,
}

pub(crate) struct ParserState {
    pub(crate) limits: Limits,
    phase: Phase,
    /// The stream offset of the next byte, in the input or in `buffer`.
    pub(crate) offset: u64,
    /// The index of the next block.
    pub(crate) index: u64,
    /// The resources that decoded blocks use.
    used: ResourceUse,
    payload: Option<Box<PayloadState>>,
    has_index: bool,
    /// The minimum number of bytes for the next event, if the last call returned no event.
    pub(crate) bytes_needed: u64,
    /// The first error, which later calls return as well.
    failed: Option<Error>,
}

struct PayloadState {
    decoder: PayloadDecoder,
    /// The decompressed bytes. Those before `start` have been parsed.
    buffer: Vec<u8>,
    start: usize,
    /// The error of zstd. It is returned after the bytes before it have been parsed.
    failed: Option<Error>,
}

/// The size in bytes from which a body is moved out of the buffer instead of copied.
const MOVED_BYTES_MIN: usize = 64 * 1024;

impl PayloadState {
    /// Takes a frame of `frame_bytes` bytes from the front, and returns its last `body_bytes`
    /// bytes, which are the body.
    fn take(&mut self, frame_bytes: usize, body_bytes: usize) -> Vec<u8> {
        let end = (self.start + frame_bytes).min(self.buffer.len());
        let body = end.saturating_sub(body_bytes)..end;
        let behind = self.buffer.get(end..).unwrap_or_default();
        if body_bytes < MOVED_BYTES_MIN || behind.len() > body_bytes {
            self.start = end;
            return self.buffer.get(body).unwrap_or_default().to_vec();
        }
        // Here the bytes after the body are fewer than the body, and a long body must not be in
        // memory twice.
        let behind = behind.to_vec();
        let mut buffer = mem::replace(&mut self.buffer, behind);
        self.start = 0;
        buffer.truncate(end);
        buffer.drain(..body.start);
        buffer.shrink_to_fit();
        buffer
    }
}

impl ParserState {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            phase: Phase::Header,
            offset: 0,
            index: 0,
            used: ResourceUse::default(),
            payload: None,
            has_index: false,
            bytes_needed: HEADER_BYTES as u64,
            failed: None,
        }
    }

    /// Returns whether the next item is a frame in an uncompressed pack.
    pub(crate) fn is_at_uncompressed_frame(&self) -> bool {
        self.phase == Phase::Blocks && self.payload.is_none() && self.failed.is_none()
    }

    /// Skips blocks that were read without the parser.
    pub(crate) fn skip(&mut self, blocks: u64, bytes: usize) {
        self.offset += bytes as u64;
        self.index += blocks;
    }

    /// Continues with the frame at `offset`, which is block `index` of an uncompressed pack.
    pub(crate) fn seek(&mut self, offset: u64, index: u64) {
        (self.phase, self.offset, self.index) = (Phase::Blocks, offset, index);
        self.failed = None;
    }

    /// Returns the memory in bytes that a compressed payload uses.
    pub(crate) fn capacity(&self) -> usize {
        let payload = self.payload.as_ref();
        payload.map_or(0, |payload| payload.buffer.capacity() + payload.decoder.capacity())
    }

    pub(crate) fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.bytes_needed = 1;
        self.step(data, eof).inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn step<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        match self.phase {
            Phase::Header => self.header(data, eof),
            Phase::Done => Ok(Parsed { consumed: 0, event: Some(Event::Done) }),
            Phase::ReservedFlags(flags) => {
                self.phase = Phase::Blocks;
                let event = Some(Event::Warning(Warning::ReservedFlags { flags }));
                Ok(Parsed { consumed: 0, event })
            }
            Phase::Blocks | Phase::AfterEnd { .. } if self.payload.is_some() => {
                self.compressed(data, eof)
            }
            Phase::Blocks => {
                let start = self.offset;
                let event = self.frame(data, eof, None)?.map(Frame::into_event);
                let consumed = usize::try_from(self.offset - start).unwrap_or(data.len());
                Ok(Parsed { consumed, event })
            }
            Phase::AfterEnd { warned } => {
                let event = self.after_end(!data.is_empty(), eof, warned)?;
                let consumed =
                    if matches!(event, Some(Event::Warning(_))) { 0 } else { data.len() };
                self.offset += consumed as u64;
                Ok(Parsed { consumed, event })
            }
        }
    }

    fn header<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        if data.len() < HEADER_BYTES && !eof {
            self.bytes_needed = (HEADER_BYTES - data.len()) as u64;
            return Ok(Parsed { consumed: 0, event: None });
        }
        let header = Header::parse(data)?;
        self.offset = HEADER_BYTES as u64;
        self.has_index = header.has_index();
        if header.is_payload_compressed() {
            self.payload = Some(Box::new(PayloadState {
                decoder: PayloadDecoder::new(&self.limits)?,
                buffer: Vec::new(),
                start: 0,
                failed: None,
            }));
        }
        let reserved = header.flags & HEADER_RESERVED;
        if reserved != 0 && self.limits.strict {
            return Err(Error::new(
                ErrorKind::ReservedHeader { found: reserved },
                HEADER_FLAGS_OFFSET as u64,
            ));
        }
        self.phase = if reserved == 0 { Phase::Blocks } else { Phase::ReservedFlags(reserved) };
        Ok(Parsed { consumed: HEADER_BYTES, event: Some(Event::Header(header)) })
    }

    /// Parses the frame at the front of `data` and moves past it. Returns `None` if the frame is
    /// incomplete.
    fn frame<'a>(
        &mut self,
        data: &'a [u8],
        eof: bool,
        input_bytes: Option<u64>,
    ) -> Result<Option<Frame<'a>>> {
        let mut reader = Reader::new(data, self.offset);
        match self.parse_frame(&mut reader, input_bytes) {
            Ok(frame) => {
                self.offset = reader.offset();
                if frame.block_type == BlockType::End {
                    self.phase = Phase::AfterEnd { warned: false };
                } else {
                    self.index += 1;
                }
                Ok(Some(frame))
            }
            Err(_) if eof && data.is_empty() => Err(Error::new(ErrorKind::MissingEnd, self.offset)),
            Err(error) => match *error.kind() {
                ErrorKind::UnexpectedEof { missing, .. } if !eof => {
                    self.bytes_needed = missing;
                    Ok(None)
                }
                _ => Err(error.with_block(self.index)),
            },
        }
    }

    fn parse_frame<'a>(
        &self,
        reader: &mut Reader<'a>,
        input_bytes: Option<u64>,
    ) -> Result<Frame<'a>> {
        let offset = reader.offset();
        let type_id = reader.varint("block type")?;
        let Ok(type_id) = u8::try_from(type_id) else {
            let (found, max) = (type_id, u64::from(u8::MAX));
            return Err(Error::new(
                ErrorKind::OutOfRange { field: "block type", found, max },
                offset,
            ));
        };
        let block_type = BlockType::from_code(type_id);
        let flags = reader.byte("block flags")?;
        let length_offset = reader.offset();
        let length = reader.varint("block length")?;
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
        let body = reader.bytes(length, "block body")?.into();
        let input_bytes = input_bytes.unwrap_or(reader.offset());
        let (found, max) = (block_memory(self.index), self.limits.block_memory(input_bytes));
        if found > max && type_id != TYPE_END {
            return Err(Error::new(fields::block_memory(found, max), offset));
        }
        let index = self.index;
        Ok(Frame { index, offset, body_offset, block_type, flags, input_bytes, body })
    }

    /// Parses the next frame of a compressed payload. The input only fills the buffer.
    fn compressed<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        let Some(mut payload) = self.payload.take() else {
            return Ok(Parsed { consumed: 0, event: None });
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
    ) -> Result<Parsed<'a>> {
        let mut consumed = 0;
        loop {
            let ended = payload.decoder.is_finished();
            let ready = payload.buffer.get(payload.start..).unwrap_or_default();
            let event = if let Phase::AfterEnd { warned } = self.phase {
                let found = !ready.is_empty();
                let event = self.after_end(found, ended, warned)?;
                if !matches!(event, Some(Event::Warning(_))) {
                    self.offset += ready.len() as u64;
                    payload.start = payload.buffer.len();
                }
                event
            } else {
                let start = self.offset;
                let frame = self.frame(ready, ended, Some(payload.decoder.input_bytes()))?;
                let frame =
                    frame.map(|frame| (frame.body.len(), Frame { body: Cow::default(), ..frame }));
                let frame_bytes = usize::try_from(self.offset - start).unwrap_or_default();
                frame.map(|(body_bytes, frame)| {
                    let body = Cow::Owned(payload.take(frame_bytes, body_bytes));
                    Frame { body, ..frame }.into_event()
                })
            };
            if event.is_some() {
                return Ok(Parsed { consumed, event });
            }
            if let Some(error) = &payload.failed {
                return Err(error.clone());
            }
            payload.buffer.drain(..payload.start);
            payload.start = 0;
            if payload.decoder.is_running() {
                payload.failed = payload.decoder.decompress_chunk(&mut payload.buffer).err();
                continue;
            }
            if data.len() == consumed && (ended || !eof) {
                self.bytes_needed = payload.decoder.bytes_needed();
                return Ok(Parsed { consumed, event: None });
            }
            let rest = data.get(consumed..).unwrap_or_default();
            consumed += payload.decoder.fill(rest, eof);
        }
    }

    /// Returns the event after END: a warning if there are bytes that no index explains, then the
    /// end.
    fn after_end<'a>(&mut self, found: bool, eof: bool, warned: bool) -> Result<Option<Event<'a>>> {
        if found && !warned && !self.has_index {
            let offset = self.offset;
            if self.limits.strict {
                return Err(Error::new(ErrorKind::TrailingData, offset));
            }
            self.phase = Phase::AfterEnd { warned: true };
            return Ok(Some(Event::Warning(Warning::TrailingData { offset })));
        }
        if eof {
            self.phase = Phase::Done;
            return Ok(Some(Event::Done));
        }
        Ok(None)
    }

    /// Decodes a frame. A long owned body is moved into the block.
    pub(crate) fn decode<'a>(
        &mut self,
        frame: Frame<'a>,
        store: Option<&dyn ContentStore>,
    ) -> Result<Block<'a>> {
        let payload = self.payload_bytes(&frame);
        let index = frame.index;
        body::decode(frame, &self.limits, store, payload, &mut self.used)
            .map_err(|error| error.with_block(index))
    }

    /// Decodes a compressed block, assuming that blocks before it use `more` resources, and without
    /// counting it. Returns the block and the resources that it uses.
    #[cfg(feature = "rayon")]
    pub(crate) fn decode_detached(
        &self,
        frame: &Frame<'_>,
        more: ResourceUse,
    ) -> Option<(Block<'static>, ResourceUse)> {
        let before = self.used.plus(more);
        let mut used = before;
        let payload = self.payload_bytes(frame);
        let frame = Frame { body: Cow::Borrowed(&frame.body), ..*frame };
        let block = body::decode(frame, &self.limits, None, payload, &mut used).ok()?;
        Some((block.into_owned(), used.minus(before)))
    }

    /// Counts a block that was decoded separately, and returns `true`. Counts nothing and returns
    /// `false` if it would exceed a limit.
    #[cfg(feature = "rayon")]
    pub(crate) fn commit(&mut self, frame: &Frame<'_>, more: ResourceUse) -> bool {
        let used = self.used.plus(more);
        let total = self.payload_bytes(frame) + used.decompressed;
        let fits = total <= self.limits.total_decompressed_bytes_max
            && used.memory(frame) <= self.limits.block_memory(frame.input_bytes);
        if fits {
            self.used = used;
        }
        fits
    }

    /// Returns the size in bytes of the decompressed payload up to the end of this frame; 0 without
    /// a compressed payload.
    fn payload_bytes(&self, frame: &Frame<'_>) -> u64 {
        match self.payload {
            Some(_) => frame.body_offset + frame.body.len() as u64 - HEADER_BYTES as u64,
            None => 0,
        }
    }
}
