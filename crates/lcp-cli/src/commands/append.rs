//! The command `append`: adds blocks to the end of a pack, in place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::append::{self, AppendSettings, LockedPack};
use lcp_app::{Error, ErrorKind, interrupt};
use lcp_encoder::Compression;
#[cfg(feature = "full")]
use lcp_ingest::SecretPolicy;
use lcp_packfile::AppendResult;

use crate::Result;
#[cfg(feature = "full")]
use crate::arguments::block_secrets;
use crate::arguments::by_name;
use crate::files;
use crate::output::Output;
use crate::property_args::PropertyArgs;
#[cfg(feature = "full")]
use crate::tokenizer_args::ConfigArgs;

/// Append the blocks of other packs to a pack, in place
///
/// Only the end of the pack is written; its existing blocks do not change. Annotations, levels and
/// hand-off indexes of the added packs still refer to the same blocks, as with `merge`. After an
/// interruption, the pack is either the old one or the new one: a journal next to it
/// (PACK.lcp-journal) allows the next `append` or `recover` to undo an unfinished write. BCP packs
/// and packs with whole-payload compression are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp append project.lcp samples/session.lcp
  lcp append notes.lcp more.json --compress block
  lcp import chat.json | lcp append all.lcp - --wait 60

Exit codes: 0 success; 1 a file cannot be read or written, or another process uses the pack;
2 wrong usage, or a pack that cannot be appended to; 3 a pack or manifest is malformed or damaged;
5 the pack would exceed a limit. After any code except 0, the pack is unchanged.")]
pub struct Args {
    /// Pack to append to
    pack: PathBuf,
    /// Packs or JSON manifests to append, in this order
    ///
    /// Manifests are those of `encode`. One of the inputs may be `-` for standard input.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    properties: PropertyArgs,
    /// Treatment of private keys, tokens and passwords: redact, warn or off [default: redact]
    ///
    /// `redact` replaces each secret by a marker such as `[secret github-token 1]`. `off` does not
    /// search for them. Exceptions are those of `lcp pack`.
    #[cfg(feature = "full")]
    #[arg(long, value_name = "POLICY", value_parser = block_secrets(), default_value = "redact", hide_default_value = true)]
    secrets: SecretPolicy,
    #[cfg(feature = "full")]
    #[command(flatten)]
    file: ConfigArgs,
    /// Compression of the new blocks [default: that of the pack]
    #[arg(long, value_name = "METHOD",
        value_parser = by_name([("none", Compression::None), ("block", Compression::Block)]))]
    compress: Option<Compression>,
    /// Time to wait for other processes that use the pack
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u32,
}

/// Appends the blocks.
pub fn run(args: &Args, output: &Output) -> Result {
    let standard = Path::new(files::STANDARD);
    if args.pack == standard {
        let failure =
            Error::new(ErrorKind::Usage, "cannot append to standard output; specify a pack file");
        return Err(failure.with_hint("run `lcp merge - INPUT...` to write a new pack"));
    }
    if args.inputs.iter().filter(|path| path.as_path() == standard).count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "only one input can be standard input"));
    }
    // Read the inputs before the pack is locked, because one of them may be the pack itself.
    let input = |path: &PathBuf| Ok((path.clone(), append::read_addition(path, output)?));
    let inputs: Vec<_> = args.inputs.iter().map(input).collect::<Result<_>>()?;
    let locked = LockedPack::lock(&args.pack, Duration::from_secs(args.wait.into()));
    let mut locked = locked.map_err(|error| {
        if args.pack.exists() {
            return error;
        }
        let pack = args.pack.display();
        error.with_hint(format!("create the pack with `lcp merge INPUT... -o {pack}`"))
    })?;
    let pack = locked.open(output)?;
    #[cfg(feature = "full")]
    let config = args.file.read()?;
    let settings = AppendSettings {
        compression: args.compress,
        properties: &args.properties.to_properties(),
        #[cfg(feature = "full")]
        secrets: args.secrets,
        #[cfg(feature = "full")]
        config: &config,
    };
    let appended = locked.append(&*pack, &inputs, &settings)?;
    for warning in &appended.warnings {
        output.warn(warning);
    }
    let (before, after) = appended.blocks;
    if before == after {
        output.note("the inputs have no blocks to append");
        return Ok(());
    }
    write(&mut locked, &appended, output)?;
    let bytes = appended.change.tail.len();
    let (before, bytes) = (lcp_driver::plural(before, "block"), lcp_driver::plural(bytes, "byte"));
    output.note(format!("{before} before, {after} after; {bytes} written"));
    Ok(())
}

/// Replaces the pack. An interruption takes effect before or after this.
pub fn write(locked: &mut LockedPack<'_>, appended: &AppendResult, output: &Output) -> Result {
    interrupt::defer_interrupt(|| {
        locked.write(&appended.change)?;
        if interrupt::is_ending() {
            output.progress("the pack was changed before the interruption");
        }
        Ok(())
    })
}
