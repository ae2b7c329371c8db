//! The command `merge`: combines several packs into one.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::dedup_args::DedupArgs;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::property_args::PropertyArgs;
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::merge::MergeOptions;
use lcp_app::{Error, ErrorKind};

/// Merge several packs into one
///
/// The blocks are in the order of the packs. Annotations, levels and hand-off indexes still refer
/// to the same blocks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp merge samples/session.lcp samples/chat.lcp -o /tmp/both.lcp
  lcp merge project.lcp session.lcp --dedup overlap --compress block -o all.lcp
  cat a.lcp | lcp merge - b.lcp | lcp render - --budget 8000")]
pub struct Args {
    /// Packs to merge, in this order; one may be `-` for standard input
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    properties: PropertyArgs,
    #[command(flatten)]
    dedup: DedupArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// Write the pack to this file [default: standard output]
    #[arg(short, long, value_name = "PACK")]
    output: Option<PathBuf>,
}

/// Writes the merged pack.
pub fn run(args: &Args, output: &Output) -> Result {
    refuse_terminal(args.output.as_deref())?;
    let standard = args.packs.iter().filter(|path| path.as_path() == Path::new(files::STANDARD));
    if standard.count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "only one pack can come from standard input"));
    }
    for path in &args.packs {
        let outputs: Vec<_> = args.output.iter().map(|path| ("-o", path.as_path())).collect();
        files::check_distinct_paths(&[(&files::display_name(path), path)], &outputs, |_, _| false)?;
    }
    let config = args.counting.read_config()?;
    let options = MergeOptions {
        dedup: args.dedup.to_options(),
        tokenizer: args.counting.to_options(),
        properties: args.properties.to_properties(),
    };
    let writer = args.form.encoder(&options.tokenizer, &config)?;
    let read: Vec<_> = args
        .packs
        .iter()
        .map(|path| Ok((path.as_path(), files::read(path, output)?)))
        .collect::<Result<_>>()?;
    let merged = options.merge(&read, &config, output)?;
    let written = writer.encode(&merged.blocks, "the merged pack", output)?;
    let (count, written_blocks) = (merged.blocks_before, merged.blocks.len());
    let (packs, count) =
        (lcp_driver::plural(read.len(), "pack"), lcp_driver::plural(count, "block"));
    output.note(format!("{packs}, {count}, {written_blocks} written"));
    files::write(args.output.as_deref(), &written)
}
