//! `export`: a pack in, the messages of a request out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Overflow};
use lcp_transcripts::Provider;
use serde_json::{Value, json};

use crate::Result;
use crate::budget_args::BudgetArgs;
use crate::files::{self, PACK};
use crate::output::Output;
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::budget::{EffectiveBudget, Settings};
use lcp_app::config::Origin;
use lcp_app::export::{Candidates, FittedMessages, Unfit, fit, has_turns};
use lcp_app::render;
use lcp_app::tokenizer::LoadedTokenizer;
use lcp_app::{Error, ErrorKind};

/// Write a pack as the messages of a request, within a token budget
///
/// The history is always valid: calls and their results in pairs, results right behind
/// their calls, for Anthropic the user first and roles in turn. What is left out for that
/// is told of.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp import session.jsonl | lcp export - --to anthropic > messages.json
  lcp export chat.lcp --to openai --budget 8000 --report -
  lcp export chat.lcp --to openai --model gpt-4o -o messages.json")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// Whose messages
    #[arg(long, value_name = "PROVIDER",
        value_parser = PossibleValuesParser::new(Provider::ALL.map(Provider::name)))]
    to: String,
    #[command(flatten)]
    limits: BudgetArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Write what became of the blocks as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the messages there instead of to standard output
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Tools that a warning names.
const RENAMED_MAX: usize = 3;

/// Writes the messages.
pub fn run(args: &Args, output: &Output) -> Result {
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    files::check_distinct_paths(&[(PACK, &args.pack)], &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let target = Provider::from_name(&args.to).unwrap_or(Provider::OpenAi);
    let bytes = files::read(&args.pack, output)?;
    let pack = files::decode(&args.pack, &bytes)?;
    let tokenizer = args.counting.options();
    let EffectiveBudget { config: file, model, settings, warnings } =
        args.limits.options()?.resolve(args.counting.config()?, &tokenizer)?;
    for warning in &warnings {
        output.warn(warning);
    }
    for warning in &pack.warnings {
        output.warn(warning);
    }
    if let Some(warning) = render::index_warning(&bytes) {
        output.warn(warning);
    }
    let config = config(&settings);
    let strict = config.overflow == Overflow::Deny;
    let counter = tokenizer.counter(&file, model.as_ref(), strict, output)?;
    let driver = DefaultDriver::new(Arc::clone(&counter.estimator));
    let candidates = Candidates::new(target, &pack.blocks);
    if candidates.is_empty() {
        print_left_out(&candidates, output);
        let message =
            format!("nothing has a place in messages ({})", files::display_name(&args.pack));
        let hint = if candidates.whole.report.orphans > 0 {
            "a provider takes a tool's result only behind its call, which is not there; `lcp render` \
             shows it as a text"
        } else {
            "`lcp inspect` lists the blocks"
        };
        return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
    }
    let fitted = fit(&candidates, &driver, &counter.estimator, &config)
        .map_err(|error| args.over_budget_error(&error))?;
    print_warnings(&candidates, &fitted, &counter, output);
    if let Some(path) = &args.report {
        let json = files::json(&facts(target, &candidates, &fitted, config.token_budget));
        if path.as_os_str() == files::STANDARD {
            output.print(json.trim_end());
        } else {
            files::write(Some(path), json.as_bytes())?;
        }
    }
    files::write(args.output.as_deref(), format!("{}\n", fitted.exported.json).as_bytes())?;
    counter.save_cache(output);
    Ok(())
}

/// What decides over the blocks. Messages have no reason to leave tokens unused, so
/// `--fill` is on unless somebody says otherwise.
fn config(settings: &Settings) -> DriverConfig {
    DriverConfig {
        mode: OutputMode::Minimal,
        token_budget: settings.budget.as_ref().map(|budget| budget.value.tokens),
        fill: settings.fill.value || settings.fill.from == Origin::Default,
        excerpts: settings.excerpts.value,
        objective: settings.objective.value,
        shares: settings.shares.as_ref().map(|shares| shares.value.shares.clone()),
        overflow: settings.overflow.value,
        ..DriverConfig::default()
    }
}

impl Args {
    fn over_budget_error(&self, error: &Unfit) -> Error {
        let message = format!("{error} [{}] ({})", error.code(), files::display_name(&self.pack));
        match error {
            Unfit::Plan(_) => Error::new(ErrorKind::OverBudget, message),
            Unfit::OverBudget { needed, is_denied, .. } => {
                let code = if *is_denied { ErrorKind::OverBudget } else { ErrorKind::Usage };
                Error::new(code, message)
                    .with_hint(format!("the smallest messages fit --budget {needed}"))
            }
        }
    }
}

/// Prints what the messages lack, and why.
fn print_warnings(
    candidates: &Candidates<'_>,
    fitted: &FittedMessages,
    counter: &LoadedTokenizer,
    output: &Output,
) {
    let FittedMessages { exported, tokens, beside, plan, plans, dropped } = fitted;
    for warning in &plan.warnings {
        counter.warn(warning, output);
    }
    if *dropped > 0 {
        output.warn(format!(
            "no plan fitted the budget: {dropped} messages were dropped, the oldest first"
        ));
    }
    print_left_out(candidates, output);
    if exported.report.inserted > 0 && !has_turns(exported) {
        output
            .warn("no message but the system's is there: one of the user that says so is inserted");
    }
    let messages = exported.messages.len();
    let beside = match beside {
        0 => String::new(),
        beside => format!(" ({beside} beside the messages)"),
    };
    output.note(format!("{messages} messages, {tokens} tokens{beside}, {plans} plans"));
}

/// Prints what no message can have of the pack.
fn print_left_out(candidates: &Candidates<'_>, output: &Output) {
    let report = &candidates.whole.report;
    for (count, what) in [
        (report.unanswered, "tool calls that no result answers are left out"),
        (report.orphans, "results that answer no tool call are left out"),
        (report.renamed, "ids of tool calls were changed: the provider takes no such ids"),
        (candidates.sidechains as u64, "blocks of side conversations are left out"),
    ] {
        if count > 0 {
            output.warn(format!("{count} {what}"));
        }
    }
    let renamed = &candidates.whole.renamed_tools;
    if !renamed.is_empty() {
        let named =
            renamed.iter().take(RENAMED_MAX).map(|(name, new)| format!("{name:?} is {new}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if renamed.len() > RENAMED_MAX { ", …" } else { "" };
        output.warn(format!(
            "{} names of tools were changed, since the provider takes no such names: {named}{more}",
            renamed.len()
        ));
    }
    for (what, count) in &report.left_out {
        let what = what.escape_debug();
        output.warn(format!("{count} of type {what} have no place in these messages"));
    }
}

/// What became of the blocks, for programs.
fn facts(
    target: Provider,
    candidates: &Candidates<'_>,
    fitted: &FittedMessages,
    budget: Option<u32>,
) -> Value {
    let FittedMessages { exported, tokens, beside, plan, dropped, .. } = fitted;
    let mut by_decision: BTreeMap<&str, u64> = BTreeMap::new();
    for item in &plan.items {
        *by_decision.entry(item.decision.name()).or_default() += 1;
    }
    // Plans without a message have none of its blocks.
    let (whole, made) = (&candidates.whole.report, &exported.report);
    let whole_names = &candidates.whole.renamed_tools;
    let messages: Vec<_> = exported
        .messages
        .iter()
        .map(|message| json!({ "role": message.role, "blocks": message.blocks }))
        .collect();
    json!({
        "schema": "lcp.export.v1",
        "to": target.name(),
        "encoding": plan.encoding,
        "exact": plan.exact,
        "budget": budget,
        "used_tokens": tokens,
        "beside_tokens": beside,
        "messages": messages,
        "calls": made.calls,
        "unanswered": whole.unanswered,
        "orphans": whole.orphans,
        "empty": whole.empty,
        "renamed": made.renamed,
        "renamed_tools": whole_names,
        "inserted": made.inserted,
        "left_out": whole.left_out,
        "sidechain_blocks": candidates.sidechains,
        "dropped_messages": dropped,
        "rolled_up": plan.rolled_up.map(|of| json!({ "count": of.count, "tokens": of.tokens })),
        "by_decision": by_decision,
        "warnings": plan.warnings.iter().map(|warning| json!({
            "code": warning.code.name(), "block": warning.block, "message": warning.message,
        })).collect::<Vec<_>>(),
    })
}
