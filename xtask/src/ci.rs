//! `ci`: every check that must pass before a change lands.

use std::fs::File;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::tools::{self, cargo};

/// Run all checks that must pass before a change lands
///
/// The checks cover formatting, lints, tests, feature combinations, documentation, architecture,
/// dependencies and interoperability.
#[derive(Debug, clap::Args)]
#[command(after_help = "Each step prints its command, so that you can run it alone.")]
pub(crate) struct Args {
    /// Run only the steps whose name contains NAME
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Run the slow steps too
    ///
    /// These are single features, release-mode determinism, peers, fuzz targets, fault injection,
    /// and how instruction counts grow.
    #[arg(long)]
    full: bool,
}

const HACK_VERSION: &str = "0.6.45";

/// Packages that are not part of the product.
const TOOLS: &str = "--exclude xtask --exclude lcp-testkit";

/// Programs. No other crate uses them without their default features, and checking them alone
/// compiles their dependencies again, which takes minutes. `--full` checks them.
const PROGRAMS: &str = "--exclude lcp-cli --exclude lcp-mcp";

/// Features that are not checked one by one:
///
/// * features that only combine others, and features that others imply;
/// * `http`, which only adds a transport (clippy checks it with all features);
/// * all but one of the features that differ only in their data (encodings, languages with
///   outlines).
const UNCHECKED_FEATURES: &str = "default,full,outline,http,bpe,cl100k,p50k,r50k,c,cpp,csharp,\
    go,java,javascript,kotlin,python,typescript";

#[derive(Default)]
struct Step {
    name: &'static str,
    arguments: String,
    env: Option<(&'static str, &'static str)>,
    /// `true` if the step runs in the background of the next one.
    is_background: bool,
}

fn step(name: &'static str, arguments: impl Into<String>) -> Step {
    Step { name, arguments: arguments.into(), ..Step::default() }
}

fn steps(full: bool) -> Vec<Step> {
    // Uses the build folder of this workspace, which already has most of the dependencies.
    let bench = "--manifest-path bench/Cargo.toml --target-dir target --locked";
    let deny_warnings = Some(("RUSTDOCFLAGS", "-D warnings"));
    let mut steps = vec![
        step("fmt", "fmt --all --check"),
        step("fmt bench", "fmt --manifest-path bench/Cargo.toml --check"),
        step("clippy", "clippy --workspace --all-targets --all-features -- -D warnings"),
        // Cargo locks the build folder, so this compiles while the tests run. It needs no
        // `--no-dev-deps`, which would change manifests that tests read: the features of
        // dev-dependencies do not reach `--lib`.
        Step {
            is_background: true,
            ..step(
                "no features",
                format!(
                    "hack clippy --workspace {TOOLS} {PROGRAMS} --no-default-features --lib -- -D warnings"
                ),
            )
        },
        step("test", "test --workspace --all-features"),
        Step { env: deny_warnings, ..step("doc", "doc --workspace --all-features --no-deps") },
        step("test bench", format!("test {bench} --features perf")),
        step("instructions", "xtask perf"),
        step("tidy", "xtask tidy"),
        step("deny", "xtask deny"),
        step("format specs", "xtask check-format-specs"),
    ];
    if full {
        steps.extend([
            step(
                "features",
                format!(
                    "hack clippy --workspace {TOOLS} --each-feature --exclude-features {UNCHECKED_FEATURES} --lib -- -D warnings"
                ),
            ),
            Step {
                env: deny_warnings,
                ..step(
                    "doc without features",
                    format!("doc --workspace {TOOLS} --no-default-features --no-deps"),
                )
            },
            // Output must have the same bytes at every optimization level.
            step("determinism", "test -p lcp-driver --release --test determinism"),
            step(
                "clippy bench",
                format!("clippy {bench} --features peers,perf --all-targets -- -D warnings"),
            ),
            step(
                "fuzz targets",
                "check --manifest-path fuzz/Cargo.toml --target-dir target --locked",
            ),
            // `cargo xtask agents` runs the tests of agents.
            step(
                "slow tests",
                "test --workspace --all-features -- --ignored --skip with_a_gateway",
            ),
            step("fault injection", "xtask fault-inject"),
            step("scaling", "xtask perf --scaling"),
        ]);
    }
    steps
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let is_wanted = |step: &Step| args.only.as_ref().is_none_or(|only| step.name.contains(only));
    let steps: Vec<_> = steps(args.full).into_iter().filter(is_wanted).collect();
    if steps.is_empty() {
        bail!("no step name contains {:?}", args.only.as_deref().unwrap_or_default());
    }
    let start = Instant::now();
    let mut failed = Vec::new();
    let mut background = None;
    for (at, step) in steps.iter().enumerate() {
        eprintln!("== {}: cargo {}", step.name, step.arguments);
        let step_start = Instant::now();
        // The last step has no other one that would wait for it.
        if step.is_background && at + 1 < steps.len() {
            background = Some((step.name, start_in_background(step)?, step_start));
            continue;
        }
        if !succeeds(step)? {
            failed.push(step.name);
        }
        eprintln!("== {}: {} s", step.name, step_start.elapsed().as_secs());
        if let Some((name, child, start)) = background.take() {
            if !ends_well(child)? {
                failed.push(name);
            }
            eprintln!("== {name}, in the background: {} s", start.elapsed().as_secs());
        }
    }
    let seconds = start.elapsed().as_secs();
    if !failed.is_empty() {
        bail!("failed after {seconds} s: {}", failed.join(", "));
    }
    eprintln!("== all steps passed: {seconds} s");
    Ok(ExitCode::SUCCESS)
}

/// Runs a step, and returns whether it succeeded.
fn succeeds(step: &Step) -> Result<bool> {
    let status = command(step)?.status();
    let status = status.with_context(|| format!("cannot run step {}", step.name))?;
    Ok(status.success())
}

/// Starts a step. A file collects its output, so that it does not mix with that of the next step.
fn start_in_background(step: &Step) -> Result<(Child, File)> {
    let folder = crate::workspace().join("target");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("ci-{}.log", step.name));
    let log = File::create(&path)?;
    let mut command = command(step)?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let child = command.spawn().with_context(|| format!("cannot run step {}", step.name))?;
    Ok((child, File::open(path)?))
}

/// Waits for a step in the background, prints its output, and returns whether it succeeded.
fn ends_well((mut child, mut log): (Child, File)) -> Result<bool> {
    let status = child.wait()?;
    std::io::copy(&mut log, &mut std::io::stderr())?;
    Ok(status.success())
}

/// Returns the command of a step.
fn command(step: &Step) -> Result<Command> {
    let words: Vec<_> = step.arguments.split(' ').collect();
    let mut command = match words.as_slice() {
        ["xtask", task @ ..] => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(task);
            command
        }
        ["hack", ..] => {
            let mut command = Command::new(tools::cargo_tool("cargo-hack", HACK_VERSION)?);
            command.args(&words);
            command
        }
        _ => {
            let mut command = Command::new(cargo());
            command.args(&words);
            command
        }
    };
    command.current_dir(crate::workspace()).envs(step.env);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_names_are_unique() {
        let steps = steps(true);
        for (at, step) in steps.iter().enumerate() {
            assert!(steps[..at].iter().all(|other| other.name != step.name), "{}", step.name);
        }
    }

    #[test]
    fn failing_step_and_unknown_step_name_are_reported() {
        assert!(!succeeds(&step("missing", "no-such-command")).unwrap());
        assert!(succeeds(&step("version", "--version")).unwrap());
        let missing = start_in_background(&step("missing in tests", "no-such-command")).unwrap();
        assert!(!ends_well(missing).unwrap());
        let error = run(&Args { only: Some("no such step".into()), full: false }).unwrap_err();
        assert_eq!(error.to_string(), "no step name contains \"no such step\"");
    }
}
