//! Packs of which blocks are read one by one, by their trailer.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;
use std::ops::Range;

use lcp_types::wire::{FOOTER_BYTES, HEADER_BYTES};
use lcp_types::{Block, BlockIndex, BlockSource, SourceError, SourceErrorKind};

use crate::blocks::Pack;
#[cfg(not(feature = "rayon"))]
use crate::blocks::decode;
use crate::error::Error;
use crate::events::{Event, Header};
use crate::options::DecodeOptions;
#[cfg(feature = "rayon")]
use crate::parallel::decode_parallel as decode;
use crate::parser::Parser;
use crate::read_at::ReadAt;
use crate::reader::within;
use crate::trailer::{Footer, Trailer, TrailerError, TrailerErrorKind, may_have_one, verify};

/// A pack that is read where it is needed: opening reads its trailer, and
/// [`Self::read`] the blocks that are asked for (RFC 0003 §6).
///
/// A pack without a trailer, or with one that is not accepted, is read as a whole,
/// once, when the first block is asked for.
///
/// ```
/// use lcp_decoder::PackReader;
/// use lcp_types::{Block, BlockSource, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi"), Block::conversation(Role::Assistant, "yes?")];
/// let pack = lcp_encoder::encode(&blocks, Default::default()).unwrap();
///
/// let reader = PackReader::open(pack, Default::default())?;
/// assert_eq!(reader.block_index().unwrap().newest_user, Some(0));
/// assert_eq!(reader.read(&[1]).unwrap(), &blocks[1..]);
/// # Ok::<(), lcp_decoder::ReadError>(())
/// ```
pub struct PackReader<'s, S> {
    source: S,
    options: DecodeOptions<'s>,
    header: Header,
    trailer: Option<Result<Trailer, TrailerError>>,
    /// The whole pack, once it had to be read.
    whole: OnceCell<Vec<u8>>,
}

/// A pack that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// They are no pack, or a malformed one.
    #[error(transparent)]
    Decode(#[from] Error),
}

/// Bytes from the end that are read at once where each request takes long.
const TAIL_BYTES: u64 = 64 << 10;

/// What lies between two ranges that are read as one, and what such a one has
/// at most.
const GAP_BYTES: u64 = 4 << 10;
const RANGE_BYTES_MAX: u64 = 8 << 20;

impl<'s, S: ReadAt> PackReader<'s, S> {
    /// Opens a pack: reads its header and, where it has one, its trailer.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its header is malformed. A trailer that is not
    /// accepted is no error: [`Self::trailer`] tells.
    pub fn open(source: S, options: DecodeOptions<'s>) -> Result<Self, ReadError> {
        let size = source.size()?;
        let tail = if source.is_far() { TAIL_BYTES } else { FOOTER_BYTES as u64 };
        let tail = size.saturating_sub(tail)..size;
        let head = 0..size.min(HEADER_BYTES as u64);
        let mut first = if size == 0 {
            Vec::new()
        } else if head.end >= tail.start {
            let whole = source.read(std::slice::from_ref(&(0..size)))?;
            let whole = whole.into_iter().next().unwrap_or_default();
            let head = whole.get(..HEADER_BYTES.min(whole.len())).unwrap_or_default().to_vec();
            let start = usize::try_from(tail.start).unwrap_or_default();
            let tail = whole.get(start..).unwrap_or_default().to_vec();
            vec![Cow::Owned(head), Cow::Owned(tail)]
        } else {
            source.read(&[head, tail.clone()])?
        };
        let end = first.pop().unwrap_or_default();
        let header = Header::parse(&first.pop().unwrap_or_default())?;
        let trailer = if header.has_trailer() {
            Some(read_trailer(&source, header, size, tail.start, &end)?)
        } else {
            None
        };
        drop(end);
        Ok(Self { source, options, header, trailer, whole: OnceCell::new() })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// The trailer: `None` if the pack announces none, an error if the one that it
    /// announces is not accepted.
    #[must_use]
    pub fn trailer(&self) -> Option<Result<&Trailer, &TrailerError>> {
        self.trailer.as_ref().map(Result::as_ref)
    }

    /// Where the bytes come from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Uses nothing of the trailer from now on.
    pub fn drop_trailer(&mut self) {
        self.trailer = None;
    }

    /// The whole pack, as [`decode`]: its trailer is not used.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is malformed, or exceeds a limit.
    pub fn decode(&self) -> Result<Pack<'_>, ReadError> {
        Ok(decode(self.bytes()?, self.options)?)
    }

    /// All bytes of the pack; they are read once and kept, where they do not lie
    /// in memory anyway.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn bytes(&self) -> io::Result<&[u8]> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole);
        }
        let all = 0..self.source.size()?;
        if all.is_empty() {
            return Ok(&[]);
        }
        let read = self.source.read(std::slice::from_ref(&all))?.into_iter().next();
        match read.unwrap_or_default() {
            Cow::Borrowed(bytes) => Ok(bytes),
            Cow::Owned(bytes) => Ok(self.whole.get_or_init(|| bytes)),
        }
    }

    /// The accepted trailer.
    fn index(&self) -> Option<&Trailer> {
        self.trailer.as_ref()?.as_ref().ok()
    }

    /// The blocks of these indices by the trailer.
    fn read_by(&self, trailer: &Trailer, indices: &[u32]) -> Result<Vec<Block<'_>>, SourceError> {
        let missing = |index| SourceError::mismatch(format!("the index has no block {index}"));
        let frame = |&index: &u32| trailer.frame(index).ok_or_else(|| missing(index));
        let frames: Vec<Range<u64>> = indices.iter().map(frame).collect::<Result<_, _>>()?;
        let joined = if self.source.is_far() { joined(&frames) } else { frames.clone() };
        let io = |error| SourceError::new(SourceErrorKind::Io, error);
        let read = self.source.read(&joined).map_err(io)?;
        let mut pieces = joined.iter().zip(&read).peekable();
        // The limits hold for what is read together.
        let mut parser = Parser::new(self.options);
        let block = |(&index, frame): (&u32, &Range<u64>)| {
            while pieces.next_if(|(range, _)| range.end < frame.end).is_some() {}
            let (range, bytes) = pieces.peek().ok_or_else(|| missing(index))?;
            let (start, lost) = (range.start, || missing(index));
            let block = match bytes {
                Cow::Borrowed(bytes) => {
                    let stored = within(bytes, start, frame).ok_or_else(lost)?;
                    indexed(&mut parser, trailer, index, frame, stored)
                }
                Cow::Owned(bytes) => {
                    let stored = within(bytes, start, frame).ok_or_else(lost)?;
                    indexed(&mut parser, trailer, index, frame, stored).map(Block::into_owned)
                }
            };
            block.map_err(SourceError::mismatch)
        };
        indices.iter().zip(&frames).map(block).collect()
    }

    /// What the trailer says that is not so, by all blocks (RFC 0003 §5): nothing
    /// where all agrees, or where there is no trailer. What blocks cost is not looked
    /// at.
    ///
    /// # Errors
    ///
    /// If the pack cannot be read, or its frames are malformed.
    pub fn verify(&self) -> Result<Vec<TrailerError>, ReadError> {
        match &self.trailer {
            None => Ok(Vec::new()),
            Some(Err(error)) => Ok(vec![error.clone()]),
            Some(Ok(trailer)) => Ok(verify(trailer, self.bytes()?, self.options)?),
        }
    }
}

impl<S: ReadAt> BlockSource for PackReader<'_, S> {
    fn block_index(&self) -> Option<&BlockIndex> {
        self.index().map(Trailer::block_index)
    }

    /// Without a trailer the whole pack is decoded, for each call.
    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, SourceError> {
        if let Some(trailer) = self.index() {
            return self.read_by(trailer, indices);
        }
        let mut wanted = indices.iter().peekable();
        let mut blocks = self.decode()?.blocks;
        let mut at = 0_u64;
        // In its place: the blocks may be all that memory allows.
        blocks.retain(|_| {
            let is_wanted = wanted.next_if(|&&index| u64::from(index) == at).is_some();
            at += 1;
            is_wanted
        });
        match wanted.next() {
            None => Ok(blocks),
            Some(index) => Err(SourceError::mismatch(format!("there is no block {index}"))),
        }
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, SourceError> {
        Ok(Cow::Owned(self.decode()?.blocks))
    }
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::new(SourceErrorKind::Io, error),
            ReadError::Decode(error) => Self::new(SourceErrorKind::Malformed, error),
        }
    }
}

/// Reads the trailer that the header announces; `end` is what was read already, from
/// `end_at` on.
fn read_trailer<S: ReadAt>(
    source: &S,
    header: Header,
    size: u64,
    end_at: u64,
    end: &[u8],
) -> io::Result<Result<Trailer, TrailerError>> {
    let tail = end.get(end.len().saturating_sub(FOOTER_BYTES)..).unwrap_or_default();
    let footer = match may_have_one(header).and_then(|()| Footer::parse(tail, size)) {
        Ok(footer) => footer,
        Err(error) => return Ok(Err(error)),
    };
    let range = footer.end_and_index();
    if let Some(bytes) = within(end, end_at, &range) {
        return Ok(Trailer::parse(footer, bytes));
    }
    let read = source.read(std::slice::from_ref(&range))?.into_iter().next();
    Ok(Trailer::parse(footer, &read.unwrap_or_default()))
}

/// Ranges that hold all of these, which ascend: those near each other as one.
fn joined(frames: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for frame in frames {
        match joined.last_mut() {
            Some(last)
                if frame.start <= last.end.saturating_add(GAP_BYTES)
                    && frame.end.saturating_sub(last.start) <= RANGE_BYTES_MAX =>
            {
                last.end = last.end.max(frame.end);
            }
            _ => joined.push(frame.clone()),
        }
    }
    joined
}

/// The block of a stored frame, if it is what the trailer says; what differs, in
/// words, if not.
fn indexed<'a>(
    parser: &mut Parser<'_>,
    trailer: &Trailer,
    index: u32,
    place: &Range<u64>,
    stored: &'a [u8],
) -> Result<Block<'a>, String> {
    let fail = |kind| TrailerError::new(kind, place.start).to_string();
    let differs = |what| fail(TrailerErrorKind::Differs { block: index, what });
    if trailer.check(index).is_some_and(|check| crc32c::crc32c(stored) != check) {
        return Err(fail(TrailerErrorKind::FrameCheck { block: index }));
    }
    parser.seek(place.start, u64::from(index));
    let step = parser.parse(stored, true).map_err(|error| error.to_string())?;
    let Some(Event::Frame(frame)) = step.event else { return Err(differs("its type")) };
    if step.consumed != stored.len() {
        return Err(differs("its length"));
    }
    if trailer.block_index().types.get(index as usize) != Some(&frame.block_type.code()) {
        return Err(differs("its type"));
    }
    if trailer.flags(index) != Some(frame.flags) {
        return Err(differs("its flags"));
    }
    parser.decode_once(frame).map_err(|error| error.to_string())
}
