//! `render`: a pack in, the text of it within a budget out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, OutputMode, Overflow, Verbosity, Warning, report,
};
use lcp_tokens::Model;
use lcp_types::BlockType;

use crate::Result;
use crate::counting::Counting;
use crate::failure::{Code, Failure, Output};
use crate::files;

/// Render a pack within a token budget
///
/// Writes the text and nothing else to standard output; warnings go to
/// standard error. Exit codes: 0 done, 1 cannot read or write, 2 wrong usage,
/// 3 malformed pack, 4 over budget (with --overflow deny), 5 limit exceeded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask render samples/session.lcp --budget 8000
  cargo xtask render samples/session.lcp --budget 2000 --mode minimal --report -
  cargo xtask render samples/session.lcp --model gpt-4
  cat pack.lcp | cargo xtask render - --mode markdown --types code,diff")]
pub(crate) struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// Tokens that the whole text may have; without it what the model can
    /// take, or everything in full where none is named
    #[arg(long, value_name = "N")]
    budget: Option<u32>,
    /// The format of the text
    #[arg(long, value_enum, default_value = "xml")]
    mode: Mode,
    /// How much of each block: `full` and `summary` ignore the budget
    #[arg(long, value_enum, default_value = "adaptive")]
    verbosity: Level,
    #[command(flatten)]
    counting: Counting,
    /// Only blocks of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = block_type)]
    types: Option<Vec<BlockType>>,
    /// Let what is left of the budget show Low and Background blocks in full
    #[arg(long)]
    fill: bool,
    /// What to do where the Critical blocks alone exceed the budget
    #[arg(long, value_enum, default_value = "allow")]
    overflow: OnOverflow,
    /// The same as --overflow deny
    #[arg(long, conflicts_with = "overflow")]
    strict: bool,
    /// Write the report as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the text there instead of to standard output
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Xml,
    Markdown,
    Minimal,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Full,
    Summary,
    Adaptive,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnOverflow {
    Allow,
    Deny,
}

impl Args {
    fn is_strict(&self) -> bool {
        self.strict || matches!(self.overflow, OnOverflow::Deny)
    }

    fn config(&self, model: Option<&Model>) -> DriverConfig {
        DriverConfig {
            mode: match self.mode {
                Mode::Xml => OutputMode::Xml,
                Mode::Markdown => OutputMode::Markdown,
                Mode::Minimal => OutputMode::Minimal,
            },
            token_budget: self.budget.or_else(|| model.map(available)),
            verbosity: match self.verbosity {
                Level::Full => Verbosity::Full,
                Level::Summary => Verbosity::Summary,
                Level::Adaptive => Verbosity::Adaptive,
            },
            types: self.types.clone(),
            fill: self.fill,
            overflow: if self.is_strict() { Overflow::Deny } else { Overflow::Allow },
        }
    }
}

/// What a model can take: its window, less a fifth for what is not in the text
/// (system prompt, tools, the answer, and counting that is not exact).
fn available(model: &Model) -> u32 {
    model.window - model.window.div_ceil(5)
}

fn block_type(label: &str) -> std::result::Result<BlockType, String> {
    BlockType::from_label(label).filter(|ty| *ty != BlockType::Annotation).ok_or_else(|| {
        let labels = BlockType::ALL.iter().filter(|ty| **ty != BlockType::Annotation);
        let labels: Vec<_> = labels.map(|ty| ty.label()).collect();
        format!("it may be {}", labels.join(", "))
    })
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let bytes = files::read(&args.pack)?;
    let pack = files::decode(&args.pack, &bytes)?;
    let counter = args.counting.counter(args.is_strict(), output)?;
    let model = counter.model.as_ref();
    let mut rendered = DefaultDriver::new(Arc::clone(&counter.estimator))
        .run(&pack.blocks, &args.config(model))
        .map_err(|error| denied(&args.pack, &error))?;
    let of_input = pack.warnings.iter().map(|warning| {
        let code = match warning {
            lcp_decoder::Warning::TrailingData { .. } => lcp_driver::WarningCode::TrailingData,
            _ => lcp_driver::WarningCode::ReservedFlags,
        };
        Warning::new(code, None, warning.to_string())
    });
    rendered.plan.warnings.splice(0..0, of_input);
    for warning in &rendered.plan.warnings {
        output.warn(warning);
    }
    let plan = &rendered.plan;
    let budget = plan.budget.map_or_else(|| "no budget".to_owned(), |budget| format!("{budget}"));
    output.note(format!("{} tokens ({budget}), {} blocks", plan.used_tokens, plan.items.len()));
    if let Some(path) = &args.report {
        let json = report::to_json(plan);
        if path == Path::new(files::STANDARD) {
            output.print(json.trim_end());
        } else {
            files::write(Some(path), json.as_bytes())?;
        }
    }
    files::write(args.output.as_deref(), rendered.text.as_bytes())?;
    counter.keep(output);
    Ok(())
}

fn denied(path: &Path, error: &DriverError) -> Failure {
    let message = format!("{error} [{}] ({})", error.code(), files::name(path));
    let failure = Failure::new(Code::OverBudget, message);
    match error {
        DriverError::OverBudget { needed, .. } => failure
            .hint(format!("a budget of {needed} holds it; --overflow allow renders it anyway")),
        _ => failure,
    }
}
