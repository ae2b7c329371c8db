//! Packs from a [`Read`].

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

/// The blocks of a pack that is decoded while it is read, from a file, a pipe or a socket.
///
/// Blocks, warnings, errors and offsets are those of [`decode`](crate::decode). It reads to
/// the end of the input; to stop at END, use [`Event::End`]. It holds the longest block (twice
/// for a compressed payload) and at least 64 KiB, so no [`BufReader`](std::io::BufReader) is
/// needed.
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
/// It is an iterator, too, which ends after the first error.
pub struct StreamDecoder<'s, R> {
    reader: R,
    state: StreamState,
    store: Option<&'s dyn ContentStore>,
    ended: bool,
}

impl<'s, R: Read> StreamDecoder<'s, R> {
    /// The pack that begins at the next byte of `reader`.
    #[must_use]
    pub fn new(reader: R, options: DecodeOptions<'s>) -> Self {
        let state = StreamState::new(options.limits());
        Self { reader, state, store: options.store, ended: false }
    }

    /// The next block, annotations included; `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// [`StreamError::Read`] if the reader fails, but where it was interrupted: that is
    /// tried again. It may be asked again, and nothing is lost.
    /// [`StreamError::Decode`] for the first thing that is wrong; it is final.
    pub fn next_block(&mut self) -> Result<Option<Block<'static>>, StreamError> {
        loop {
            if let Poll::Ready(block) = self.state.next_block(self.store)? {
                return Ok(block);
            }
            self.fill()?;
        }
    }

    /// Returns the next event, as [`EventIter`](crate::EventIter); `None` after
    /// [`Event::Done`].
    ///
    /// # Errors
    ///
    /// As [`Self::next_block`], but frames are not looked into.
    pub fn next_event(&mut self) -> Result<Option<Event<'static>>, StreamError> {
        loop {
            if let Poll::Ready(event) = self.state.next_event()? {
                return Ok(event);
            }
            self.fill()?;
        }
    }

    /// Decodes a frame, as [`Parser::decode`](crate::Parser::decode).
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit.
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
    /// Returns the reader; bytes that were read from it and not yet decoded are lost.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// Ends after the first error, also of the reader. [`StreamDecoder::next_block`] can go
/// on after that.
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
