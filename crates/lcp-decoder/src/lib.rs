//! Decodes LLM Context Packs into blocks that borrow from the input.
//!
//! The crate does no I/O except through the readers you pass, and it does not copy uncompressed
//! data. The format is specified in RFC 0001, and the index after the blocks in RFC 0003.
//!
//! | input | use |
//! |---|---|
//! | a pack in memory | [`decode`], or [`blocks`] to decode one block at a time |
#![cfg_attr(
    feature = "rayon",
    doc = "| many compressed blocks, and processors | [`decode_parallel`] |"
)]
//! | a file, a pipe or a socket | [`StreamDecoder`] |
#![cfg_attr(feature = "tokio", doc = "| the same with tokio | [`AsyncStreamDecoder`] |")]
//! | bytes that arrive in pieces from any other source | [`Parser`] |
//! | a large or remote pack of which you need only some blocks | [`PackReader`] |
//! | a damaged pack of which you want all errors | [`EventIter`] |
//!
//! Every error has a [kind](ErrorKind) to match on and the byte offset at which it was detected.
//!
//! On every input, the crate does not panic, its recursion depth is bounded, and it does not
//! allocate memory for data that the input only claims to have. See `lcp_types::limits` and
//! [`DecodeOptions`].
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | parser without I/O, and its state | `parser.rs`, `state.rs` |
//! | events: header, frames, end | `events.rs` |
//! | bodies: references, zstd, summaries, fields | `body.rs`, `fields.rs`; long bodies without a copy: `owned_block.rs` |
//! | varints; compressed payloads | `varint.rs`, `zstd_payload.rs` |
//! | packs in memory | `blocks.rs`; on all processors: `parallel.rs`, a batch at a time: `batch.rs`; fast path for plain blocks: `fast_path.rs` |
//! | packs from readers | `stream/`: `reader.rs`, `async_reader.rs`, shared state in `state.rs` |
//! | single blocks of a pack | `pack_reader.rs`; of a pack without an index: `scan.rs`; sources of bytes: `read_at/` |
//! | the index: footer, columns, comparison with the blocks | `index/`: `mod.rs`, `columns.rs`, `verify.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

mod batch;
mod blocks;
mod body;
mod error;
mod events;
mod fast_path;
mod fields;
mod index;
mod options;
mod owned_block;
mod pack_reader;
#[cfg(feature = "rayon")]
mod parallel;
mod parser;
mod read_at;
mod reader;
mod scan;
mod state;
mod stream;
mod varint;
mod zstd_payload;

pub use blocks::{BlockIter, EventIter, Pack, blocks, decode};
pub use error::{Error, ErrorKind, ReadError, Result, Warning};
pub use events::{Event, Frame, Header, Parsed};
pub use index::{IndexError, IndexErrorKind, IndexFooter, PackIndex};
pub use lcp_types::wire::Magic;
pub use options::DecodeOptions;
pub use pack_reader::PackReader;
#[cfg(feature = "rayon")]
pub use parallel::decode_parallel;
pub use parser::Parser;
#[cfg(feature = "map")]
pub use read_at::MmapFile;
#[cfg(feature = "object-store")]
pub use read_at::RemoteObject;
pub use read_at::{ReadAt, SourceReader};
#[cfg(feature = "tokio")]
pub use stream::AsyncStreamDecoder;
pub use stream::{StreamDecoder, StreamError, StreamState};
