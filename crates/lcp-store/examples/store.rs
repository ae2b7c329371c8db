//! Keeps the bodies of a pack in an SQLite file, and reads the pack with it.
//!
//! `cargo run -p lcp-store --features content-sqlite --example store -- bodies.db`

use std::error::Error;
use std::io::{self, Write};

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::PackWriter;
use lcp_store::content::{ContentAddressedStore, SqliteBackend};
use lcp_types::{Block, Lang};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| "bodies.db".into());
    let text = include_str!("store.rs");

    // The body goes into the store; the pack holds its hash. Another pack with the
    // same block, written by any process, adds nothing to the store.
    let mut store = ContentAddressedStore::new(SqliteBackend::open(&path)?);
    let mut pack = PackWriter::default();
    pack.add_reference(&Block::code(Lang::Rust, "examples/store.rs", text), &mut store)?;
    let bytes = pack.finish()?;

    let store = ContentAddressedStore::new(SqliteBackend::open_read_only(&path)?);
    let decoded = decode(&bytes, DecodeOptions { store: Some(&store), ..Default::default() })?;
    let (blocks, pack, text) = (decoded.blocks.len(), bytes.len(), text.len());
    writeln!(io::stdout(), "{blocks} block of {text} bytes, in a pack of {pack}")?;
    Ok(())
}
