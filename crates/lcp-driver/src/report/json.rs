//! The report as JSON. Fields may be added, never renamed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::metrics::{BlockSum, Cut, covers, cuts};
use super::rows::{DedupRow, SegmentRow, ShareRow, StableRow, ValueRow};
use crate::detail::Excerpt;
use crate::plan::{Plan, PlanItem, RenderDecision, ShareUsage};
use crate::warning::Warning;

/// The keys of `by_level`. Every report has all of them.
const LEVELS: [&str; 7] =
    ["full", "detailed", "summary", "tags", "excerpt", "placeholder", OVERHEAD];

const OVERHEAD: &str = "overhead";

/// The name of the report format.
pub const SCHEMA: &str = "lcp.report.v1";

#[derive(Serialize)]
struct Report<'p> {
    schema: &'static str,
    encoding: &'p str,
    exact: bool,
    mode: &'static str,
    verbosity: &'static str,
    objective: &'static str,
    budget: Option<u32>,
    used_tokens: u32,
    remaining_tokens: u32,
    overflow_tokens: u32,
    content_tokens_shown: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ValueRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stable: Option<StableRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dedup: Option<DedupRow>,
    blocks: Vec<BlockRow<'p>>,
    overhead_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rolled_up: Option<RolledUpRow>,
    by_decision: BTreeMap<&'p str, BlockSum>,
    by_priority: BTreeMap<&'p str, BlockSum>,
    by_category: BTreeMap<&'p str, BlockSum>,
    by_share: BTreeMap<&'p str, BlockSum>,
    by_reason: BTreeMap<&'p str, BlockSum>,
    by_level: BTreeMap<&'p str, BlockSum>,
    shares: Vec<ShareRow<'p>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segments: Vec<SegmentRow<'p>>,
    cuts: Vec<CutRow<'p>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    covered_by: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    covers: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_tokens: Option<u32>,
    /// The first and the last line of each range that an excerpt of passages shows.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lines: &'p [(u32, u32)],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<&'p str>,
}

/// A block that is shown in less detail than allowed, for lack of budget.
#[derive(Serialize)]
struct CutRow<'p> {
    index: usize,
    label: &'p str,
    decision: &'static str,
    reason: &'static str,
    tokens_cut: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_tokens: Option<u32>,
}

#[derive(Serialize)]
struct RolledUpRow {
    blocks: usize,
    tokens: u64,
}

#[derive(Serialize)]
struct WarningRow<'p> {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    message: &'p str,
}

/// Formats the report on a plan as JSON, with a final newline.
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
        objective: plan.objective.name(),
        budget: plan.budget,
        used_tokens: plan.used_tokens,
        remaining_tokens: plan.remaining_tokens(),
        overflow_tokens: plan.overflow_tokens(),
        content_tokens_shown: plan.content_tokens_shown(),
        fill: plan.fill(),
        wanted_budget: plan.wanted_budget,
        suggestion: plan.suggestion(),
        value: plan.optimality.as_ref().map(ValueRow::from),
        stable: plan.stable.as_ref().map(StableRow::from),
        dedup: plan.duplicates.as_ref().map(DedupRow::from),
        blocks: Vec::with_capacity(plan.items.len()),
        overhead_tokens: plan.overhead_tokens,
        rolled_up: plan.rolled_up.map(|all| RolledUpRow { blocks: all.count, tokens: all.tokens }),
        by_decision: BTreeMap::new(),
        by_priority: BTreeMap::new(),
        by_category: BTreeMap::new(),
        by_share: by_share(plan),
        by_reason: BTreeMap::new(),
        by_level: LEVELS.map(|level| (level, BlockSum::default())).into(),
        shares: plan
            .shares
            .iter()
            .map(|share| ShareRow::new(share, Cow::Borrowed(&share.name)))
            .collect(),
        segments: plan.segments.iter().map(SegmentRow::from).collect(),
        cuts: cuts(plan).iter().map(CutRow::new).collect(),
        warnings: plan.warnings.iter().map(WarningRow::from).collect(),
    };
    let mut covers = covers(plan);
    for (index, item) in plan.items.iter().enumerate() {
        let decision = item.decision.name();
        report.by_decision.entry(decision).or_default().add(item);
        // Sums by block properties exclude blocks about other blocks.
        if item.decision != RenderDecision::Metadata {
            report.by_priority.entry(item.priority.name()).or_default().add(item);
            report.by_category.entry(&item.category).or_default().add(item);
        }
        report.by_reason.entry(item.reason.name()).or_default().add(item);
        if item.decision.is_shown() {
            report.by_level.entry(decision).or_default().add(item);
        }
        let (covered, excerpt) = (plan.replacement(index), excerpt(item));
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
            covered_by: covered.map(|covered| covered.by),
            relation: covered.map(|covered| covered.relation.name()),
            covers: covers.remove(&index).unwrap_or_default(),
            omitted_lines: excerpt.map(|excerpt| excerpt.omitted_lines),
            omitted_tokens: excerpt.map(|excerpt| excerpt.omitted_tokens),
            lines: excerpt.map_or(&[], |excerpt| &excerpt.lines),
            why: item.why.iter().map(AsRef::as_ref).collect(),
        });
    }
    let overhead = BlockSum { blocks: 0, tokens: plan.overhead_tokens.into() };
    report.by_level.insert(OVERHEAD, overhead);
    // A value is a number, a string or a list of them, so serialization cannot fail.
    let mut json = serde_json::to_string_pretty(&report).unwrap_or_default();
    json.push('\n');
    json
}

fn by_share(plan: &Plan) -> BTreeMap<&str, BlockSum> {
    let sum =
        |share: &ShareUsage| BlockSum { blocks: share.blocks as u64, tokens: share.used.into() };
    plan.shares.iter().map(|share| (share.name.as_str(), sum(share))).collect()
}

impl<'p> CutRow<'p> {
    fn new(cut: &Cut<'p>) -> Self {
        let excerpt = excerpt(cut.item);
        Self {
            index: cut.index,
            label: &cut.item.label,
            decision: cut.item.decision.name(),
            reason: cut.item.reason.name(),
            tokens_cut: cut.tokens,
            omitted_lines: excerpt.map(|excerpt| excerpt.omitted_lines),
            omitted_tokens: excerpt.map(|excerpt| excerpt.omitted_tokens),
        }
    }
}

fn excerpt(item: &PlanItem) -> Option<&Excerpt> {
    match &item.decision {
        RenderDecision::Excerpt(excerpt) => Some(excerpt),
        _ => None,
    }
}

impl<'p> From<&'p Warning> for WarningRow<'p> {
    fn from(warning: &'p Warning) -> Self {
        Self { code: warning.code.name(), block: warning.block, message: &warning.message }
    }
}
