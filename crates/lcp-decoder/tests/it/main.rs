//! What the decoder promises: exact values, exact errors at exact places, no
//! panic, no copy that is not needed, and the same however the input is cut.
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod block_memory;
mod borrowed;
#[cfg(feature = "zstd")]
mod compressed;
#[cfg(all(feature = "rayon", feature = "zstd"))]
mod examples;
mod fast_path;
mod fields;
mod index;
mod laws;
mod limits;
mod malformed;
#[cfg(all(feature = "rayon", feature = "zstd"))]
mod parallel;
mod reading;
mod references;
mod stream;
mod support;
#[cfg(not(feature = "zstd"))]
mod unsupported;
mod vectors;
mod walk;
mod warnings;
