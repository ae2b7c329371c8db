//! `man`: the pages of the manual.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::output::Output;
use crate::{Cli, Result, files};
use lcp_app::{Error, ErrorKind};

/// Print a page of the manual, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp man | man -l -
  lcp man render | man -l -
  lcp man --dir ~/.local/share/man/man1")]
pub struct Args {
    /// The subcommand that the page is about (such as `session record`);
    /// that of lcp itself by default
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    command: Vec<String>,
    /// Write the page of lcp and one for each subcommand there; the folder is made if
    /// there is none
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes the pages.
pub fn run(args: &Args, output: &Output) -> Result {
    if let Some(dir) = &args.dir {
        let pages = pages();
        std::fs::create_dir_all(dir).map_err(|error| Error::io("make", dir.display(), &error))?;
        for page in &pages {
            files::write(Some(&dir.join(page.get_filename())), &text(page)?)?;
        }
        output.note(format!("{} pages ({})", pages.len(), dir.display()));
        return Ok(());
    }
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let find = |command: Option<clap::Command>, name: &String| {
        command.and_then(|command| command.find_subcommand(name).cloned())
    };
    // Former names have pages, too, though `--dir` writes none.
    let command = args.command.iter().fold(Some(root), find).ok_or_else(|| {
        let message = format!("there is no subcommand {:?}", args.command.join(" "));
        Error::new(ErrorKind::Usage, message).with_hint("lcp --help lists them")
    })?;
    files::write(None, &text(&page(command))?)
}

/// The page of the command, then those of its subcommands.
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
