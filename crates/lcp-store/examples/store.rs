//! Stores the body of a block in an SQLite file, and reads a pack that has only its hash:
//!
//! ```text
//! cargo run -p lcp-store --features content-sqlite --example store -- [FILE]
//! ```
//!
//! Without FILE, the example uses a temporary file.

#![allow(clippy::print_stdout, reason = "the example prints the sizes")]

use std::error::Error;
use std::path::{Path, PathBuf};

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::PackWriter;
use lcp_store::content::{ContentAddressedStore, SqliteBackend};
use lcp_types::{Block, Lang};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = std::env::args_os().nth(1).map(PathBuf::from);
    store_and_read(&file.unwrap_or_else(|| folder.path().join("bodies.db")))
}

pub(crate) fn store_and_read(file: &Path) -> Result<(), Box<dyn Error>> {
    // Any text will do: here it is this file.
    let text = include_str!("store.rs");

    // The store keeps the body, and the pack holds its hash. If another pack has the same block,
    // the store does not grow, even if another process writes that pack.
    let mut store = ContentAddressedStore::new(SqliteBackend::open(file)?);
    let mut pack = PackWriter::default();
    pack.add_reference(&Block::code(Lang::Rust, "examples/store.rs", text), &mut store)?;
    let bytes = pack.finish()?;

    // The decoder gets the body from the store, which checks the body against the hash.
    let store = ContentAddressedStore::new(SqliteBackend::open_read_only(file)?);
    let decoded = decode(&bytes, DecodeOptions { store: Some(&store), ..Default::default() })?;
    let (blocks, pack, text) = (decoded.blocks.len(), bytes.len(), text.len());
    println!("{blocks} block of {text} bytes, in a pack of {pack} bytes");
    Ok(())
}
