//! The work of a child process, until it is killed or told to end.

mod claim;
mod commit;
mod hold;
mod write;

use std::io::BufRead;
use std::time::Duration;

use clap::ValueEnum;

pub(super) use claim::successor;

use super::backends::StoreLocation;
use super::{failed, refused};
use crate::Result;

/// What `torture` starts
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(long, value_enum)]
    work: Work,
    #[arg(long)]
    store: String,
    #[arg(long)]
    schema: Option<String>,
    #[arg(long)]
    name: String,
    #[arg(long)]
    lease_ms: u64,
    #[arg(long)]
    failures: u64,
    #[arg(long)]
    max_bytes: Option<u64>,
}

/// Kinds of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Work {
    /// Writes messages and hand-offs, and tells of each.
    Write,
    /// Claims and resumes what it is told.
    Claim,
    /// Commits some hand-offs at once with others.
    Commit,
    /// The same with a plain SQLite file.
    Plain,
    /// Writes once, and again when it is told.
    Hold,
}

impl Work {
    /// Returns the name in the arguments of a child.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Claim => "claim",
            Self::Commit => "commit",
            Self::Plain => "plain",
            Self::Hold => "hold",
        }
    }
}

impl Args {
    pub(super) fn work(&self) -> Work {
        self.work
    }

    pub(super) fn location(&self) -> StoreLocation {
        StoreLocation::from_arguments(&self.store, self.schema.as_deref())
    }

    fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }
}

pub(super) fn run(args: &Args) -> Result {
    let work = args.work();
    if work == Work::Plain {
        return commit::plain(args);
    }
    let store = args.location().open_limited(args.max_bytes).map_err(|error| refused(&error))?;
    match work {
        Work::Write => write::run(&*store, args),
        Work::Claim => claim::run(&*store, args),
        Work::Hold => hold::run(&*store, args),
        Work::Commit | Work::Plain => commit::run(&*store, args),
    }
}

/// Reads the next command of the parent. Returns `None` at the end of the input.
fn next_command() -> Result<Option<String>> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(line.strip_suffix('\n').map(str::to_owned))
}
