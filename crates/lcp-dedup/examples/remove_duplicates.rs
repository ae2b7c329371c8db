//! Removes the duplicates of an agent session that reads the same file several times:
//!
//! ```text
//! cargo run -p lcp-dedup --example remove_duplicates
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the duplicates")]

use std::error::Error;

use lcp_dedup::{DedupLevel, Options, dedup};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, Lang, Role};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let file: Vec<String> = (1..=120).map(|n| format!("let value_{n} = compute({n});\n")).collect();
    let read = |first: u32, last: u32| {
        let lines = file[first as usize - 1..last as usize].concat();
        Block::code_lines(Lang::Rust, "src/values.rs", lines, first, last)
    };
    let blocks = [
        Block::conversation(Role::User, "Which value is wrong?"),
        read(1, 60),
        read(40, 100),
        // The same lines as before.
        read(1, 60),
        // The next lines of the file.
        read(101, 120),
    ];

    // The level `Overlap` finds equal blocks, and merges chunks of a file that overlap or touch.
    let options = Options::new(DedupLevel::Overlap);
    let found = dedup(&blocks, &options, &Tiktoken::new(Encoding::O200kBase))?;
    for (index, duplicate) in &found.duplicates.covered {
        let (by, relation) = (duplicate.by, duplicate.relation.name());
        println!("block {index} ({relation}) is covered by block {by}");
    }
    println!("{} tokens saved", found.duplicates.tokens_saved());

    // The blocks of a smaller pack. To render instead, pass `found.duplicates` to the driver.
    for block in found.to_pack_blocks(&blocks) {
        let lines = block.content.text().map_or(0, |text| text.to_str_lossy().lines().count());
        println!("{} {}: {lines} lines", block.block_type().label(), block.label());
    }
    Ok(())
}
