//! The tasks of this workspace. `cargo xtask --help` lists them.
//!
//! This program links no crate of the product, so that it builds in seconds. Tasks that need
//! the product run it through cargo.
#![allow(clippy::print_stderr, reason = "it reports progress")]

mod agents;
mod ci;
mod deny;
mod dist;
mod forward;
mod npm;
mod packages;
mod tidy;
mod tools;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use forward::Rest;

/// Check the workspace and run its programs
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
#[command(after_help = "\
render, report, config, count, encode, decode, parse, validate and dedup run the lcp command, \
built with only the features that they need.

cargo xtask ci runs every check that must pass before a change lands.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Ci(ci::Args),
    /// Build the packages for Python and TypeScript, install them and run their tests
    CiPackages(packages::Args),
    /// Check the architecture, and the names of items and files in documents
    Tidy,
    Deny(deny::Args),
    Dist(dist::Args),
    Npm(npm::Args),
    Samples(forward::GoldenArgs),
    GenVocab(forward::GoldenArgs),
    /// Run Claude Code and Codex with the gateway, offline
    Agents,
    /// Check the samples against the format descriptions in formats/
    ///
    /// The descriptions are for libmagic, MIME and Kaitai Struct.
    CheckFormatSpecs,
    /// Run a benchmark of LCP and its peers (docs/benchmarks.md)
    #[command(disable_help_flag = true)]
    Bench(Rest),
    /// Count instructions of key paths, or their growth (--scaling)
    #[command(disable_help_flag = true)]
    Perf(Rest),
    /// Hand off a long conversation several times
    #[command(disable_help_flag = true)]
    Handoff(Rest),
    /// Test session stores with killed processes and full disks (docs/durability.md)
    #[command(disable_help_flag = true)]
    FaultInject(Rest),
    /// Fuzz a target, with the arguments of cargo fuzz run
    #[command(disable_help_flag = true)]
    Fuzz(Rest),
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let result = if forward::is_product(&arguments) {
        forward::product(&arguments)
    } else {
        run(&Cli::parse().task)
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: &Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Ci(args) => ci::run(args),
        Task::CiPackages(args) => packages::run(args),
        Task::Tidy => tidy::run(),
        Task::Deny(args) => deny::run(args),
        Task::Dist(args) => dist::run(args),
        Task::Npm(args) => npm::run(args),
        Task::Samples(args) => forward::samples(args),
        Task::GenVocab(args) => forward::vocabulary(args),
        Task::Agents => agents::run(),
        Task::CheckFormatSpecs => forward::format_specs(),
        Task::Bench(rest) => forward::bench(rest),
        Task::Perf(rest) => forward::perf(rest),
        Task::Handoff(rest) => forward::handoff(rest),
        Task::FaultInject(rest) => forward::fault_injection(rest),
        Task::Fuzz(rest) => forward::fuzz(rest),
    }
}

/// Returns the root of the workspace.
fn workspace() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::Cli;

    #[test]
    fn command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn scheduled_workflow_fuzzes_every_target() {
        let root = super::workspace();
        let workflow = root.join(".github/workflows/scheduled.yml");
        let workflow = std::fs::read_to_string(workflow).unwrap();
        for entry in std::fs::read_dir(root.join("fuzz/fuzz_targets")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(workflow.contains(&format!("- {name}\n")), "{name}");
        }
    }

    #[test]
    fn flags_for_other_programs_are_accepted() {
        for line in
            ["bench plan --json", "fuzz decoder -- -runs=1", "perf --help", "samples --bless"]
        {
            let line = std::iter::once("xtask").chain(line.split(' '));
            assert!(Cli::try_parse_from(line.clone()).is_ok(), "{:?}", line.collect::<Vec<_>>());
        }
        assert_eq!(Cli::try_parse_from(["xtask", "no-such-task"]).unwrap_err().exit_code(), 2);
    }
}
