//! `append`: blocks at the end of a pack, where it lies.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_app::{Error, ErrorKind};
use lcp_encoder::{Compression, EncodeOptions};
use lcp_packfile::journal::{self, JournalState, LockResult, PackFile, Storage as _};
use lcp_packfile::{Addition, AppendOptions, Appended, Error as AppendError};

use crate::Result;
use crate::arguments::by_name;
use crate::commands::encode;
use crate::files;
use crate::output::Output;
use lcp_app::interrupt;
use lcp_app::pack_output;

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
    let inputs: Vec<_> =
        args.inputs.iter().map(|path| input(path, output)).collect::<Result<_>>()?;
    let mut disk = lock(&args.pack, Duration::from_secs(args.wait.into()))?;
    let pack = begin(&args.pack, &mut disk, output)?;
    let names: Vec<_> = args.inputs.iter().map(|path| files::display_name(path)).collect();
    let additions = names.iter().zip(&inputs);
    let additions: Vec<_> = additions.map(|(name, pack)| Addition { name, pack }).collect();
    let options =
        AppendOptions { compression: args.compress, recount: Some(&pack_output::recount) };
    let appended = lcp_packfile::append(&pack, &additions, &options).map_err(|error| {
        let (path, bytes) = match &error {
            AppendError::Malformed { input: Some(at), .. } => (&args.inputs[*at], &inputs[*at]),
            _ => (&args.pack, &pack),
        };
        failure(path, bytes, &error)
    })?;
    for warning in &appended.warnings {
        output.warn(warning);
    }
    let Appended { blocks: (before, after), .. } = appended;
    if before == after {
        output.note("there is nothing to add");
        return Ok(());
    }
    interrupt::defer_interrupt(|| {
        journal::replace_tail(&mut disk, &pack, &appended.pack, appended.end_offset)
            .map_err(|error| Error::io("write", args.pack.display(), &error))?;
        if interrupt::is_ending() {
            output.progress("the blocks were added before the interruption");
        }
        Ok::<_, Error>(())
    })?;
    let bytes = appended.pack.len() as u64 - appended.end_offset;
    output.note(format!("{before} blocks became {after}, {bytes} bytes written"));
    Ok(())
}

/// Returns the failure of an error of a pack that was read from `path`.
fn failure(path: &Path, bytes: &[u8], error: &AppendError) -> Error {
    let code = match error {
        AppendError::Malformed { error, .. } => return files::malformed(path, bytes, error),
        AppendError::NotAppendable(_) => ErrorKind::Usage,
        AppendError::Damaged(_) => ErrorKind::Malformed,
        _ => ErrorKind::Limit,
    };
    let failure = Error::new(code, format!("{error} ({})", files::display_name(path)));
    match error.hint() {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// What is added, as a pack.
fn input(path: &Path, output: &Output) -> Result<Vec<u8>> {
    let bytes = files::read(path, output)?;
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    // A transcript is JSON, too: reading it as a pack fails with a hint.
    #[cfg(feature = "full")]
    let is_json = is_json && lcp_transcripts::detect(&bytes).is_none();
    if is_json {
        return encode::manifest(path, &bytes, EncodeOptions::default());
    }
    Ok(bytes)
}

/// The file of a pack, for this process alone.
pub(super) fn lock(pack: &Path, wait: Duration) -> Result<PackFile> {
    match PackFile::lock(pack, wait) {
        Ok(LockResult::Acquired(files)) => Ok(files),
        Ok(LockResult::Busy) => {
            let message = format!("another process is using the pack ({})", pack.display());
            Err(Error::new(ErrorKind::Io, message).with_hint("--wait SECONDS waits longer"))
        }
        Err(error) => Err(Error::io("open", pack.display(), &error)),
    }
}

/// What is said of a pack after what was interrupted is undone.
pub(super) fn rolled_back(pack: &Path) -> String {
    format!("an append was interrupted; the pack is what it was before ({})", pack.display())
}

/// The bytes of a pack, after what was interrupted is undone.
fn begin(path: &Path, disk: &mut PackFile, output: &Output) -> Result<Vec<u8>> {
    let beside = interrupt::defer_interrupt(|| journal::roll_back(disk))
        .map_err(|error| Error::io("roll back", path.display(), &error))?;
    match beside {
        JournalState::RolledBack => output.warn(rolled_back(path)),
        JournalState::Unknown => {
            let message = format!(
                "the journal beside the pack cannot be read: it is damaged, of a newer version, or \
                 something else ({})",
                disk.journal_path().display()
            );
            let hint = "a newer version may undo what it says; remove it where `lcp validate \
                        --full PACK` finds no problem, or after `lcp recover PACK -o NEW`";
            return Err(Error::new(ErrorKind::Malformed, message).with_hint(hint));
        }
        JournalState::Foreign => {
            let message = format!(
                "there is a journal of another pack beside this one ({})",
                disk.journal_path().display()
            );
            let hint = "if the pack was put in place of one that was being appended to, remove \
                        the journal";
            return Err(Error::new(ErrorKind::Malformed, message).with_hint(hint));
        }
        JournalState::Absent | JournalState::Torn => {}
    }
    disk.pack().map_err(|error| Error::io("read", path.display(), &error))
}
