//! The limits on inputs, defined once for readers and writers.
//!
//! Exceeding a limit is an error that names the limit and its value (exit code 5 of the commands).
//! The input itself also bounds lengths: a length beyond the end of the input is an error before
//! any memory is allocated (RFC 0001 §8).
//!
//! RFC 0008 §5 lists the limits; a test compares that table with [`ALL`].

const MIB: u64 = 1 << 20;

/// Defines a constant for each row, and the list of all limits.
macro_rules! limits {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: $ty = $value;)*

        /// Every limit, as name and value.
        pub const ALL: &[(&str, u64)] = &[$((stringify!($name), $value as u64)),*];
    };
}

limits! {
    /// The maximum size in bytes of one body as stored, before decompression.
    BODY_BYTES_MAX: u64 = 256 * MIB;
    /// The maximum size in bytes of one body after decompression.
    BODY_DECOMPRESSED_BYTES_MAX: u64 = 16 * MIB;
    /// The maximum size in bytes of a whole payload after decompression.
    PAYLOAD_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
    /// The maximum total output of all decompression in one pack, in bytes.
    TOTAL_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
    /// The maximum number of blocks in a pack, not counting END.
    BLOCKS_MAX: u64 = 1 << 24;
    /// The maximum number of fields in a block, including those of nested records.
    FIELDS_MAX: u64 = 1 << 22;
    /// The maximum nesting depth of records: directories within directories of a FILE_TREE.
    DEPTH_MAX: u32 = 64;
    /// The maximum nesting depth of arrays and objects in a JSON manifest. It suffices for a
    /// FILE_TREE of [`DEPTH_MAX`] levels and is small enough for the stack of a parser.
    MANIFEST_DEPTH_MAX: usize = 200;
    /// The maximum nesting depth of arrays and objects in a transcript. Many parsers accept 128
    /// levels, and an export has a few more levels than the import (RFC 0010 §5).
    TRANSCRIPT_DEPTH_MAX: usize = 120;
    /// The maximum size in bytes of a text field that is not content: paths, titles, names, ids.
    TEXT_BYTES_MAX: u64 = MIB;
    /// The maximum size in bytes of a summary.
    SUMMARY_BYTES_MAX: u64 = MIB;
    /// The memory in bytes that the blocks of a pack may use in addition to their contents, for an
    /// input of any size. Each block counts as [`BLOCK_MEMORY_BYTES`], and records and unknown
    /// fields count likewise. Each byte of the input allows [`BLOCK_MEMORY_PER_BYTE`] more (RFC
    /// 0008 §5).
    BLOCK_MEMORY_BYTES_MAX: u64 = 64 * MIB;
    /// The memory in bytes that each byte of the input adds to [`BLOCK_MEMORY_BYTES_MAX`]. This is
    /// the memory of one block, and an uncompressed block takes at least three bytes of input.
    BLOCK_MEMORY_PER_BYTE: u64 = 384;
    /// The maximum number of encodings, by revision, with token costs in an index (RFC 0003 §4).
    INDEX_ENCODINGS_MAX: usize = 32;
    /// The maximum number of modes for each encoding in an index.
    INDEX_MODES_MAX: usize = 16;
    /// The maximum size in bytes of the id of a conversation, hand-off or holder (RFC 0007).
    CONTINUITY_ID_BYTES_MAX: usize = 256;
    /// The maximum size in bytes of a recorded message, encoded as a pack (RFC 0007).
    MESSAGE_BYTES_MAX: u64 = 16 * MIB;
    /// The maximum size in bytes of a hand-off, encoded as a pack (RFC 0007).
    HANDOFF_BYTES_MAX: u64 = 16 * MIB;
    /// The maximum size in bytes of the status of a conversation (RFC 0007).
    STATUS_BYTES_MAX: u64 = 64 << 10;
    /// The maximum size in bytes of code that a grammar parses for an outline (RFC 0010).
    OUTLINE_BYTES_MAX: u64 = 512 << 10;
    /// The maximum number of passages of a block (RFC 0014).
    PASSAGES_MAX: usize = 4096;
    /// The maximum number of reasons of a block that readers use (RFC 0014).
    REASONS_MAX: usize = 64;
}

/// The memory in bytes that each block counts, in addition to its contents. It is three times the
/// size of the type, because a growing list briefly holds the old and the new allocation, and the
/// new one has twice the capacity.
pub const BLOCK_MEMORY_BYTES: u64 = 384;
/// The memory in bytes that each nested record counts. It is four times the size of the type,
/// because the initial capacity of a list is four.
pub const RECORD_MEMORY_BYTES: u64 = 384;
/// The memory in bytes that each unknown field counts, computed in the same way.
pub const UNKNOWN_FIELD_MEMORY_BYTES: u64 = 192;

/// Returns the memory in bytes that blocks may use after `input_bytes` bytes of input have been
/// read.
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
    // A record with unknown fields also allocates a box for the list.
    let list = size_of::<Vec<u8>>();
    assert!(3 * block as u64 <= BLOCK_MEMORY_BYTES);
    assert!(4 * entry as u64 <= RECORD_MEMORY_BYTES && 4 * hunk as u64 <= RECORD_MEMORY_BYTES);
    assert!((4 * field + list) as u64 <= UNKNOWN_FIELD_MEMORY_BYTES);
    // An uncompressed input never reaches the limit: a frame and a field take at least three bytes
    // each, and a nested record is inside a field.
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= BLOCK_MEMORY_BYTES);
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= RECORD_MEMORY_BYTES);
    assert!(3 * BLOCK_MEMORY_PER_BYTE >= UNKNOWN_FIELD_MEMORY_BYTES);
};
