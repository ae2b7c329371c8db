//! What the encoder promises: exact bytes, nothing lost, nothing written that
//! the decoder would refuse, and manifests that say what they mean.
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod bytes;
#[cfg(feature = "zstd")]
mod compression;
#[cfg(feature = "zstd")]
mod examples;
mod laws;
mod limits;
#[cfg(feature = "manifest")]
mod manifest;
#[cfg(feature = "zstd")]
mod pack_stream;
mod pack_writer;
mod references;
#[cfg(not(feature = "zstd"))]
mod unsupported;
