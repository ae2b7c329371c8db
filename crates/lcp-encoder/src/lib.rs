//! Encodes LLM Context Packs: blocks in, bytes out. Bytes and reasons: RFC 0001.
//!
//! | you have | use |
//! |---|---|
//! | blocks with priorities, tags and so on, one after the other | [`PackWriter`] |
//! | the blocks of a pack, annotations included | [`encode()`] |
//! | a JSON manifest | `manifest` |
//!
//! The limits of `lcp_types::limits` hold here as in the decoder: what this
//! crate writes, it reads.

mod compress;
mod error;
mod fields;
mod index;
#[cfg(feature = "manifest")]
pub mod manifest;
mod memory_limit;
mod pack_writer;

pub use error::{Error, Result};
pub use fields::encode_raw_frame;
pub use lcp_types::wire::Magic;
pub use pack_writer::{
    BlockHandle, Compression, EncodeOptions, PackWriter, encode, encode_with_costs,
};
