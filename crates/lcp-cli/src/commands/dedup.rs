//! `dedup`: a pack in, the same without what stands twice out.

use std::path::PathBuf;

use lcp_app::dedup::DedupedPack;
use lcp_types::Replacement;

use crate::Result;
use crate::dedup_args::DedupArgs;
use crate::files::{self, PACK};
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;

/// Write a pack without what stands twice in it
///
/// Annotations follow their blocks. What was removed, what covers it and the tokens
/// saved go to standard error with -v, or as JSON to a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp dedup samples/duplicates.lcp -o /tmp/once.lcp
  lcp dedup samples/duplicates.lcp --dedup near --report - -o /tmp/once.lcp
  cat pack.lcp | lcp dedup - | lcp render - --budget 8000")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    #[command(flatten)]
    dedup: DedupArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// Write what was done as JSON there; `-` for standard error
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Write the pack there; standard output by default
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Writes the pack without what stands twice.
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
    format!("block {index} ({relation}) is covered by block {by}: {tokens_saved} tokens saved")
}

fn sums(deduped: &DedupedPack<'_>) -> String {
    let (before, after) = (deduped.blocks_before, deduped.blocks.len());
    let saved = deduped.duplicates.tokens_saved();
    format!("{before} blocks became {after}, annotations counted: {saved} tokens saved")
}
