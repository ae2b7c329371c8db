//! `merge`: several packs in, one out.

use std::path::{Path, PathBuf};

use lcp_types::Block;

use crate::Result;
use crate::dedup_args::DedupArgs;
use crate::files;
use crate::output::Output;
use crate::output_args::{PackOutputArgs, refuse_terminal};
use crate::tokenizer_args::TokenizerArgs;
use lcp_app::config::Config;
use lcp_app::dedup;
use lcp_app::render;
use lcp_app::{Error, ErrorKind};
use lcp_packfile::unreadable_handoffs;

/// Write several packs as one
///
/// Blocks stand in the order of the packs. Annotations, levels and the index of a hand-off
/// still speak of the blocks that they spoke of.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp merge samples/session.lcp samples/chat.lcp -o /tmp/both.lcp
  lcp merge project.lcp session.lcp --dedup overlap --compress block -o all.lcp
  cat a.lcp | lcp merge - b.lcp | lcp render - --budget 8000")]
pub struct Args {
    /// The packs, in their order; one of them may be `-` for standard input
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    dedup: DedupArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    #[command(flatten)]
    form: PackOutputArgs,
    /// Write the pack there; standard output by default
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
    let config = args.counting.config()?;
    let tokenizer = args.counting.options();
    let writer = args.form.encoder(&tokenizer, &config)?;
    let read: Vec<_> =
        args.packs.iter().map(|path| files::read(path, output)).collect::<Result<_, _>>()?;
    let packs = args.packs.iter().zip(&read).enumerate().map(|(at, (path, bytes))| {
        let pack = files::decode(path, bytes)?;
        for warning in &pack.warnings {
            output.warn(format!("{warning} [{}] ({})", warning.code(), files::display_name(path)));
        }
        if let Some(warning) = render::index_warning(bytes) {
            output.warn(format!("{warning} ({})", files::display_name(path)));
        }
        let name = files::display_name(path);
        // The first pack stays where it is.
        for index in unreadable_handoffs(&pack.blocks).filter(|_| at > 0) {
            output.warn(format!(
                "the index of a hand-off is damaged or of a newer version: it names blocks as if \
                 its pack stood alone ({name}, block {index})"
            ));
        }
        Ok(pack.blocks)
    });
    let merged = lcp_packfile::merge(packs.collect::<Result<_>>()?);
    let count = merged.len();
    let blocks = deduplicated(args, &config, merged, output)?;
    let written = writer.encode(&blocks, "the merged pack", output)?;
    output.note(format!("{} packs, {count} blocks, {} written", read.len(), blocks.len()));
    files::write(args.output.as_deref(), &written)
}

/// Without what stands twice, where that is asked for.
fn deduplicated<'b>(
    args: &Args,
    config: &Config,
    merged: Vec<Block<'b>>,
    output: &Output,
) -> Result<Vec<Block<'b>>> {
    if let Some(warning) = args.dedup.options().ineffective(&config.dedup) {
        output.warn(warning);
    }
    let Some(options) = args.dedup.options().options(&config.dedup, false) else {
        return Ok(merged);
    };
    let counter = args.counting.options().load_without_budget(config, false, output)?;
    let deduped = dedup::pack(&merged, &options, &counter.estimator)?;
    for warning in &deduped.warnings {
        output.warn(warning);
    }
    let saved = deduped.duplicates.tokens_saved();
    output.note(format!(
        "{} blocks became {}: {saved} tokens saved",
        merged.len(),
        deduped.blocks.len()
    ));
    counter.save_cache(output);
    Ok(deduped.blocks)
}
