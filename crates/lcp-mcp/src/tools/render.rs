//! The tool `render`, which renders a pack within a token budget.

use std::collections::BTreeMap;

use lcp_dedup::DedupLevel;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{Objective, OutputMode, Overflow, Plan, Verbosity, Warning, report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::Named;
use crate::error::{ToolError, ToolResult};
use crate::state::{ServerState, counting};
use crate::text::{truncate_list, truncate_list_to_bytes};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::budget::BudgetOptions;
use lcp_app::dedup::DedupOptions;
use lcp_app::render::{RenderJob, RenderOptions, block_type};
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
    /// The pack: an id that `pack` gave, its address, or the path of a .lcp file below the roots.
    pub(crate) pack: String,
    /// Tokens that the whole text may have; without it what the window of the model leaves, or
    /// everything in full where there is none.
    pub(crate) budget: Option<u32>,
    /// Tokens of the model's window: a part of it is set aside.
    pub(crate) window: Option<u32>,
    /// The format of the text: xml unless it is said.
    #[serde(default)]
    pub(crate) mode: Named<OutputMode>,
    /// How much of each block: adaptive unless it is said; the others ignore the budget.
    #[serde(default)]
    pub(crate) verbosity: Named<Verbosity>,
    /// Let what is left of the budget show blocks of low priority in full.
    pub(crate) fill: Option<bool>,
    /// Whether blocks that do not fit may be shown in part.
    pub(crate) excerpts: Option<bool>,
    /// How blocks compete: tier by tier, or by value per token.
    pub(crate) objective: Option<Named<Objective>>,
    /// What to do where the critical blocks alone exceed the budget: allow it, or fail.
    pub(crate) overflow: Option<Named<Overflow>>,
    /// Show once what stands twice: off, exact, overlap or near.
    pub(crate) dedup: Option<Named<Option<DedupLevel>>>,
    /// What to do about words like <|im_start|> in a content: warn of those of the text, escape
    /// them (put a space into each), or reject the pack.
    pub(crate) special_tokens: Option<Named<SpecialTokens>>,
    /// Only blocks of these types: code, conversation, file-tree, tool-result, document, data,
    /// diff, embedding-ref, image, extension.
    pub(crate) types: Option<Vec<String>>,
    /// What counts: o200k_base (the default), cl100k_base, o200k_harmony, p50k_base, r50k_base,
    /// heuristic or code-aware.
    pub(crate) encoding: Option<String>,
    /// The model that reads the text: it picks the encoding, and the window where there is no
    /// budget.
    pub(crate) model: Option<String>,
    /// Give the report too, with what became of each block: the first 1,000 of them, of at most
    /// 1 MiB.
    #[serde(default)]
    pub(crate) report: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The rendered text.
    pub(crate) text: String,
    /// Tokens of the text.
    used_tokens: u32,
    /// Tokens that it may have; none where everything is in full.
    budget: Option<u32>,
    /// What counted.
    encoding: String,
    /// Whether the counts are exact.
    exact: bool,
    /// Blocks of the pack, annotations counted.
    blocks: usize,
    /// Blocks of which less is shown than there is, the first 200: `expand` gives them in full.
    not_in_full: Vec<ReducedBlock>,
    /// How many more there are.
    more_not_in_full: usize,
    /// What is odd.
    warnings: Vec<ToolWarning>,
    /// The report `lcp.report.v1`, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Value>,
    /// What the report leaves out: how many more its lists have, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    more_in_report: BTreeMap<String, usize>,
}

/// A block that is not in full.
#[derive(Debug, Serialize, JsonSchema)]
struct ReducedBlock {
    /// Its index.
    block: usize,
    /// What it is called.
    label: String,
    /// What is shown of it.
    decision: &'static str,
    /// Tokens of what is shown.
    tokens: u32,
    /// Tokens that it would have in full.
    full_tokens: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ToolWarning {
    /// A stable name.
    code: &'static str,
    /// The block that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    message: String,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "render";
    const TITLE: &'static str = "Render within a budget";
    const DESCRIPTION: &'static str = "Renders a pack as text within a budget of tokens. What \
        does not fit is shown as a summary or as a line that says what is omitted; `expand` \
        gives such a block in full.";
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
        ToolError::usage("`types` names a type that there is not").with_hint(error)
    })?;
    Ok(RenderOptions {
        budget: BudgetOptions {
            budget: input.budget,
            window: input.window,
            fill: input.fill,
            excerpts: input.excerpts.map(names::excerpts),
            objective: input.objective.map(|objective| objective.0),
            overflow: input.overflow.map(|overflow| overflow.0),
            ..BudgetOptions::default()
        },
        mode: input.mode.0,
        verbosity: input.verbosity.0,
        tokenizer: counting(input.encoding, input.model)?,
        types,
        dedup: DedupOptions { level: input.dedup.map(|level| level.0), ..DedupOptions::default() },
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
