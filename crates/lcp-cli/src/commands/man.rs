//! The command `man`: prints or writes manual pages.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::output::Output;
use crate::{Cli, Result, files};
use lcp_app::{Error, ErrorKind};

/// Print a manual page, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp man | man -l -
  lcp man render | man -l -
  lcp man --dir ~/.local/share/man/man1")]
pub struct Args {
    /// Subcommand, such as `session record` [default: lcp itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the pages of lcp and of all subcommands to this folder
    ///
    /// The folder is created if it does not exist.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes the pages.
pub fn run(args: &Args, output: &Output) -> Result {
    if let Some(dir) = &args.dir {
        let pages = pages();
        std::fs::create_dir_all(dir).map_err(|error| Error::io("create", dir.display(), &error))?;
        for page in &pages {
            files::write(Some(&dir.join(page.get_filename())), &text(page)?)?;
        }
        output.note(format!("wrote {} pages to {}", pages.len(), dir.display()));
        return Ok(());
    }
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let find = |command: Option<clap::Command>, name: &String| {
        command.and_then(|command| command.find_subcommand(name).cloned())
    };
    // Former names have pages too, but `--dir` does not write those.
    let command = args.command.iter().fold(Some(root), find).ok_or_else(|| {
        let message = format!("unknown subcommand {:?}", args.command.join(" "));
        Error::new(ErrorKind::Usage, message).with_hint("run `lcp --help` to list the subcommands")
    })?;
    files::write(None, &text(&page(command))?)
}

/// Returns the page of `lcp` and those of all visible subcommands.
fn pages() -> Vec<Man> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        pages.push(page(command));
    }
    pages
}

fn page(command: clap::Command) -> Man {
    Man::new(command).source(concat!("lcp ", env!("CARGO_PKG_VERSION")))
}

fn text(page: &Man) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Error::io("write", page.get_filename(), &error))?;
    Ok(text)
}
