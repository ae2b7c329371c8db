//! Decodes a pack with each function of the crate, and measures the time:
//!
//! ```text
//! cargo run --release -p lcp-decoder --features rayon --example read_pack -- [BLOCKS]
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the times")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use lcp_decoder::{DecodeOptions, StreamDecoder, decode, decode_parallel};
use lcp_encoder::{Compression, EncodeOptions, encode};
use lcp_types::{Block, Lang};

/// The size of the content of each block.
const BLOCK_BYTES: usize = 64 << 10;

/// Returns distinct lines that compress as well as code.
fn source(seed: usize) -> String {
    let mut text = String::with_capacity(BLOCK_BYTES + 100);
    let mut state = seed;
    while text.len() < BLOCK_BYTES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let (name, value) = (state >> 48, state >> 33 & 0xFFFF);
        let _ = writeln!(text, "    let value_{name} = compute({value}, \"text\");");
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    // By default 188 MiB. The decoder decompresses at most 256 MiB.
    compare(std::env::args().nth(1).map_or(Ok(3000), |blocks| blocks.parse())?)
}

pub(crate) fn compare(blocks: usize) -> Result<(), Box<dyn Error>> {
    let block = |i| Block::code(Lang::Rust, format!("{i}.rs"), source(i));
    let blocks: Vec<_> = (0..blocks).map(block).collect();
    for compression in [Compression::None, Compression::Block, Compression::Payload] {
        let pack = encode(&blocks, EncodeOptions { compression, ..EncodeOptions::default() })?;
        let measure = |name: &str, decode: &dyn Fn() -> Result<usize, Box<dyn Error>>| {
            let start = Instant::now();
            let decoded = decode()?;
            let seconds = start.elapsed().as_secs_f64();
            let megabytes = f64::from(u32::try_from((decoded * BLOCK_BYTES) >> 20)?);
            let (stored, rate) = (pack.len() >> 20, megabytes / seconds);
            println!("{compression:?}, {stored} MiB, {name}: {seconds:.3} s, {rate:.0} MiB/s");
            Ok::<(), Box<dyn Error>>(())
        };
        let options = DecodeOptions::default();
        // All blocks at once. They borrow from the pack, unless they are compressed.
        measure("decode", &|| Ok(decode(&pack, options)?.blocks.len()))?;
        // The same on all processors. It helps if each block is compressed separately.
        measure("decode_parallel", &|| Ok(decode_parallel(&pack, options)?.blocks.len()))?;
        // One block at a time, from any reader. It needs memory only for the longest block.
        measure("StreamDecoder", &|| {
            let mut stream = StreamDecoder::new(&pack[..], options);
            let mut decoded = 0;
            while stream.next_block()?.is_some() {
                decoded += 1;
            }
            Ok(decoded)
        })?;
    }
    Ok(())
}
