//! One pack, decoded in every way, and how long each takes.
//!
//! `cargo run --release -p lcp-decoder --features rayon --example ways -- [BLOCKS]`

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::Instant;

use lcp_decoder::{DecodeOptions, StreamDecoder, decode, decode_parallel};
use lcp_encoder::{Compression, EncodeOptions, encode};
use lcp_types::{Block, Lang};

/// Bytes of each block's content.
const BLOCK_BYTES: usize = 64 << 10;

/// Lines of which no two are alike, and which compress as code does.
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
    // The limit on what is decompressed is 256 MiB.
    let blocks = std::env::args().nth(1).map_or(Ok(3000), |blocks| blocks.parse())?;
    let block = |i| Block::code(Lang::Rust, format!("{i}.rs"), source(i));
    let blocks: Vec<_> = (0..blocks).map(block).collect();
    let mut out = io::stdout().lock();
    for compression in [Compression::None, Compression::Block, Compression::Payload] {
        let pack = encode(&blocks, EncodeOptions { compression, ..EncodeOptions::default() })?;
        let mut measure = |way: &str, blocks: &mut dyn FnMut() -> Result<usize, Box<dyn Error>>| {
            let start = Instant::now();
            let found = blocks()?;
            let seconds = start.elapsed().as_secs_f64();
            let megabytes = f64::from(u32::try_from((found * BLOCK_BYTES) >> 20)?);
            let (stored, rate) = (pack.len() >> 20, megabytes / seconds);
            writeln!(out, "{compression:?}, {stored} MiB, {way}: {seconds:.3} s, {rate:.0} MiB/s")?;
            Ok::<(), Box<dyn Error>>(())
        };
        let options = DecodeOptions::default();
        measure("decode", &mut || Ok(decode(&pack, options)?.blocks.len()))?;
        measure("decode_parallel", &mut || Ok(decode_parallel(&pack, options)?.blocks.len()))?;
        measure("StreamDecoder", &mut || {
            let mut stream = StreamDecoder::new(&pack[..], options);
            let mut found = 0;
            while stream.next_block()?.is_some() {
                found += 1;
            }
            Ok(found)
        })?;
    }
    Ok(())
}
