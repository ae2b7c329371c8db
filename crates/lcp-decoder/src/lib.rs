//! Decodes LLM Context Packs: bytes in, borrowed blocks out.
//!
//! No I/O, and no copies of what is stored as it is. Bytes and reasons:
//! RFC 0001.
//!
//! | you have | use |
//! |---|---|
//! | a pack in memory | [`decode`], or [`blocks`] one at a time |
//! | bytes that arrive in pieces | [`Parser`] |
//! | a broken pack, and want to know all that is wrong | [`Events`] |
//!
//! Every error has a [kind](ErrorKind) to match on and the byte where it was
//! noticed. No input makes this crate panic, recurse on its depth, or allocate
//! what the input did not bring: see `lcp_types::limits` and [`DecodeOptions`].
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

mod blocks;
mod body;
mod error;
mod fields;
mod inflate;
mod options;
mod parser;
mod plain;
mod reader;

pub use blocks::{Blocks, Events, Pack, blocks, decode};
pub use error::{Error, ErrorKind, Result, Warning};
pub use options::DecodeOptions;
pub use parser::{Event, Frame, Header, Magic, Parser, Step};
