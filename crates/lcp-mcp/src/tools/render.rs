//! The tool `render`, which renders a pack within a token budget.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;

use lcp_dedup::DedupLevel;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Objective, OutputMode, Overflow, Plan, Verbosity, Warning, report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::{Named, SharePreset};
use crate::error::{ToolError, ToolResult};
use crate::question::{Texts, question};
use crate::state::{ServerState, counting};
use crate::text::{truncate_list, truncate_list_to_bytes};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::NamedShares;
use lcp_app::dedup::DedupOptions;
use lcp_app::names::{self, block_type};
use lcp_app::render::{RenderJob, RenderOptions};
use lcp_app::segments::SegmentOptions;
use lcp_app::special_tokens;

/// The maximum number of listed blocks that are not shown in full.
const REDUCED_BLOCKS_MAX: usize = 20;

/// The maximum number of warnings in the result.
const WARNINGS_MAX: usize = 50;

/// The maximum number of rows in each list of the report.
const ROWS_MAX: usize = 1_000;

/// The maximum size in bytes of all rows of a list.
const ROWS_BYTES_MAX: usize = 1 << 20;

pub(crate) struct Tool;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Id, or a .lcp file.
    pub(crate) pack: String,
    /// Tokens. Default: the window.
    pub(crate) budget: Option<u32>,
    #[serde(default)]
    pub(crate) query: Texts,
    #[serde(default)]
    #[schemars(skip)]
    pub(crate) mention: Vec<String>,
    pub(crate) window: Option<u32>,
    pub(crate) system_prompt_reserve: Option<u32>,
    pub(crate) response_reserve: Option<u32>,
    pub(crate) shares: Option<Named<SharePreset>>,
    /// Older turns summarized.
    #[serde(default)]
    pub(crate) segments: bool,
    /// Ids in the report.
    #[serde(default)]
    pub(crate) expand_segments: Vec<String>,
    #[serde(default)]
    pub(crate) topics: Vec<String>,
    #[serde(default)]
    pub(crate) mode: Named<OutputMode>,
    #[serde(default)]
    pub(crate) line_numbers: bool,
    #[serde(default)]
    pub(crate) verbosity: Named<Verbosity>,
    /// Use leftover budget.
    pub(crate) fill: Option<bool>,
    pub(crate) excerpts: Option<bool>,
    /// strict: by priority.
    pub(crate) objective: Option<Named<Objective>>,
    /// Of critical blocks.
    pub(crate) overflow: Option<Named<Overflow>>,
    pub(crate) dedup: Option<Named<Option<DedupLevel>>>,
    pub(crate) special_tokens: Option<Named<SpecialTokens>>,
    /// Such as code, document, tool-result.
    pub(crate) types: Option<Vec<String>>,
    pub(crate) encoding: Option<String>,
    pub(crate) model: Option<String>,
    /// Decision for each block.
    #[serde(default)]
    pub(crate) report: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The number of tokens in the text.
    used_tokens: u32,
    /// The token budget; null if there is none and everything is shown in full.
    budget: Option<u32>,
    /// The tokenizer.
    encoding: String,
    /// `true` if the counts are exact.
    exact: bool,
    /// The number of blocks in the pack, including annotations.
    blocks: usize,
    /// The first 20 blocks that are not shown in full. `expand` returns their full text.
    not_in_full: Vec<ReducedBlock>,
    /// The number of further blocks that are not shown in full.
    more_not_in_full: usize,
    /// The first 50 warnings.
    warnings: Vec<ToolWarning>,
    /// The report `lcp.report.v1`, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Value>,
    /// The number of omitted rows of the report, by the name of the list.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    more_in_report: BTreeMap<String, usize>,
}

/// A block that is not shown in full.
#[derive(Debug, Serialize)]
struct ReducedBlock {
    /// The index of the block, for `expand`.
    block: usize,
    /// The label of the block.
    label: String,
    /// The detail level, such as summary, excerpt or placeholder.
    decision: &'static str,
    /// The number of tokens that it takes in the text.
    tokens: u32,
    /// The number of tokens that it would take in full.
    full_tokens: u32,
}

#[derive(Debug, Serialize)]
struct ToolWarning {
    /// The stable code.
    code: &'static str,
    /// The index of the block, if the warning is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    /// The message.
    message: String,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "render";
    const DESCRIPTION: &'static str = "Renders a pack as text within a token budget: reads many files at once, shortens what does \
         not fit.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let (text, facts) = render(state, input)?;
        Ok(ToolOutput { text: Some(text), facts })
    }
}

/// Renders a pack, as `lcp render` does. Returns the text and the facts about it.
pub(crate) fn render(state: &ServerState, mut input: Input) -> ToolResult<(String, Facts)> {
    let pack = state.pack(&input.pack)?;
    let query = question(state, mem::take(&mut input.query), mem::take(&mut input.mention));
    let ranking_warnings = Warnings::default();
    let bytes = if query.is_empty() {
        Cow::Borrowed(&*pack.bytes)
    } else {
        let ranking = query.rank(&pack.name, &&*pack.bytes, &ranking_warnings)?;
        Cow::Owned(ranking.write_to(&pack.name, &&*pack.bytes)?)
    };
    let wants_report = input.report;
    let mut options = options(input)?;
    let policy = special_tokens::at_least(options.special_tokens, &state.config.settings);
    options.special_tokens = Some(policy);
    let run = RenderJob::new(&pack.name, &bytes, &options, &state.config.settings, &state.quiet)?;
    let rendered = run.render(&state.quiet)?;
    let journal = pack.journal_warning;
    let journal =
        journal.map(|text| ToolWarning { code: "journal", block: None, message: text.into() });
    let history = ranking_warnings.take().into_iter();
    let history = history.map(|message| ToolWarning { code: "history", block: None, message });
    let before = journal.into_iter().chain(history);
    let plan = &rendered.plan;
    let (not_in_full, more_not_in_full) = truncate_list(reduced_blocks(plan), REDUCED_BLOCKS_MAX);
    let report = wants_report.then(|| serde_json::from_str(&report::to_json(plan)));
    let mut report = report.transpose().map_err(|error| ToolError::internal(error.to_string()))?;
    let more_in_report = report.as_mut().map(shorten_report).unwrap_or_default();
    let facts = Facts {
        used_tokens: plan.used_tokens,
        budget: plan.budget,
        encoding: plan.encoding.clone(),
        exact: plan.exact,
        blocks: plan.items.len(),
        not_in_full,
        more_not_in_full,
        warnings: before.chain(plan.warnings.iter().map(to_warning)).take(WARNINGS_MAX).collect(),
        report,
        more_in_report,
    };
    Ok((rendered.text, facts))
}

/// Truncates the lists of a report. Returns the number of omitted rows by the name of the list.
fn shorten_report(report: &mut Value) -> BTreeMap<String, usize> {
    let mut more = BTreeMap::new();
    for (name, value) in report.as_object_mut().into_iter().flatten() {
        let left = match value {
            Value::Array(rows) => {
                let size = |row: &Value| row.to_string().len();
                let all = std::mem::take(rows);
                let (first, left) = truncate_list_to_bytes(all, ROWS_MAX, ROWS_BYTES_MAX, size);
                *rows = first;
                left
            }
            Value::Object(sums) => {
                let size = |(name, sum): &(String, Value)| name.len() + sum.to_string().len();
                let all = std::mem::take(sums).into_iter().collect();
                let (first, left) = truncate_list_to_bytes(all, ROWS_MAX, ROWS_BYTES_MAX, size);
                *sums = first.into_iter().collect();
                left
            }
            _ => 0,
        };
        if left > 0 {
            more.insert(name.clone(), left);
        }
    }
    more
}

fn options(input: Input) -> ToolResult<RenderOptions> {
    let types = input.types.map(|types| types.iter().map(|label| block_type(label)).collect());
    let types = types.transpose().map_err(|error: String| {
        ToolError::usage("unknown block type in `types`").with_hint(error)
    })?;
    let focus = SegmentOptions { expanded: input.expand_segments, topics: input.topics };
    if !input.segments && focus != SegmentOptions::default() {
        let message = "`expand_segments` and `topics` need `segments`";
        return Err(ToolError::usage(message).with_hint("pass `segments`: true"));
    }
    Ok(RenderOptions {
        budget: BudgetOptions {
            budget: input.budget,
            window: input.window,
            system_prompt_reserve: input.system_prompt_reserve,
            response_reserve: input.response_reserve,
            shares: input.shares.and_then(|preset| NamedShares::preset(preset.0.0)),
            fill: input.fill,
            excerpts: input.excerpts.map(names::excerpts),
            objective: input.objective.map(|objective| objective.0),
            overflow: input.overflow.map(|overflow| overflow.0),
        },
        mode: input.mode.0,
        line_numbers: input.line_numbers,
        verbosity: input.verbosity.0,
        tokenizer: counting(input.encoding, input.model)?,
        types,
        dedup: DedupOptions { level: input.dedup.map(|level| level.0), ..DedupOptions::default() },
        segments: input.segments.then_some(focus),
        special_tokens: input.special_tokens.map(|policy| policy.0),
        ..RenderOptions::default()
    })
}

fn reduced_blocks(plan: &Plan) -> Vec<ReducedBlock> {
    let is_reduced = |name| !matches!(name, "full" | "metadata" | "filtered");
    let items = plan.items.iter().enumerate();
    let items = items.filter(|(_, item)| is_reduced(item.decision.name()));
    let row = |(block, item): (usize, &lcp_driver::PlanItem)| ReducedBlock {
        block,
        label: item.label.to_string(),
        decision: item.decision.name(),
        tokens: item.tokens,
        full_tokens: item.full_tokens,
    };
    items.map(row).collect()
}

fn to_warning(warning: &Warning) -> ToolWarning {
    ToolWarning {
        code: warning.code.name(),
        block: warning.block,
        message: warning.message.clone(),
    }
}

#[cfg(test)]
mod tests;
