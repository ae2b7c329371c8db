//! Writes a pack with each kind of compression, and compares the sizes:
//!
//! ```text
//! cargo run -p lcp-encoder --example write_pack
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the sizes")]

use std::error::Error;

use lcp_encoder::{Compression, EncodeOptions, PackWriter};
use lcp_types::{Block, CarriedLevel, Lang, Priority, Role, Status, Tag};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    for compression in [Compression::None, Compression::Block, Compression::Payload] {
        let pack = write(EncodeOptions { compression, ..EncodeOptions::default() })?;
        println!("compression {:>7}: {} bytes", compression.name(), pack.len());
    }
    Ok(())
}

fn write(options: EncodeOptions) -> Result<Vec<u8>, lcp_encoder::Error> {
    let source = "pub fn retry() -> bool {\n    attempt() || retry()\n}\n".repeat(200);
    let log = "test passes\n".repeat(2_000);

    let mut pack = PackWriter::new(options);
    // `add` returns a handle that sets the properties of the block.
    pack.add(&Block::conversation(Role::User, "Why does it never end?"))?
        .priority(Priority::Critical)?;
    // A renderer shows the summary if the content does not fit into its budget, and the alternate
    // text if it fits and the content does not.
    pack.add(&Block::code(Lang::Rust, "src/retry.rs", source).with_summary("the retry loop"))?
        .level(CarriedLevel::Detailed, "pub fn retry() -> bool")?;
    pack.add(&Block::tool_result("cargo", Status::Error, log))?
        .tag(&Tag::new("category", "tool_results"))?;
    // The end of the pack is an index of its blocks, unless the payload is compressed as a whole.
    pack.finish()
}
