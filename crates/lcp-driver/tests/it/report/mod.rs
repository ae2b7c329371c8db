//! The report: JSON, table and page.

mod budget_report;
mod duplicates;
mod html;
mod json;
mod laws;
#[cfg(feature = "serde")]
mod stable;
mod table;
mod value;

use lcp_driver::{Objective, OptimalityBound, OutputMode, Plan, ShareUsage, ValueModel, Verbosity};
use lcp_types::{DuplicateKind, Replacement, Replacements};

/// Returns a plan without blocks, for a report's figures about the budget alone.
fn empty_plan(budget: u32, used: u32) -> Plan {
    Plan {
        line_numbers: false,
        segments: Vec::new(),
        mode: OutputMode::Xml,
        verbosity: Verbosity::Adaptive,
        objective: Objective::Strict,
        optimality: None,
        stable: None,
        budget: Some(budget),
        encoding: "o200k_base".to_owned(),
        exact: true,
        items: Vec::new(),
        rolled_up: None,
        used_tokens: used,
        overhead_tokens: 0,
        duplicates: None,
        shares: Vec::new(),
        wanted_budget: None,
        warnings: Vec::new(),
    }
}

fn share(name: &str, used: u32, tokens: u32) -> ShareUsage {
    ShareUsage { name: name.to_owned(), tokens, cap: None, wanted: used.into(), used, blocks: 1 }
}

/// Returns a plan by value without blocks.
fn by_value(value: u64, bound: u64) -> Plan {
    Plan {
        objective: Objective::Value(ValueModel::default()),
        optimality: Some(OptimalityBound { value, bound, lp_bound: bound + 1 }),
        ..empty_plan(90_000, 51_700)
    }
}

/// Returns a replacement: the block at `by` covers the one at `index`.
fn covered(
    index: usize,
    by: usize,
    relation: DuplicateKind,
    tokens_saved: u64,
) -> (usize, Replacement) {
    (index, Replacement { by, relation, in_place: false, tokens_saved })
}

/// Returns the same replacement, but with something left in its place.
fn in_place(
    index: usize,
    by: usize,
    relation: DuplicateKind,
    tokens_saved: u64,
) -> (usize, Replacement) {
    let (index, covered) = covered(index, by, relation, tokens_saved);
    (index, Replacement { in_place: true, ..covered })
}

fn duplicates(covered: impl IntoIterator<Item = (usize, Replacement)>) -> Replacements {
    let covered = covered.into_iter().collect();
    Replacements { covered, ..Replacements::default() }
}

/// Returns the plan of the report in Task 016.c.
fn task_016c() -> Plan {
    let shares = vec![
        share("tool_results", 12_500, 36_000),
        share("open_files", 18_200, 27_000),
        share("search_results", 15_800, 18_000),
        share("references", 5_200, 9_000),
    ];
    Plan { shares, ..empty_plan(90_000, 51_700) }
}
