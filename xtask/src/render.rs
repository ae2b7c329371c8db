//! `render`: a pack in, the text of it within a budget out.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lcp_driver::{
    DefaultDriver, DriverConfig, DriverError, OutputMode, Overflow, Verbosity, Warning, report,
};
use lcp_types::BlockType;

use crate::Result;
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
  cat pack.lcp | cargo xtask render - --mode markdown --types code,diff")]
pub(crate) struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// Tokens that the whole text may have; without it everything is in full
    #[arg(long, value_name = "N")]
    budget: Option<u32>,
    /// The format of the text
    #[arg(long, value_enum, default_value = "xml")]
    mode: Mode,
    /// How much of each block: `full` and `summary` ignore the budget
    #[arg(long, value_enum, default_value = "adaptive")]
    verbosity: Level,
    /// What counts the tokens
    #[arg(long, value_name = "NAME", default_value = "o200k_base", value_parser = encoding)]
    encoding: String,
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
    fn config(&self) -> DriverConfig {
        DriverConfig {
            mode: match self.mode {
                Mode::Xml => OutputMode::Xml,
                Mode::Markdown => OutputMode::Markdown,
                Mode::Minimal => OutputMode::Minimal,
            },
            token_budget: self.budget,
            verbosity: match self.verbosity {
                Level::Full => Verbosity::Full,
                Level::Summary => Verbosity::Summary,
                Level::Adaptive => Verbosity::Adaptive,
            },
            types: self.types.clone(),
            fill: self.fill,
            overflow: match self.overflow {
                OnOverflow::Allow if !self.strict => Overflow::Allow,
                _ => Overflow::Deny,
            },
        }
    }
}

fn encoding(name: &str) -> std::result::Result<String, String> {
    if lcp_tokens::NAMES.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(format!("it may be {}", lcp_tokens::NAMES.join(", ")))
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
    let estimator = lcp_tokens::by_name(&args.encoding)
        .map_err(|error| Failure::new(Code::Usage, error.to_string()))?;
    let mut rendered = DefaultDriver::new(estimator)
        .run(&pack.blocks, &args.config())
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
    files::write(args.output.as_deref(), rendered.text.as_bytes())
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
