//! Decoding of packs from a [`Read`].

use std::fmt;
use std::io::{ErrorKind, Read};
use std::iter::FusedIterator;
use std::ops::Deref;
use std::task::Poll;

use lcp_types::{Block, ContentStore};

use super::StreamError;
use super::state::StreamState;
use crate::error::Error;
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;

/// A decoder for a pack that is read from a file, a pipe or a socket.
///
/// Blocks, warnings, errors and offsets are the same as with [`decode`](crate::decode). The decoder
/// reads to the end of the input; to stop at END, use [`Event::End`]. It holds the longest block
/// (twice for a compressed payload) and at least 64 KiB, so a [`BufReader`](std::io::BufReader) is
/// not needed.
///
/// # Example: a file, block by block
///
/// ```
/// use lcp_decoder::{DecodeOptions, StreamDecoder};
/// # use lcp_types::{Block, Role};
/// # let written = [Block::conversation(Role::User, "hi")];
/// # let path = std::env::temp_dir().join(format!("lcp-stream-{}.lcp", std::process::id()));
/// # std::fs::write(&path, lcp_encoder::encode(&written, Default::default())?)?;
/// let file = std::fs::File::open(&path)?;
/// let mut stream = StreamDecoder::new(file, DecodeOptions::default());
/// while let Some(block) = stream.next_block()? {
///     println!("{}", block.block_type());
/// }
/// assert!(stream.warnings().is_empty());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The decoder is also an iterator over the blocks, which ends after the first error.
pub struct StreamDecoder<'s, R> {
    reader: R,
    state: StreamState,
    store: Option<&'s dyn ContentStore>,
    ended: bool,
}

impl<'s, R: Read> StreamDecoder<'s, R> {
    /// Creates a decoder for the pack that begins at the next byte of `reader`.
    #[must_use]
    pub fn new(reader: R, options: DecodeOptions<'s>) -> Self {
        let state = StreamState::new(options.limits());
        Self { reader, state, store: options.store, ended: false }
    }

    /// Returns the next block, annotations included, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// - Returns [`StreamError::Read`] if the reader fails. No data is lost, and the call can be
    ///   repeated. Interrupted reads are retried and are not errors.
    /// - Returns [`StreamError::Decode`] for the first error in the pack. Later calls return the
    ///   same error.
    pub fn next_block(&mut self) -> Result<Option<Block<'static>>, StreamError> {
        loop {
            if let Poll::Ready(block) = self.state.next_block(self.store)? {
                return Ok(block);
            }
            self.fill()?;
        }
    }

    /// Returns the next event, as in [`EventIter`](crate::EventIter), or `None` after
    /// [`Event::Done`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Self::next_block`], except those in the bodies of frames.
    pub fn next_event(&mut self) -> Result<Option<Event<'static>>, StreamError> {
        loop {
            if let Poll::Ready(event) = self.state.next_event()? {
                return Ok(event);
            }
            self.fill()?;
        }
    }

    /// Decodes a frame like [`Parser::decode`](crate::Parser::decode).
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the body is malformed or exceeds a limit.
    pub fn decode(&mut self, frame: Frame<'static>) -> Result<Block<'static>, Error> {
        self.state.parser.decode(frame, self.store)
    }

    fn fill(&mut self) -> Result<(), StreamError> {
        loop {
            match self.reader.read(self.state.space()) {
                Ok(count) => return self.state.filled(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.state.unread(error)),
            }
        }
    }
}

impl<R> StreamDecoder<'_, R> {
    /// Returns the reader. Bytes that were read but not decoded yet are lost.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// Iterates over the blocks. The iterator ends after the first error, even an error of the reader;
/// [`StreamDecoder::next_block`] can continue after the latter.
impl<R: Read> Iterator for StreamDecoder<'_, R> {
    type Item = Result<Block<'static>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let block = self.next_block().transpose();
        self.ended = !matches!(block, Some(Ok(_)));
        block
    }
}

impl<R: Read> FusedIterator for StreamDecoder<'_, R> {}

impl<R> Deref for StreamDecoder<'_, R> {
    type Target = StreamState;

    fn deref(&self) -> &StreamState {
        &self.state
    }
}

impl<R> fmt::Debug for StreamDecoder<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamDecoder").field("offset", &self.offset()).finish_non_exhaustive()
    }
}
