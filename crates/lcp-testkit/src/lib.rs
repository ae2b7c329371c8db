//! Shared code for the tests of the other crates. No published crate uses it outside of tests.
//!
//! | to test | use |
//! |---|---|
//! | a property of every block or pack | [`any_block`], [`any_pack`] |
//! | the same, limited to blocks that old readers accept | [`known_block`], [`known_pack`] |
//! | nesting | [`nested_tree`] |
//! | content that looks like block boundaries | [`DELIMITERS`] |
//! | choices from a seed, such as places to cut and bytes to change | [`SplitMix64`] |
//! | exact bytes | [`hex`], [`wire`] |
//! | malicious packs | [`hostile`] |
//! | code that needs a PostgreSQL server | [`Postgres`] |
//! | the number of round trips between a client and a server | [`CountingProxy`] |
//! | the command line program, in a folder with settings | [`cli_harness`] |
//! | Python programs with packages from `PyPI` | [`python`] |
//! | a folder with secrets, notebooks, data and old encodings | [`real_folder`] |
//! | real text, from the sources of crates | [`files_in`], [`is_prose`], [`comments`] |
//! | the sources of this workspace | [`source_blocks`] |
#![cfg_attr(
    feature = "properties",
    doc = "| laws of untrusted input, for fuzzers and tests | [`properties`] |"
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "tests panic, and errors are texts"
)]

#[cfg(feature = "properties")]
extern crate self as lcp_testkit;

mod blocks;
pub mod cli_harness;
mod corpus;
pub mod hostile;
mod postgres;
#[cfg(feature = "properties")]
pub mod properties;
pub mod python;
pub mod real_folder;
mod rng;
mod tcp_proxy;
pub mod wire;

pub use blocks::{any_block, any_pack, known_block, known_pack};
pub use corpus::{DELIMITERS, comments, files_in, is_prose, source_blocks};
pub use postgres::{Postgres, PostgresServer};
pub use rng::SplitMix64;
pub use tcp_proxy::CountingProxy;

use lcp_types::{Block, FileEntry};

/// Returns a FILE_TREE with this many levels of nested entries. With 0 levels, the tree is empty.
#[must_use]
pub fn nested_tree(levels: u32) -> Block<'static> {
    let mut entries = Vec::new();
    for level in (1..=levels).rev() {
        entries = vec![FileEntry::directory(format!("d{level}"), entries)];
    }
    Block::file_tree("/", entries)
}

/// Parses hexadecimal digits, and ignores white space between them.
///
/// ```
/// assert_eq!(lcp_testkit::hex("4c 43 50 00"), b"LCP\0");
/// ```
#[must_use]
pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .map(|digit| digit.expect("only hexadecimal digits"))
        .collect();
    assert!(digits.len().is_multiple_of(2), "whole bytes");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The Rust code in the READMEs and the user guide, compiled and run as documentation tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../../docs/crates/app.md")]
    pub struct App;
    #[doc = include_str!("../../../docs/crates/building.md")]
    pub struct Building;
    #[doc = include_str!("../../../docs/crates/continuity.md")]
    pub struct Continuity;
    #[doc = include_str!("../../../docs/crates/transcripts.md")]
    pub struct Transcripts;
    #[doc = include_str!("../../../docs/crates/decoder.md")]
    pub struct Decoder;
    #[doc = include_str!("../../../docs/crates/dedup.md")]
    pub struct Dedup;
    #[doc = include_str!("../../../docs/crates/driver.md")]
    pub struct Driver;
    #[doc = include_str!("../../../docs/crates/ingest.md")]
    pub struct Outline;
    #[doc = include_str!("../../../docs/crates/tokens.md")]
    pub struct Tokens;
    /// The READMEs of the crates.
    mod crates {
        #[doc = include_str!("../../lcp-app/README.md")]
        pub struct App;
        #[doc = include_str!("../../lcp-continuity/README.md")]
        pub struct Continuity;
        #[doc = include_str!("../../lcp-decoder/README.md")]
        pub struct Decoder;
        #[doc = include_str!("../../lcp-dedup/README.md")]
        pub struct Dedup;
        #[doc = include_str!("../../lcp-driver/README.md")]
        pub struct Driver;
        #[doc = include_str!("../../lcp-encoder/README.md")]
        pub struct Encoder;
        #[doc = include_str!("../../lcp-ingest/README.md")]
        pub struct Ingest;
        #[doc = include_str!("../../lcp-mcp/README.md")]
        pub struct Mcp;
        #[doc = include_str!("../../lcp-packfile/README.md")]
        pub struct Packfile;
        #[doc = include_str!("../../lcp-store/README.md")]
        pub struct Store;
        #[doc = include_str!("../../lcp-tokens/README.md")]
        pub struct Tokens;
        #[doc = include_str!("../../lcp-transcripts/README.md")]
        pub struct Transcripts;
        #[doc = include_str!("../../lcp-types/README.md")]
        pub struct Types;
    }
}
