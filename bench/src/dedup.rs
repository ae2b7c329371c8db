//! `dedup`: how fast duplicates are found, how many of them, and whether anything
//! is lost; beside datasketch's `MinHashLSH` on the same texts.
//!
//! `docs/benchmarks.md` tells what the rows mean.

pub mod check;
mod code;
pub mod corpus;
pub mod ground_truth;
pub mod real;

#[cfg(feature = "peers")]
mod datasketch;
#[cfg(feature = "peers")]
mod peer;
#[cfg(feature = "peers")]
mod recall;
#[cfg(feature = "peers")]
mod rows;
#[cfg(feature = "peers")]
mod speed;

#[cfg(feature = "peers")]
pub use rows::{NAME, run};

/// How alike near texts are at least, in hundredths: the default of
/// deduplication.
pub const NEAR_PERCENT: usize = 80;
