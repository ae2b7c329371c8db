//! The time to plan blocks within a budget, with and without counting their tokens, and to render
//! them.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lcp_driver::{DefaultDriver, DriverConfig, Objective, ValueModel};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::Block;

/// The budget in tokens, a small part of the blocks.
const BUDGET: u32 = 8_000;

fn plans(criterion: &mut Criterion) {
    let files = lcp_testkit::source_blocks().unwrap();
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    let strict = DriverConfig { token_budget: Some(BUDGET), ..DriverConfig::default() };
    let by_value =
        DriverConfig { objective: Objective::Value(ValueModel::default()), ..strict.clone() };

    let mut group = criterion.benchmark_group("files");
    group.sample_size(20);
    group.bench_function("render", |bencher| {
        bencher.iter(|| driver.render(black_box(&files), &strict).unwrap());
    });
    group.finish();

    let paragraphs: Vec<Block<'_>> = files.iter().flat_map(split).collect();
    let mut group = criterion.benchmark_group("paragraphs");
    group.sample_size(20);
    for (name, config) in [("strict", &strict), ("by value", &by_value)] {
        group.bench_function(format!("plan and count, {name}"), |bencher| {
            bencher.iter(|| driver.plan(black_box(&paragraphs), config).unwrap());
        });
        driver.with_planner(&paragraphs, config, |plan| {
            group.bench_function(format!("plan, {name}"), |bencher| {
                bencher.iter(|| plan(black_box(Some(BUDGET))).unwrap());
            });
        });
    }
    group.finish();
}

/// Returns the paragraphs of a file.
fn split<'b>(file: &'b Block<'_>) -> Vec<Block<'b>> {
    let text = file.content.text().and_then(|text| text.as_str()).unwrap_or_default();
    let parts = text.split("\n\n").enumerate();
    let label = file.label();
    let block = |(at, text)| Block::code(lcp_types::Lang::Rust, format!("{label}#{at}"), text);
    parts.map(block).collect()
}

criterion_group!(benches, plans);
criterion_main!(benches);
