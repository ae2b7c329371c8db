//! The time to detect duplicates at each level: in the files of this workspace, with overlapping
//! parts of them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lcp_dedup::{DedupLevel, Options, dedup, detect};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Block, Lang};

fn detections(criterion: &mut Criterion) {
    let files = lcp_testkit::source_blocks().unwrap();
    let blocks: Vec<_> = files.iter().flat_map(with_part).collect();
    let estimator = Tiktoken::new(Encoding::O200kBase);

    let mut group = criterion.benchmark_group("detect");
    for (name, level) in
        [("exact", DedupLevel::Exact), ("overlap", DedupLevel::Overlap), ("near", DedupLevel::Near)]
    {
        let options = Options::new(level);
        group.bench_function(name, |bencher| {
            bencher.iter(|| detect(black_box(&blocks), &options, &estimator).unwrap());
        });
    }
    group.finish();
    criterion.bench_function("replace near duplicates", |bencher| {
        let options = Options::new(DedupLevel::Near);
        bencher.iter(|| dedup(black_box(&blocks), &options, &estimator).unwrap());
    });
}

/// Returns a file, and its first half as a file of another name.
fn with_part<'b>(file: &'b Block<'b>) -> [Block<'b>; 2] {
    let text = file.content.text().and_then(|text| text.as_str()).unwrap_or_default();
    let lines = text.split_inclusive('\n');
    let length: usize = lines.clone().take(lines.count() / 2).map(str::len).sum();
    [file.clone(), Block::code(Lang::Rust, format!("{}.part", file.label()), &text[..length])]
}

criterion_group!(benches, detections);
criterion_main!(benches);
