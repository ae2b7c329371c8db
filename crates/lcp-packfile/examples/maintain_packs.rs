//! Appends to a pack, compares two packs, and recovers a damaged one:
//!
//! ```text
//! cargo run -p lcp-packfile --example maintain_packs
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the results")]

use std::error::Error;

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{EncodeOptions, encode};
use lcp_packfile::{
    AppendInput, AppendOptions, DiffSide, ValidateOptions, append, diff, recover, validate,
};
use lcp_types::{Block, Lang, Role};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let old = encode(
        &[
            Block::code(Lang::Rust, "src/retry.rs", "pub fn retry() {}\n"),
            Block::conversation(Role::User, "Why does it never end?"),
        ],
        EncodeOptions::default(),
    )?;
    let answer = [Block::conversation(Role::Assistant, "It has no limit of attempts.")];
    let answer = encode(&answer, EncodeOptions::default())?;

    // The old blocks remain unchanged byte for byte, and a new index follows the new blocks.
    let addition = AppendInput { name: "answer.lcp", pack: &answer };
    let appended = append(&old, &[addition], &AppendOptions::default())?;
    println!("append: {} blocks before, {} after", appended.blocks.0, appended.blocks.1);
    let new = appended.change.apply(&old);

    // The pairs of a comparison have the index of a block in each pack.
    let (a, b) = (decode(&old, DecodeOptions::default())?, decode(&new, DecodeOptions::default())?);
    let pairs = diff(&DiffSide::new(&a.blocks), &DiffSide::new(&b.blocks));
    for pair in pairs.iter().filter(|pair| pair.has_changed()) {
        println!("diff: {:?} -> {:?}, {:?}", pair.a, pair.b, pair.change());
    }

    // Flip one bit of the second block. `validate` reports it, because the index has checksums.
    let mut damaged = new;
    let at = damaged.windows(3).position(|bytes| bytes == b"Why").ok_or("there is no question")?;
    damaged[at] ^= 0x20;
    let report = validate(&damaged, &ValidateOptions { full: true, checks: &[] });
    for problem in &report.problems {
        println!("validate: {problem}");
    }
    // `recover` keeps the other blocks, and writes them as a valid pack.
    let recovered = recover(&damaged)?;
    println!("recover: {} blocks, {:?} missing", recovered.blocks, recovered.missing);
    Ok(())
}
