//! The writer of packs.

use lcp_types::wire::{
    BLOCK_COMPRESSED, BLOCK_HAS_SUMMARY, BLOCK_IS_REFERENCE, BLOCK_RESERVED, END_FRAME, HASH_BYTES,
    HEADER_BYTES, HEADER_FLAGS_OFFSET, HEADER_INDEX, HEADER_PAYLOAD_ZSTD, Magic, VERSION_MAJOR,
    VERSION_MINOR,
};
use lcp_types::{
    Annotation, Block, BlockType, CarriedLevel, ContentStore, CowBytes, EncodingCosts, Priority,
    Tag, limits,
};

use crate::compress;
use crate::error::{Error, Result, check};
use crate::fields::{FieldEncoder, LengthPrefix, length_prefixed, varint};
use crate::index::{BytesBefore, IndexWriter, append_index};
use crate::memory_limit::{DecodeMemoryEstimate, nested_bytes};

lcp_types::named_enum! {
    /// The parts of a pack to compress with zstd.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Compression {
        /// No compression.
        #[default]
        None = "none",
        /// Each body of at least 256 bytes, if compression makes it smaller.
        Block = "block",
        /// Everything after the header, as one stream.
        Payload = "payload",
    }
}

/// Options for writing a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    /// The magic. The default is `LCP\0`.
    pub magic: Magic,
    /// The compression. The default is no compression.
    pub compression: Compression,
    /// `true` if an index with checksums follows the blocks (RFC 0003), which is the default. Packs
    /// with the magic `BCP\0` or a compressed payload never have an index.
    pub index: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { magic: Magic::default(), compression: Compression::default(), index: true }
    }
}

impl EncodeOptions {
    /// Returns whether a pack with these options has an index.
    #[must_use]
    pub fn has_index(&self) -> bool {
        self.index && self.magic == Magic::Lcp && self.compression != Compression::Payload
    }
}

/// A writer that creates a pack block by block.
///
/// The summary is part of the [`Block`]. Priority, tags and alternate texts are set with methods of
/// the handle that [`Self::add`] returns, so they always apply to that block.
///
/// ```
/// use lcp_encoder::PackWriter;
/// use lcp_types::{Block, Lang, Priority, Role, Tag};
///
/// let mut pack = PackWriter::default();
/// pack.add(&Block::code(Lang::Rust, "src/main.rs", "fn main() {}").with_summary("entry point"))?
///     .priority(Priority::High)?
///     .tag(&Tag::new("rank", "0.9"))?;
/// pack.add(&Block::conversation(Role::User, "What does it do?"))?;
/// let bytes = pack.finish()?;
/// assert_eq!(bytes[..4], *b"LCP\0");
/// # Ok::<(), lcp_encoder::Error>(())
/// ```
#[derive(Debug)]
pub struct PackWriter {
    pub(crate) options: EncodeOptions,
    /// The header and the frames so far, without payload compression and without `taken`.
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes that [`PackStream`](crate::PackStream) has taken from the front.
    pub(crate) taken: u64,
    pub(crate) blocks: u64,
    /// The number of bytes that a reader gets from decompressing and resolving bodies.
    pub(crate) decompressed: u64,
    /// The memory that a reader needs for the blocks in addition to their contents.
    pub(crate) memory: DecodeMemoryEstimate,
    pub(crate) index: IndexWriter,
}

impl Default for PackWriter {
    fn default() -> Self {
        Self::new(EncodeOptions::default())
    }
}

impl PackWriter {
    /// Creates a writer with these options.
    #[must_use]
    pub fn new(options: EncodeOptions) -> Self {
        let compressed = options.compression == Compression::Payload;
        let flags = if compressed { HEADER_PAYLOAD_ZSTD } else { 0 };
        let mut bytes = options.magic.bytes().to_vec();
        bytes.extend_from_slice(&[VERSION_MAJOR, VERSION_MINOR, flags, 0]);
        let memory = DecodeMemoryEstimate::new(compressed);
        let index = IndexWriter::default();
        Self { options, bytes, taken: 0, blocks: 0, decompressed: 0, memory, index }
    }

    /// Returns the number of blocks so far, annotations included. This is the index of the next
    /// block.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Appends a block.
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the block cannot be written. The pack is then unchanged.
    pub fn add(&mut self, block: &Block<'_>) -> Result<BlockHandle<'_>> {
        self.append(block, None)
    }

    /// Appends a block as a reference: its body is put into `store`, and the pack has only the
    /// hash.
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the block cannot be written or the store fails. The pack is then
    /// unchanged.
    pub fn add_reference(
        &mut self,
        block: &Block<'_>,
        store: &mut dyn ContentStore,
    ) -> Result<BlockHandle<'_>> {
        self.append(block, Some(store))
    }

    fn append(
        &mut self,
        block: &Block<'_>,
        store: Option<&mut dyn ContentStore>,
    ) -> Result<BlockHandle<'_>> {
        // Annotations that may follow are checked when they are added.
        check("pack", "BLOCKS_MAX", self.blocks + 1, limits::BLOCKS_MAX)?;
        let start = self.bytes.len();
        self.push_frame(block, store).inspect_err(|_| self.bytes.truncate(start))?;
        if self.options.has_index() {
            self.index.push(&self.bytes[start..], Ok(block));
        }
        let target = self.blocks;
        self.blocks += 1;
        Ok(BlockHandle { pack: self, target })
    }

    /// Appends the frame of a block. After an error, the caller must truncate the pack.
    fn push_frame(
        &mut self,
        block: &Block<'_>,
        store: Option<&mut dyn ContentStore>,
    ) -> Result<()> {
        if block.reserved_flags & !BLOCK_RESERVED != 0 {
            return Err(Error::NotReserved { flags: block.reserved_flags });
        }
        let mut flags = block.reserved_flags;
        varint(&mut self.bytes, u64::from(block.block_type().code()));
        let flags_at = self.bytes.len();
        self.bytes.push(flags);
        let prefix = LengthPrefix::reserve(&mut self.bytes, text_bytes(block));
        let body_at = self.bytes.len();
        if let Some(summary) = &block.summary {
            check("summary", "SUMMARY_BYTES_MAX", summary.len() as u64, limits::SUMMARY_BYTES_MAX)?;
            flags |= BLOCK_HAS_SUMMARY;
            length_prefixed(&mut self.bytes, summary.as_bytes());
        }
        let mut count = 0;
        if let Some(raw) =
            block.content.write(&mut FieldEncoder::new(&mut self.bytes, &mut count))?
        {
            let block_type = BlockType::from_code(raw.type_id);
            if !matches!(block_type, BlockType::Other(_)) {
                return Err(Error::KnownRawType { type_id: raw.type_id, name: block_type.name() });
            }
            self.bytes.extend_from_slice(raw.body.as_slice());
        }
        let body = &self.bytes[body_at..];
        let real = body.len() as u64;
        check("block", "BODY_BYTES_MAX", real, limits::BODY_BYTES_MAX)?;
        let mut stored = None;
        let nested = nested_bytes(block);
        let left = limits::TOTAL_DECOMPRESSED_BYTES_MAX - self.decompressed;
        let memory =
            |bytes: usize| self.memory.estimate_with(nested, self.taken + (body_at + bytes) as u64);
        if let Some(store) = store {
            let max = limits::BODY_DECOMPRESSED_BYTES_MAX;
            check("referenced block", "BODY_DECOMPRESSED_BYTES_MAX", real, max)?;
            // The error reports the configured limit, not the remainder.
            let total = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
            check("pack", "TOTAL_DECOMPRESSED_BYTES_MAX", total - left + real, total)?;
            let (found, max) = memory(HASH_BYTES);
            check("pack", "BLOCK_MEMORY_BYTES_MAX", found, max)?;
            let hash = *blake3::hash(body).as_bytes();
            store.put(hash, body).map_err(|error| Error::Store { reason: error.to_string() })?;
            flags |= BLOCK_IS_REFERENCE;
            stored = Some(hash.to_vec());
        } else if self.options.compression == Compression::Block
            // Readers would reject a larger compressed body, so it is stored uncompressed.
            && real <= left.min(limits::BODY_DECOMPRESSED_BYTES_MAX)
            && let Some(smaller) = compress::body(body)?
            && let (found, max) = memory(smaller.len())
            && found <= max
        {
            flags |= BLOCK_COMPRESSED;
            stored = Some(smaller);
        }
        if let Some(stored) = stored {
            self.decompressed += real;
            self.bytes.truncate(body_at);
            self.bytes.extend_from_slice(&stored);
        }
        self.bytes[flags_at] = flags;
        prefix.set(&mut self.bytes);
        self.memory.push(nested, self.taken + self.bytes.len() as u64);
        Ok(())
    }

    /// Appends a frame of another pack unchanged. `block` is the decoded block, or only its type if
    /// the body is in a content store. `decompressed` is the size in bytes of the body if it is
    /// compressed or resolved, and 0 if it is stored uncompressed. Returns the index of the block.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLarge`] if the pack would have too many blocks, need too much memory in
    /// a reader, or have too many bytes of decompressed bodies.
    pub fn add_raw_frame(
        &mut self,
        stored: &[u8],
        decompressed: u64,
        block: Result<&Block<'_>, BlockType>,
    ) -> Result<u64> {
        check("pack", "BLOCKS_MAX", self.blocks + 1, limits::BLOCKS_MAX)?;
        let (found, max) = (self.decompressed + decompressed, limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        check("pack", "TOTAL_DECOMPRESSED_BYTES_MAX", found, max)?;
        let nested = block.map_or(0, nested_bytes);
        let end = self.taken + (self.bytes.len() + stored.len()) as u64;
        if self.options.compression != Compression::Payload {
            let (found, max) = self.memory.estimate_with(nested, end);
            check("pack", "BLOCK_MEMORY_BYTES_MAX", found, max)?;
        }
        self.bytes.extend_from_slice(stored);
        self.decompressed = found;
        self.memory.push(nested, end);
        if self.options.has_index() {
            self.index.push(stored, block);
        }
        self.blocks += 1;
        Ok(self.blocks - 1)
    }

    /// Returns the finished pack: header, blocks, END, and an index if the options ask for one.
    ///
    /// # Errors
    ///
    /// Returns [`Error`] if the payload cannot be compressed or exceeds a limit.
    pub fn finish(&self) -> Result<Vec<u8>> {
        self.end(self.bytes.clone(), &[])
    }

    /// Finishes the pack without copying it, and adds the token costs of its blocks to the index.
    /// With them, planning need not count tokens (RFC 0003 §4). A pack without an index does not
    /// store costs.
    ///
    /// # Errors
    ///
    /// - Returns [`Error`] if the payload cannot be compressed or exceeds a limit.
    /// - Returns [`Error::WrongCosts`] if the costs are for another number of blocks.
    /// - Returns [`Error::UnusableCosts`] if readers would reject the costs.
    pub fn into_bytes(mut self, costs: &[EncodingCosts]) -> Result<Vec<u8>> {
        let bytes = std::mem::take(&mut self.bytes);
        self.end(bytes, costs)
    }

    /// Finishes the pack. `pack` has the header and the frames.
    fn end(&self, mut pack: Vec<u8>, costs: &[EncodingCosts]) -> Result<Vec<u8>> {
        if self.options.compression == Compression::Payload {
            return self.compressed(&pack);
        }
        pack.extend_from_slice(&END_FRAME);
        if self.options.has_index()
            && let Some(index) = self.index.body(costs)?
        {
            pack[HEADER_FLAGS_OFFSET] |= HEADER_INDEX;
            append_index(&mut pack, BytesBefore::default(), self.blocks, &index);
        }
        Ok(pack)
    }

    /// Returns the pack with a compressed payload. `pack` has the header and the frames.
    pub(crate) fn compressed(&self, pack: &[u8]) -> Result<Vec<u8>> {
        let (header, frames) = pack.split_at(HEADER_BYTES);
        let mut payload = [frames, &END_FRAME].concat();
        let max = limits::PAYLOAD_DECOMPRESSED_BYTES_MAX;
        let found = payload.len() as u64;
        check("payload", "PAYLOAD_DECOMPRESSED_BYTES_MAX", found, max)?;
        let (found, max) = (found + self.decompressed, limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        check("pack", "TOTAL_DECOMPRESSED_BYTES_MAX", found, max)?;
        let mut pack = header.to_vec();
        let compressed = compress::zstd(&payload)?;
        if self.memory.payload_fits(|| compress::window_progress(&compressed))? {
            payload = compressed;
        } else {
            // Readers would reject so many blocks in so few bytes, so the payload is stored
            // uncompressed.
            pack[HEADER_FLAGS_OFFSET] &= !HEADER_PAYLOAD_ZSTD;
        }
        pack.extend(payload);
        Ok(pack)
    }
}

/// A handle for annotating the block that was just added.
#[derive(Debug)]
pub struct BlockHandle<'p> {
    pack: &'p mut PackWriter,
    target: u64,
}

impl BlockHandle<'_> {
    /// Returns the index of the block; annotations count as well.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.target
    }

    /// Sets the priority of the block.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLarge`] if the pack already has the maximum number of blocks.
    pub fn priority(&mut self, priority: Priority) -> Result<&mut Self> {
        self.add(&Block::new(Annotation::priority(self.target, priority)))
    }

    /// Adds a tag to the block.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLarge`] if the pack already has the maximum number of blocks or the tag
    /// is too long.
    pub fn tag(&mut self, tag: &Tag<'_>) -> Result<&mut Self> {
        self.add(&Block::new(Annotation::tag(self.target, tag)))
    }

    /// Adds an alternate text of the block (RFC 0004 §6).
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLarge`] if the pack already has the maximum number of blocks or the text
    /// is too long.
    pub fn level(&mut self, level: CarriedLevel, text: &str) -> Result<&mut Self> {
        self.add(&Block::new(level.to_extension(self.target, text)))
    }

    fn add(&mut self, block: &Block<'_>) -> Result<&mut Self> {
        self.pack.append(block, None)?;
        Ok(self)
    }
}

/// Encodes `blocks` as a pack. Annotations must be among the blocks.
///
/// # Errors
///
/// Returns the error of the first block that cannot be written.
///
/// ```
/// use lcp_encoder::EncodeOptions;
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi")];
/// let options = EncodeOptions { index: false, ..EncodeOptions::default() };
/// let pack = lcp_encoder::encode(&blocks, options)?;
/// assert_eq!(pack.len(), 8 + 11 + 4);
/// # Ok::<(), lcp_encoder::Error>(())
/// ```
pub fn encode<'a, 'b: 'a>(
    blocks: impl IntoIterator<Item = &'a Block<'b>>,
    options: EncodeOptions,
) -> Result<Vec<u8>> {
    encode_with_costs(blocks, options, &[])
}

/// Encodes `blocks` as a pack with their token costs, like [`PackWriter::into_bytes`].
///
/// # Errors
///
/// - Returns the error of the first block that cannot be written.
/// - Returns [`Error::WrongCosts`] or [`Error::UnusableCosts`] if the costs are invalid.
pub fn encode_with_costs<'a, 'b: 'a>(
    blocks: impl IntoIterator<Item = &'a Block<'b>>,
    options: EncodeOptions,
    costs: &[EncodingCosts],
) -> Result<Vec<u8>> {
    let blocks: Vec<_> = blocks.into_iter().collect();
    let mut pack = PackWriter::new(options);
    // Without the reservation, a large pack would be copied several times while it grows.
    pack.bytes.reserve(blocks.iter().map(|block| text_bytes(block) + FRAME_BYTES).sum());
    for block in blocks {
        pack.add(block)?;
    }
    pack.into_bytes(costs)
}

/// The approximate number of bytes in a frame in addition to its texts.
const FRAME_BYTES: usize = 64;

/// Returns the number of bytes in the fields that can be long.
fn text_bytes(block: &Block<'_>) -> usize {
    let summary = block.summary.as_deref().map_or(0, str::len);
    block.content.text().map_or(0, CowBytes::len) + summary
}
