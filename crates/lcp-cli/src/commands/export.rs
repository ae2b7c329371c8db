//! The command `export`: converts a pack to the messages of a request.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use lcp_app::export::{ExportOptions, ResultOrder};
use lcp_ingest::SecretPolicy;
use lcp_transcripts::Provider;

use crate::Result;
use crate::arguments::{block_secrets, by_name};
use crate::budget_args::BudgetArgs;
use crate::files::{self, PACK};
use crate::output::Output;
use crate::tokenizer_args::TokenizerArgs;

/// Convert a pack to the messages of a request, within a token budget
///
/// The history is always valid: calls and results come in pairs, results directly follow their
/// calls, and for Anthropic and Gemini the user speaks first and the roles alternate. Warnings
/// report content that is left out for this reason.
#[derive(Debug, clap::Args)]
#[command(mut_args(describe))]
#[command(after_help = "Examples:
  lcp import session.jsonl | lcp export - --to anthropic > messages.json
  lcp export chat.lcp --to openai --budget 8000 --report -
  lcp export chat.lcp --to openai --model gpt-4o -o messages.json
  lcp import rollout.jsonl | lcp export - --to openai-responses
  lcp import session.jsonl | lcp export - --to gemini")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    /// Provider whose message format to write
    #[arg(long, value_name = "PROVIDER",
        value_parser = PossibleValuesParser::new(Provider::ALL.map(Provider::name)))]
    to: String,
    #[command(flatten)]
    limits: BudgetArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Order of older tool results and files: relevance or rank [default: relevance]
    ///
    /// `relevance` shows those first that the newest request of the user needs. `rank` uses the
    /// ranks of the pack. Imports rank newer messages higher.
    #[arg(long, value_name = "ORDER",
        value_parser = by_name([("relevance", ResultOrder::Relevance), ("rank", ResultOrder::Rank)]))]
    order: Option<ResultOrder>,
    /// Tokens of each image [default: 0]
    ///
    /// Providers count images by their size: for Claude, up to about 1600 tokens.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    image_tokens: u32,
    /// Treatment of private keys, tokens and passwords: redact, warn or off [default: warn]
    ///
    /// `redact` replaces each secret by a marker such as `[secret github-token 1]`. `off` does not
    /// search for them. Exceptions are those of `lcp pack`.
    #[arg(long, value_name = "POLICY", value_parser = block_secrets())]
    secrets: Option<SecretPolicy>,
    /// Write a JSON report to this file; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the messages to this file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Replaces the help of flags that `render` has too, if it differs for messages.
fn describe(flag: clap::Arg) -> clap::Arg {
    let (help, details) = match flag.get_id().as_str() {
        "budget" => (
            "Maximum number of tokens of the messages [default: from the window]",
            "Other fields of the request, such as `tools`, count too. By default, the budget is \
             the part of the window that the safety factor and the reserves leave. Without a \
             window, everything is exported.",
        ),
        "fill" => (
            "Use leftover budget for low- and background-priority blocks [default: on]",
            "Such blocks are then exported in full if they fit. `fill` of lcp.toml changes the \
             default.",
        ),
        "excerpts" => (
            "Show excerpts of blocks that do not fit [default: on, unless --fill=off]",
            "`excerpts` of lcp.toml changes the default.",
        ),
        "overflow" => (
            "Action if critical and pinned blocks exceed the budget [default: allow]",
            "`allow` prints a warning, `deny` fails with exit code 4. The same applies if they \
             exceed the cap of their share. If no history fits the budget, both fail: `allow` with \
             exit code 2, `deny` with 4. If the tokenizer cannot be loaded, `allow` estimates token \
             counts with a warning, and `deny` fails with exit code 1. `overflow` of lcp.toml \
             changes the default.",
        ),
        _ => return flag,
    };
    flag.help(help).long_help(format!("{help}\n\n{details}"))
}

/// Writes the messages.
pub fn run(args: &Args, output: &Output) -> Result {
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    files::check_distinct_paths(&[(PACK, &args.pack)], &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let bytes = files::read(&args.pack, output)?;
    // If the pack is malformed, report that and not an error of the options.
    let first = |error| files::decode(&args.pack, &bytes).err().unwrap_or(error);
    let options = args.to_options().map_err(first)?;
    let config = args.counting.read_config().map_err(first)?;
    let exported = options.export(&args.pack, &bytes, &config, output)?;
    if let Some(path) = &args.report {
        files::write_report(path, &exported.to_json(), output)?;
    }
    files::write(args.output.as_deref(), format!("{}\n", exported.json()).as_bytes())?;
    exported.save_cache(output);
    Ok(())
}

impl Args {
    /// Returns the options that these flags ask for.
    fn to_options(&self) -> Result<ExportOptions> {
        Ok(ExportOptions {
            provider: Provider::from_name(&self.to).unwrap_or_default(),
            budget: self.limits.to_options()?,
            tokenizer: self.counting.to_options(),
            secrets: self.secrets,
            order: self.order.unwrap_or_default(),
            image_tokens: self.image_tokens,
        })
    }
}
