//! Creates blocks of several types and lists them with their properties:
//!
//! ```text
//! cargo run -p lcp-types --example blocks
//! ```

#![allow(clippy::print_stdout, reason = "the example prints a list")]

use lcp_types::{Annotation, Block, BlockMeta, Lang, Priority, Role, Status};

pub(crate) fn main() {
    // A block owns its content or borrows it, as it does here.
    let source = "pub fn retry() {}\n";
    let blocks = [
        Block::conversation(Role::User, "Why does it never end?"),
        // An annotation is a block too. It names its target by index.
        Block::new(Annotation::priority(0, Priority::Critical)),
        Block::code(Lang::Rust, "src/retry.rs", source).with_summary("the retry loop"),
        Block::tool_result("cargo", Status::Error, "test fails\n"),
    ];

    // `BlockMeta` has the properties of a block after all annotations were applied to it.
    let metas = BlockMeta::resolve_all(&blocks, &mut |index, error| {
        println!("the annotation in block {index} has no effect: {error}");
    });
    for (block, meta) in blocks.iter().zip(&metas) {
        if block.content.is_metadata() {
            continue;
        }
        let (block_type, label) = (block.block_type().label(), block.label());
        let summary = meta.summary.as_deref().unwrap_or("no summary");
        println!("{block_type} {label}: priority {:?}, {summary}", meta.priority);
    }

    // An owned block outlives the text that it was made of.
    let owned: Vec<Block<'static>> = blocks.into_iter().map(Block::into_owned).collect();
    println!("{} blocks, annotations included", owned.len());
}
