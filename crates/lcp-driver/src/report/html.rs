//! The report as a single HTML page that needs no network and no other file.
//!
//! The page consists of a template (`html/page.html`), styles and a script. The plans are embedded
//! as JSON, from which the script draws everything. Text of a pack never becomes markup: the JSON
//! contains no `<`, and the script inserts only text nodes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::display_names::{
    decision_rank, describe_optimality, describe_reason, describe_repack, shorten,
};
use super::rows::{PageDuplicates, ShareRow, StableRow};
use crate::block_view::label::escape_control;
use crate::detail::Verbosity;
use crate::fmt::group_thousands;
use crate::plan::{DecisionReason, Plan, RenderDecision};

const PAGE: &str = include_str!("html/page.html");
const STYLE: &[&str] = &[include_str!("html/theme.css"), include_str!("html/parts.css")];
const SCRIPT: &[&str] = &[
    "'use strict';\n(() => {\n",
    include_str!("html/data.js"),
    include_str!("html/treemap.js"),
    include_str!("html/figures.js"),
    include_str!("html/list.js"),
    include_str!("html/main.js"),
    "})();\n",
];

/// The maximum number of warnings that a page lists for each plan; the rest is only counted.
const WARNINGS_MAX: usize = 100;

/// The maximum number of characters of a warning on a page; the JSON report has the whole message.
const MESSAGE_CHARS_MAX: usize = 500;

/// Formats the report on a plan as one self-contained HTML page.
///
/// `replay` has plans of the same blocks for other budgets; a slider switches between them. These
/// plans of `replay` are ignored:
///
/// - Plans with another number of blocks.
/// - Plans for a budget that the page already has.
/// - All of them, if the verbosity ignores the budget or the plan has no blocks.
///
/// The page is usable with a hundred thousand blocks. Its size is about 50 bytes per block, plus 8
/// bytes per block for each plan of `replay`.
///
/// ```
/// use lcp_driver::{DefaultDriver, DriverConfig, report};
/// use lcp_types::{Block, Role};
///
/// let blocks = [Block::conversation(Role::User, "</script>")];
/// let driver = DefaultDriver::default();
/// let plan = |budget| {
///     driver.plan(&blocks, &DriverConfig { token_budget: budget, ..DriverConfig::default() })
/// };
/// let page = report::to_html(&plan(Some(100))?, &[plan(Some(5))?, plan(None)?]);
/// assert!(page.starts_with("<!doctype html>"));
/// # Ok::<(), lcp_driver::DriverError>(())
/// ```
#[must_use]
pub fn to_html(plan: &Plan, replay: &[Plan]) -> String {
    // A value is a number, a string or a list of them, so serialization cannot fail.
    let data = serde_json::to_string(&Page::new(plan, replay)).unwrap_or_default();
    let mut page = String::with_capacity(PAGE.len() + data.len() + 48 * 1024);
    let mut rest = PAGE;
    while let Some((before, behind)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, behind) = behind.split_once("}}").unwrap_or((behind, ""));
        match name {
            "style" => page.extend(STYLE.iter().copied()),
            "script" => page.extend(SCRIPT.iter().copied()),
            "noscript" => page.push_str(&without_script(plan)),
            // Without a `<`, no text of a pack can end the element or begin another one.
            "data" => page.push_str(&data.replace('<', "\\u003c")),
            _ => {}
        }
        rest = behind;
    }
    page.push_str(rest);
    page
}

/// Returns the text for browsers without scripts; it has only numbers of the plan.
fn without_script(plan: &Plan) -> String {
    let used = group_thousands(plan.used_tokens.into());
    let of = plan
        .budget
        .map(|budget| format!(" of {}", group_thousands(budget.into())))
        .unwrap_or_default();
    format!("{used}{of} tokens used. Enable JavaScript to see the rest of this report.")
}

/// The input of the script. Names are stored in tables; blocks refer to them by index or letter.
#[derive(Serialize)]
struct Page<'p> {
    encoding: String,
    exact: bool,
    mode: &'static str,
    verbosity: &'static str,
    objective: &'static str,
    decisions: Vec<&'static str>,
    reasons: Vec<&'static str>,
    /// The sentence that explains each reason, by the name of the reason.
    sentences: serde_json::Map<String, serde_json::Value>,
    types: Vec<&'static str>,
    priorities: Vec<&'static str>,
    categories: Vec<String>,
    blocks: Columns,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicates: Option<PageDuplicates>,
    plans: Vec<Run<'p>>,
    /// The index of the reported plan among all plans.
    current: usize,
}

/// The blocks, one list for each property.
#[derive(Default, Serialize)]
struct Columns {
    label: Vec<String>,
    r#type: Vec<usize>,
    category: Vec<usize>,
    priority: Vec<usize>,
    full: Vec<u32>,
}

#[derive(Serialize)]
struct Run<'p> {
    budget: Option<u32>,
    used: u32,
    remaining: u32,
    overflow: u32,
    overhead: u32,
    shown: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    /// The value of the plan and how good that is, in words: it exceeds a script's numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stable: Option<StableRow>,
    /// The reason why the text was repacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    shares: Vec<ShareRow<'p>>,
    /// The first warnings.
    warnings: Vec<Notice>,
    /// The number of all warnings.
    warned: usize,
    /// The decision of each block, one letter per block.
    d: String,
    r: String,
    t: Vec<u32>,
    /// Blocks that are shown in part: index, lines and tokens omitted.
    omitted: Vec<(usize, usize, u32)>,
}

#[derive(Serialize)]
struct Notice {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    message: String,
}

impl<'p> Page<'p> {
    fn new(plan: &'p Plan, replay: &'p [Plan]) -> Self {
        let plans = by_budget(plan, replay);
        let decisions = decisions(&plans);
        let reasons = reasons(&plans);
        let mut types = Names::default();
        let mut priorities: Vec<_> = plan.items.iter().map(|item| item.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let categories: BTreeSet<&str> = plan.items.iter().map(|item| &*item.category).collect();
        let categories: Vec<&str> = categories.into_iter().collect();
        let mut blocks = Columns::default();
        for item in &plan.items {
            blocks.label.push(shorten(&item.label).into_owned());
            blocks.r#type.push(types.intern(item.block_type.label()));
            blocks.category.push(categories.binary_search(&&*item.category).unwrap_or_default());
            blocks.priority.push(priorities.binary_search(&item.priority).unwrap_or_default());
            blocks.full.push(item.full_tokens);
        }
        let current = plans.iter().position(|other| std::ptr::eq(*other, plan));
        Self {
            encoding: shorten(&plan.encoding).into_owned(),
            exact: plan.exact,
            mode: plan.mode.name(),
            verbosity: plan.verbosity.name(),
            objective: plan.objective.name(),
            sentences: reasons
                .iter()
                .map(|reason| (reason.name().to_owned(), describe_reason(*reason).into()))
                .collect(),
            types: types.0,
            priorities: priorities.iter().map(|priority| priority.name()).collect(),
            categories: categories.iter().map(|name| shorten(name).into_owned()).collect(),
            blocks,
            duplicates: PageDuplicates::new(plan),
            plans: plans.iter().map(|plan| Run::new(plan, &decisions, &reasons)).collect(),
            current: current.unwrap_or_default(),
            reasons: reasons.iter().map(|reason| reason.name()).collect(),
            decisions,
        }
    }
}

/// Returns the plan and the matching ones of the replay by budget; no budget is last.
fn by_budget<'p>(plan: &'p Plan, replay: &'p [Plan]) -> Vec<&'p Plan> {
    let same = |other: &&Plan| other.items.len() == plan.items.len();
    let mut plans = vec![plan];
    if plan.verbosity == Verbosity::Adaptive && !plan.items.is_empty() {
        plans.extend(replay.iter().filter(same));
    }
    let budget = |plan: &&Plan| plan.budget.map_or(u64::MAX, u64::from);
    // The sort is stable: of the same budget, the plan itself is the first.
    plans.sort_by_key(budget);
    plans.dedup_by_key(|plan| budget(plan));
    plans
}

fn decisions(plans: &[&Plan]) -> Vec<&'static str> {
    let items = plans.iter().flat_map(|plan| &plan.items);
    let mut names: Vec<_> = items.map(|item| item.decision.name()).collect();
    names.sort_unstable_by_key(|name| (decision_rank(name), *name));
    names.dedup();
    names
}

fn reasons(plans: &[&Plan]) -> Vec<DecisionReason> {
    let items = plans.iter().flat_map(|plan| &plan.items);
    let mut reasons: Vec<_> = items.map(|item| item.reason).collect();
    reasons.sort_unstable_by_key(|reason| reason.name());
    reasons.dedup();
    reasons
}

impl<'p> Run<'p> {
    fn new(plan: &'p Plan, decisions: &[&str], reasons: &[DecisionReason]) -> Self {
        let mut run = Self {
            budget: plan.budget,
            used: plan.used_tokens,
            remaining: plan.remaining_tokens(),
            overflow: plan.overflow_tokens(),
            overhead: plan.overhead_tokens,
            shown: plan.content_tokens_shown(),
            suggestion: plan.suggestion(),
            value: plan.optimality.as_ref().map(|optimality| {
                (group_thousands(optimality.value), describe_optimality(optimality))
            }),
            stable: plan.stable.as_ref().map(StableRow::from),
            why: plan.stable.as_ref().and_then(describe_repack),
            shares: plan
                .shares
                .iter()
                .map(|share| ShareRow::new(share, shorten(&share.name)))
                .collect(),
            warnings: plan.warnings.iter().take(WARNINGS_MAX).map(Notice::new).collect(),
            warned: plan.warnings.len(),
            d: String::with_capacity(plan.items.len()),
            r: String::with_capacity(plan.items.len()),
            t: plan.items.iter().map(|item| item.tokens).collect(),
            omitted: Vec::new(),
        };
        for (index, item) in plan.items.iter().enumerate() {
            let decision = item.decision.name();
            run.d.push(letter(decisions.iter().position(|known| *known == decision)));
            run.r.push(letter(reasons.iter().position(|known| *known == item.reason)));
            if let RenderDecision::Excerpt(excerpt) = &item.decision {
                run.omitted.push((index, excerpt.omitted_lines, excerpt.omitted_tokens));
            }
        }
        run
    }
}

impl Notice {
    fn new(warning: &crate::warning::Warning) -> Self {
        let mut chars = warning.message.chars();
        let mut message: String = chars.by_ref().take(MESSAGE_CHARS_MAX).collect();
        if chars.next().is_some() {
            message.push('…');
        }
        let message = escape_control(&message).into_owned();
        Self { code: warning.code.name(), block: warning.block, message }
    }
}

/// Returns the letter for an index: `a` for the first, `b` for the second.
fn letter(place: Option<usize>) -> char {
    let place = place.and_then(|place| u8::try_from(place).ok()).unwrap_or_default();
    char::from(b'a'.saturating_add(place))
}

#[derive(Default)]
struct Names(Vec<&'static str>);

impl Names {
    fn intern(&mut self, name: &'static str) -> usize {
        self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        })
    }
}
