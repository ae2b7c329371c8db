//! Decodes LLM Context Packs: bytes in, borrowed blocks out.
//!
//! No I/O but by what you give to read from, and no copies of what is stored as it
//! is. Bytes and reasons: RFC 0001, and RFC 0003 for the index after the blocks.
//!
//! | you have | use |
//! |---|---|
//! | a pack in memory | [`decode`], or [`blocks`] one at a time |
#![cfg_attr(
    feature = "rayon",
    doc = "| many compressed blocks, and processors | [`decode_parallel`] |"
)]
//! | a file, a pipe, a socket | [`StreamDecoder`] |
#![cfg_attr(feature = "tokio", doc = "| the same with tokio | [`AsyncStreamDecoder`] |")]
//! | bytes that arrive in pieces, by any other way | [`Parser`] |
//! | a large pack, or one that lies far away, and need some of its blocks | [`PackReader`] |
//! | a broken pack, and want to know all that is wrong | [`EventIter`] |
//!
//! Every error has a [kind](ErrorKind) to match on and the byte where it was
//! noticed. No input makes this crate panic, recurse on its depth, or allocate
//! what the input did not bring: see `lcp_types::limits` and [`DecodeOptions`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

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
mod state;
mod stream;
mod varint;
mod zstd_payload;

pub use blocks::{BlockIter, EventIter, Pack, blocks, decode};
pub use error::{Error, ErrorKind, Result, Warning};
pub use events::{Event, Frame, Header, Parsed};
pub use index::{IndexError, IndexErrorKind, IndexFooter, PackIndex};
pub use lcp_types::wire::Magic;
pub use options::DecodeOptions;
pub use pack_reader::{PackReader, ReadError};
#[cfg(feature = "rayon")]
pub use parallel::decode_parallel;
pub use parser::Parser;
#[cfg(feature = "map")]
pub use read_at::MmapFile;
pub use read_at::ReadAt;
#[cfg(feature = "object-store")]
pub use read_at::RemoteObject;
#[cfg(feature = "tokio")]
pub use stream::AsyncStreamDecoder;
pub use stream::{StreamDecoder, StreamError, StreamState};
