//! `bench`: LCP beside others, measured in the workspace where they compile.

use std::process::Command;

use clap::ValueEnum;

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// Measure LCP beside others
#[derive(Debug, clap::Args)]
#[command(after_help = "What each row means is told in docs/benchmarks.md.")]
pub(crate) struct Args {
    /// What to measure
    #[arg(value_enum)]
    name: Name,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// What a session costs with a prompt cache
    Cache,
    /// What it costs to keep sessions durably
    Continuity,
    /// How fast duplicates are found, and whether anything is lost
    Dedup,
    /// How full a budget gets, with real code
    Fill,
    /// How fast packs are read and written
    Format,
    /// How fast a budget is allocated, and how well
    Plan,
    /// What a project costs as text, and how long that takes
    Tokens,
    /// How fast tokens are counted
    TokensSpeed,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let name = args.name.to_possible_value().map(|value| value.get_name().to_owned());
    let build = "run --release --manifest-path bench/Cargo.toml --locked --features peers";
    let mut command = Command::new(cargo);
    command.current_dir(crate::workspace()).args(build.split(' '));
    if output.quiet {
        command.arg("--quiet");
    }
    command.args(["--bin", "bench", "--"]).args(name);
    for (flag, given) in [("--json", args.json), ("--quiet", output.quiet)] {
        if given {
            command.arg(flag);
        }
    }
    let status = command.status().map_err(|error| Failure::io("run", "cargo", &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(Code::Io, "nothing was measured"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::Cli;
    use lcp_cli::failure::Code;

    #[test]
    fn an_unknown_name_is_a_usage_error_that_lists_the_names() {
        let error = Cli::try_parse_from(["xtask", "bench", "unknown"]).unwrap_err();
        assert_eq!(error.exit_code(), Code::Usage as i32);
        let message = error.to_string();
        assert!(
            message.contains(
                "[possible values: cache, continuity, dedup, fill, format, plan, tokens, tokens-speed]"
            ),
            "{message}"
        );
        assert!(Cli::try_parse_from(["xtask", "bench", "tokens-speed", "--json"]).is_ok());
    }
}
