//! What a caller may set.

use lcp_types::{ContentStore, limits};

/// How to decode: strictness, limits, and where references are found.
///
/// ```
/// use lcp_decoder::DecodeOptions;
///
/// let options = DecodeOptions { strict: true, ..DecodeOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Copy)]
pub struct DecodeOptions<'s> {
    /// Whether bytes after END and reserved header flags are errors; they are
    /// warnings otherwise. Off by default.
    pub strict: bool,
    /// Where references are found. None by default: a reference is then an error.
    pub store: Option<&'s dyn ContentStore>,
    /// Bytes of one body as stored ([`limits::BODY_BYTES_MAX`]).
    pub body_bytes_max: u64,
    /// Bytes of one body after decompression ([`limits::BODY_DECOMPRESSED_BYTES_MAX`]).
    pub body_decompressed_bytes_max: u64,
    /// Bytes of a whole payload after decompression ([`limits::PAYLOAD_DECOMPRESSED_BYTES_MAX`]).
    pub payload_decompressed_bytes_max: u64,
    /// Bytes that all decompression gives together ([`limits::TOTAL_DECOMPRESSED_BYTES_MAX`]).
    pub total_decompressed_bytes_max: u64,
    /// Blocks of the pack ([`limits::BLOCKS_MAX`]).
    pub blocks_max: u64,
    /// Fields of one block ([`limits::FIELDS_MAX`]).
    pub fields_max: u64,
    /// Bytes of memory that blocks take beside their contents, of an input of any size
    /// ([`limits::BLOCK_MEMORY_BYTES_MAX`]; RFC 0008 §5 says what is counted).
    pub block_memory_bytes_max: u64,
    /// How many more for each byte of the input that was read
    /// ([`limits::BLOCK_MEMORY_PER_BYTE`]).
    pub block_memory_per_byte: u64,
}

/// [`DecodeOptions`] without the store, which need not be for every thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) strict: bool,
    pub(crate) body_bytes_max: u64,
    pub(crate) body_decompressed_bytes_max: u64,
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "there are no such payloads"))]
    pub(crate) payload_decompressed_bytes_max: u64,
    pub(crate) total_decompressed_bytes_max: u64,
    pub(crate) blocks_max: u64,
    pub(crate) fields_max: u64,
    pub(crate) block_memory_bytes_max: u64,
    pub(crate) block_memory_per_byte: u64,
}

impl Limits {
    /// Bytes of memory that blocks may take after so many bytes of input.
    pub(crate) fn block_memory(&self, input_bytes: u64) -> u64 {
        let Self { block_memory_bytes_max: max, block_memory_per_byte: per_byte, .. } = *self;
        limits::block_memory(max, per_byte, input_bytes)
    }
}

impl DecodeOptions<'_> {
    pub(crate) fn limits(&self) -> Limits {
        let Self {
            strict,
            store: _,
            body_bytes_max,
            body_decompressed_bytes_max,
            payload_decompressed_bytes_max,
            total_decompressed_bytes_max,
            blocks_max,
            fields_max,
            block_memory_bytes_max,
            block_memory_per_byte,
        } = *self;
        Limits {
            strict,
            body_bytes_max,
            body_decompressed_bytes_max,
            payload_decompressed_bytes_max,
            total_decompressed_bytes_max,
            blocks_max,
            fields_max,
            block_memory_bytes_max,
            block_memory_per_byte,
        }
    }
}

impl Default for DecodeOptions<'_> {
    fn default() -> Self {
        Self {
            strict: false,
            store: None,
            body_bytes_max: limits::BODY_BYTES_MAX,
            body_decompressed_bytes_max: limits::BODY_DECOMPRESSED_BYTES_MAX,
            payload_decompressed_bytes_max: limits::PAYLOAD_DECOMPRESSED_BYTES_MAX,
            total_decompressed_bytes_max: limits::TOTAL_DECOMPRESSED_BYTES_MAX,
            blocks_max: limits::BLOCKS_MAX,
            fields_max: limits::FIELDS_MAX,
            block_memory_bytes_max: limits::BLOCK_MEMORY_BYTES_MAX,
            block_memory_per_byte: limits::BLOCK_MEMORY_PER_BYTE,
        }
    }
}

impl std::fmt::Debug for DecodeOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodeOptions")
            .field("strict", &self.strict)
            .field("store", &self.store.is_some())
            .finish_non_exhaustive()
    }
}
