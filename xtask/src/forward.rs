//! Tasks that run a program of another package.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::tools::{self, cargo};

/// Arguments that are passed on unchanged
#[derive(Debug, clap::Args)]
pub(crate) struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Check golden files against the code
#[derive(Debug, clap::Args)]
pub(crate) struct GoldenArgs {
    /// Rewrite the files instead of comparing them
    #[arg(long)]
    bless: bool,
}

/// The commands of `lcp` that are also tasks.
const PRODUCT: &[&str] = &[
    "render", "report", "config", "budget", "count", "encode", "decode", "parse", "unrender",
    "validate", "dedup",
];

/// Tokenizers that the slim command has built in. Anything else is a tokenizer file.
const BUILT_IN_ENCODINGS: &[&str] = &[
    "o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base", "heuristic",
    "code-aware",
];

/// Returns whether the first argument that is not a flag names a command of `lcp`.
pub(crate) fn is_product(arguments: &[OsString]) -> bool {
    let is_flag = |argument: &&OsString| argument.as_encoded_bytes().starts_with(b"-");
    let task = arguments.iter().find(|argument| !is_flag(argument));
    task.is_some_and(|task| PRODUCT.iter().any(|name| task == name))
}

/// Runs `lcp` in the current folder, with the features that its arguments need.
pub(crate) fn product(arguments: &[OsString]) -> Result<ExitCode> {
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--manifest-path"]);
    command.arg(crate::workspace().join("crates/lcp-cli/Cargo.toml"));
    command.args(features(arguments, has_settings(arguments))).arg("--").args(arguments);
    run(command)
}

/// Returns whether an `lcp.toml` applies. It may name a tokenizer file, and all of it is checked.
fn has_settings(arguments: &[OsString]) -> bool {
    let is_given = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let is_there = |folder: &std::path::Path| folder.join("lcp.toml").exists();
    let nearest = || std::env::current_dir().is_ok_and(|folder| folder.ancestors().any(is_there));
    !is_given("--no-config") && (values(arguments, "--config").next().is_some() || nearest())
}

/// Returns the values of a flag, from the same argument (`--flag=value`) or from the next one.
fn values<'a>(arguments: &'a [OsString], flag: &'a str) -> impl Iterator<Item = &'a str> {
    arguments.iter().enumerate().filter_map(move |(at, argument)| {
        match argument.to_str()?.strip_prefix(flag)? {
            "" => arguments.get(at + 1)?.to_str(),
            value => value.strip_prefix('='),
        }
    })
}

/// Returns cargo's feature flags for a command line of `lcp`. Only the full command validates
/// (including hand-offs), reads tokenizer files, and checks every setting.
fn features(arguments: &[OsString], has_settings: bool) -> &'static [&'static str] {
    // These flags take a value only after `=`.
    let costs = arguments.iter().filter_map(|argument| {
        let (flag, value) = argument.to_str()?.split_once('=')?;
        ["--index-costs", "--counts"].contains(&flag).then_some(value)
    });
    let mut names = values(arguments, "--encoding").chain(costs.flat_map(|value| value.split(',')));
    let is_built_in = names.all(|name| BUILT_IN_ENCODINGS.contains(&name));
    let is_validate = arguments.iter().any(|argument| argument == "validate");
    let is_slim = !is_validate && !has_settings && is_built_in;
    if is_slim { &["--no-default-features"] } else { &[] }
}

/// Compares the sample packs and their renderings with the output of the code.
pub(crate) fn samples(args: &GoldenArgs) -> Result<ExitCode> {
    golden(args, "test --workspace --all-features samples::")
}

/// Compares the vocabularies of lcp-tokens with those of tiktoken-rs.
pub(crate) fn vocabulary(args: &GoldenArgs) -> Result<ExitCode> {
    golden(
        args,
        "test --quiet -p lcp-tokens --all-features --test differential vocabulary -- --ignored",
    )
}

fn golden(args: &GoldenArgs, test: &str) -> Result<ExitCode> {
    let mut command = in_workspace(test);
    if args.bless {
        command.env("UPDATE_EXPECT", "1");
    }
    run(command)
}

/// Reads the samples with the format descriptions in `formats/`. Tests the whole workspace, as CI
/// does, because testing a single package would rebuild it with other features of its dependencies.
pub(crate) fn format_specs() -> Result<ExitCode> {
    run(in_workspace("test --workspace --all-features format_descriptions -- --ignored"))
}

/// Runs a benchmark of `bench/`.
pub(crate) fn bench(rest: &Rest) -> Result<ExitCode> {
    let build = "run --release --manifest-path bench/Cargo.toml --locked --features peers";
    passing(&format!("{build} --bin bench --"), rest)
}

/// Counts the instructions of key paths.
pub(crate) fn perf(rest: &Rest) -> Result<ExitCode> {
    let build = "run --quiet --manifest-path bench/Cargo.toml --locked --features perf --bin perf";
    let mut command = in_workspace(build);
    command.arg("--target-dir").arg(tools::target_folder()?).arg("--").args(&rest.arguments);
    // Incremental builds have other counts.
    command.env("CARGO_INCREMENTAL", "0");
    run(command)
}

/// Runs the demonstration of hand-offs in the current folder.
pub(crate) fn handoff(rest: &Rest) -> Result<ExitCode> {
    let mut command = Command::new(cargo());
    command.args(["run", "--quiet", "--example", "handoff_demo", "--manifest-path"]);
    command.arg(crate::workspace().join("crates/lcp-cli/Cargo.toml")).arg("--");
    command.args(&rest.arguments);
    run(command)
}

/// Runs the long fault-injection test of the session stores.
pub(crate) fn fault_injection(rest: &Rest) -> Result<ExitCode> {
    run(fault_injection_command(rest))
}

/// Returns the command of the test. The test reads its flags from the environment, because the
/// test harness accepts only its own.
fn fault_injection_command(rest: &Rest) -> Command {
    let mut command = in_workspace(
        "test --quiet -p lcp-continuity --all-features --test fault_injection -- \
         --ignored --nocapture a_long_run",
    );
    let arguments: Vec<_> =
        rest.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    command.env("LCP_FAULT_INJECTION", arguments.join(" "));
    command
}

/// Runs cargo-fuzz, and fetches it first if it is not installed.
pub(crate) fn fuzz(rest: &Rest) -> Result<ExitCode> {
    let program = tools::cargo_tool("cargo-fuzz", "0.13.2")?;
    let mut command = Command::new(program);
    command.args(["fuzz", "run", "--sanitizer", "none"]).args(&rest.arguments);
    // Only the flags for instrumentation need nightly Rust.
    command.env("RUSTC_BOOTSTRAP", "1").current_dir(crate::workspace().join("fuzz"));
    run(command)
}

fn passing(arguments: &str, rest: &Rest) -> Result<ExitCode> {
    let mut command = in_workspace(arguments);
    command.args(&rest.arguments);
    run(command)
}

fn in_workspace(arguments: &str) -> Command {
    let mut command = Command::new(cargo());
    command.args(arguments.split(' ')).current_dir(crate::workspace());
    command
}

/// Runs a command to its end, and returns its exit code.
fn run(mut command: Command) -> Result<ExitCode> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", OsStr::display(command.get_program())))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn lcp_commands_are_recognized_after_flags() {
        assert!(is_product(&words("render a.lcp")) && is_product(&words("-q render a.lcp")));
        assert!(!is_product(&words("tidy")) && !is_product(&words("tidy render")));
    }

    #[test]
    fn fault_injection_flags_are_passed_by_environment() {
        let rest = Rest { arguments: words("--store sqlite --short") };
        let command = fault_injection_command(&rest);
        let flags = command.get_envs().find(|(name, _)| *name == "LCP_FAULT_INJECTION");
        assert_eq!(flags.unwrap().1, Some(OsStr::new("--store sqlite --short")));
        assert!(command.get_args().all(|argument| argument != "--store"));
    }

    #[test]
    fn validate_and_tokenizer_files_need_default_features() {
        for slim in ["render a", "render a --encoding heuristic", "count --encoding=o200k_base a"] {
            assert_eq!(features(&words(slim), false), ["--no-default-features"], "{slim}");
        }
        for full in
            ["validate a", "render a --encoding tokenizer.json", "count --encoding=./tekken.json a"]
        {
            assert!(features(&words(full), false).is_empty(), "{full}");
        }
        let costs = words("encode a --index-costs=o200k_base,tokenizer.json");
        assert!(
            features(&costs, false).is_empty() && features(&words("render a"), true).is_empty()
        );
    }
}
