//! `render`: a pack within a budget.

use lcp_driver::{Plan, Warning, report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::duplicates::{Deduping, Wanted};
use crate::files;
use crate::limits::{Competition, Limits, OnOverflow, Switch};
use crate::mcp::desk::{Desk, counting, first};
use crate::mcp::fault::{Fault, Outcome};
use crate::mcp::tool::{self, Answer, Changes};
use crate::prepare::{Choices, Level, Mode, block_type};

/// Blocks that are listed because they are not in full.
const LESSER_MAX: usize = 200;

/// Warnings that are listed.
const WARNINGS_MAX: usize = 50;

pub(crate) struct Tool;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Input {
    /// The pack: an id that `pack` gave, its address, or the path of a .lcp file below the roots.
    pub(in crate::mcp) pack: String,
    /// Tokens that the whole text may have; without it what the window of the model leaves, or
    /// everything in full where there is none.
    pub(in crate::mcp) budget: Option<u32>,
    /// Tokens of the model's window: a part of it is set aside.
    pub(in crate::mcp) window: Option<u32>,
    /// The format of the text: xml unless it is said.
    #[serde(default)]
    pub(in crate::mcp) mode: Mode,
    /// How much of each block: adaptive unless it is said; the others ignore the budget.
    #[serde(default)]
    pub(in crate::mcp) verbosity: Level,
    /// Let what is left of the budget show blocks of low priority in full.
    pub(in crate::mcp) fill: Option<bool>,
    /// Whether blocks that do not fit may be shown in part.
    pub(in crate::mcp) excerpts: Option<bool>,
    /// How blocks compete: tier by tier, or by value per token.
    pub(in crate::mcp) objective: Option<Competition>,
    /// What to do where the critical blocks alone exceed the budget: allow it, or fail.
    pub(in crate::mcp) overflow: Option<OnOverflow>,
    /// Show once what stands twice: off, exact, overlap or near.
    pub(in crate::mcp) dedup: Option<Wanted>,
    /// Only blocks of these types: code, conversation, file-tree, tool-result, document, data,
    /// diff, embedding-ref, image, extension.
    pub(in crate::mcp) types: Option<Vec<String>>,
    /// What counts: o200k_base (the default), cl100k_base, o200k_harmony, p50k_base, r50k_base,
    /// heuristic or code-aware.
    pub(in crate::mcp) encoding: Option<String>,
    /// The model that reads the text: it picks the encoding, and the window where there is no
    /// budget.
    pub(in crate::mcp) model: Option<String>,
    /// Give the whole report too, on every block.
    #[serde(default)]
    pub(in crate::mcp) report: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct Facts {
    /// The rendered text.
    pub(in crate::mcp) text: String,
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
    not_in_full: Vec<Lesser>,
    /// How many more there are.
    more_not_in_full: usize,
    /// What is odd.
    warnings: Vec<Warned>,
    /// The report `lcp.report.v1`, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Value>,
}

/// A block that is not in full.
#[derive(Debug, Serialize, JsonSchema)]
struct Lesser {
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
struct Warned {
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
    const CHANGES: Changes = Changes::Nothing;
    type Input = Input;
    type Facts = Facts;

    fn call(desk: &Desk, input: Input) -> Outcome<Answer<Facts>> {
        let facts = render(desk, input)?;
        Ok(Answer { text: Some(facts.text.clone()), facts })
    }
}

/// Renders, as `lcp render` does.
pub(in crate::mcp) fn render(desk: &Desk, input: Input) -> Outcome<Facts> {
    let found = desk.pack(&input.pack)?;
    let wants_report = input.report;
    let mut choices = choices(input)?;
    choices.pack = found.name;
    let pack = files::decode(&choices.pack, &found.bytes)?;
    let run = choices.prepare_with(pack, desk.setup.config.clone(), false, &desk.quiet)?;
    let rendered = run.render(&desk.quiet)?;
    let plan = &rendered.plan;
    let (not_in_full, more_not_in_full) = first(lesser(plan), LESSER_MAX);
    let report = wants_report.then(|| serde_json::from_str(&report::to_json(plan)));
    let report = report.transpose().map_err(|error| Fault::internal(error.to_string()))?;
    Ok(Facts {
        used_tokens: plan.used_tokens,
        budget: plan.budget,
        encoding: plan.encoding.clone(),
        exact: plan.exact,
        blocks: plan.items.len(),
        not_in_full,
        more_not_in_full,
        warnings: plan.warnings.iter().take(WARNINGS_MAX).map(warned).collect(),
        report,
        text: rendered.text,
    })
}

fn choices(input: Input) -> Outcome<Choices> {
    let switch = |on| if on { Switch::On } else { Switch::Off };
    let types = input.types.map(|types| types.iter().map(|label| block_type(label)).collect());
    let types = types.transpose().map_err(|error: String| {
        Fault::usage("`types` names a type that there is not").hint(error)
    })?;
    Ok(Choices {
        limits: Limits {
            budget: input.budget,
            window: input.window,
            fill: input.fill.map(switch),
            excerpts: input.excerpts.map(switch),
            objective: input.objective,
            overflow: input.overflow,
            ..Limits::default()
        },
        mode: input.mode,
        verbosity: input.verbosity,
        counting: counting(input.encoding, input.model)?,
        types,
        deduping: Deduping::at_level(input.dedup),
        ..Choices::default()
    })
}

fn lesser(plan: &Plan) -> Vec<Lesser> {
    let is_lesser = |name| !matches!(name, "full" | "metadata" | "filtered");
    let items = plan.items.iter().enumerate();
    let lesser = items.filter(|(_, item)| is_lesser(item.decision.name()));
    let row = |(block, item): (usize, &lcp_driver::PlanItem)| Lesser {
        block,
        label: item.label.to_string(),
        decision: item.decision.name(),
        tokens: item.tokens,
        full_tokens: item.full_tokens,
    };
    lesser.map(row).collect()
}

fn warned(warning: &Warning) -> Warned {
    Warned { code: warning.code.name(), block: warning.block, message: warning.message.clone() }
}
