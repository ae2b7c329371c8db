//! The command `setup`: registers LCP with an agent.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use lcp_app::setup::{Agent, FileChange, SetupOptions};
use lcp_app::{Error, ErrorKind};
use similar::TextDiff;

use crate::arguments::by_name;
use crate::output::Output;
use crate::{Result, files};

/// The lines around a change in a diff.
const CONTEXT: usize = 3;

/// Register LCP with an agent: the MCP server, and hooks
///
/// Prints the changes to the agent's configuration, asks, and writes them. Comments and order stay.
/// Claude Code and Codex also get the hooks of `lcp hook`. docs/agents.md names the files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp setup claude-code
  lcp setup codex --dry-run
  lcp setup cursor --yes
  lcp setup claude-code --undo")]
pub struct Args {
    /// Agent
    #[arg(value_parser = by_name(Agent::NAMES))]
    agent: Agent,
    /// Print the changes, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Restore what was there before
    ///
    /// If a file has changed since, only the entries of LCP are removed.
    #[arg(long)]
    undo: bool,
    /// Write without asking
    #[arg(short, long)]
    yes: bool,
}

/// Prints the changes, and writes them if the user agrees.
pub fn run(args: &Args, output: &Output) -> Result {
    let program = program()?;
    let options = SetupOptions {
        agent: args.agent,
        undo: args.undo,
        program: &program,
        variable: &|name| std::env::var_os(name),
    };
    let plan = options.plan()?;
    if plan.changes().is_empty() {
        output.progress("nothing to change");
        return Ok(());
    }
    let diffs: String = plan.changes().iter().map(diff).collect();
    files::print(&diffs)?;
    for note in plan.changes().iter().filter_map(|change| change.note.as_deref()) {
        output.warn(note);
    }
    if args.dry_run {
        return Ok(());
    }
    if !args.yes && !is_confirmed()? {
        output.progress("nothing is written");
        return Ok(());
    }
    plan.apply()?;
    let files: Vec<_> =
        plan.changes().iter().map(|change| change.path.display().to_string()).collect();
    output.progress(format!("wrote {}", files.join(" and ")));
    if !args.undo {
        output.progress(args.agent.next_step());
    }
    Ok(())
}

/// Returns the change as a unified diff.
fn diff(change: &FileChange) -> String {
    let [before, after] =
        [&change.before, &change.after].map(|text| text.as_deref().unwrap_or_default());
    let name = change.path.display().to_string();
    let side = |text: &Option<String>| if text.is_some() { name.as_str() } else { "/dev/null" };
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT).header(side(&change.before), side(&change.after));
    unified.to_string()
}

/// Asks on the terminal.
fn is_confirmed() -> Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let message = "standard input is not a terminal, so nobody can agree to the changes";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("pass --yes to write them, or --dry-run to only print them"));
    }
    // A failure of standard error cannot be reported anywhere.
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "Write these changes? [y/N] ").and_then(|()| stderr.flush());
    drop(stderr);
    let mut answer = String::new();
    let read = stdin.lock().read_line(&mut answer);
    read.map_err(|error| Error::io("read", "standard input", &error))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Returns the command that starts this program: its name if `PATH` finds it, else its path.
fn program() -> Result<String> {
    let current = std::env::current_exe()
        .map_err(|error| Error::io("find", "the path of this program", &error))?;
    let name = format!("lcp{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&folders)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file());
    let is_same = |path: &Path| path.canonicalize().ok() == current.canonicalize().ok();
    if in_path.is_some_and(|path| is_same(&path)) {
        return Ok("lcp".to_owned());
    }
    let path = current.to_str().map(str::to_owned);
    path.ok_or_else(|| {
        Error::new(
            ErrorKind::Io,
            format!("the path of this program is not UTF-8: {}", current.display()),
        )
        .with_hint("install it in a folder of PATH")
    })
}
