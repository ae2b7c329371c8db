//! The state of a stream decoder: the buffer between a reader and the parser.

use std::io;
use std::task::Poll;

use lcp_types::{Block, ContentStore};

use super::StreamError;
use crate::error::{Error, Result, Warning};
use crate::events::{Event, Header};
use crate::options::Limits;
use crate::state::ParserState;

/// The number of bytes requested from a reader at a time, unless a block needs more.
const CHUNK_BYTES: usize = 64 * 1024;

/// The state of a [`StreamDecoder`](crate::StreamDecoder) or an `AsyncStreamDecoder`.
///
/// Each byte is parsed once and moved a bounded number of times, even if reads are small.
pub struct StreamState {
    pub(super) parser: ParserState,
    /// The buffer. The bytes in `start..end` are not parsed yet; free space follows.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The number of unparsed bytes that the parser needs before it can return an event.
    wanted: usize,
    /// The total number of bytes read.
    read: u64,
    /// `true` after the end of the input.
    eof: bool,
    header: Option<Header>,
    warnings: Vec<Warning>,
    /// The error in the body of a block.
    failed: Option<Error>,
    done: bool,
}

impl StreamState {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            parser: ParserState::new(limits),
            bytes: Vec::new(),
            start: 0,
            end: 0,
            wanted: 0,
            read: 0,
            eof: false,
            header: None,
            warnings: Vec::new(),
            failed: None,
            done: false,
        }
    }

    /// Returns the header, or `None` before the first block was requested.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        self.header
    }

    /// Returns the warnings so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the stream offset of the next byte to parse, like
    /// [`Parser::offset`](crate::Parser::offset).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.parser.offset
    }

    /// Returns the memory in bytes that the buffers use.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.parser.capacity()
    }

    /// Returns the next block, or `None` at the end. Returns `Pending` if more bytes must be read
    /// first. Later calls return the same error.
    pub(super) fn next_block(
        &mut self,
        store: Option<&dyn ContentStore>,
    ) -> Result<Poll<Option<Block<'static>>>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let block = self.advance(|parser, event| match event {
            Event::Frame(frame) => Some(parser.decode(frame, store).map(Block::into_owned)),
            _ => None,
        })?;
        if let Poll::Ready(Some(Err(error))) = &block {
            self.failed = Some(error.clone());
        }
        Ok(block?)
    }

    /// Returns the next event, like [`Self::next_block`].
    pub(super) fn next_event(&mut self) -> Result<Poll<Option<Event<'static>>>> {
        self.advance(|_, event| Some(event.into_owned()))
    }

    /// Parses up to the first event for which `take` returns a value.
    fn advance<T>(
        &mut self,
        mut take: impl FnMut(&mut ParserState, Event<'_>) -> Option<T>,
    ) -> Result<Poll<Option<T>>> {
        while !self.done {
            let data = self.bytes.get(self.start..self.end).unwrap_or_default();
            if data.len() < self.wanted && !self.eof {
                return Ok(Poll::Pending);
            }
            let step = self.parser.parse(data, self.eof)?;
            self.start += step.consumed;
            self.wanted = 0;
            let Some(event) = step.event else {
                let missing = usize::try_from(self.parser.bytes_needed).unwrap_or(usize::MAX);
                self.wanted = (self.end - self.start).saturating_add(missing);
                self.done = self.eof;
                continue;
            };
            match &event {
                Event::Header(header) => self.header = Some(*header),
                Event::Warning(warning) => self.warnings.push(warning.clone()),
                Event::Done => self.done = true,
                Event::Frame(_) | Event::End { .. } => {}
            }
            if let Some(item) = take(&mut self.parser, event) {
                return Ok(Poll::Ready(Some(item)));
            }
        }
        Ok(Poll::Ready(None))
    }

    /// Returns the space for the next read, which has at least one byte.
    pub(super) fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let wanted = self.wanted.max(self.end - self.start + 1);
        if self.start > 0 && self.bytes.len() - self.start < wanted {
            // These bytes are only the beginning of a block, and this happens once per block.
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.bytes.len() {
            // The length is a claim of the block. The buffer at most doubles, so a false claim
            // cannot allocate much.
            let len = wanted.min(2 * self.bytes.len()).max(CHUNK_BYTES);
            self.bytes.reserve_exact(len - self.bytes.len());
            self.bytes.resize(len, 0);
        }
        let most = self.start.saturating_add(wanted).max(self.end + CHUNK_BYTES);
        let most = most.min(self.bytes.len());
        self.bytes.get_mut(self.end..most).unwrap_or_default()
    }

    /// Records that `count` bytes were read into [`Self::space`]. 0 means the end of the input.
    pub(super) fn filled(&mut self, count: usize) -> Result<(), StreamError> {
        if count > self.bytes.len() - self.end {
            let error = io::Error::other("the reader returned more bytes than the buffer can hold");
            return Err(self.unread(error));
        }
        self.end += count;
        self.read += count as u64;
        self.eof = count == 0;
        Ok(())
    }

    /// Returns the error for a reader that failed.
    pub(super) fn unread(&self, source: io::Error) -> StreamError {
        StreamError::Read { source, offset: self.read }
    }
}
