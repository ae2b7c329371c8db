//! What `cargo xtask` runs: `ci` here, every other task by the program of `xtask`.
//!
//! A program of its own, because it needs next to nothing: `ci` builds everything with all
//! features and for tests, and a first build of all tasks with other features would double
//! what it takes.
#![allow(clippy::print_stderr, reason = "it tells what it does")]

mod ci;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

/// Check everything that must hold before a change lands
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Ci(ci::Args),
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let result = if arguments.first().is_some_and(|task| task == "ci") {
        let Task::Ci(args) = Cli::parse().task;
        ci::run(&args)
    } else {
        forward(&arguments)
    };
    result.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::FAILURE
    })
}

/// The commands of the product that tasks are called like.
const PRODUCT: &[&str] =
    &["render", "report", "budget", "count", "encode", "decode", "validate", "dedup"];

/// Runs another task, built as it is now, in the folder that it was called from: by the `lcp`
/// command without its features where that has it, else by the program of `xtask`.
fn forward(arguments: &[OsString]) -> Result<ExitCode, String> {
    let is_flag = |argument: &&OsString| argument.as_encoded_bytes().starts_with(b"-");
    let task = arguments.iter().find(|argument| !is_flag(argument));
    let is_product = task.is_some_and(|task| PRODUCT.iter().any(|name| task == name));
    let (manifest, features): (_, &[_]) = if is_product {
        ("crates/lcp-cli/Cargo.toml", &["--no-default-features"])
    } else {
        ("xtask/Cargo.toml", &[])
    };
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--manifest-path"]).arg(workspace().join(manifest));
    command.args(features).arg("--").args(arguments);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The root of the workspace.
fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}
