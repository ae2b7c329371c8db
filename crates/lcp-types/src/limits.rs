//! What an input may ask for: every bound, once, for the writer and the reader.
//!
//! Exceeding one is an error that names the limit and its value (exit code 5
//! of the commands). Lengths are also bounded by the input itself: a length
//! beyond it is an error before anything is allocated (RFC 0001 §8).

/// Bytes of one body as it is written, before decompression.
pub const BODY_BYTES_MAX: u64 = 256 * MIB;
/// Bytes of one body after decompression.
pub const BODY_DECOMPRESSED_BYTES_MAX: u64 = 16 * MIB;
/// Bytes of a whole payload after decompression.
pub const PAYLOAD_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
/// Bytes that all decompression of one pack may give together.
pub const TOTAL_DECOMPRESSED_BYTES_MAX: u64 = 256 * MIB;
/// Blocks of one pack, END not counted.
pub const BLOCKS_MAX: u64 = 1 << 24;
/// Fields of one block, those of nested records counted.
pub const FIELDS_MAX: u64 = 1 << 22;
/// Levels of nested records: directories within directories of a FILE_TREE.
pub const DEPTH_MAX: u32 = 64;
/// Levels of arrays and objects of a JSON manifest: enough for a FILE_TREE of
/// [`DEPTH_MAX`] levels, few enough for a parser's stack.
pub const MANIFEST_DEPTH_MAX: usize = 200;
/// Bytes of a text field that is not content: paths, titles, names, ids.
pub const TEXT_BYTES_MAX: u64 = MIB;
/// Bytes of a summary.
pub const SUMMARY_BYTES_MAX: u64 = MIB;
/// Encodings, by revision, in which an index says what blocks cost (RFC 0003 §4).
pub const INDEX_ENCODINGS_MAX: usize = 32;
/// Modes for each of them.
pub const INDEX_MODES_MAX: usize = 16;
/// Bytes of the id of a conversation, a hand-off or a holder (RFC 0007).
pub const CONTINUITY_ID_BYTES_MAX: usize = 256;
/// Bytes of a message that is recorded, as a pack of its own (RFC 0007).
pub const MESSAGE_BYTES_MAX: u64 = 16 * MIB;
/// Bytes of a hand-off, as a pack (RFC 0007).
pub const HANDOFF_BYTES_MAX: u64 = 16 * MIB;
/// Bytes of what is kept with a conversation (RFC 0007).
pub const STATUS_BYTES_MAX: u64 = 64 << 10;
/// Bytes of code that a grammar reads for an outline (RFC 0010).
pub const OUTLINE_BYTES_MAX: u64 = 512 << 10;

const MIB: u64 = 1 << 20;
