//! What an input may ask for: every bound, once, for the writer and the reader.
//!
//! Exceeding one is an error that names the limit and its value (exit code 5
//! of the commands). Lengths are also bounded by the input itself: a length
//! beyond it is an error before anything is allocated (RFC 0001 §8).
//!
//! RFC 0008 §5 has the table of them; [`ALL`] is what it is compared with.

const MIB: u64 = 1 << 20;

/// Makes a constant of each row, and the list of all.
macro_rules! limits {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $ty = $value;)*

        /// Every limit by its name, with its value.
        pub const ALL: &[(&str, u64)] = &[$((stringify!($name), $value as u64)),*];
    };
}

limits! {
    /// Bytes of one body as it is written, before decompression.
    BODY_BYTES_MAX: u64 = 256 * MIB;
    /// Bytes of one body after decompression.
    BODY_DECOMPRESSED_BYTES_MAX: u64 = 16 * MIB;
    /// Bytes of a whole payload after decompression.
    PAYLOAD_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
    /// Bytes that all decompression of one pack may give together.
    TOTAL_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
    /// Blocks of one pack, END not counted.
    BLOCKS_MAX: u64 = 1 << 24;
    /// Fields of one block, those of nested records counted.
    FIELDS_MAX: u64 = 1 << 22;
    /// Levels of nested records: directories within directories of a FILE_TREE.
    DEPTH_MAX: u32 = 64;
    /// Levels of arrays and objects of a JSON manifest: enough for a FILE_TREE of
    /// [`DEPTH_MAX`] levels, few enough for a parser's stack.
    MANIFEST_DEPTH_MAX: usize = 200;
    /// Levels of arrays and objects of a transcript: parsers often read 128; what is exported
    /// has a few more than what was imported (RFC 0010 §5).
    TRANSCRIPT_DEPTH_MAX: usize = 120;
    /// Bytes of a text field that is not content: paths, titles, names, ids.
    TEXT_BYTES_MAX: u64 = MIB;
    /// Bytes of a summary.
    SUMMARY_BYTES_MAX: u64 = MIB;
    /// Bytes of memory that the blocks of a pack may take beside their contents, whatever the
    /// size of the input: by [`BLOCK_MEMORY_BYTES`] and its like. Each byte of the input
    /// allows [`BLOCK_MEMORY_PER_BYTE`] more (RFC 0008 §5).
    BLOCK_MEMORY_BYTES_MAX: u64 = 64 * MIB;
    /// Bytes of memory for blocks that each byte of the input allows beyond
    /// [`BLOCK_MEMORY_BYTES_MAX`]: a block, which has three bytes at least where it is not
    /// compressed.
    BLOCK_MEMORY_PER_BYTE: u64 = 384;
    /// Encodings, by revision, in which an index says what blocks cost (RFC 0003 §4).
    INDEX_ENCODINGS_MAX: usize = 32;
    /// Modes for each of them.
    INDEX_MODES_MAX: usize = 16;
    /// Bytes of the id of a conversation, a hand-off or a holder (RFC 0007).
    CONTINUITY_ID_BYTES_MAX: usize = 256;
    /// Bytes of a message that is recorded, as a pack of its own (RFC 0007).
    MESSAGE_BYTES_MAX: u64 = 16 * MIB;
    /// Bytes of a hand-off, as a pack (RFC 0007).
    HANDOFF_BYTES_MAX: u64 = 16 * MIB;
    /// Bytes of what is kept with a conversation (RFC 0007).
    STATUS_BYTES_MAX: u64 = 64 << 10;
    /// Bytes of code that a grammar reads for an outline (RFC 0010).
    OUTLINE_BYTES_MAX: u64 = 512 << 10;
}

/// Bytes of memory that a block counts, beside what it holds: three times its own size, because
/// a list that grows is there twice for a moment, the new one with twice the places.
pub const BLOCK_MEMORY_BYTES: u64 = 384;
/// Bytes of memory that a nested record counts: four times its own size, because a list begins
/// with four places.
pub const RECORD_MEMORY_BYTES: u64 = 384;
/// Bytes of memory that an unknown field counts, likewise.
pub const UNKNOWN_FIELD_MEMORY_BYTES: u64 = 192;

/// Bytes of memory that blocks may take of an input of which so many bytes were read.
///
/// ```
/// use lcp_types::limits::{BLOCK_MEMORY_BYTES_MAX, BLOCK_MEMORY_PER_BYTE, block_memory};
///
/// let of_a_kib = block_memory(BLOCK_MEMORY_BYTES_MAX, BLOCK_MEMORY_PER_BYTE, 1 << 10);
/// assert_eq!(of_a_kib, (64 << 20) + (384 << 10));
/// ```
#[must_use]
pub const fn block_memory(bytes_max: u64, per_byte: u64, input_bytes: u64) -> u64 {
    bytes_max.saturating_add(per_byte.saturating_mul(input_bytes))
}

const _: () = {
    let block = size_of::<crate::Block<'_>>();
    let (entry, hunk) = (size_of::<crate::FileEntry<'_>>(), size_of::<crate::DiffHunk<'_>>());
    let field = size_of::<crate::UnknownField<'_>>();
    // A record with unknown fields has a box with the list.
    let list = size_of::<Vec<u8>>();
    assert!(3 * block as u64 <= BLOCK_MEMORY_BYTES);
    assert!(4 * entry as u64 <= RECORD_MEMORY_BYTES && 4 * hunk as u64 <= RECORD_MEMORY_BYTES);
    assert!((4 * field + list) as u64 <= UNKNOWN_FIELD_MEMORY_BYTES);
    // What stands in the input as it is never reaches the bound: a frame and a field have
    // three bytes at least, a nested record stands in a field.
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= BLOCK_MEMORY_BYTES);
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= RECORD_MEMORY_BYTES);
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= UNKNOWN_FIELD_MEMORY_BYTES);
};
