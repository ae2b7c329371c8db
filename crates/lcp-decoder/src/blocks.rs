//! Decoding of packs in memory: iterators over events and blocks, and decoding of a whole pack.

use std::borrow::Cow;
use std::mem;

use lcp_types::codec::Record;
use lcp_types::limits::BLOCK_MEMORY_BYTES;
use lcp_types::{
    Annotation, Block, BlockContent, BlockType, Code, Conversation, Document, StructuredData,
    ToolResult,
};

use crate::error::{Error, Result, Warning};
use crate::events::{Event, Frame, Header};
use crate::fast_path::{FIELDS_MAX, PlainFrame};
use crate::options::DecodeOptions;
use crate::parser::Parser;
use crate::reader::FRAME_BYTES_MIN;

const CODE: u8 = BlockType::Code.code();
const CONVERSATION: u8 = BlockType::Conversation.code();
const TOOL_RESULT: u8 = BlockType::ToolResult.code();
const DOCUMENT: u8 = BlockType::Document.code();
const STRUCTURED_DATA: u8 = BlockType::StructuredData.code();
const ANNOTATION: u8 = BlockType::Annotation.code();

/// An iterator over the events of a pack in memory, up to [`Event::Done`] or the first error.
/// [`EventIter::decode`] decodes the frames.
pub struct EventIter<'a, 's> {
    parser: Parser<'s>,
    data: &'a [u8],
    done: bool,
}

impl<'a, 's> EventIter<'a, 's> {
    /// Creates an iterator over the events of `pack`.
    #[must_use]
    pub fn new(pack: &'a [u8], options: DecodeOptions<'s>) -> Self {
        Self { parser: Parser::new(options), data: pack, done: false }
    }

    /// Returns how many of the following blocks may be decoded by the fast path.
    fn plain_blocks_max(&self) -> u64 {
        let limits = &self.parser.state.limits;
        let may_be = !self.done
            && self.parser.state.is_at_uncompressed_frame()
            && limits.fields_max >= FIELDS_MAX as u64
            // Each block then adds more to the memory limit than it uses.
            && limits.block_memory_per_byte >= BLOCK_MEMORY_BYTES.div_ceil(FRAME_BYTES_MIN);
        if may_be { limits.blocks_max.saturating_sub(self.parser.state.index) } else { 0 }
    }

    /// Decodes a frame like [`Parser::decode`].
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the body is malformed or exceeds a limit.
    pub fn decode(&mut self, frame: Frame<'a>) -> Result<Block<'a>> {
        self.parser.decode(frame)
    }
}

impl<'a> Iterator for EventIter<'a, '_> {
    type Item = Result<Event<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        match self.parser.parse(self.data, true) {
            Ok(step) => {
                self.data = self.data.get(step.consumed..).unwrap_or_default();
                self.done = matches!(step.event, None | Some(Event::Done));
                step.event.map(Ok)
            }
            Err(error) => {
                self.done = true;
                Some(Err(error))
            }
        }
    }
}

impl std::iter::FusedIterator for EventIter<'_, '_> {}

/// An iterator over the blocks of a pack in memory, which borrow from the pack. It is created by
/// [`blocks`].
///
/// The iterator ends after the first error. Blocks before the error are valid.
pub struct BlockIter<'a, 's> {
    events: EventIter<'a, 's>,
    /// The number of following blocks that may be decoded by the fast path.
    plain_left: u64,
    /// The values of `plain_left` and of the number of remaining bytes when the fast path began.
    /// With them, the parser skips the blocks that the fast path has decoded.
    plain_since: (u64, usize),
    header: Option<Header>,
    warnings: Vec<Warning>,
}

impl BlockIter<'_, '_> {
    /// Returns the header, or `None` before the first call of `next`.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        self.header
    }

    /// Returns the warnings so far.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl<'a> Iterator for BlockIter<'a, '_> {
    type Item = Result<Block<'a>>;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a block is read faster than it is copied")]
    fn next(&mut self) -> Option<Self::Item> {
        match self.events.data.first() {
            Some(&CONVERSATION) => self.next_plain::<Conversation<'a>>(),
            Some(&CODE) => self.next_plain::<Code<'a>>(),
            _ => self.next_of_other_type(),
        }
    }
}

impl<'a> BlockIter<'a, '_> {
    /// Decodes the next block, which has this type, by the fast path if possible.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a block is read faster than it is copied")]
    fn next_plain<T>(&mut self) -> Option<Result<Block<'a>>>
    where
        T: Record<'a> + Into<BlockContent<'a>>,
    {
        const { assert!(T::FIELDS.len() <= FIELDS_MAX) };
        let EventIter { parser, data, .. } = &mut self.events;
        let frame = if self.plain_left > 0 {
            PlainFrame::new(data, parser.state.limits.body_bytes_max)
        } else {
            None
        };
        let Some(mut frame) = frame else { return self.next_parsed() };
        let Some(content) = T::read_in_order(&mut frame.fields) else { return self.next_parsed() };
        self.plain_left -= 1;
        *data = frame.rest;
        let summary = frame.summary.map(Cow::Borrowed);
        Some(Ok(Block { summary, content: content.into(), reserved_flags: 0 }))
    }

    /// Decodes a block that has neither of the two most frequent types.
    fn next_of_other_type(&mut self) -> Option<Result<Block<'a>>> {
        match self.events.data.first() {
            Some(&TOOL_RESULT) => self.next_plain::<ToolResult<'a>>(),
            Some(&DOCUMENT) => self.next_plain::<Document<'a>>(),
            Some(&STRUCTURED_DATA) => self.next_plain::<StructuredData<'a>>(),
            Some(&ANNOTATION) => self.next_plain::<Annotation<'a>>(),
            _ => self.next_parsed(),
        }
    }

    #[inline(never)]
    fn next_parsed(&mut self) -> Option<Result<Block<'a>>> {
        let (left, bytes) = mem::take(&mut self.plain_since);
        let passed = left - mem::take(&mut self.plain_left);
        if passed > 0 {
            self.events.parser.state.skip(passed, bytes - self.events.data.len());
        }
        loop {
            match self.events.next()? {
                Ok(Event::Header(header)) => self.header = Some(header),
                Ok(Event::Warning(warning)) => self.warnings.push(warning),
                Ok(Event::End { .. } | Event::Done) => {}
                Ok(Event::Frame(frame)) => {
                    let block = self.events.decode(frame);
                    self.events.done |= block.is_err();
                    self.plain_left = self.events.plain_blocks_max();
                    self.plain_since = (self.plain_left, self.events.data.len());
                    return Some(block);
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl std::iter::FusedIterator for BlockIter<'_, '_> {}

/// Returns an iterator over the blocks of `pack`.
///
/// ```
/// use lcp_types::{Block, Role};
///
/// let written = [Block::conversation(Role::User, "hi")];
/// let pack = lcp_encoder::encode(&written, Default::default()).unwrap();
/// for block in lcp_decoder::blocks(&pack, Default::default()) {
///     println!("{}", block?.block_type());
/// }
/// # Ok::<(), lcp_decoder::Error>(())
/// ```
#[must_use]
pub fn blocks<'a, 's>(pack: &'a [u8], options: DecodeOptions<'s>) -> BlockIter<'a, 's> {
    BlockIter {
        events: EventIter::new(pack, options),
        plain_left: 0,
        plain_since: (0, 0),
        header: None,
        warnings: Vec::new(),
    }
}

/// A decoded pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pack<'a> {
    /// The header.
    pub header: Header,
    /// The blocks in pack order, annotations included.
    pub blocks: Vec<Block<'a>>,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// Decodes all blocks of `pack`, which must be complete.
///
/// # Errors
///
/// Returns the first [`Error`]. Use [`blocks`] to get the blocks before it as well.
///
/// ```
/// use lcp_decoder::{DecodeOptions, ErrorKind};
///
/// let error = lcp_decoder::decode(b"LCP\0\x01\0\0\0\x01\0\x05", DecodeOptions::default()).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::UnexpectedEof { missing: 5, .. }));
/// assert_eq!(error.to_string(), "unexpected end of input in block body, missing bytes: 5 (block 0, byte 11)");
/// ```
pub fn decode<'a>(pack: &'a [u8], options: DecodeOptions<'_>) -> Result<Pack<'a>, Error> {
    let mut iter = blocks(pack, options);
    let blocks = iter.by_ref().collect::<Result<Vec<_>>>()?;
    let Some(header) = iter.header else {
        // A pack without a header is an error, which `collect` has already returned.
        return Err(Error::new(crate::ErrorKind::MissingEnd, 0));
    };
    Ok(Pack { header, blocks, warnings: iter.warnings })
}
