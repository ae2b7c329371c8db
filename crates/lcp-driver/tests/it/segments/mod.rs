//! Segments at levels of compression (RFC 0004 §8).

mod acceptance;
mod bad_input;
mod forms;
mod laws;
mod options;
mod packs;
mod reasons;
mod rebalance;

use lcp_driver::segments::{
    BudgetAllocationOptions, CompressionLevel, LevelAllocation, LevelCosts, PreferredSegments,
    Segment, allocate,
};

/// Returns the costs of all four forms, fullest first.
fn costs(full: u32, detailed: u32, brief: u32, tags: u32) -> LevelCosts {
    LevelCosts { full, detailed: Some(detailed), brief: Some(brief), tags: Some(tags) }
}

/// Returns segments `s1`, `s2` and so on.
fn segments(forms: impl IntoIterator<Item = LevelCosts>) -> Vec<Segment> {
    let name = |(at, forms)| Segment::new(format!("s{}", at + 1), forms);
    forms.into_iter().enumerate().map(name).collect()
}

fn allocated(
    segments: &[Segment],
    budget: u32,
    options: &BudgetAllocationOptions,
) -> LevelAllocation {
    allocate(segments, budget, options, &PreferredSegments::default()).unwrap()
}

/// Returns options under which remaining tokens lift no segments except the last two.
fn unlifted() -> BudgetAllocationOptions {
    BudgetAllocationOptions { compression_aggressiveness: 1.0, ..Default::default() }
}

fn expanding(id: &str) -> PreferredSegments {
    PreferredSegments { expanded: vec![id.into()], ..PreferredSegments::default() }
}

/// Returns one letter for the level of each segment, `-` if it is omitted.
fn levels(segments: &[Segment], allocation: &LevelAllocation) -> String {
    let letter = |segment: &Segment| match allocation.get(&segment.id).map(|found| found.level) {
        Some(CompressionLevel::Full) => 'F',
        Some(CompressionLevel::Detailed) => 'D',
        Some(CompressionLevel::Brief) => 'B',
        Some(CompressionLevel::Tags) => 'T',
        None => '-',
    };
    segments.iter().map(letter).collect()
}
