//! The time and memory of complete commands: a render of a small pack, and of a million small
//! blocks that are compressed and have no index.

use std::ffi::OsStr;
use std::hint::black_box;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lcp_encoder::{Compression, EncodeOptions, encode};
use lcp_testkit::SplitMix64;
use lcp_tokens::TokenEstimator as _;
use lcp_types::{Block, Lang, Role};
use rayon::prelude::*;

use super::{BUDGET, COUNTER, line};
use crate::harness::{Progress, Result, Times, float, memory_kib_of, wall_timed};
use crate::programs;
use crate::table::{Row, Wanted};

/// The numbers of blocks of the packs.
const SMALL: u32 = 20;
const LARGE: u32 = 1_000_000;

/// The numbers of calls of the commands.
const SMALL_CALLS: usize = 40;
const LARGE_CALLS: usize = 3;

/// The time between two readings of the memory of a command.
const PAUSE: Duration = Duration::from_millis(1);

pub(super) fn rows(folder: &Path, progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let lcp = programs::lcp(progress)?;
    let path = folder.join("commands.lcp");
    let budget = BUDGET.to_string();
    let render = ["render".as_ref(), "--budget".as_ref(), budget.as_ref(), path.as_os_str()];
    let command = |arguments: &[&OsStr]| {
        let mut command = Command::new(&lcp);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };

    progress("lcp render of a small pack".to_owned());
    write(&path, &blocks(SMALL))?;
    let (mut small, mut version) = (Vec::new(), Vec::new());
    for _ in 0..SMALL_CALLS {
        for (times, arguments) in
            [(&mut small, &render[..]), (&mut version, &["--version".as_ref()])]
        {
            times.push(wall_timed(|| succeeds(command(arguments).status()?))?);
        }
    }
    let (small, version) = (Times::new(small).median(), Times::new(version).median());

    progress(format!("lcp render of {LARGE} blocks"));
    let blocks = blocks(LARGE);
    let size = write(&path, &blocks)?;
    let texts: Vec<_> = blocks.iter().filter_map(|block| block.content.text()?.as_str()).collect();
    let compressed = zstd::encode_all(texts.concat().as_bytes(), 0)?;
    let (mut large, mut floor, mut peak) = (Vec::new(), Vec::new(), 0);
    for _ in 0..LARGE_CALLS {
        let start = Instant::now();
        peak = peak.max(peak_bytes(command(&render).spawn()?)?);
        large.push(start.elapsed());
        // New threads on all processors, with empty caches, as those of the command.
        let threads = rayon::ThreadPoolBuilder::new().build()?;
        let start = Instant::now();
        black_box(zstd::decode_all(&compressed[..])?);
        let count = || texts.par_iter().map(|text| COUNTER.estimate(text)).sum::<u32>();
        black_box(threads.install(count));
        floor.push(start.elapsed());
    }
    let (large, floor) = (Times::new(large).median(), Times::new(floor).median());
    let (peak, size) = (float(peak) / 1e6, float(size) / 1e6);
    Ok(vec![
        Row::with_itself("lcp render of a small pack", "ms", small, "lcp --version", version)
            .wants(Wanted::RatioAtMost(2.0)),
        Row::with_itself(
            "lcp render of 1,000,000 small blocks, without index",
            "ms",
            large,
            "decompressing and counting them",
            floor,
        )
        .wants(Wanted::RatioAtMost(1.5)),
        Row::with_itself("its peak memory", "MB", peak, "the file", size)
            .wants(Wanted::RatioAtMost(6.0)),
    ])
}

fn blocks(count: u32) -> Vec<Block<'static>> {
    let mut rng = SplitMix64::new(7);
    let mut block = |at: u32| {
        let bytes = 15 + rng.below(40);
        let text = line(&mut rng, bytes);
        match at % 4 {
            0 => Block::code(Lang::Rust, format!("src/f{at}.rs"), text),
            1 => Block::conversation(Role::User, text),
            _ => Block::conversation(Role::Assistant, text),
        }
    };
    (0..count).map(&mut block).collect()
}

/// Writes a pack, and returns its size in bytes.
fn write(path: &Path, blocks: &[Block<'_>]) -> Result<u64> {
    let compression = Compression::Block;
    let options = EncodeOptions { compression, index: false, ..EncodeOptions::default() };
    let pack = encode(blocks, options)?;
    std::fs::write(path, &pack)?;
    Ok(pack.len() as u64)
}

/// Waits for a command, and returns its peak memory in bytes.
fn peak_bytes(mut command: Child) -> Result<u64> {
    let mut peak = 0;
    loop {
        peak = memory_kib_of(&command.id().to_string(), "VmHWM").unwrap_or(peak);
        if let Some(status) = command.try_wait()? {
            succeeds(status)?;
            return Ok(u64::from(peak) * 1024);
        }
        thread::sleep(PAUSE);
    }
}

fn succeeds(status: ExitStatus) -> Result {
    if status.success() { Ok(()) } else { Err(format!("lcp: {status}").into()) }
}
