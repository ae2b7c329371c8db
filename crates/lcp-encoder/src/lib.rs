//! Encodes blocks as LLM Context Packs. The format is specified in RFC 0001.
//!
//! | input | use |
//! |---|---|
//! | blocks, one at a time, with priorities, tags and alternate texts | [`PackWriter`] |
//! | the blocks of a pack, annotations included | [`encode()`] |
//! | blocks of a pack that does not fit in memory | [`PackStream`] |
//! | a JSON manifest | `manifest` |
//!
//! The encoder enforces the limits in `lcp_types::limits`, as the decoder does. So `lcp-decoder`
//! can read every pack that this crate writes.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod compress;
mod error;
mod fields;
mod index;
#[cfg(feature = "manifest")]
pub mod manifest;
mod memory_limit;
mod pack_stream;
mod pack_writer;

pub use error::{Error, Result};
pub use fields::encode_raw_frame;
pub use lcp_types::wire::Magic;
pub use pack_stream::{PackEnds, PackStream};
pub use pack_writer::{
    BlockHandle, Compression, EncodeOptions, PackWriter, encode, encode_with_costs,
};
