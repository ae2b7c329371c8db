//! The time to count the tokens of code and comments whose parts were not counted before.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

fn counts(criterion: &mut Criterion) {
    let blocks = lcp_testkit::source_blocks().unwrap();
    let texts = blocks.iter().filter_map(|block| block.content.text()?.as_str());
    let code: String = texts.collect();
    let comments = lcp_testkit::comments(&code);

    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let tokenizer = Tiktoken::new(encoding);
        // Loads the vocabulary.
        tokenizer.estimate("");
        let mut group = criterion.benchmark_group(encoding.name());
        for (name, text) in [("code", &code), ("comments", &comments)] {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(name, |bencher| {
                // The caches of a new thread are empty.
                bencher.iter(|| {
                    std::thread::scope(|scope| {
                        scope.spawn(|| tokenizer.estimate(black_box(text))).join().unwrap()
                    })
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, counts);
criterion_main!(benches);
