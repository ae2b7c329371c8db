//! The report: a plan as JSON, for programs.
//!
//! The same plan gives the same bytes: no clock, no paths of the machine, no
//! hash order. Fields may be added, never renamed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::budget::RenderDecision;
use crate::plan::Plan;

/// The name of the report's format.
pub const SCHEMA: &str = "lcp.report.v1";

#[derive(Serialize)]
struct Report<'p> {
    schema: &'static str,
    encoding: &'p str,
    exact: bool,
    mode: &'static str,
    verbosity: &'static str,
    budget: Option<u32>,
    used_tokens: u32,
    remaining_tokens: u32,
    overflow_tokens: u32,
    blocks: Vec<BlockRow<'p>>,
    overhead_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolled_up: Option<RolledUpRow>,
    by_decision: BTreeMap<&'p str, Sum>,
    by_priority: BTreeMap<&'p str, Sum>,
    by_category: BTreeMap<&'p str, Sum>,
    by_level: BTreeMap<&'p str, Sum>,
    warnings: Vec<WarningRow<'p>>,
}

#[derive(Serialize)]
struct BlockRow<'p> {
    index: usize,
    r#type: &'static str,
    label: &'p str,
    priority: &'static str,
    category: &'p str,
    decision: &'static str,
    reason: &'static str,
    tokens: u32,
    full_tokens: u32,
    content_tokens: u32,
}

#[derive(Serialize)]
struct RolledUpRow {
    blocks: usize,
    tokens: u64,
}

#[derive(Default, Serialize)]
struct Sum {
    blocks: u64,
    tokens: u64,
}

#[derive(Serialize)]
struct WarningRow<'p> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    message: &'p str,
}

/// The report on a plan, as JSON with a final newline.
///
/// ```
/// use lcp_driver::{DefaultDriver, DriverConfig, report};
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "hi")];
/// let plan = DefaultDriver::default().plan(&blocks, &DriverConfig::default())?;
/// let report: serde_json::Value = serde_json::from_str(&report::to_json(&plan)).unwrap();
/// assert_eq!(report["schema"], "lcp.report.v1");
/// assert_eq!(report["blocks"][0]["decision"], "full");
/// # Ok::<(), lcp_driver::DriverError>(())
/// ```
#[must_use]
pub fn to_json(plan: &Plan) -> String {
    let mut report = Report {
        schema: SCHEMA,
        encoding: &plan.encoding,
        exact: plan.exact,
        mode: plan.mode.name(),
        verbosity: plan.verbosity.name(),
        budget: plan.budget,
        used_tokens: plan.used_tokens,
        remaining_tokens: plan.remaining_tokens(),
        overflow_tokens: plan.overflow_tokens(),
        blocks: Vec::with_capacity(plan.items.len()),
        overhead_tokens: plan.overhead_tokens,
        rolled_up: plan.rolled_up.map(|all| RolledUpRow { blocks: all.count, tokens: all.tokens }),
        by_decision: BTreeMap::new(),
        by_priority: BTreeMap::new(),
        by_category: BTreeMap::new(),
        by_level: BTreeMap::new(),
        warnings: plan
            .warnings
            .iter()
            .map(|warning| WarningRow {
                code: warning.code.name(),
                block: warning.block,
                message: &warning.message,
            })
            .collect(),
    };
    for (index, item) in plan.items.iter().enumerate() {
        let decision = item.decision.name();
        let tokens = u64::from(item.tokens);
        add(&mut report.by_decision, decision, tokens);
        // Sums by what a block is do not count what speaks of other blocks.
        if item.decision != RenderDecision::Metadata {
            add(&mut report.by_priority, item.priority.name(), tokens);
            add(&mut report.by_category, &item.category, tokens);
        }
        if item.decision.is_shown() {
            add(&mut report.by_level, decision, tokens);
        }
        report.blocks.push(BlockRow {
            index,
            r#type: item.block_type.label(),
            label: &item.label,
            priority: item.priority.name(),
            category: &item.category,
            decision,
            reason: item.reason.name(),
            tokens: item.tokens,
            full_tokens: item.full_tokens,
            content_tokens: item.content_tokens,
        });
    }
    // Every value is a number, a string or a list of them: nothing can fail.
    let mut json = serde_json::to_string_pretty(&report).unwrap_or_default();
    json.push('\n');
    json
}

fn add<'p>(sums: &mut BTreeMap<&'p str, Sum>, key: &'p str, tokens: u64) {
    let sum = sums.entry(key).or_default();
    sum.blocks += 1;
    sum.tokens += tokens;
}
