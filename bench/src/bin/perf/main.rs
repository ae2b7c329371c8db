//! Counts the processor instructions of five key paths with valgrind, and how the counts grow with
//! adversarial input. Unlike time, instruction counts do not depend on the load of the machine.
#![allow(clippy::print_stderr, clippy::print_stdout, missing_docs, reason = "a program of tables")]

mod paths;
mod scaling;

use std::path::Path;
use std::process::{Command, ExitCode};

use clap::{Parser as _, ValueEnum};
use serde::{Deserialize, Serialize};

use paths::KeyPath;

/// Count the instructions of five key paths and compare them with recorded counts
#[derive(Debug, clap::Parser)]
#[command(
    name = "cargo xtask perf",
    after_help = "Counts depend on the compiler and its settings. Counts that were recorded with \
                  others are not compared. Requires valgrind."
)]
struct Args {
    /// Record the counts for later comparisons
    #[arg(long)]
    bless: bool,
    /// Check instead how instruction counts grow with adversarial input
    ///
    /// Four times the input may take at most five times the instructions.
    #[arg(long, conflicts_with = "bless", alias = "growth")]
    scaling: bool,
    /// Run this scaling case once, with --count elements
    #[arg(long, hide = true, requires = "count")]
    scaling_case: Option<usize>,
    #[arg(long, hide = true)]
    count: Option<usize>,
    /// Run this path once without output, for valgrind
    #[arg(long, hide = true)]
    walk: Option<KeyPath>,
    /// Only prepare the input
    #[arg(long, hide = true)]
    idle: bool,
}

/// The largest allowed increase over the recorded count, as a fraction.
const MORE_MAX: f64 = 0.03;

/// The file of the recorded counts, relative to this package.
const RECORD: &str = "instructions.json";

/// Instruction counts, with the compiler and the profile that they belong to.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Record {
    compiler: String,
    profile: String,
    /// The count of each path, in the order of [`KeyPath`].
    instructions: Vec<(String, u64)>,
}

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result {
    if let Some(way) = args.walk {
        way.walk(args.idle);
        return Ok(());
    }
    if let (Some(at), Some(many)) = (args.scaling_case, args.count) {
        scaling::walk(at, many, args.idle);
        return Ok(());
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        let hint = "install it, for example with `apt-get install valgrind`";
        return Err(format!("valgrind is missing\nhint: {hint}").into());
    }
    if args.scaling {
        return scaling::run(count);
    }
    let mut instructions = Vec::new();
    for way in KeyPath::value_variants() {
        let name = way.to_possible_value().map(|value| value.get_name().to_owned());
        let name = name.unwrap_or_default();
        let count = count(&["--walk".to_owned(), name.clone()])?;
        instructions.push((name, count));
    }
    let found = Record { compiler: compiler()?, profile: profile().into(), instructions };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD);
    if args.bless {
        let json = serde_json::to_string_pretty(&found).unwrap_or_default() + "\n";
        std::fs::write(&path, json)?;
    }
    let json = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let none = Record { compiler: "nothing".into(), ..Record::default() };
            return compare(&none, &found);
        }
        read => read?,
    };
    let record: Record = serde_json::from_slice(&json)?;
    compare(&record, &found)?;
    if args.bless { Ok(()) } else { check_reason(&last_message(&path)) }
}

/// Returns the message of the last commit that changed a file. It is empty outside of a repository.
fn last_message(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%B", "--"]).arg(path).current_dir(folder);
    let message = git.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&message).into_owned()
}

/// Checks that the message of a commit that records counts gives the reason.
fn check_reason(message: &str) -> Result {
    if message.is_empty() || message.to_lowercase().contains("instruction") {
        return Ok(());
    }
    let subject = message.lines().next().unwrap_or_default();
    let hint = "amend the message: say why there are more or fewer instructions";
    Err(format!("the commit {subject:?} records other instruction counts\nhint: {hint}").into())
}

/// Prints the count of each path. Fails if one exceeds its recorded count by more than
/// [`MORE_MAX`].
fn compare(record: &Record, found: &Record) -> Result {
    let same = record.compiler == found.compiler && record.profile == found.profile;
    let mut worse = Vec::new();
    for (name, count) in &found.instructions {
        let before = record.instructions.iter().find(|(known, _)| known == name);
        let Some((_, before)) = before.filter(|_| same) else {
            println!("{name:<8} {count:>13} instructions");
            continue;
        };
        let more = ratio(*count, *before) - 1.0;
        let percent = more * 100.0;
        println!("{name:<8} {count:>13} instructions ({percent:+.2} %)");
        if more > MORE_MAX {
            worse.push(format!("{name} costs {percent:.1} % more instructions"));
        }
    }
    if !same {
        println!("not compared: recorded with {}", record.compiler);
    }
    if worse.is_empty() {
        return Ok(());
    }
    let hint = "reduce them, or record the new counts with `cargo xtask perf --bless`, and give the \
                reason in the message of the commit";
    Err(format!("{}\nhint: {hint}", worse.join(", ")).into())
}

#[expect(clippy::cast_precision_loss, reason = "a part, for people")]
fn ratio(count: u64, before: u64) -> f64 {
    count as f64 / before.max(1) as f64
}

/// Returns the instructions of this program with these arguments, without those of its preparation
/// (`--idle`).
fn count(arguments: &[String]) -> Result<u64> {
    let idle = count_once(&[arguments, &["--idle".to_owned()]].concat())?;
    Ok(count_once(arguments)?.saturating_sub(idle))
}

fn count_once(arguments: &[String]) -> Result<u64> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .args(arguments)
        .status()?;
    if !status.success() {
        return Err(format!("valgrind failed: {status}").into());
    }
    total(&out)
}

/// Returns the total instruction count of a callgrind output file.
fn total(path: &Path) -> Result<u64> {
    let profile = std::fs::read_to_string(path)?;
    let totals = profile.lines().filter_map(|line| line.strip_prefix("totals:"));
    let total = totals.filter_map(|total| total.trim().parse().ok()).next_back();
    total.ok_or_else(|| "the output of callgrind has no total".into())
}

/// Returns the compiler version and the processor architecture.
fn compiler() -> Result<String> {
    let version = String::from_utf8(Command::new("rustc").arg("--version").output()?.stdout)?;
    Ok(format!("{} {}", version.trim(), std::env::consts::ARCH))
}

/// Returns the build profile, which also affects instruction counts.
fn profile() -> &'static str {
    if cfg!(debug_assertions) { "dev" } else { "release" }
}

#[cfg(test)]
mod tests;
