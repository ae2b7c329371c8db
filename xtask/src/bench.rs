//! `bench`: LCP beside others, measured in the workspace where they compile.

mod results;

use std::process::Command;

use clap::ValueEnum;

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// Measure LCP beside others
#[derive(Debug, clap::Args)]
#[command(after_help = "What each row means is told in docs/benchmarks.md. Without a NAME all \
                  are measured, which takes most of an hour, and their rows written there.")]
pub(crate) struct Args {
    /// What to measure; all, if it is not said
    #[arg(value_enum)]
    name: Option<Name>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write the rows into docs/benchmarks.md as well; done for all without a NAME
    #[arg(long)]
    write: bool,
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
    /// How little is read of large packs and far ones
    Scale,
    /// What a project costs as text, and how long that takes
    Tokens,
    /// How fast tokens are counted
    TokensSpeed,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    match args.name {
        Some(name) if !args.write => {
            let mut command = command(name, output);
            if args.json {
                command.arg("--json");
            }
            let status = command.status().map_err(|error| Failure::io("run", "cargo", &error))?;
            if status.success() { Ok(()) } else { Err(unmeasured(&name_of(name))) }
        }
        Some(name) => written(name, output),
        // Each is written when it is there, so that what was measured is kept.
        None => Name::value_variants().iter().try_for_each(|name| written(*name, output)),
    }
}

/// Measures, and writes the rows into the document that tells of them.
fn written(name: Name, output: &Output) -> Result {
    output.progress(format!("bench {}", name_of(name)));
    let mut command = command(name, output);
    command.arg("--json").stderr(std::process::Stdio::inherit());
    let run = command.output().map_err(|error| Failure::io("run", "cargo", &error))?;
    let report = serde_json::from_slice::<results::Report>(&run.stdout);
    let report = report.ok().filter(|_| run.status.success());
    let report = report.ok_or_else(|| unmeasured(&name_of(name)))?;
    let path = crate::workspace().join(results::DOCUMENT);
    let document = std::fs::read_to_string(&path)
        .map_err(|error| Failure::io("read", results::DOCUMENT, &error))?;
    let document = results::write(&document, &report).ok_or_else(|| {
        Failure::new(Code::Malformed, format!("{} has no place for results", results::DOCUMENT))
    })?;
    std::fs::write(&path, document).map_err(|error| Failure::io("write", results::DOCUMENT, &error))
}

fn unmeasured(name: &str) -> Failure {
    Failure::new(Code::Io, format!("nothing was measured of {name}"))
}

fn name_of(name: Name) -> String {
    name.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The program that measures.
fn command(name: Name, output: &Output) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = "run --release --manifest-path bench/Cargo.toml --locked --features peers";
    let mut command = Command::new(cargo);
    command.current_dir(crate::workspace()).args(build.split(' '));
    if output.quiet {
        command.arg("--quiet");
    }
    command.args(["--bin", "bench", "--"]).arg(name_of(name));
    if output.quiet {
        command.arg("--quiet");
    }
    command
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
                "[possible values: cache, continuity, dedup, fill, format, plan, scale, tokens, tokens-speed]"
            ),
            "{message}"
        );
        assert!(Cli::try_parse_from(["xtask", "bench", "tokens-speed", "--json"]).is_ok());
    }
}
