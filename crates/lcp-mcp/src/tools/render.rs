//! The tool `render`, which renders a pack within a token budget.

use std::collections::BTreeMap;

use lcp_dedup::DedupLevel;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Objective, OutputMode, Overflow, Plan, Verbosity, Warning, report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::{Named, SharePreset};
use crate::error::{ToolError, ToolResult};
use crate::state::{ServerState, counting};
use crate::text::{truncate_list, truncate_list_to_bytes};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::budget::BudgetOptions;
use lcp_app::config::NamedShares;
use lcp_app::dedup::DedupOptions;
use lcp_app::render::{RenderJob, RenderOptions, block_type};
use lcp_app::segments::SegmentOptions;
use lcp_app::{names, special_tokens};

/// The maximum number of listed blocks that are not shown in full.
const REDUCED_BLOCKS_MAX: usize = 200;

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
    /// The pack: an id or URI that `pack` or `handoff` returned, or the path of a .lcp file below
    /// the roots.
    pub(crate) pack: String,
    /// The token budget of the whole text. Default: the available part of the context window (of
    /// `window`, the server settings or `model`). Without a window, everything is shown in full.
    pub(crate) budget: Option<u32>,
    /// The context window of the model in tokens. Safety margin and reserves are subtracted.
    pub(crate) window: Option<u32>,
    /// Tokens of the window reserved for the system prompt.
    pub(crate) system_prompt_reserve: Option<u32>,
    /// Tokens of the window reserved for the response.
    pub(crate) response_reserve: Option<u32>,
    /// Divide the budget into the shares of this preset.
    pub(crate) shares: Option<Named<SharePreset>>,
    /// Show each turn of a conversation at one level: the newest two in full, older ones
    /// summarized.
    #[serde(default)]
    pub(crate) segments: bool,
    /// Ids of segments to show in full, such as s3. The report lists them.
    #[serde(default)]
    pub(crate) expand_segments: Vec<String>,
    /// Words or phrases: prefer segments that contain them.
    #[serde(default)]
    pub(crate) topics: Vec<String>,
    /// The format of the text. Default: xml.
    #[serde(default)]
    pub(crate) mode: Named<OutputMode>,
    /// The detail of the blocks. Default: adaptive. `summary` and `full` ignore the budget.
    #[serde(default)]
    pub(crate) verbosity: Named<Verbosity>,
    /// Use leftover budget to show low- and background-priority blocks in full.
    pub(crate) fill: Option<bool>,
    /// Show excerpts of blocks that do not fit in full.
    pub(crate) excerpts: Option<bool>,
    /// The allocation order: `strict` (by priority) or `value` (by value per token).
    pub(crate) objective: Option<Named<Objective>>,
    /// The reaction if the critical blocks alone exceed the budget: `allow` it, or `deny` (fail).
    pub(crate) overflow: Option<Named<Overflow>>,
    /// Remove duplicates: off, exact (identical blocks), overlap (also overlapping lines of a file
    /// and outdated versions) or near (also near-duplicates).
    pub(crate) dedup: Option<Named<Option<DedupLevel>>>,
    /// The handling of control tokens such as <|im_start|> in content: `warn`, `escape` (insert a
    /// space into each) or `reject` (fail). It cannot be weaker than the server settings.
    pub(crate) special_tokens: Option<Named<SpecialTokens>>,
    /// Show only these block types: code, conversation, file-tree, tool-result, document, data,
    /// diff, embedding-ref, image, extension.
    pub(crate) types: Option<Vec<String>>,
    /// The tokenizer: o200k_base, cl100k_base, o200k_harmony, p50k_base, r50k_base, heuristic or
    /// code-aware. Default: the one of `model` or of the server settings, else o200k_base.
    pub(crate) encoding: Option<String>,
    /// The model that reads the text. It selects the tokenizer and, without a budget, the window.
    pub(crate) model: Option<String>,
    /// Also return the report, with the decision for each block. Each of its lists has at most
    /// 1,000 rows and 1 MiB.
    #[serde(default)]
    pub(crate) report: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The rendered text.
    pub(crate) text: String,
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
    /// The first 200 blocks that are not shown in full. `expand` returns their full text.
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
#[derive(Debug, Serialize, JsonSchema)]
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

#[derive(Debug, Serialize, JsonSchema)]
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
    const TITLE: &'static str = "Render a pack within a token budget";
    const DESCRIPTION: &'static str = "Renders a pack as text within a token budget. Use it to \
        read many files at once. Blocks that do not fit are shortened to excerpts, summaries or \
        placeholders; `expand` returns such a block in full. Returns the text, its token count \
        and the blocks that are not shown in full.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let facts = render(state, input)?;
        Ok(ToolOutput { text: Some(facts.text.clone()), facts })
    }
}

/// Renders a pack, as `lcp render` does.
pub(crate) fn render(state: &ServerState, input: Input) -> ToolResult<Facts> {
    let pack = state.pack(&input.pack)?;
    let wants_report = input.report;
    let mut options = options(input)?;
    let policy = special_tokens::at_least(options.special_tokens, &state.config.settings);
    options.special_tokens = Some(policy);
    let run =
        RenderJob::new(&pack.name, &pack.bytes, &options, &state.config.settings, &state.quiet)?;
    let rendered = run.render(&state.quiet)?;
    let journal = pack.journal_warning;
    let journal =
        journal.map(|text| ToolWarning { code: "journal", block: None, message: text.into() });
    let journal = journal.into_iter();
    let plan = &rendered.plan;
    let (not_in_full, more_not_in_full) = truncate_list(reduced_blocks(plan), REDUCED_BLOCKS_MAX);
    let report = wants_report.then(|| serde_json::from_str(&report::to_json(plan)));
    let mut report = report.transpose().map_err(|error| ToolError::internal(error.to_string()))?;
    let more_in_report = report.as_mut().map(shorten_report).unwrap_or_default();
    Ok(Facts {
        used_tokens: plan.used_tokens,
        budget: plan.budget,
        encoding: plan.encoding.clone(),
        exact: plan.exact,
        blocks: plan.items.len(),
        not_in_full,
        more_not_in_full,
        warnings: journal.chain(plan.warnings.iter().map(to_warning)).take(WARNINGS_MAX).collect(),
        report,
        more_in_report,
        text: rendered.text,
    })
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
