//! The command `dedup`: removes duplicate content from a pack.

use std::path::PathBuf;

use lcp_app::dedup::DedupedPack;
use lcp_types::Replacement;

use crate::Result;
use crate::dedup_args::DedupArgs;
use crate::files::{self, PACK};
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;

/// Remove duplicate content from a pack
///
/// Annotations still apply to the same blocks. -v lists each covered block with the block that
/// covers it and the tokens saved; --report writes this as JSON.
#[derive(Debug, clap::Args)]
#[command(mut_arg("dedup", with_default))]
#[command(after_help = "Examples:
  lcp dedup samples/duplicates.lcp -o /tmp/once.lcp
  lcp dedup samples/duplicates.lcp --dedup near --report - -o /tmp/once.lcp
  cat pack.lcp | lcp dedup - | lcp render - --budget 8000")]
pub struct Args {
    /// Pack to read; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    dedup: DedupArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// Write a JSON report to this file; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the pack to this file [default: standard output]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Sets the default in the help of `--dedup`.
fn with_default(arg: clap::Arg) -> clap::Arg {
    let set = |help: &clap::builder::StyledStr| {
        help.to_string().replace("[default: off]", "[default: overlap]")
    };
    let (help, long_help) = (arg.get_help().map(set), arg.get_long_help().map(set));
    arg.help(help.unwrap_or_default()).long_help(long_help.unwrap_or_default())
}

/// Writes the pack without duplicates.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let outputs = [("--report", &args.report), ("-o", &args.output)];
    let outputs = outputs.into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    files::check_distinct_paths(&[(PACK, &args.pack)], &outputs.collect::<Vec<_>>(), |_, _| false)?;
    let config = args.counting.read_config()?;
    let (tokenizer, dedup) = (args.counting.to_options(), args.dedup.to_options());
    let writer = args.form.encoder(&tokenizer, &config)?;
    let bytes = files::read(&args.pack, output)?;
    let deduped = dedup.dedup(&args.pack, &bytes, &tokenizer, &config, output)?;
    let written = writer.encode(&deduped.blocks, "the deduplicated pack", output)?;
    for (index, covered) in &deduped.duplicates.covered {
        output.note(line(*index, covered));
    }
    output.note(sums(&deduped));
    if let Some(path) = &args.report {
        files::write_report(path, &deduped.to_json(), output)?;
    }
    files::write(args.output.as_deref(), &written)
}

fn line(index: usize, covered: &Replacement) -> String {
    let Replacement { by, relation, tokens_saved, .. } = covered;
    let saved = lcp_driver::plural(*tokens_saved, "token");
    format!("block {index} ({relation}) is covered by block {by}: {saved} saved")
}

fn sums(deduped: &DedupedPack<'_>) -> String {
    let (before, after) = (deduped.blocks_before, deduped.blocks.len());
    let saved = deduped.duplicates.tokens_saved();
    let (before, saved) = (lcp_driver::plural(before, "block"), lcp_driver::plural(saved, "token"));
    format!("{before} before, {after} after, including annotations; {saved} saved")
}
