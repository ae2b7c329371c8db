//! The time to read packs: all blocks, their owned copies, and single blocks by the index.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lcp_decoder::{DecodeOptions, PackReader, decode};
use lcp_encoder::{EncodeOptions, encode};
use lcp_types::{Block, BlockSource as _};

fn reads(criterion: &mut Criterion) {
    let blocks = lcp_testkit::source_blocks().unwrap();
    let pack = encode(&blocks, EncodeOptions::default()).unwrap();
    let options = DecodeOptions::default();

    let mut group = criterion.benchmark_group("decode");
    group.throughput(Throughput::Bytes(pack.len() as u64));
    group.bench_function("borrowed", |bencher| {
        bencher.iter(|| decode(black_box(&pack), options).unwrap());
    });
    group.bench_function("owned", |bencher| {
        bencher.iter(|| {
            let blocks = decode(black_box(&pack), options).unwrap().blocks;
            blocks.into_iter().map(Block::into_owned).collect::<Vec<_>>()
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("index");
    group.bench_function("open", |bencher| {
        bencher.iter(|| PackReader::open(black_box(&pack[..]), options).unwrap());
    });
    let reader = PackReader::open(&pack[..], options).unwrap();
    let middle = u32::try_from(blocks.len() / 2).unwrap();
    group.bench_function("read one block", |bencher| {
        bencher.iter(|| reader.read(black_box(&[middle])).unwrap());
    });
    group.finish();
}

criterion_group!(benches, reads);
criterion_main!(benches);
