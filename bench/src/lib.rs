//! LCP beside others. Peers compile only in this workspace.
//!
//! | look for | in |
//! |---|---|
//! | LCP's blocks as those of the reference implementation | [`mod@reference`] |
//! | random packs of what is hard to count and to keep apart | [`packs`] |
//! | what a benchmark says | [`table`] |
//! | how fast texts are counted, beside other tokenizers | `tokens_speed` (feature `peers`) |
//!
//! `cargo test` in this directory proves that packs of either side are read by
//! the other, and that counts are those of an independent tokenizer.
//! `cargo xtask bench NAME` measures.

pub mod packs;
pub mod reference;
pub mod table;
#[cfg(feature = "peers")]
pub mod tokens_speed;
