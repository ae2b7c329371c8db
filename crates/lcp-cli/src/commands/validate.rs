//! The command `validate`: lists all problems of packs, with their positions.

use std::path::{Path, PathBuf};

use lcp_driver::escape_control;
use lcp_packfile::{Problem, Report};

use crate::Result;
use crate::files;
use crate::output::Output;
use lcp_app::validate;
use lcp_app::{Error, ErrorKind};

/// Check packs and list all problems
///
/// Prints a line for each problem, and continues after a malformed block. Other problems are bytes
/// after END, annotations and levels that are unreadable or refer to missing blocks, and
/// inconsistent hand-offs. Data that cannot be checked, such as a reference to a content store,
/// gets a note. With --full, any flipped bit of a pack with an index is detected. Exit codes: 0 no
/// problems, 1 a file cannot be read, 3 malformed pack, 5 only limits exceeded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp validate samples/session.lcp
  lcp validate samples/*.lcp --json
  lcp validate --full project.lcp
  cat pack.lcp | lcp validate -")]
pub struct Args {
    /// Packs to check; `-` for standard input
    #[arg(required = true, value_name = "PACK")]
    packs: Vec<PathBuf>,
    /// Also check the checksums, and compare the index with the blocks
    ///
    /// The token costs in the index are checked too.
    #[arg(long)]
    full: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Prints the problems.
pub fn run(args: &Args, output: &Output) -> Result {
    let checked: Vec<_> = args
        .packs
        .iter()
        .map(|path| (files::display_name(path), check(path, args.full, output)))
        .collect();
    let text = if args.json {
        files::json(&validate::to_json(&checked))
    } else {
        lines(&checked, args.full)
    };
    files::print(&text)?;
    let blocks: usize = checked.iter().flat_map(|(_, found)| found).map(|found| found.blocks).sum();
    output.note(format!("checked {}", lcp_driver::plural(blocks, "block")));
    verdict(checked, output)
}

type Checked = (String, Result<Report>);

fn check(path: &Path, full: bool, output: &Output) -> Result<Report> {
    validate::validate_file(path, full, output)
}

/// Returns a line for each pack without a problem, and for each problem and note.
fn lines(checked: &[Checked], full: bool) -> String {
    let unchecked = if full { "" } else { " (checksums not checked; --full checks them)" };
    let mut text = String::new();
    for (name, found) in checked {
        let Ok(found) = found else { continue };
        // A newline in the name would begin another line.
        let name = escape_control(name);
        let line = |before: &str, problem: &Problem| {
            format!("{name}: {before}{}\n", escape_control(&problem.to_string()))
        };
        let problems = found.problems.iter().map(|problem| line("", problem));
        let notes = found.notes.iter().map(|note| line("note: ", note));
        if found.problems.is_empty() {
            let blocks = lcp_driver::plural(found.blocks, "block");
            text.extend([format!("{name}: {blocks}, no problems{unchecked}\n")]);
        }
        text.extend(problems.chain(notes));
    }
    text
}

/// Returns the result of the command: the most severe error of all packs.
fn verdict(checked: Vec<Checked>, output: &Output) -> Result {
    let (mut problems, mut bad, mut malformed) = (0, Vec::new(), false);
    let (all, mut unread) = (checked.len(), Vec::new());
    for (name, found) in checked {
        match found {
            Ok(found) if found.problems.is_empty() => {}
            Ok(found) => {
                problems += found.problems.len();
                malformed |= !found.problems.iter().all(|problem| problem.is_limit);
                bad.push(name);
            }
            Err(failure) => unread.push(failure),
        }
    }
    let last = unread.pop();
    for failure in unread {
        output.warn(failure.message);
    }
    let what = if problems == 1 { "problem" } else { "problems" };
    let message = match &bad[..] {
        [] => return last.map_or(Ok(()), Err),
        [name] if all == 1 => format!("{problems} {what} ({name})"),
        bad => format!("{problems} {what} ({} of {all} packs)", bad.len()),
    };
    if let Some(failure) = last {
        output.warn(failure.message);
    }
    Err(Error::new(if malformed { ErrorKind::Malformed } else { ErrorKind::Limit }, message))
}
