//! The sans-I/O parser: bytes go in, frames or "I need more" come out.

use lcp_types::{Block, ContentStore};

use crate::error::Result;
use crate::events::{Frame, Parsed};
use crate::options::DecodeOptions;
use crate::state::ParserState;

/// A push parser for the block stream (RFC 0001), without I/O.
///
/// Give it the bytes you have; drop those it consumed; give it the rest and more. The same
/// stream gives the same events and errors, however it is cut. It holds bytes only of a
/// compressed payload.
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
    /// A parser at the first byte of a pack.
    #[must_use]
    pub fn new(options: DecodeOptions<'s>) -> Self {
        Self { state: ParserState::new(options.limits()), store: options.store }
    }

    /// The stream offset of the next byte that the parser will look at.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.state.offset
    }

    /// Returns the least number of further bytes that the next event needs, if the last call
    /// of [`Self::parse`] returned none. It is what the input claims: do not allocate it at
    /// once.
    #[must_use]
    pub fn bytes_needed(&self) -> u64 {
        self.state.bytes_needed
    }

    /// Parses the front of `data`, which begins where the consumed bytes ended; with `eof` it
    /// is the last.
    ///
    /// # Errors
    ///
    /// If the stream is malformed or exceeds a limit; the error is final.
    pub fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        self.state.parse(data, eof)
    }

    /// Decodes a frame: resolves, decompresses and reads it. A borrowed body stays borrowed;
    /// an owned one of 1 MiB or more is moved into the block (RFC 0008 §5.2).
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit. The frames after it can
    /// still be parsed and decoded.
    pub fn decode<'a>(&mut self, frame: Frame<'a>) -> Result<Block<'a>> {
        self.state.decode(frame, self.store)
    }
}
