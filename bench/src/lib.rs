//! LCP beside others. Peers compile only in this workspace.
//!
//! | look for | in |
//! |---|---|
//! | LCP's blocks as those of the reference implementation | [`mod@reference`] |
//! | random packs of what is hard to count and to keep apart | [`packs`] |
//!
//! `cargo test` in this directory proves that packs of either side are read by
//! the other, and that counts are those of an independent tokenizer.

pub mod packs;
pub mod reference;
