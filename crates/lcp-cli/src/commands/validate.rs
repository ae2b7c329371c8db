//! `validate`: everything that is wrong with a pack, each with its place.

use std::path::{Path, PathBuf};

use lcp_decoder::{DecodeOptions, ErrorKind, Event, Events};

use crate::Result;
use crate::failure::{Code, Failure, Output};
use crate::files;

/// Check a pack: exit code 0, or 3 and a line for each problem
///
/// A malformed block does not hide those after it: the frames around it still
/// tell where the next one begins.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  lcp validate samples/session.lcp")]
pub struct Args {
    /// The pack; `-` for standard input
    pack: PathBuf,
    /// Check all that can be checked. Every check reads the whole pack today,
    /// so this changes nothing yet
    #[arg(long)]
    full: bool,
}

/// Prints the problems.
pub fn run(args: &Args, output: &Output) -> Result {
    let bytes = files::read(&args.pack)?;
    let (blocks, problems) = check(&bytes);
    if problems.is_empty() {
        return files::write(
            None,
            format!("{}: {blocks} blocks, no problem\n", files::name(&args.pack)).as_bytes(),
        );
    }
    let lines: Vec<_> = problems.iter().map(|error| line(&args.pack, error)).collect();
    files::write(None, (lines.join("\n") + "\n").as_bytes())?;
    output.note(format!("{blocks} blocks were looked at"));
    let limits_only = problems.iter().all(lcp_decoder::Error::is_limit);
    let code = if limits_only { Code::Limit } else { Code::Malformed };
    let count = problems.len();
    let what = if count == 1 { "problem" } else { "problems" };
    Err(Failure::new(code, format!("{count} {what} ({})", files::name(&args.pack))))
}

fn line(path: &Path, error: &lcp_decoder::Error) -> String {
    format!("{}: {}: {} [{}]", files::name(path), error.place(), error.kind(), error.code())
}

/// How many blocks there are, and all that is wrong.
fn check(bytes: &[u8]) -> (u64, Vec<lcp_decoder::Error>) {
    let (mut blocks, mut problems) = (0, Vec::new());
    let mut events = Events::new(bytes, DecodeOptions { strict: true, ..DecodeOptions::default() });
    while let Some(event) = events.next() {
        match event {
            Ok(Event::Frame(frame)) => {
                blocks += 1;
                // A reference is whole as it stands: where it leads is not the
                // pack's to say.
                match events.decode(&frame) {
                    Err(error) if !matches!(error.kind(), ErrorKind::NoStore { .. }) => {
                        problems.push(error);
                    }
                    _ => {}
                }
            }
            Ok(_) => {}
            Err(error) => problems.push(error),
        }
    }
    (blocks, problems)
}
