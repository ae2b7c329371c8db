//! Metrics and trace events (RFC 0004 §10).

#[cfg(feature = "metrics")]
mod gauges;
#[cfg(feature = "tracing")]
mod trace;

use lcp_driver::segments::{
    BudgetAllocationOptions, LevelAllocation, LevelCosts, PreferredSegments, Segment, allocate,
};
use lcp_driver::{DefaultDriver, DriverConfig, IndexedRender, OutputMode, Plan, PlanSource};
use lcp_types::{Block, DuplicateKind, Lang, Replacement, Replacements, Role};

use crate::indexed::Indexed;
use crate::packs::O200K;

/// Returns blocks that do not all fit into a budget of 60 tokens.
fn blocks() -> Vec<Block<'static>> {
    let source = "fn f() {}\n".repeat(200);
    vec![
        Block::code(Lang::Rust, "src/f.rs", source.clone()).with_summary("two hundred functions"),
        Block::code(Lang::Rust, "src/evil\n\u{1b}[31m.rs", source),
        Block::conversation(Role::User, "Which one is slow?"),
    ]
}

fn config() -> DriverConfig {
    DriverConfig { token_budget: Some(60), mode: OutputMode::Minimal, ..DriverConfig::default() }
}

fn run() -> Plan {
    DefaultDriver::default().run(&blocks(), &config()).unwrap().plan
}

/// Runs the same with an exact count and an index.
fn run_by_index() -> IndexedRender {
    let source = Indexed::new(blocks(), &[&O200K]);
    let rendered = DefaultDriver::new(O200K).render_source(&source, &config()).unwrap();
    assert!(matches!(rendered.source, PlanSource::Index { .. }));
    rendered
}

/// Runs with a replacement that marks the second file as contained in the first.
fn deduplicated() -> Plan {
    let relation = DuplicateKind::Contained;
    let within = Replacement { by: 0, relation, in_place: false, tokens_saved: 1_000 };
    let duplicates = Replacements { covered: [(1, within)].into(), ..Replacements::default() };
    let config = DriverConfig { duplicates: Some(duplicates), ..config() };
    DefaultDriver::default().run(&blocks(), &config).unwrap().plan
}

fn segments() -> Vec<Segment> {
    let forms = LevelCosts { brief: Some(40), tags: Some(700), ..LevelCosts::full(600) };
    (1..=4).map(|i| Segment::new(format!("s{i}"), forms)).collect()
}

fn allocated() -> LevelAllocation {
    let options = BudgetAllocationOptions::default();
    allocate(&segments(), 1_250, &options, &PreferredSegments::default()).unwrap()
}
