//! What a caller may set.

use lcp_types::{ContentStore, limits};

/// Defines the limits once, for options and parser: `field = default`.
macro_rules! options {
    ($($(#[$meta:meta])* $field:ident = $default:ident;)*) => {
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
            $($(#[$meta])* pub $field: u64,)*
        }

        /// [`DecodeOptions`] without the store, which need not be for every thread.
        #[derive(Clone, Copy, Debug)]
        #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "there are no payloads"))]
        pub(crate) struct Limits {
            pub(crate) strict: bool,
            $(pub(crate) $field: u64,)*
        }

        impl DecodeOptions<'_> {
            pub(crate) fn limits(&self) -> Limits {
                Limits { strict: self.strict, $($field: self.$field),* }
            }
        }

        impl Default for DecodeOptions<'_> {
            fn default() -> Self {
                Self { strict: false, store: None, $($field: limits::$default),* }
            }
        }
    };
}

options! {
    /// Bytes of one body as stored ([`limits::BODY_BYTES_MAX`]).
    body_bytes_max = BODY_BYTES_MAX;
    /// Bytes of one body after decompression ([`limits::BODY_DECOMPRESSED_BYTES_MAX`]).
    body_decompressed_bytes_max = BODY_DECOMPRESSED_BYTES_MAX;
    /// Bytes of a whole payload after decompression ([`limits::PAYLOAD_DECOMPRESSED_BYTES_MAX`]).
    payload_decompressed_bytes_max = PAYLOAD_DECOMPRESSED_BYTES_MAX;
    /// Bytes that all decompression gives together ([`limits::TOTAL_DECOMPRESSED_BYTES_MAX`]).
    total_decompressed_bytes_max = TOTAL_DECOMPRESSED_BYTES_MAX;
    /// Blocks of the pack ([`limits::BLOCKS_MAX`]).
    blocks_max = BLOCKS_MAX;
    /// Fields of one block ([`limits::FIELDS_MAX`]).
    fields_max = FIELDS_MAX;
    /// Bytes of memory that blocks take beside their contents, of an input of any size
    /// ([`limits::BLOCK_MEMORY_BYTES_MAX`]; RFC 0008 §5 says what is counted).
    block_memory_bytes_max = BLOCK_MEMORY_BYTES_MAX;
    /// How many more for each byte of the input that was read
    /// ([`limits::BLOCK_MEMORY_PER_BYTE`]).
    block_memory_per_byte = BLOCK_MEMORY_PER_BYTE;
}

impl Limits {
    /// Bytes of memory that blocks may take after so many bytes of input.
    pub(crate) fn block_memory(&self, input_bytes: u64) -> u64 {
        limits::block_memory(self.block_memory_bytes_max, self.block_memory_per_byte, input_bytes)
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
