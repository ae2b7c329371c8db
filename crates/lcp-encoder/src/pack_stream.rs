//! A writer of packs that need not fit in memory.

use std::io::{self, Write};
use std::mem;

use lcp_types::wire::{END_FRAME, HEADER_FLAGS_OFFSET, HEADER_INDEX};
use lcp_types::{Block, BlockIndex, BlockType, EncodingCosts, limits};

use crate::error::{Result, check};
use crate::index::{BytesBefore, append_index};
use crate::memory_limit::nested_bytes;
use crate::pack_writer::{Compression, EncodeOptions, PackWriter};

/// A writer that hands over frames while a pack is encoded. The pack has the same bytes as that of
/// [`encode`](crate::encode()).
///
/// The pack is the [head](PackEnds::head), all [written frames](Self::write_frames), and the
/// [tail](PackEnds::tail). The head has the first block if it was
/// [reserved](Self::reserve_first), so that this block can be changed at the end. With
/// [`Compression::Payload`], all frames stay in memory, at most `PAYLOAD_DECOMPRESSED_BYTES_MAX`,
/// and the head is the whole pack.
///
/// ```
/// use lcp_encoder::PackStream;
/// use lcp_types::{Block, Role};
///
/// let blocks = ["a", "b", "c"].map(|text| Block::conversation(Role::User, text));
/// let mut stream = PackStream::new(Default::default());
/// stream.reserve_first(&blocks[2])?;
/// let mut frames = Vec::new();
/// for block in &blocks[1..] {
///     stream.add(block)?;
///     stream.write_frames(&mut frames).unwrap();
/// }
/// stream.replace_first(&blocks[0])?;
/// let ends = stream.finish(&[])?;
/// let pack = [ends.head, frames, ends.tail].concat();
/// assert_eq!(pack, lcp_encoder::encode(&blocks, Default::default())?);
/// # Ok::<(), lcp_encoder::Error>(())
/// ```
#[derive(Debug)]
pub struct PackStream {
    writer: PackWriter,
    header: Vec<u8>,
    first: Option<FirstBlock>,
    /// The size and the checksum of the frames that were handed over.
    written: BytesBefore,
}

/// The first block, whose frame was not handed over.
#[derive(Debug)]
struct FirstBlock {
    frame: Vec<u8>,
    nested: u64,
    decompressed: u64,
}

/// The bytes of a pack before and after its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEnds {
    /// The header and the reserved first block.
    pub head: Vec<u8>,
    /// END and the index.
    pub tail: Vec<u8>,
}

impl PackStream {
    /// Creates a writer with these options.
    #[must_use]
    pub fn new(options: EncodeOptions) -> Self {
        let mut writer = PackWriter::new(options);
        let header = mem::take(&mut writer.bytes);
        writer.taken = header.len() as u64;
        Self { writer, header, first: None, written: BytesBefore::default() }
    }

    /// Returns the number of blocks so far, annotations and the reserved block included.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.writer.blocks
    }

    /// Appends a block.
    ///
    /// # Errors
    ///
    /// Returns [`Error`](crate::Error) if the block cannot be written. The pack is then unchanged.
    pub fn add(&mut self, block: &Block<'_>) -> Result<()> {
        self.writer.add(block)?;
        self.check_payload()
    }

    /// Refuses a compressed payload before it fills the memory.
    fn check_payload(&self) -> Result<()> {
        if !self.is_payload_compressed() {
            return Ok(());
        }
        let (found, max) = (self.writer.bytes.len() as u64, limits::PAYLOAD_DECOMPRESSED_BYTES_MAX);
        check("payload", "PAYLOAD_DECOMPRESSED_BYTES_MAX", found, max)
    }

    /// Appends a frame of another pack unchanged, like [`PackWriter::add_raw_frame`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`PackWriter::add_raw_frame`]. The pack is then unchanged.
    pub fn add_raw_frame(
        &mut self,
        stored: &[u8],
        decompressed: u64,
        block: std::result::Result<&Block<'_>, BlockType>,
    ) -> Result<()> {
        self.writer.add_raw_frame(stored, decompressed, block)?;
        self.check_payload()
    }

    /// Returns the index of the blocks so far, if the options ask for an index.
    #[must_use]
    pub fn block_index(&self) -> Option<BlockIndex> {
        self.writer.options.has_index().then(|| self.writer.index.block_index())
    }

    /// Adds the first block. Its frame is part of [`PackEnds::head`], and not of the frames.
    /// Returns the size of the head if the block is not replaced.
    ///
    /// # Errors
    ///
    /// Returns [`Error`](crate::Error) if the block cannot be written.
    pub fn reserve_first(&mut self, expected: &Block<'_>) -> Result<u64> {
        self.writer.add(expected)?;
        let frame = mem::take(&mut self.writer.bytes);
        self.writer.taken += frame.len() as u64;
        let (nested, decompressed) = (nested_bytes(expected), self.writer.decompressed);
        self.first = Some(FirstBlock { frame, nested, decompressed });
        Ok(self.writer.taken)
    }

    /// Replaces the reserved block by one with the same type and label.
    ///
    /// # Errors
    ///
    /// Returns [`Error`](crate::Error) if the block cannot be written, or if the pack would exceed
    /// a limit with it.
    pub fn replace_first(&mut self, block: &Block<'_>) -> Result<()> {
        let Some(old) = &self.first else { return self.add(block) };
        let options = self.writer.options;
        let mut alone = Self::alone(block, options)?;
        let total =
            |new: &FirstBlock| self.writer.decompressed - old.decompressed + new.decompressed;
        if total(&alone) > limits::TOTAL_DECOMPRESSED_BYTES_MAX {
            alone =
                Self::alone(block, EncodeOptions { compression: Compression::None, ..options })?;
        }
        let sizes = |of: &FirstBlock| (of.nested, of.frame.len() as u64);
        let (before, after) = (sizes(old), sizes(&alone));
        let decompressed = total(&alone);
        if !self.writer.memory.replace_first(before, after) {
            let max = limits::BLOCK_MEMORY_BYTES_MAX;
            check("pack", "BLOCK_MEMORY_BYTES_MAX", max + 1, max)?;
        }
        self.writer.decompressed = decompressed;
        self.writer.taken = self.writer.taken - before.1 + after.1;
        if options.has_index() {
            self.writer.index.replace_first(&alone.frame, block);
        }
        self.first = Some(alone);
        Ok(())
    }

    /// Encodes the first block of a pack.
    fn alone(block: &Block<'_>, options: EncodeOptions) -> Result<FirstBlock> {
        let mut pack = Self::new(options);
        pack.writer.add(block)?;
        let (frame, decompressed) = (pack.writer.bytes, pack.writer.decompressed);
        Ok(FirstBlock { frame, nested: nested_bytes(block), decompressed })
    }

    /// Returns the size of the frames that were not handed over yet, in bytes.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        if self.is_payload_compressed() { 0 } else { self.writer.bytes.len() }
    }

    /// Hands over the frames that were encoded since the last call.
    ///
    /// # Errors
    ///
    /// Returns the error of `output`. The pack can then not be finished.
    pub fn write_frames(&mut self, output: &mut impl Write) -> io::Result<()> {
        if self.is_payload_compressed() {
            return Ok(());
        }
        let bytes = &mut self.writer.bytes;
        output.write_all(bytes)?;
        self.writer.taken += bytes.len() as u64;
        self.written.bytes += bytes.len() as u64;
        self.written.checksum = crc32c::crc32c_append(self.written.checksum, bytes);
        bytes.clear();
        Ok(())
    }

    /// Returns the CRC-32C of the frames that were handed over.
    #[must_use]
    pub fn frames_checksum(&self) -> u32 {
        self.written.checksum
    }

    /// Returns the bytes around the frames. All frames must have been handed over. Costs are those
    /// of [`PackWriter::into_bytes`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`PackWriter::into_bytes`].
    pub fn finish(&self, costs: &[EncodingCosts]) -> Result<PackEnds> {
        let first = self.first.as_ref().map_or(&[][..], |first| &first.frame);
        let mut head = [&self.header, first].concat();
        if self.is_payload_compressed() {
            head.extend_from_slice(&self.writer.bytes);
            return Ok(PackEnds { head: self.writer.compressed(&head)?, tail: Vec::new() });
        }
        debug_assert!(self.writer.bytes.is_empty(), "frames were not handed over");
        let mut tail = END_FRAME.to_vec();
        if self.writer.options.has_index()
            && let Some(index) = self.writer.index.body(costs)?
        {
            head[HEADER_FLAGS_OFFSET] |= HEADER_INDEX;
            let BytesBefore { bytes, checksum } = self.written;
            let frames = usize::try_from(bytes).unwrap_or(usize::MAX);
            let before = BytesBefore {
                bytes: head.len() as u64 + bytes,
                checksum: crc32c::crc32c_combine(crc32c::crc32c(&head), checksum, frames),
            };
            append_index(&mut tail, before, self.writer.blocks, &index);
        }
        Ok(PackEnds { head, tail })
    }

    fn is_payload_compressed(&self) -> bool {
        self.writer.options.compression == Compression::Payload
    }
}
