//! The constants of the block stream (RFC 0001): magic, versions, flags, wire types.

/// The magic of a pack in the format of LCP.
pub const MAGIC_LCP: [u8; 4] = *b"LCP\0";
/// The magic of the Bit Context Protocol 1.0, which has the same wire format.
pub const MAGIC_BCP: [u8; 4] = *b"BCP\0";
crate::named_enum! {
    /// The magic at the beginning of a pack.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Magic {
        /// `LCP\0`.
        #[default]
        Lcp = "lcp",
        /// `BCP\0`, for readers of the Bit Context Protocol 1.0.
        Bcp = "bcp",
    }
}

impl Magic {
    /// Returns the bytes of the magic.
    #[must_use]
    pub const fn bytes(self) -> [u8; 4] {
        match self {
            Self::Lcp => MAGIC_LCP,
            Self::Bcp => MAGIC_BCP,
        }
    }
}

/// The size of the header in bytes.
pub const HEADER_BYTES: usize = 8;
/// The offset of the flags in the header.
pub const HEADER_FLAGS_OFFSET: usize = 6;
/// The supported major version. Any other version is an error.
pub const VERSION_MAJOR: u8 = 1;
/// The minor version that the encoder writes. Decoders accept every minor version.
pub const VERSION_MINOR: u8 = 0;

/// Header flag: everything after the header is one zstd stream.
pub const HEADER_PAYLOAD_ZSTD: u8 = 1 << 0;
/// Header flag: an index follows END.
pub const HEADER_INDEX: u8 = 1 << 1;
/// Header flags that have no meaning in this version.
pub const HEADER_RESERVED: u8 = !(HEADER_PAYLOAD_ZSTD | HEADER_INDEX);

/// Block flag: the body begins with a summary.
pub const BLOCK_HAS_SUMMARY: u8 = 1 << 0;
/// Block flag: the body is a zstd stream.
pub const BLOCK_COMPRESSED: u8 = 1 << 1;
/// Block flag: the body is the BLAKE3 hash of the real body.
pub const BLOCK_IS_REFERENCE: u8 = 1 << 2;
/// Block flags that have no meaning in this version. They are preserved and written back.
pub const BLOCK_RESERVED: u8 = !(BLOCK_HAS_SUMMARY | BLOCK_COMPRESSED | BLOCK_IS_REFERENCE);

/// The type of the block that ends a stream.
pub const TYPE_END: u8 = 0xFF;
/// The encoded END block: type, flags 0, length 0.
pub const END_FRAME: [u8; 4] = [0xFF, 0x01, 0x00, 0x00];

/// The wire type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WireType {
    /// A varint.
    Varint = 0,
    /// A length and that many bytes.
    Bytes = 1,
    /// A length and that many bytes of nested fields.
    Nested = 2,
}

impl WireType {
    /// Returns the wire type with this code.
    #[must_use]
    #[inline]
    pub const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Varint),
            1 => Some(Self::Bytes),
            2 => Some(Self::Nested),
            _ => None,
        }
    }
}

/// The size in bytes of a BLAKE3 hash, which is the body of a reference.
pub const HASH_BYTES: usize = 32;
/// The maximum size of a varint in bytes.
pub const VARINT_BYTES_MAX: usize = 10;

/// The number of bytes of a compressed payload that a reader passes to zstd at a time (RFC 0001
/// §10.2).
pub const PAYLOAD_WINDOW_BYTES: usize = 64 * 1024;

/// The type of the block after END that holds the index (RFC 0003 §3).
pub const TYPE_INDEX: u8 = 0xFD;
/// The size in bytes of the footer at the end of a pack with an index.
pub const FOOTER_BYTES: usize = 56;
/// The version of the index and the footer.
pub const INDEX_VERSION: u32 = 1;
/// The magic at the end of the footer.
pub const FOOTER_MAGIC: [u8; 8] = *b"LCPINDEX";
