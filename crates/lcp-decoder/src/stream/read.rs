//! Packs from a [`Read`].

use std::fmt;
use std::io::{ErrorKind, Read};
use std::iter::FusedIterator;

use lcp_types::{Block, ContentStore};

use super::StreamError;
use super::buffer::{Buffer, Progress};
use crate::error::{Error, Warning};
use crate::events::{Event, Frame, Header};
use crate::options::DecodeOptions;

/// The blocks of a pack that is read while it is decoded: of a file, a pipe, a socket.
///
/// They are those of [`decode`](crate::decode), and so are warnings, errors and their
/// offsets, in whatever pieces the reader gives its bytes. It reads up to the end of
/// the input, behind END, as `decode` looks at all of it; who must not wait for
/// that takes [`Event::End`] for the end.
///
/// What is held beside the block that is given is the longest block, 64 KiB at least; of a
/// compressed payload up to twice the longest block and 192 KiB, beside what zstd needs. It
/// asks for 64 KiB at once or more, so that no [`BufReader`](std::io::BufReader) is needed.
///
/// # Example: a file, block by block
///
/// ```
/// use lcp_decoder::{DecodeOptions, PackStream};
/// # use lcp_types::{Block, Role};
/// # let written = [Block::conversation(Role::User, "hi")];
/// # let path = std::env::temp_dir().join(format!("lcp-stream-{}.lcp", std::process::id()));
/// # std::fs::write(&path, lcp_encoder::encode(&written, Default::default())?)?;
/// let file = std::fs::File::open(&path)?;
/// let mut stream = PackStream::new(file, DecodeOptions::default());
/// while let Some(block) = stream.next_block()? {
///     println!("{}", block.block_type());
/// }
/// assert!(stream.warnings().is_empty());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is an iterator, too, which ends after the first error.
pub struct PackStream<'s, R> {
    reader: R,
    buffer: Buffer,
    store: Option<&'s dyn ContentStore>,
    /// Whether the iterator has ended.
    ended: bool,
}

impl<'s, R: Read> PackStream<'s, R> {
    /// The pack that begins at the next byte of `reader`.
    #[must_use]
    pub fn new(reader: R, options: DecodeOptions<'s>) -> Self {
        let buffer = Buffer::new(options.limits());
        Self { reader, buffer, store: options.store, ended: false }
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
            match self.buffer.next_block(self.store)? {
                Progress::Found(block) => return Ok(Some(block)),
                Progress::Done => return Ok(None),
                Progress::Short => self.fill()?,
            }
        }
    }

    /// The next event, to look at frames or to go on behind a malformed block, as
    /// [`Events`](crate::Events); `None` behind [`Event::Done`].
    ///
    /// # Errors
    ///
    /// As [`Self::next_block`], but frames are not looked into.
    pub fn next_event(&mut self) -> Result<Option<Event<'static>>, StreamError> {
        loop {
            match self.buffer.next_event()? {
                Progress::Found(event) => return Ok(Some(event)),
                Progress::Done => return Ok(None),
                Progress::Short => self.fill()?,
            }
        }
    }

    /// Looks into a frame, as [`Parser::decode`](crate::Parser::decode).
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit.
    pub fn decode(&mut self, frame: &Frame<'static>) -> Result<Block<'static>, Error> {
        self.buffer.decode(frame, self.store)
    }

    /// Looks into a frame and uses it up, as [`Parser::decode_once`](crate::Parser::decode_once).
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn decode_once(&mut self, frame: Frame<'static>) -> Result<Block<'static>, Error> {
        self.buffer.decode_once(frame, self.store)
    }

    fn fill(&mut self) -> Result<(), StreamError> {
        loop {
            match self.reader.read(self.buffer.space()) {
                Ok(count) => return self.buffer.filled(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.buffer.unread(error)),
            }
        }
    }
}

impl<R> PackStream<'_, R> {
    /// The header, once the first block was asked for.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        self.buffer.header()
    }

    /// The oddities met so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.buffer.warnings()
    }

    /// The stream offset of the next byte that will be parsed, as
    /// [`Parser::offset`](crate::Parser::offset).
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// How many bytes of memory its buffers take.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// The reader; what was read from it and not yet given is lost.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// Ends after the first error, also of the reader. [`PackStream::next_block`] can go
/// on after that.
impl<R: Read> Iterator for PackStream<'_, R> {
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

impl<R: Read> FusedIterator for PackStream<'_, R> {}

impl<R> fmt::Debug for PackStream<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackStream").field("offset", &self.offset()).finish_non_exhaustive()
    }
}
