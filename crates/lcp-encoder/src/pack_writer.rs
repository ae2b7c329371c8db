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
use crate::index::{IndexWriter, append_index};
use crate::memory_limit::{DecodeMemoryEstimate, nested_bytes};

lcp_types::named_enum! {
    /// What is compressed with zstd.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Compression {
        /// Nothing.
        #[default]
        None = "none",
        /// Each body of 256 bytes and more, where that makes it smaller.
        Block = "block",
        /// All that follows the header, as one stream.
        Payload = "payload",
    }
}

/// How to write a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    /// The magic; `LCP\0` by default.
    pub magic: Magic,
    /// The compression; none by default.
    pub compression: Compression,
    /// Whether an index and checksums follow the blocks (RFC 0003); they do by
    /// default. Never under `BCP\0`, nor in a compressed payload.
    pub index: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { magic: Magic::default(), compression: Compression::default(), index: true }
    }
}

impl EncodeOptions {
    /// Whether a pack with these options has an index.
    #[must_use]
    pub fn has_index(&self) -> bool {
        self.index && self.magic == Magic::Lcp && self.compression != Compression::Payload
    }
}

/// A writer of packs, block by block.
///
/// The summary is part of the [`Block`]; priority, tags and alternate texts are chained to
/// [`Self::add`], and so cannot reach another block.
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
    options: EncodeOptions,
    /// The pack so far: its header, and the frames, not compressed as a whole.
    bytes: Vec<u8>,
    blocks: u64,
    /// Bytes that a reader gets by decompressing and resolving bodies.
    decompressed: u64,
    /// What a reader needs for the blocks beside their contents.
    memory: DecodeMemoryEstimate,
    index: IndexWriter,
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
        Self { options, bytes, blocks: 0, decompressed: 0, memory, index: IndexWriter::default() }
    }

    /// Returns the number of blocks so far, annotations counted: the index of the next one.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Appends a block.
    ///
    /// # Errors
    ///
    /// If the block cannot be written; the pack is then as it was.
    pub fn add(&mut self, block: &Block<'_>) -> Result<BlockHandle<'_>> {
        self.append(block, None)
    }

    /// Appends a block as a reference: its body goes into `store`, the pack
    /// holds the hash.
    ///
    /// # Errors
    ///
    /// If the block cannot be written or the store fails; the pack is then as
    /// it was.
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
        // The annotations that may follow are counted too, each in its turn.
        check("the pack", "BLOCKS_MAX", self.blocks + 1, limits::BLOCKS_MAX)?;
        let start = self.bytes.len();
        self.push_frame(block, store).inspect_err(|_| self.bytes.truncate(start))?;
        if self.options.has_index() {
            self.index.push(&self.bytes[start..], Ok(block));
        }
        let target = self.blocks;
        self.blocks += 1;
        Ok(BlockHandle { pack: self, target })
    }

    /// Appends the frame of a block. After an error, what was appended is of no use.
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
            check(
                "a summary",
                "SUMMARY_BYTES_MAX",
                summary.len() as u64,
                limits::SUMMARY_BYTES_MAX,
            )?;
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
        check("a block", "BODY_BYTES_MAX", real, limits::BODY_BYTES_MAX)?;
        let mut stored = None;
        let nested = nested_bytes(block);
        let left = limits::TOTAL_DECOMPRESSED_BYTES_MAX - self.decompressed;
        let memory = |bytes: usize| self.memory.estimate_with(nested, body_at + bytes);
        if let Some(store) = store {
            let max = limits::BODY_DECOMPRESSED_BYTES_MAX;
            check("a referenced block", "BODY_DECOMPRESSED_BYTES_MAX", real, max)?;
            // The limit is told as it was set, not what is left of it.
            let total = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
            check("the pack", "TOTAL_DECOMPRESSED_BYTES_MAX", total - left + real, total)?;
            let (found, max) = memory(HASH_BYTES);
            check("the pack", "BLOCK_MEMORY_BYTES_MAX", found, max)?;
            let hash = *blake3::hash(body).as_bytes();
            store.put(hash, body).map_err(|error| Error::Store { reason: error.to_string() })?;
            flags |= BLOCK_IS_REFERENCE;
            stored = Some(hash.to_vec());
        } else if self.options.compression == Compression::Block
            // Beyond this a reader would refuse it, so it is stored as it is.
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
        self.memory.push(nested, self.bytes.len());
        Ok(())
    }

    /// Appends a frame of another pack as it stands there, with the block that it
    /// decodes to; where that is not known (the body is stored elsewhere) its type.
    ///
    /// # Errors
    ///
    /// If the pack would have too many blocks, more of them than such a pack may ask memory
    /// for, or bodies too large once decompressed: `decompressed` bytes come of this one, 0 of one that is stored as
    /// it is.
    pub fn add_raw_frame(
        &mut self,
        stored: &[u8],
        decompressed: u64,
        block: Result<&Block<'_>, BlockType>,
    ) -> Result<u64> {
        check("the pack", "BLOCKS_MAX", self.blocks + 1, limits::BLOCKS_MAX)?;
        let (found, max) = (self.decompressed + decompressed, limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        check("the pack", "TOTAL_DECOMPRESSED_BYTES_MAX", found, max)?;
        let nested = block.map_or(0, nested_bytes);
        let end = self.bytes.len() + stored.len();
        if self.options.compression != Compression::Payload {
            let (found, max) = self.memory.estimate_with(nested, end);
            check("the pack", "BLOCK_MEMORY_BYTES_MAX", found, max)?;
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

    /// Finishes the pack: header, blocks, END, and the index if the options ask for one.
    ///
    /// # Errors
    ///
    /// If the payload cannot be compressed.
    pub fn finish(&self) -> Result<Vec<u8>> {
        self.end(self.bytes.clone(), &[])
    }

    /// Finishes the pack without a copy of it, and with the token costs of its blocks in the
    /// index, so that plans need not count tokens (RFC 0003 §4). Without an index they are
    /// left out.
    ///
    /// # Errors
    ///
    /// If the payload cannot be compressed; [`Error::WrongCosts`] if the costs are of another
    /// number of blocks, [`Error::UnusableCosts`] if readers would not accept them.
    pub fn into_bytes(mut self, costs: &[EncodingCosts]) -> Result<Vec<u8>> {
        let bytes = std::mem::take(&mut self.bytes);
        self.end(bytes, costs)
    }

    /// Finishes the pack whose header and frames are `pack`.
    fn end(&self, mut pack: Vec<u8>, costs: &[EncodingCosts]) -> Result<Vec<u8>> {
        if self.options.compression == Compression::Payload {
            return self.compressed(&pack);
        }
        pack.extend_from_slice(&END_FRAME);
        if self.options.has_index()
            && let Some(index) = self.index.body(costs)?
        {
            pack[HEADER_FLAGS_OFFSET] |= HEADER_INDEX;
            append_index(&mut pack, self.blocks, &index);
        }
        Ok(pack)
    }

    fn compressed(&self, pack: &[u8]) -> Result<Vec<u8>> {
        let (header, frames) = pack.split_at(HEADER_BYTES);
        let mut payload = [frames, &END_FRAME].concat();
        let max = limits::PAYLOAD_DECOMPRESSED_BYTES_MAX;
        let found = payload.len() as u64;
        check("the payload", "PAYLOAD_DECOMPRESSED_BYTES_MAX", found, max)?;
        let (found, max) = (found + self.decompressed, limits::TOTAL_DECOMPRESSED_BYTES_MAX);
        check("the pack", "TOTAL_DECOMPRESSED_BYTES_MAX", found, max)?;
        let mut pack = header.to_vec();
        let compressed = compress::zstd(&payload)?;
        if self.memory.payload_fits(|| compress::window_progress(&compressed))? {
            payload = compressed;
        } else {
            // A reader would refuse that many blocks in so few bytes.
            pack[HEADER_FLAGS_OFFSET] &= !HEADER_PAYLOAD_ZSTD;
        }
        pack.extend(payload);
        Ok(pack)
    }
}

/// A handle to the block that was just added, to annotate it.
#[derive(Debug)]
pub struct BlockHandle<'p> {
    pack: &'p mut PackWriter,
    target: u64,
}

impl BlockHandle<'_> {
    /// The index of the block, annotations counted.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.target
    }

    /// Gives the block a priority.
    ///
    /// # Errors
    ///
    /// If the pack has as many blocks as it may; likewise for [`Self::tag`].
    pub fn priority(&mut self, priority: Priority) -> Result<&mut Self> {
        self.add(&Block::new(Annotation::priority(self.target, priority)))
    }

    /// Tags the block.
    ///
    /// # Errors
    ///
    /// If the pack has as many blocks as it may, or the tag is too long.
    pub fn tag(&mut self, tag: &Tag<'_>) -> Result<&mut Self> {
        self.add(&Block::new(Annotation::tag(self.target, tag)))
    }

    /// Adds a further level of detail of the block (RFC 0004 §6).
    ///
    /// # Errors
    ///
    /// If the pack has as many blocks as it may, or the text is too long.
    pub fn level(&mut self, level: CarriedLevel, text: &str) -> Result<&mut Self> {
        self.add(&Block::new(level.to_extension(self.target, text)))
    }

    fn add(&mut self, block: &Block<'_>) -> Result<&mut Self> {
        self.pack.append(block, None)?;
        Ok(self)
    }
}

/// Encodes `blocks` as they stand, annotations included.
///
/// # Errors
///
/// The first block that cannot be written.
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

/// Encodes `blocks` with their token costs: as [`PackWriter::into_bytes`].
///
/// # Errors
///
/// The first block that cannot be written; [`Error::WrongCosts`], [`Error::UnusableCosts`].
pub fn encode_with_costs<'a, 'b: 'a>(
    blocks: impl IntoIterator<Item = &'a Block<'b>>,
    options: EncodeOptions,
    costs: &[EncodingCosts],
) -> Result<Vec<u8>> {
    let blocks: Vec<_> = blocks.into_iter().collect();
    let mut pack = PackWriter::new(options);
    // Growing step by step would copy a large pack several times.
    pack.bytes.reserve(blocks.iter().map(|block| text_bytes(block) + FRAME_BYTES).sum());
    for block in blocks {
        pack.add(block)?;
    }
    pack.into_bytes(costs)
}

/// Bytes of a frame around its texts, about.
const FRAME_BYTES: usize = 64;

/// Bytes of the texts that can be long.
fn text_bytes(block: &Block<'_>) -> usize {
    let summary = block.summary.as_deref().map_or(0, str::len);
    block.content.text().map_or(0, CowBytes::len) + summary
}
