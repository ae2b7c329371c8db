//! `append`: blocks at the end of a pack, where it lies.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::append::{self, LockedPack};
use lcp_app::{Error, ErrorKind, interrupt};
use lcp_encoder::Compression;

use crate::Result;
use crate::arguments::by_name;
use crate::files;
use crate::output::Output;

/// Add the blocks of other packs to a pack, in place
///
/// Only the end of the pack is written: blocks that it has stay as they are. Annotations, levels
/// and indices of hand-offs of what is added still speak of the blocks that they spoke of, as with
/// `merge`. Whatever happens meanwhile, the pack is afterwards the old one or the new one: a journal
/// beside it (PACK.lcp-journal) tells how to undo what is not finished, and the next `append`, or
/// `recover`, does so. Packs of BCP and those whose payload is compressed as a whole are not
/// appended to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp append project.lcp samples/session.lcp
  lcp append notes.lcp more.json --compress block
  lcp import chat.json | lcp append all.lcp - --wait 60

Exit codes: 0 the blocks are in the pack; 1 a file cannot be read or written, or another process
has the pack; 2 such a pack is not appended to; 3 a pack or manifest is malformed or damaged;
5 the pack would exceed a limit. With every code but 0 the pack is as it was.")]
pub struct Args {
    /// The pack that gets more blocks
    pack: PathBuf,
    /// What is added, in this order: packs, or JSON manifests as `encode` reads them; one of
    /// them may be `-` for standard input
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Whether the bodies of new blocks are compressed; without it as those of the pack are
    #[arg(long, value_name = "HOW",
        value_parser = by_name([("none", Compression::None), ("block", Compression::Block)]))]
    compress: Option<Compression>,
    /// Wait so long for others who append to the pack or read it
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

/// Adds the blocks.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.pack == standard {
        let failure =
            Error::new(ErrorKind::Usage, "standard output is not appended to: name a pack");
        return Err(failure.with_hint("`lcp merge - INPUT...` makes a new pack"));
    }
    if args.inputs.iter().filter(|path| path.as_path() == standard).count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "only one input can be standard input"));
    }
    // Before the pack is locked: one of them may be the pack itself.
    let input = |path: &PathBuf| Ok((path.clone(), append::read_addition(path, output)?));
    let inputs: Vec<_> = args.inputs.iter().map(input).collect::<Result<_>>()?;
    let mut locked = LockedPack::lock(&args.pack, Duration::from_secs(args.wait.into()))?;
    let pack = locked.read(output)?;
    let appended = locked.append(&pack, &inputs, args.compress)?;
    for warning in &appended.warnings {
        output.warn(warning);
    }
    let (before, after) = appended.blocks;
    if before == after {
        output.note("there is nothing to add");
        return Ok(());
    }
    interrupt::defer_interrupt(|| {
        locked.write(&pack, &appended)?;
        if interrupt::is_ending() {
            output.progress("the blocks were added before the interruption");
        }
        Ok::<_, Error>(())
    })?;
    let bytes = appended.pack.len() as u64 - appended.end_offset;
    output.note(format!("{before} blocks became {after}, {bytes} bytes written"));
    Ok(())
}
