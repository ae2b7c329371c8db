//! What decoding takes of memory, on inputs that ask for more than they bring: no more than
//! the limits allow and twice the input (RFC 0008 §5.2).
//!
//! A program of its own, because its allocator counts. It sees what Rust allocates: zstd's
//! own tables and windows are not among it. `--nocapture` shows the figures.
#![allow(clippy::print_stdout, reason = "figures, for whoever asks for them")]

use std::alloc::System;
use std::hint::black_box;
use std::io::Read;
use std::sync::Mutex;

use lcp_decoder::{DecodeOptions, Event, EventIter, PackReader, Parser, StreamDecoder, decode};
use lcp_testkit::hostile;
use lcp_types::{BlockSource, limits};
use peakmem_alloc::{PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static ALLOCATOR: PeakMemAlloc<System> = PeakMemAlloc::new(System);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// What each way holds whatever the input is: windows, chunks, a pool's queues.
const CONSTANT: u64 = 512 * KIB;

/// A function that decodes, and its name.
type Approach = (&'static str, fn(&[u8], DecodeOptions<'_>));

const APPROACHES: &[Approach] = &[
    ("decode", |pack, options| drop(black_box(decode(pack, options)))),
    #[cfg(feature = "rayon")]
    ("decode_parallel", |pack, options| {
        drop(black_box(lcp_decoder::decode_parallel(pack, options)));
    }),
    ("events", |pack, options| {
        let events: Vec<_> = EventIter::new(pack, options).collect();
        drop(black_box(events));
    }),
    ("parser", |pack, options| parse(pack, options)),
    ("stream", |pack, options| {
        let mut stream = StreamDecoder::new(Pieces(pack), options);
        let mut blocks = Vec::new();
        while let Ok(Some(block)) = stream.next_block() {
            blocks.push(block);
        }
        drop(black_box(blocks));
    }),
    #[cfg(feature = "tokio")]
    ("async stream", |pack, options| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut stream = lcp_decoder::AsyncStreamDecoder::new(pack, options);
            let mut blocks = Vec::new();
            while let Ok(Some(block)) = stream.next_block().await {
                blocks.push(block);
            }
            drop(black_box(blocks));
        });
    }),
    ("pack reader", |pack, options| {
        let Ok(reader) = PackReader::open(pack, options) else { return };
        let count = reader.read_all().map_or(0, |blocks| black_box(blocks).len());
        let indices: Vec<_> = (0..count).filter_map(|index| index.try_into().ok()).collect();
        drop(black_box(reader.read(&indices)));
    }),
    ("scan", |pack, options| {
        let Ok(mut reader) = PackReader::open(pack, options) else { return };
        let mut count = 0;
        drop(black_box(reader.scan(|blocks| count += blocks.len())));
    }),
    ("index", |pack, options| {
        let Ok(reader) = PackReader::open(pack, options) else { return };
        let count = reader.block_index().map_or(0, lcp_types::BlockIndex::len);
        let indices: Vec<_> = (0..count).filter_map(|index| index.try_into().ok()).collect();
        drop(black_box(reader.read(&indices)));
    }),
];

/// Gives a few bytes at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = buf.len().min(10_007);
        self.0.read(&mut buf[..len])
    }
}

/// Every block, from pieces that come one by one.
fn parse(pack: &[u8], options: DecodeOptions<'_>) {
    let mut parser = Parser::new(options);
    let (mut data, mut blocks) = (pack, Vec::new());
    let mut len = data.len().min(4096);
    while let Ok(step) = parser.parse(&data[..len], len == data.len()) {
        match step.event {
            Some(Event::Frame(frame)) => match parser.decode(frame) {
                Ok(block) => blocks.push(block),
                Err(_) => break,
            },
            Some(Event::Done) => break,
            Some(_) => {}
            None => len = data.len().min(len + 4096),
        }
        let consumed = step.consumed;
        data = &data[consumed..];
        len = (len - consumed).max(data.len().min(4096));
    }
    drop(black_box(blocks));
}

/// The most that may be allocated at a time for this pack.
fn allowed(pack: &[u8], options: &DecodeOptions<'_>, decompressed: u64, threads: u64) -> u64 {
    let len = pack.len() as u64;
    let (max, per_byte) = (options.block_memory_bytes_max, options.block_memory_per_byte);
    let blocks = limits::block_memory(max, per_byte, len);
    // A body grows by doubling while it is decompressed, and threads have one each.
    let bodies = 2 * threads * options.body_decompressed_bytes_max.min(decompressed);
    // Of a payload and bodies together.
    let total = options.total_decompressed_bytes_max.min(decompressed);
    total + bodies + blocks + 2 * len + CONSTANT
}

/// How many threads this way decompresses on.
fn threads(way: &str) -> u64 {
    #[cfg(feature = "rayon")]
    if way == "decode_parallel" {
        return rayon::current_num_threads() as u64;
    }
    _ = way;
    1
}

/// The most that was allocated at a time, in bytes.
fn peak(run: impl FnOnce()) -> u64 {
    ALLOCATOR.reset_peak_memory();
    run();
    ALLOCATOR.get_peak_memory() as u64
}

/// Whether a pack has anything that is to be decompressed or resolved.
fn has_zstd(name: &str) -> bool {
    ["bomb", "zstd", "payload"].iter().any(|word| name.contains(word))
}

/// Fails where a way takes more than it may; with the worst of the ways.
fn check(name: &str, pack: &[u8], options: DecodeOptions<'_>) -> (u64, &'static str) {
    let decompressed = if has_zstd(name) { u64::MAX } else { 0 };
    let (mut worst, mut worst_way) = (0, "");
    for &(way, run) in APPROACHES {
        let allowed = allowed(pack, &options, decompressed, threads(way));
        let peak = peak(|| run(pack, options));
        assert!(
            peak <= allowed,
            "{name}: {peak} bytes by {way}, {allowed} are allowed for an input of {}",
            pack.len()
        );
        if peak > worst {
            (worst, worst_way) = (peak, way);
        }
    }
    (worst, worst_way)
}

/// One at a time: what others allocate meanwhile would be counted.
static ALONE: Mutex<()> = Mutex::new(());

/// Takes every case every way, within limits so low that what goes beyond them shows.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn check_all(cases: &[hostile::Case]) {
    // What is made once: the pool's threads, zstd's.
    let warm = lcp_testkit::wire::pack(&[]);
    for (_, run) in APPROACHES {
        run(&warm, DecodeOptions::default());
    }
    let low = DecodeOptions {
        body_bytes_max: 32 * MIB,
        body_decompressed_bytes_max: 64 * KIB,
        payload_decompressed_bytes_max: 2 * MIB,
        total_decompressed_bytes_max: 2 * MIB,
        block_memory_bytes_max: MIB,
        ..DecodeOptions::default()
    };
    println!("{:<44} {:>10} {:>12} {:>10}  way", "input", "bytes", "peak", "per byte");
    for (name, pack) in cases {
        let (worst, way) = check(name, pack, low);
        let per_byte = worst as f64 / pack.len() as f64;
        println!("{name:<44} {:>10} {worst:>12} {per_byte:>10.1}  {way}", pack.len());
        check(name, pack, DecodeOptions { body_bytes_max: KIB, ..low });
    }
    assert!(cases.len() > 60, "{} cases", cases.len());
}

#[test]
fn decoding_stays_within_memory_limits() {
    let _alone = ALONE.lock();
    check_all(&hostile::cases_of(30_000));
}

/// The same of a million things, and the limits as they are: a minute.
#[test]
#[ignore = "takes a minute"]
fn decoding_large_input_stays_within_memory_limits() {
    let _alone = ALONE.lock();
    let cases = hostile::cases();
    check_all(&cases);
    let options = DecodeOptions::default();
    for (name, pack) in &cases {
        let peak = peak(|| drop(black_box(decode(pack, options))));
        let allowed = allowed(pack, &options, if has_zstd(name) { u64::MAX } else { 0 }, 1);
        println!("{name:<44} {:>10} {peak:>12} of {allowed}", pack.len());
        assert!(peak <= allowed, "{name}: {peak} of {allowed}");
    }
}
