//! The parser, which does no I/O: callers pass bytes and receive events or a request for more
//! bytes.

use lcp_types::{Block, ContentStore};

use crate::error::Result;
use crate::events::{Frame, Parsed};
use crate::options::DecodeOptions;
use crate::state::ParserState;

/// A push parser for the block stream (RFC 0001), without I/O.
///
/// Pass the available bytes, drop the bytes that were consumed, and continue with the rest and more
/// input. The events and errors do not depend on how the stream is split. The parser buffers data
/// only for a compressed payload.
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
///         Some(Event::Frame(frame)) => println!("{:?}", parser.decode(frame)?),
///         Some(Event::Done) => break,
///         Some(_) => {}
///         None => unreachable!("all data was given, with eof"),
///     }
/// }
/// # Ok::<(), lcp_decoder::Error>(())
/// ```
pub struct Parser<'s> {
    pub(crate) state: ParserState,
    store: Option<&'s dyn ContentStore>,
}

impl<'s> Parser<'s> {
    /// Creates a parser at the first byte of a pack.
    #[must_use]
    pub fn new(options: DecodeOptions<'s>) -> Self {
        Self { state: ParserState::new(options.limits()), store: options.store }
    }

    /// Returns the stream offset of the next byte to parse.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.state.offset
    }

    /// Returns the minimum number of further bytes for the next event, if the last call of
    /// [`Self::parse`] returned no event. The number comes from the input, so do not allocate it
    /// all at once.
    #[must_use]
    pub fn bytes_needed(&self) -> u64 {
        self.state.bytes_needed
    }

    /// Parses the front of `data`, which begins after the last consumed byte. If `eof` is `true`,
    /// no input follows `data`.
    ///
    /// # Errors
    ///
    /// Returns [`Error`](crate::Error) if the stream is malformed or exceeds a limit. Later calls
    /// return the same error.
    pub fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        self.state.parse(data, eof)
    }

    /// Decodes a frame: resolves a reference, decompresses the body and reads the fields. The block
    /// borrows from a borrowed body. An owned body of 1 MiB or more is moved into the block (RFC
    /// 0008 §5.2).
    ///
    /// # Errors
    ///
    /// Returns [`Error`](crate::Error) if the body is malformed or exceeds a limit. Later frames
    /// can still be parsed and decoded.
    pub fn decode<'a>(&mut self, frame: Frame<'a>) -> Result<Block<'a>> {
        self.state.decode(frame, self.store)
    }
}
