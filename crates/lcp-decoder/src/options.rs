//! Options of decoding.

use lcp_types::{ContentStore, limits};

/// Defines the limits once for options and parser, one row each: `field = default`.
macro_rules! options {
    ($($(#[$meta:meta])* $field:ident = $default:ident;)*) => {
        /// Options of decoding: strictness, limits, and the store of referenced bodies.
        ///
        /// ```
        /// use lcp_decoder::DecodeOptions;
        ///
        /// let options = DecodeOptions { strict: true, ..DecodeOptions::default() };
        /// # let _ = options;
        /// ```
        #[derive(Clone, Copy)]
        pub struct DecodeOptions<'s> {
            /// `true` if bytes after END and reserved header flags are errors. By default they are
            /// warnings.
            pub strict: bool,
            /// The store of referenced bodies. By default there is no store, and a reference is an
            /// error.
            pub store: Option<&'s dyn ContentStore>,
            $($(#[$meta])* pub $field: u64,)*
        }

        /// The options without the store. Unlike the store, they can be shared between threads.
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
    /// The maximum size of one body in bytes, as stored ([`limits::BODY_BYTES_MAX`]).
    body_bytes_max = BODY_BYTES_MAX;
    /// The maximum size of one body in bytes, after decompression
    /// ([`limits::BODY_DECOMPRESSED_BYTES_MAX`]).
    body_decompressed_bytes_max = BODY_DECOMPRESSED_BYTES_MAX;
    /// The maximum size of a whole payload in bytes, after decompression
    /// ([`limits::PAYLOAD_DECOMPRESSED_BYTES_MAX`]).
    payload_decompressed_bytes_max = PAYLOAD_DECOMPRESSED_BYTES_MAX;
    /// The maximum total output of decompression in bytes
    /// ([`limits::TOTAL_DECOMPRESSED_BYTES_MAX`]).
    total_decompressed_bytes_max = TOTAL_DECOMPRESSED_BYTES_MAX;
    /// The maximum number of blocks in the pack ([`limits::BLOCKS_MAX`]).
    blocks_max = BLOCKS_MAX;
    /// The maximum number of fields in one block ([`limits::FIELDS_MAX`]).
    fields_max = FIELDS_MAX;
    /// The memory in bytes that blocks may use in addition to their contents, for an input of any
    /// size ([`limits::BLOCK_MEMORY_BYTES_MAX`]). RFC 0008 §5 defines how it is counted.
    block_memory_bytes_max = BLOCK_MEMORY_BYTES_MAX;
    /// The memory in bytes that each byte of the input adds to `block_memory_bytes_max`
    /// ([`limits::BLOCK_MEMORY_PER_BYTE`]).
    block_memory_per_byte = BLOCK_MEMORY_PER_BYTE;
}

impl Limits {
    /// Returns the memory in bytes that blocks may use after `input_bytes` bytes of input.
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
