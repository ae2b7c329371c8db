//! `instructions`: what five paths through the code cost, and how work grows, in instructions of
//! the processor as valgrind counts them. Unlike time, that is the same on a busy machine.

mod growth;
mod paths;

use std::path::Path;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

use crate::tools;
use paths::Way;

/// Count the instructions of five key paths, and compare them with what they were
#[derive(Debug, clap::Args)]
#[command(after_help = "Counts depend on the compiler and its settings: those that were recorded \
                  with others are not compared. Needs valgrind.")]
pub(crate) struct Args {
    /// Record what is counted, for later comparisons
    #[arg(long)]
    bless: bool,
    /// Count how work grows with inputs that hurt, instead: of four times as much, at most
    /// five times as many instructions
    #[arg(long, conflicts_with = "bless")]
    growth: bool,
    /// Walk this one of them once, of so many things
    #[arg(long, hide = true, requires = "things")]
    growth_of: Option<usize>,
    #[arg(long, hide = true)]
    things: Option<usize>,
    /// Walk this path once and say nothing: what is run under valgrind
    #[arg(long, hide = true)]
    walk: Option<Way>,
    /// Prepare it only
    #[arg(long, hide = true)]
    idle: bool,
}

/// How much more a path may cost than was recorded.
const MORE_MAX: f64 = 0.03;

/// Where counts are recorded.
const RECORD: &str = "xtask/instructions.json";

/// What was counted, and with what.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Record {
    compiler: String,
    profile: String,
    /// By path, in the order of [`Way`].
    instructions: Vec<(String, u64)>,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    if let Some(way) = args.walk {
        way.walk(args.idle);
        return Ok(());
    }
    if let (Some(at), Some(many)) = (args.growth_of, args.things) {
        growth::walk(at, many, args.idle);
        return Ok(());
    }
    if !tools::is_there("valgrind") {
        output.progress("no valgrind: no instructions are counted");
        return Ok(());
    }
    if args.growth {
        return growth::run(count_of, output);
    }
    let mut instructions = Vec::new();
    for way in Way::value_variants() {
        let name = way.to_possible_value().map(|value| value.get_name().to_owned());
        let name = name.unwrap_or_default();
        // What it takes to prepare is not of the path.
        let (idle, walked) = (count(&name, true)?, count(&name, false)?);
        instructions.push((name, walked.saturating_sub(idle)));
    }
    let found = Record { compiler: compiler()?, profile: profile().into(), instructions };
    let path = crate::workspace().join(RECORD);
    if args.bless {
        let json = serde_json::to_string_pretty(&found).unwrap_or_default() + "\n";
        std::fs::write(&path, json).map_err(|error| Failure::io("write", RECORD, &error))?;
    }
    let json = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let none = Record { compiler: "nothing".into(), ..Record::default() };
            return compare(&none, &found, output);
        }
        read => read.map_err(|error| Failure::io("read", RECORD, &error))?,
    };
    let record: Record = serde_json::from_slice(&json)
        .map_err(|error| Failure::new(Code::Malformed, format!("{RECORD}: {error}")))?;
    compare(&record, &found, output)
}

/// Tells of each path; fails where one costs more than it may.
fn compare(record: &Record, found: &Record, output: &Output) -> Result {
    let same = record.compiler == found.compiler && record.profile == found.profile;
    let mut worse = Vec::new();
    for (name, count) in &found.instructions {
        let before = record.instructions.iter().find(|(known, _)| known == name);
        let Some((_, before)) = before.filter(|_| same) else {
            output.progress(format!("{name:<8} {count:>13} instructions"));
            continue;
        };
        let more = change(*count, *before);
        let percent = more * 100.0;
        output.progress(format!("{name:<8} {count:>13} instructions ({percent:+.2} %)"));
        if more > MORE_MAX {
            worse.push(format!("{name} costs {percent:.1} % more instructions"));
        }
    }
    if !same {
        output.progress(format!("not compared: recorded with {}", record.compiler));
    }
    if worse.is_empty() {
        return Ok(());
    }
    let failure = Failure::new(Code::Malformed, worse.join(", "));
    Err(failure.hint("if it is worth it: cargo xtask instructions --bless"))
}

#[expect(clippy::cast_precision_loss, reason = "a part, for people")]
fn change(count: u64, before: u64) -> f64 {
    count as f64 / before.max(1) as f64 - 1.0
}

/// The instructions of this program on that path.
fn count(name: &str, idle: bool) -> Result<u64> {
    let mut arguments = vec!["--walk".to_owned(), name.to_owned()];
    if idle {
        arguments.push("--idle".into());
    }
    count_of(&arguments)
}

/// The instructions of this command with these arguments.
fn count_of(walk: &[String]) -> Result<u64> {
    let program = std::env::current_exe().map_err(|error| Failure::io("find", "xtask", &error))?;
    let folder = tempfile::tempdir().map_err(|error| Failure::io("make", "a folder", &error))?;
    let out = folder.path().join("callgrind.out");
    let mut arguments = vec![
        "--tool=callgrind".to_owned(),
        "--quiet".to_owned(),
        format!("--callgrind-out-file={}", out.display()),
        program.display().to_string(),
        "instructions".to_owned(),
    ];
    arguments.extend_from_slice(walk);
    tools::tool("valgrind", &arguments, &crate::workspace())?;
    total(&out)
}

/// The total that a file of callgrind names.
fn total(path: &Path) -> Result<u64> {
    let said = std::fs::read_to_string(path)
        .map_err(|error| Failure::io("read", path.display(), &error))?;
    let totals = said.lines().filter_map(|line| line.strip_prefix("totals:"));
    let total = totals.filter_map(|total| total.trim().parse().ok()).next_back();
    total.ok_or_else(|| Failure::new(Code::Malformed, "callgrind names no total"))
}

/// The compiler, by its own words.
fn compiler() -> Result<String> {
    let version = tools::printed("rustc", &["--version"], &crate::workspace())?;
    Ok(format!("{} {}", version.trim(), std::env::consts::ARCH))
}

/// What else decides which instructions there are.
fn profile() -> &'static str {
    if cfg!(debug_assertions) { "dev" } else { "release" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(compiler: &str, count: u64) -> Record {
        let instructions = vec![("decode".to_owned(), count)];
        Record { compiler: compiler.into(), profile: "dev".into(), instructions }
    }

    #[test]
    fn more_is_a_failure_and_less_is_not() {
        let output = Output::default();
        let recorded = record("1.95", 1_000);
        compare(&recorded, &record("1.95", 1_029), &output).unwrap();
        compare(&recorded, &record("1.95", 500), &output).unwrap();
        let failure = compare(&recorded, &record("1.95", 1_031), &output).unwrap_err();
        assert_eq!(failure.message, "decode costs 3.1 % more instructions");
        // Of another compiler nothing is known.
        compare(&recorded, &record("1.96", 9_000), &output).unwrap();
    }
}
