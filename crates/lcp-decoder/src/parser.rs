//! The sans-I/O parser: bytes go in, frames or "I need more" come out.

use lcp_types::{Block, ContentStore};

use crate::error::Result;
use crate::events::{Frame, Parsed};
use crate::options::DecodeOptions;
use crate::state::ParserState;

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
///         Some(Event::Frame(frame)) => println!("{:?}", parser.decode_consuming(frame)?),
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
        self.state.offset()
    }

    /// How many bytes the next event needs at least, behind what the last call of
    /// [`Self::parse`] was given, where that found none.
    ///
    /// With fewer, `parse` finds nothing either, unless they are the last: so who
    /// waits for that many calls it seldom, however small the pieces that come. It
    /// is what the input claims, never more than [`DecodeOptions::body_bytes_max`]:
    /// nothing to allocate at once.
    #[must_use]
    pub fn bytes_needed(&self) -> u64 {
        self.state.bytes_needed()
    }

    /// Parses the front of `data`, which must begin where the last call's
    /// consumed bytes end; `eof` says that no more will come after it.
    ///
    /// # Errors
    ///
    /// If the stream is malformed or exceeds a limit; the error is final.
    pub fn parse<'a>(&mut self, data: &'a [u8], eof: bool) -> Result<Parsed<'a>> {
        self.state.parse(data, eof)
    }

    /// Looks into a frame: resolves its reference, decompresses it, reads its
    /// summary and fields. What is stored as it is stays borrowed.
    ///
    /// # Errors
    ///
    /// If the body is malformed or exceeds a limit. The frames after it can
    /// still be parsed and decoded.
    pub fn decode<'a>(&mut self, frame: &Frame<'a>) -> Result<Block<'a>> {
        self.state.decode(frame, self.store)
    }

    /// As [`Self::decode`], of a frame that is not looked into again. A body that it owns,
    /// as frames of compressed payloads do, is handed over to the block where it has 1 MiB
    /// or more, and not held twice (RFC 0008 §5.2).
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn decode_consuming<'a>(&mut self, frame: Frame<'a>) -> Result<Block<'a>> {
        self.state.decode_consuming(frame, self.store)
    }
}
