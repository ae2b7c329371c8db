//! Long comparisons with tokenizers that others wrote (RFC 0009). All of them are ignored by
//! default:
//!
//! ```text
//! cargo test --release -p lcp-tokens --all-features --test differential -- --ignored --nocapture tiktoken
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tables and progress")]

mod providers;
mod tiktoken;
mod vocabulary;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T = (), E = anyhow::Error> = std::result::Result<T, E>;

/// Returns the root of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/lcp-tokens").to_owned()
}

/// Returns a file next to this one.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential").join(name)
}

fn failure(message: impl Display) -> anyhow::Error {
    anyhow::Error::msg(message.to_string())
}

/// Returns whether the environment asks for golden files to be rewritten.
fn is_blessing() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

/// Runs a program to its end.
fn run(command: &mut Command) -> Result {
    let name = Path::new(command.get_program()).display().to_string();
    let status =
        command.status().map_err(|error| failure(format!("cannot run {name}: {error}")))?;
    if status.success() { Ok(()) } else { Err(failure(format!("{name} failed: {status}"))) }
}

/// Returns a Python below the build folder that has these packages of `PyPI`.
fn python(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        run(Command::new(system).args(["-m", "venv"]).arg(folder))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    Ok(python)
}
