//! Encodes LLM Context Packs: blocks in, bytes out. Bytes and reasons: RFC 0001.
//!
//! | you have | use |
//! |---|---|
//! | blocks to say something of, one after the other | [`PackBuilder`] |
//! | the blocks of a pack, annotations included | [`encode()`] |
//! | a JSON manifest | `manifest` |
//!
//! The limits of `lcp_types::limits` hold here as in the decoder: what this
//! crate writes, it reads.

mod builder;
mod compress;
mod error;
mod fields;
#[cfg(feature = "manifest")]
pub mod manifest;
mod memory;
mod trailer;

pub use builder::{Added, Compression, EncodeOptions, Magic, PackBuilder, encode, encode_with};
pub use error::{Error, Result};
pub use fields::stored_frame;
