//! The command `completions`: prints the completion script of a shell.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::{Cli, Result, files};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  lcp completions bash > ~/.local/share/bash-completion/completions/lcp
  lcp completions zsh > ~/.zfunc/_lcp
  lcp completions fish > ~/.config/fish/completions/lcp.fish")]
pub struct Args {
    /// Shell to complete in
    shell: Shell,
}

/// Prints the script. Former names of commands are left out.
pub fn run(args: &Args) -> Result {
    let all = Cli::command();
    let visible = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut command = clap::Command::new("lcp").args(all.get_arguments().cloned());
    command = command.subcommands(visible);
    let mut script = Vec::new();
    generate(args.shell, &mut command, "lcp", &mut script);
    files::write(None, &script)
}
