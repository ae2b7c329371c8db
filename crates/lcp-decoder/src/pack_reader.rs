//! Random access to the blocks of a pack, using its index.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;
use std::ops::Range;

use lcp_types::wire::{FOOTER_BYTES, HEADER_BYTES};
use lcp_types::{Block, BlockIndex, BlockSource, BlockSourceError, BlockSourceErrorKind};

use crate::blocks::Pack;
#[cfg(not(feature = "rayon"))]
use crate::blocks::decode;
use crate::error::ReadError;
use crate::events::{Event, Header};
use crate::index::{
    BlockTable, IndexError, IndexErrorKind, IndexFooter, PackIndex, check_header, verify,
    verify_source,
};
use crate::options::DecodeOptions;
#[cfg(feature = "rayon")]
use crate::parallel::decode_parallel as decode;
use crate::parser::Parser;
use crate::read_at::ReadAt;
use crate::reader::within;
use crate::scan::{WINDOW_BYTES, scan};

/// A reader with random access to the blocks of a pack, using its index (RFC 0003 §6). If the pack
/// has no valid index, the whole pack is read when the first block is requested, unless it was
/// [scanned](Self::scan).
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
    index: Option<Result<PackIndex, IndexError>>,
    /// The frames and columns from [`Self::scan`].
    scanned: Option<BlockTable>,
    /// The bytes of the whole pack, once they have been read.
    full_pack: OnceCell<Vec<u8>>,
}

/// The number of bytes read from the end of a pack in one request, if requests have high latency.
const TAIL_BYTES: u64 = 64 << 10;

/// The maximum gap between two ranges that are read as one, and the maximum size of such a range,
/// in bytes.
const GAP_BYTES: u64 = 4 << 10;
const RANGE_BYTES_MAX: u64 = 8 << 20;

impl<'s, S: ReadAt> PackReader<'s, S> {
    /// Opens a pack and reads its header and, if it has one, its index.
    ///
    /// # Errors
    ///
    /// Returns [`ReadError`] if the pack cannot be read or its header is malformed. A damaged index
    /// is not an error here; see [`Self::index`].
    pub fn open(source: S, options: DecodeOptions<'s>) -> Result<Self, ReadError> {
        let size = source.size()?;
        let tail = if source.has_high_latency() { TAIL_BYTES } else { FOOTER_BYTES as u64 };
        let (all, head, tail) = (0..size, 0..HEADER_BYTES as u64, size.saturating_sub(tail)..size);
        let is_short = head.end >= tail.start;
        let head_and_tail = [head, tail];
        let ranges = if is_short { std::slice::from_ref(&all) } else { &head_and_tail };
        let read = if all.is_empty() { Vec::new() } else { source.read(ranges)? };
        let first = read.first().map(Cow::as_ref).unwrap_or_default();
        let header = Header::parse(first.get(..HEADER_BYTES).unwrap_or(first))?;
        let index = match (ranges.last(), read.last()) {
            (Some(range), Some(end)) if header.has_index() => {
                Some(read_index(&source, header, size, range.start, end)?)
            }
            _ => None,
        };
        drop(read);
        Ok(Self { source, options, header, index, scanned: None, full_pack: OnceCell::new() })
    }

    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// Returns the index. The result is `None` if the pack does not announce an index, and an error
    /// if the announced index is damaged.
    #[must_use]
    pub fn index(&self) -> Option<Result<&PackIndex, &IndexError>> {
        self.index.as_ref().map(Result::as_ref)
    }

    /// Returns the source of the bytes.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Ignores the index from now on.
    pub fn ignore_index(&mut self) {
        self.index = None;
    }

    /// Decodes the whole pack like [`decode`], without the index.
    ///
    /// # Errors
    ///
    /// Returns [`ReadError`] if the pack cannot be read, is malformed, or exceeds a limit.
    pub fn decode(&self) -> Result<Pack<'_>, ReadError> {
        Ok(decode(self.bytes()?, self.options)?)
    }

    /// Returns all bytes of the pack. They are read only once.
    ///
    /// # Errors
    ///
    /// Returns the error of the source if the bytes cannot be read.
    pub fn bytes(&self) -> io::Result<&[u8]> {
        if let Some(whole) = self.full_pack.get() {
            return Ok(whole);
        }
        let all = 0..self.source.size()?;
        if all.is_empty() {
            return Ok(&[]);
        }
        let read = self.source.read(std::slice::from_ref(&all))?.into_iter().next();
        match read.unwrap_or_default() {
            Cow::Borrowed(bytes) => Ok(bytes),
            Cow::Owned(bytes) => Ok(self.full_pack.get_or_init(|| bytes)),
        }
    }

    /// Returns whether the bytes of the pack are in memory: the source has them, or they were read.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        let first = 0..HEADER_BYTES as u64;
        let read = || self.source.read(std::slice::from_ref(&first));
        self.full_pack.get().is_some()
            || read().is_ok_and(|read| matches!(read.first(), Some(Cow::Borrowed(_))))
    }

    /// Reads all blocks once and indexes them in memory. Later reads have random access. `visit`
    /// receives batches of at most 4096 blocks.
    ///
    /// Returns `false` if the payload is compressed or if decoding would return a warning. Later reads
    /// are then unchanged, but `visit` may have received blocks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::decode`].
    ///
    /// ```
    /// use lcp_decoder::{DecodeOptions, PackReader};
    /// use lcp_encoder::{EncodeOptions, encode};
    /// use lcp_types::{Block, BlockSource, Role};
    ///
    /// let blocks = [Block::conversation(Role::User, "hi"), Block::conversation(Role::User, "ho")];
    /// let pack = encode(&blocks, EncodeOptions { index: false, ..EncodeOptions::default() })?;
    ///
    /// let mut reader = PackReader::open(pack, DecodeOptions::default())?;
    /// let mut count = 0;
    /// assert!(reader.scan(|blocks| count += blocks.len())?);
    /// assert_eq!((count, reader.read(&[1])?), (2, blocks[1..].to_vec()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scan(&mut self, mut visit: impl FnMut(&[Block<'_>])) -> Result<bool, ReadError> {
        if self.header.is_payload_compressed() {
            return Ok(false);
        }
        let table = scan(&self.source, self.options, WINDOW_BYTES, &mut visit)?;
        let is_scanned = table.is_some();
        self.scanned = table.or(self.scanned.take());
        Ok(is_scanned)
    }

    /// Returns the frames and columns, from a scan or else from a valid index of the pack.
    fn table(&self) -> Option<&BlockTable> {
        let index = || Some(&self.index.as_ref()?.as_ref().ok()?.table);
        self.scanned.as_ref().or_else(index)
    }

    fn read_by_index(
        &self,
        table: &BlockTable,
        indices: &[u32],
    ) -> Result<Vec<Block<'_>>, BlockSourceError> {
        let missing =
            |index| BlockSourceError::mismatch(format!("block {index} is not in the index"));
        let frame = |&index: &u32| table.frames.range(index as usize).ok_or_else(|| missing(index));
        let frames: Vec<Range<u64>> = indices.iter().map(frame).collect::<Result<_, _>>()?;
        let joined =
            if self.source.has_high_latency() { coalesce(&frames) } else { frames.clone() };
        let io = |error| BlockSourceError::new(BlockSourceErrorKind::Io, error);
        let read = self.source.read(&joined).map_err(io)?;
        let mut pieces = joined.iter().zip(&read).peekable();
        // One parser applies the limits to all blocks of this call together.
        let mut parser = Parser::new(self.options);
        let block = |(&index, frame): (&u32, &Range<u64>)| {
            while pieces.next_if(|(range, _)| range.end < frame.end).is_some() {}
            let (range, bytes) = pieces.peek().ok_or_else(|| missing(index))?;
            let (start, lost) = (range.start, || missing(index));
            let block = match bytes {
                Cow::Borrowed(bytes) => {
                    let stored = within(bytes, start, frame).ok_or_else(lost)?;
                    decode_checked(&mut parser, table, index, frame, stored)
                }
                Cow::Owned(bytes) => {
                    let stored = within(bytes, start, frame).ok_or_else(lost)?;
                    decode_checked(&mut parser, table, index, frame, stored).map(Block::into_owned)
                }
            };
            block.map_err(BlockSourceError::mismatch)
        };
        indices.iter().zip(&frames).map(block).collect()
    }

    /// Returns the differences between the index and the blocks, except for token costs (RFC 0003
    /// §5). Reads one block at a time, unless the bytes are in memory.
    ///
    /// # Errors
    ///
    /// Returns [`ReadError`] if the pack cannot be read or its frames are malformed.
    pub fn verify(&self) -> Result<Vec<IndexError>, ReadError> {
        match &self.index {
            None => Ok(Vec::new()),
            Some(Err(error)) => Ok(vec![error.clone()]),
            Some(Ok(index)) if self.is_in_memory() => {
                Ok(verify(index, self.bytes()?, self.options)?)
            }
            Some(Ok(index)) => verify_source(index, &self.source, self.options),
        }
    }
}

impl<S: ReadAt> BlockSource for PackReader<'_, S> {
    fn block_index(&self) -> Option<&BlockIndex> {
        self.table().map(|table| &table.blocks)
    }

    /// Reads the blocks. Without a valid index or a scan, every call decodes the whole pack.
    fn read(&self, indices: &[u32]) -> Result<Vec<Block<'_>>, BlockSourceError> {
        if let Some(table) = self.table() {
            return self.read_by_index(table, indices);
        }
        let mut wanted = indices.iter().peekable();
        let mut blocks = self.decode()?.blocks;
        let mut at = 0_u64;
        // The list is filtered in place, because the blocks may already use all the memory that is
        // allowed.
        blocks.retain(|_| {
            let is_wanted = wanted.next_if(|&&index| u64::from(index) == at).is_some();
            at += 1;
            is_wanted
        });
        match wanted.next() {
            None => Ok(blocks),
            Some(index) => Err(BlockSourceError::mismatch(format!("block {index} does not exist"))),
        }
    }

    fn read_all(&self) -> Result<Cow<'_, [Block<'_>]>, BlockSourceError> {
        Ok(Cow::Owned(self.decode()?.blocks))
    }
}

impl From<ReadError> for BlockSourceError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::new(BlockSourceErrorKind::Io, error),
            ReadError::Decode(error) => Self::new(BlockSourceErrorKind::Malformed, error),
        }
    }
}

/// Reads the index that the header announces. `end` are the bytes of the pack from `end_at` on.
fn read_index<S: ReadAt>(
    source: &S,
    header: Header,
    size: u64,
    end_at: u64,
    end: &[u8],
) -> io::Result<Result<PackIndex, IndexError>> {
    let tail = end.get(end.len().saturating_sub(FOOTER_BYTES)..).unwrap_or_default();
    let footer = match check_header(header).and_then(|()| IndexFooter::parse(tail, size)) {
        Ok(footer) => footer,
        Err(error) => return Ok(Err(error)),
    };
    let range = footer.end_and_index();
    if let Some(bytes) = within(end, end_at, &range) {
        return Ok(PackIndex::parse(footer, bytes));
    }
    let read = source.read(std::slice::from_ref(&range))?.into_iter().next();
    Ok(PackIndex::parse(footer, &read.unwrap_or_default()))
}

/// Merges ascending ranges that are close to each other.
fn coalesce(frames: &[Range<u64>]) -> Vec<Range<u64>> {
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

/// Decodes a stored frame and compares it with the index. The error names the difference.
fn decode_checked<'a>(
    parser: &mut Parser<'_>,
    table: &BlockTable,
    index: u32,
    range: &Range<u64>,
    stored: &'a [u8],
) -> Result<Block<'a>, String> {
    let fail = |kind| IndexError::new(kind, range.start).to_string();
    let differs = |what| fail(IndexErrorKind::BlockMismatch { block: index, what });
    let at = index as usize;
    if table.frames.checksum(at).is_some_and(|checksum| crc32c::crc32c(stored) != checksum) {
        return Err(fail(IndexErrorKind::FrameChecksum { block: index }));
    }
    parser.state.seek(range.start, u64::from(index));
    let step = parser.parse(stored, true).map_err(|error| error.to_string())?;
    let Some(Event::Frame(frame)) = step.event else { return Err(differs("type")) };
    if step.consumed != stored.len() {
        return Err(differs("length"));
    }
    if table.blocks.types.get(at) != Some(&frame.block_type.code()) {
        return Err(differs("type"));
    }
    if table.frames.flags.get(at) != Some(&frame.flags) {
        return Err(differs("flags"));
    }
    parser.decode(frame).map_err(|error| error.to_string())
}
