//! LCP beside others. Peers compile only in this workspace.
//!
//! | look for | in |
//! |---|---|
//! | LCP's blocks as those of the reference implementation | [`mod@reference`] |
//! | random packs of what is hard to count and to keep apart | [`packs`] |
//! | what a benchmark says | [`table`] |
//! | what a session costs with a prompt cache | `cache` (feature `peers`) |
//! | what it costs to keep sessions durably | `continuity` (feature `peers`) |
//! | how fast duplicates are found, and whether nothing unique is lost | [`dedup`] |
//! | how full a budget gets, with real code | `fill` (feature `peers`) |
//! | how fast packs are read and written, beside general formats | `format` (feature `peers`) |
//! | how fast a budget is allocated, and how well | `plan` (feature `peers`) |
//! | what a project costs as text, and how long that takes, beside programs | `tokens` (feature `peers`) |
//! | how fast texts are counted, beside other tokenizers | `tokens_speed` (feature `peers`) |
//!
//! `cargo test` in this directory proves that packs of either side are read by
//! the other, and that counts are those of an independent tokenizer.
//! `cargo xtask bench NAME` measures.

#[cfg(feature = "peers")]
pub mod cache;
#[cfg(feature = "peers")]
mod clock;
#[cfg(feature = "peers")]
pub mod continuity;
pub mod dedup;
pub mod error;
#[cfg(feature = "peers")]
pub mod fill;
#[cfg(feature = "peers")]
pub mod format;
pub mod packs;
#[cfg(feature = "peers")]
pub mod plan;
#[cfg(feature = "peers")]
mod programs;
pub mod reference;
mod registry;
#[cfg(feature = "peers")]
pub mod scale;
pub mod table;
#[cfg(feature = "peers")]
pub mod tokens;
#[cfg(feature = "peers")]
pub mod tokens_speed;
