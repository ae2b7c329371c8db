//! The command `config`: prints the settings in force, the source of each, and the budget.

mod rows;
mod tree;

use lcp_driver::shares::ContextBudget;
use lcp_driver::{Warning, WarningCode, escape_control};
use serde_json::{Value, json};

use crate::Result;
use crate::budget_args::BudgetArgs;
use crate::files;
use crate::output::Output;
use crate::table::{self, Column};
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::budget::Settings;
use lcp_app::config::{Config, Origin, Setting};

/// Print the budget and the settings in force, with the source of each
///
/// The source of a setting is a flag, a line of lcp.toml, or the default.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp config
  lcp config --model gpt-4 --shares agent
  lcp config --config lcp.toml --json")]
pub struct Args {
    #[command(flatten)]
    limits: BudgetArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Former name of `config`
#[derive(Debug, clap::Args)]
pub struct FormerBudgetArgs {
    #[command(subcommand)]
    command: BudgetCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BudgetCommand {
    Show(Args),
}

/// Runs the former `budget show`.
pub fn run_budget(args: &FormerBudgetArgs, output: &Output) -> Result {
    let BudgetCommand::Show(args) = &args.command;
    run(args, output)
}

/// Prints the settings in force.
pub fn run(args: &Args, output: &Output) -> Result {
    let tokenizer = args.counting.to_options();
    let limits = args.limits.to_options()?;
    let config = args.counting.read_config()?;
    let budget = limits.resolve(&config, &tokenizer)?;
    for warning in &budget.warnings {
        output.warn(warning);
    }
    let counter = tokenizer.load(&config, budget.model.as_ref(), false, output)?;
    if let Some(caveat) = counter.estimator.caveat() {
        let warning = Warning::new(WarningCode::TokenizerFallback, None, caveat);
        counter.warn(&warning, output);
    }
    let encoding = Setting { value: counter.estimator.name(), origin: counter.origin };
    let rows = rows::rows(&budget, &config, encoding);
    let text = if args.json {
        as_json(&budget.settings, &config, &rows)
    } else {
        let divided = budget.settings.divide();
        let note = divided.as_ref().and_then(ContextBudget::scaling);
        if let Some(note) = &note {
            output.warn(Warning::new(WarningCode::SharesNormalised, None, note.to_string()));
        }
        let note = note.map_or_else(String::new, |note| format!("Note: {note}\n"));
        let tree = tree::tree(&budget.settings, divided.as_ref());
        format!("{tree}{note}\n{}", table(&config, &rows))
    };
    files::print(&text)
}

/// A setting in force, or one that is given but has no effect.
struct Row {
    key: &'static str,
    value: Value,
    from: Origin,
    /// The reason, if the setting does not change a render.
    ineffective: Option<String>,
}

fn table(config: &Config, rows: &[Row]) -> String {
    let shown = |row: &Row| match &row.value {
        Value::String(text) => text.escape_debug().to_string(),
        Value::Number(number) => match number.as_u64() {
            Some(number) => lcp_driver::group_thousands(number),
            None => number.to_string(),
        },
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    };
    let cells = |row: &Row| {
        let note = row.ineffective.as_ref().map_or_else(String::new, |why| format!("  ({why})"));
        vec![row.key.to_owned(), shown(row), origin(row.from, config) + &note]
    };
    let columns = [Column::Left(""), Column::Left(""), Column::Left("")];
    table::render_rows(&columns, &rows.iter().map(cells).collect::<Vec<_>>())
}

/// Returns the origin of a setting as text: a flag, `FILE:LINE`, or `default`.
fn origin(from: Origin, config: &Config) -> String {
    match (from, &config.path) {
        (Origin::File(line), Some(path)) => {
            format!("{}:{line}", escape_control(&files::display_name(path)))
        }
        (Origin::Flag(name), _) => name.to_owned(),
        _ => "default".to_owned(),
    }
}

fn as_json(settings: &Settings, config: &Config, rows: &[Row]) -> String {
    let budget = settings.budget.as_ref().map(|budget| budget.value);
    let window = budget.and_then(|budget| budget.window).map(|window| {
        json!({
            "tokens": window.tokens,
            "safety": window.safety,
            "system_prompt_reserve": window.system_prompt_reserve,
            "response_reserve": window.response_reserve,
        })
    });
    let divided = settings.divide();
    let note = divided.as_ref().and_then(ContextBudget::scaling);
    let rows = rows.iter().map(|row| {
        json!({
            "key": row.key,
            "value": row.value,
            "from": origin(row.from, config),
            "in_effect": row.ineffective.is_none(),
            "note": row.ineffective,
        })
    });
    let whole = json!({
        "schema": "lcp.budget.v1",
        "window": window,
        "available": budget.map(|budget| budget.tokens),
        "shares": tree::shares_json(settings, divided.as_ref()),
        "note": note.map(|note| note.to_string()),
        "settings": rows.collect::<Vec<_>>(),
    });
    files::json(&whole)
}
