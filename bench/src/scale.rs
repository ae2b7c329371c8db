//! `scale`: large packs from which only the shown blocks are read (RFC 0003).
//!
//! Each pack in a file is rendered by a separate process, so that its memory can be measured alone.

mod commands;

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use lcp_decoder::{DecodeOptions, MmapFile, PackIndex, PackReader, ReadAt, RemoteObject};
use lcp_driver::{DefaultDriver, DriverConfig, IndexCosts, PlanSource};
use lcp_encoder::{EncodeOptions, PackWriter};
use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Annotation, Block, Lang, Priority, Role};
use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use serde::{Deserialize, Serialize};

use crate::format::corpus;
use crate::harness::{
    Progress, Result, ask, float, memory_kib, milliseconds, process_timed, timed,
};
use crate::table::{Better, Row, Wanted};

/// The name of the benchmark.
pub(crate) const NAME: &str = "scale";

const ROUNDS: usize = 5;

/// The budget for packs in files, in tokens.
const BUDGET: u32 = 5_000;

/// The longest time to open an index, as a multiple of the time to hash it.
const OPENING_MAX: f64 = 5.0;

/// The tasks of a process: rendering with the index, or without it.
const INDEX: &str = "index";
const SCAN: &str = "scan";

const COUNTER: Tiktoken = Tiktoken::new(Encoding::O200kBase);

/// The figures of a process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Measured {
    /// The processor time of all threads, including loading the vocabulary.
    milliseconds: f64,
    load_milliseconds: f64,
    /// The peak memory in bytes, including the pages of the memory map that were touched.
    peak_bytes: u64,
    used: u32,
    /// The number of blocks that were read.
    read: usize,
    /// A hash of the text.
    text: u64,
}

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = opening(progress)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("pack.lcp");
    let mut write = |blocks| -> Result<u64> {
        progress(format!("a pack of {blocks} blocks"));
        let size = write_pack(&path, blocks)?;
        progress(format!("{} KB", size / 1_000));
        Ok(size)
    };
    write(10_000)?;
    let small = best(INDEX, &path)?;
    let size = write(1_000_000)?;
    let large = best(INDEX, &path)?;
    rows.extend(million(&path, size, large)?);
    let per_block = |measured: Measured, blocks: f64| {
        (measured.milliseconds - measured.load_milliseconds) * 1e6 / blocks
    };
    let (large, small) = (per_block(large, 1e6), per_block(small, 1e4));
    let row =
        Row::with_itself("a block by the index, of 1,000,000", "ns", large, "of 10,000", small);
    rows.push(row.wants(Wanted::RatioAtMost(1.5)));
    rows.extend(far(progress)?);
    rows.extend(commands::rows(folder.path(), progress)?);
    Ok(rows)
}

/// Measures the time to open the index of a pack, with and without token counts.
fn opening(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress("files, turns and tiny turns".into());
    let blocks = corpus::blocks()?;
    let costs: Vec<_> = IndexCosts::new(&COUNTER).count(&blocks).into_iter().collect();
    let encode = |costs| lcp_encoder::encode_with_costs(&blocks, EncodeOptions::default(), costs);
    let (pack, with_costs) = (encode(&[])?, encode(&costs)?);
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS * 4 {
        for (best, pack) in best.iter_mut().zip([&pack, &with_costs]) {
            let (index, time) = timed(|| PackIndex::find(pack))?;
            assert!(matches!(index, Some(Ok(_))), "as written");
            *best = best.min(milliseconds(time));
        }
    }
    let [alone, with_costs_time] = best;
    let row = |what: &str, pack: &[u8], own| -> Result<Row> {
        let mut hash = f64::MAX;
        let index = index_bytes(pack)?;
        for _ in 0..ROUNDS * 4 {
            let (_, time) = timed(|| black_box(blake3::hash(index)))?;
            hash = hash.min(milliseconds(time));
        }
        let what = format!("the index of {} blocks is opened{what}", blocks.len());
        Ok(Row::with_itself(what, "ms", own, "hashing it (BLAKE3)", hash)
            .wants(Wanted::RatioAtMost(OPENING_MAX)))
    };
    Ok(vec![row("", &pack, alone)?, row(", with counts", &with_costs, with_costs_time)?])
}

/// Returns the bytes of the index at the end of a pack.
fn index_bytes(pack: &[u8]) -> Result<&[u8]> {
    let index = PackIndex::find(pack).ok_or("the pack has no index")??;
    let length = usize::try_from(index.footer().index_len)?;
    Ok(&pack[pack.len() - length..])
}

/// Compares rendering a million blocks with the index and without it.
fn million(path: &Path, size: u64, by_index: Measured) -> Result<Vec<Row>> {
    let scanned = best(SCAN, path)?;
    assert_eq!(by_index.text, scanned.text, "both give the same text");
    let row = |what: &str, own: Measured, peer: &str, other: Measured| {
        Row::new(what, Better::Lower, "ms", own.milliseconds, peer, other.milliseconds)
    };
    let note = format!(
        "{} tokens; {} blocks read; of it {:.0} ms for loading the vocabulary",
        by_index.used, by_index.read, by_index.load_milliseconds
    );
    let peak = float(by_index.peak_bytes) / 1e6;
    Ok(vec![
        row("1,000,000 blocks rendered by the index", by_index, "without index", scanned)
            .wants(Wanted::RatioAtLeast(20.0))
            .notes(note),
        Row::with_itself("its peak memory", "MB", peak, "the file", float(size) / 1e6)
            .wants(Wanted::RatioAtMost(1.3)),
        row("1,000,000 blocks rendered without the index", scanned, "by the index", by_index),
    ])
}

/// Returns the best of [`ROUNDS`] runs, each in a separate process.
fn best(task: &str, path: &Path) -> Result<Measured> {
    let mut best: Measured = ask(NAME, &[task], path)?;
    for _ in 1..ROUNDS {
        let measured: Measured = ask(NAME, &[task], path)?;
        if measured.milliseconds < best.milliseconds {
            best = measured;
        }
    }
    Ok(best)
}

/// Measures rendering in this process, and returns the figures as JSON.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let [task, path] = arguments else { return Err("arguments are missing".into()) };
    let (_, load) = process_timed(|| COUNTER.estimate("the first count loads the vocabulary"));
    let (rendered, time) = process_timed(|| render(task == SCAN, path));
    let (used, read, text) = rendered?;
    let load_milliseconds = milliseconds(load);
    let peak = memory_kib("VmHWM").ok_or("the system does not tell the peak of memory")?;
    Ok(serde_json::to_string(&Measured {
        milliseconds: milliseconds(time) + load_milliseconds,
        load_milliseconds,
        peak_bytes: u64::from(peak) * 1024,
        used,
        read,
        text: {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish()
        },
    })?)
}

/// Renders a pack. Returns the tokens of the text, the number of blocks that were read, and the
/// text.
fn render(scan: bool, path: &str) -> Result<(u32, usize, String)> {
    let file = File::open(path)?;
    #[expect(unsafe_code, reason = "nobody but this benchmark knows the file")]
    // SAFETY: the file was written by the process that waits for this one, which changes it only
    // afterwards.
    let map = unsafe { MmapFile::open(&file) }?;
    let mut reader = PackReader::open(map, DecodeOptions::default())?;
    if scan {
        reader.ignore_index();
    }
    let config = DriverConfig { token_budget: Some(BUDGET), ..DriverConfig::default() };
    let rendered = DefaultDriver::new(COUNTER).render_source(&reader, &config)?;
    let read = match rendered.source {
        PlanSource::Index { read, .. } if !scan => read,
        PlanSource::AllBlocks(_) if scan => rendered.blocks,
        other => return Err(format!("planned by {other:?}").into()),
    };
    Ok((rendered.used_tokens, read, rendered.text))
}

/// The words of generated lines.
const WORDS: &[&str] = &[
    "the", "budget", "of", "a", "session", "is", "kept", "by", "its", "blocks", "and", "fn",
    "return", "tokens", "0x7F", "render()", "=>", "naïve", "index", "reads", "what", "was", "said",
];

/// Returns a line of about `bytes` bytes.
fn line(rng: &mut SplitMix64, bytes: usize) -> String {
    let mut line = String::new();
    while line.len() < bytes {
        line.push_str(rng.choose(WORDS));
        line.push(' ');
    }
    line.push('.');
    line
}

/// Writes a pack of `blocks` blocks with token counts, and returns its size in bytes.
fn write_pack(path: &Path, blocks: u32) -> Result<u64> {
    let mut rng = SplitMix64::new(3);
    let mut block = |i: u32| {
        let bytes = 30 + rng.below(90);
        let text = line(&mut rng, bytes);
        match i % 4 {
            0 => Block::code(Lang::Rust, format!("src/f{i}.rs"), text),
            1 => Block::conversation(Role::User, text),
            _ => Block::conversation(Role::Assistant, text),
        }
    };
    let blocks: Vec<_> = (0..blocks).map(&mut block).collect();
    let pack = pack_with_costs(&blocks)?;
    std::fs::write(path, &pack)?;
    Ok(pack.len() as u64)
}

/// Encodes these blocks with their token costs. One block in a hundred gets a high priority.
fn pack_with_costs(blocks: &[Block<'_>]) -> Result<Vec<u8>> {
    let mut pack = PackWriter::new(EncodeOptions::default());
    let mut all = Vec::with_capacity(blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        let mut added = pack.add(block)?;
        all.push(block.clone());
        if i % 100 == 99 {
            let index = added.index();
            added.priority(Priority::High)?;
            all.push(Block::new(Annotation::priority(index, Priority::High)));
        }
    }
    let costs: Vec<_> = IndexCosts::new(&COUNTER).count(&all).into_iter().collect();
    Ok(pack.into_bytes(&costs)?)
}

/// The number of blocks of the pack in an object store.
const FAR_BLOCKS: u32 = 20_000;

/// The budget for its text, in tokens.
const FAR_BUDGET: u32 = 8_000;

/// The average size of its blocks in bytes, 100 MB in all.
const FAR_BLOCK_BYTES: usize = 5_000;

/// An object that counts the ranges and bytes read from it; each range is a request.
struct Counted {
    object: RemoteObject,
    ranges: Cell<u64>,
    bytes: Cell<u64>,
}

impl ReadAt for Counted {
    fn size(&self) -> io::Result<u64> {
        self.object.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        self.ranges.set(self.ranges.get() + ranges.len() as u64);
        let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        self.bytes.set(self.bytes.get() + bytes);
        self.object.read(ranges)
    }

    fn has_high_latency(&self) -> bool {
        true
    }
}

/// Measures the ranges and bytes that are read to render a pack in an object store.
fn far(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress(format!("{FAR_BLOCKS} blocks in an object store"));
    let mut rng = SplitMix64::new(5);
    let mut block = |i: u32| {
        let mut text = String::new();
        let bytes = FAR_BLOCK_BYTES / 2 + rng.below(FAR_BLOCK_BYTES);
        while text.len() < bytes {
            text.push_str(&line(&mut rng, 60));
            text.push('\n');
        }
        Block::code(Lang::Rust, format!("src/f{i}.rs"), text)
    };
    let blocks: Vec<_> = (0..FAR_BLOCKS).map(&mut block).collect();
    let pack = pack_with_costs(&blocks)?;
    let size = float(pack.len() as u64);
    let (store, path) = (Arc::new(InMemory::new()), object_store::path::Path::from("pack.lcp"));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(store.put(&path, pack.into()))?;
    let object = RemoteObject::open(store, &path)?;
    let counted = Counted { object, ranges: Cell::new(0), bytes: Cell::new(0) };
    let reader = PackReader::open(counted, DecodeOptions::default())?;
    let driver = DefaultDriver::new(COUNTER);
    let config = DriverConfig { token_budget: Some(FAR_BUDGET), ..DriverConfig::default() };
    let rendered = driver.render_source(&reader, &config)?;
    let PlanSource::Index { .. } = rendered.source else {
        return Err(format!("planned by {:?}", rendered.source).into());
    };
    let ranges = float(reader.source().ranges.get());
    let percent = float(reader.source().bytes.get()) / size * 100.0;
    let shown = float(rendered.shown as u64);
    let note = format!("{} tokens of {FAR_BUDGET}", rendered.used_tokens);
    let row = |what, unit, own, peer, other| Row::new(what, Better::Lower, unit, own, peer, other);
    Ok(vec![
        row("ranges read of a far pack", "ranges", ranges, "blocks shown", shown)
            .wants(Wanted::OwnAtMost(3.0 + shown))
            .notes(note),
        row("bytes read of it", "%", percent, "the whole pack", 100.0)
            .wants(Wanted::OwnAtMost(2.0)),
    ])
}
