//! The tasks of this workspace. `cargo xtask --help` lists them.
//!
//! `render`, `report`, `budget`, `count`, `encode`, `decode`, `validate`, `dedup` and `handoff`
//! keep the command's contract (`docs/command.md`); the others build and check the workspace
//! itself. `ci` is a program of its own (`xtask/ci`), which hands the others on to this one.

mod bench;
mod deny;
mod exact;
mod formats;
mod fuzz;
mod handoff;
mod hostile;
mod instructions;
mod million;
mod providers;
mod samples;
mod tidy;
mod tools;
mod torture;
mod vocabulary;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lcp_cli::commands::{budget, count, decode, dedup, encode, render, report, validate};
use lcp_cli::{arguments, failure};

/// Render, encode and check LLM Context Packs
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
#[command(after_help = "cargo xtask ci takes every step that must pass before a change lands.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
    #[command(flatten)]
    output: failure::Output,
}

#[derive(Debug, Subcommand)]
enum Task {
    Render(render::Args),
    Report(report::Args),
    Budget(budget::Args),
    Count(count::Args),
    Encode(encode::Args),
    Decode(decode::Args),
    Validate(validate::Args),
    Dedup(dedup::Args),
    Handoff(handoff::Args),
    Samples(samples::Args),
    Million(million::Args),
    Exact(exact::Args),
    Formats(formats::Args),
    Fuzz(fuzz::Args),
    Hostile(hostile::Args),
    Instructions(instructions::Args),
    Bench(bench::Args),
    Deny(deny::Args),
    Providers(providers::Args),
    Tidy(tidy::Args),
    Torture(torture::Args),
    Vocabulary(vocabulary::Args),
}

fn main() -> ExitCode {
    let cli: Cli = match arguments::parse() {
        Ok(cli) => cli,
        Err((failure, output)) => return output.fail(&failure),
    };
    let output = &cli.output;
    let result = match &cli.task {
        Task::Render(args) => render::run(args, output),
        Task::Report(args) => report::run(args, output),
        Task::Budget(args) => budget::run(args, output),
        Task::Count(args) => count::run(args, output),
        Task::Encode(args) => encode::run(args, output),
        Task::Decode(args) => decode::run(args, output),
        Task::Validate(args) => validate::run(args, output),
        Task::Dedup(args) => dedup::run(args, output),
        Task::Handoff(args) => handoff::run(args, output),
        Task::Samples(args) => samples::run(args, output),
        Task::Million(args) => million::run(args, output),
        Task::Exact(args) => exact::run(args, output),
        Task::Formats(args) => formats::run(args, output),
        Task::Fuzz(args) => fuzz::run(args, output),
        Task::Hostile(args) => hostile::run(args, output),
        Task::Instructions(args) => instructions::run(args, output),
        Task::Bench(args) => bench::run(args, output),
        Task::Deny(args) => deny::run(args, output),
        Task::Providers(args) => providers::run(args, output),
        Task::Tidy(args) => tidy::run(args, output),
        Task::Torture(args) => torture::run(args, output),
        Task::Vocabulary(args) => vocabulary::run(args, output),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

/// The root of the workspace.
fn workspace() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}
