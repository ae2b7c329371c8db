//! `ci`: everything that must hold before a change lands.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// Check everything: formatting, lints, tests, each crate alone, documentation,
/// architecture, dependencies, samples, interoperability
#[derive(Debug, clap::Args)]
#[command(after_help = "Every step can be run by itself; each prints its command.")]
pub(crate) struct Args {
    /// Only the steps whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Also what takes minutes more: peers, after a change of bench/, features with dozens of
    /// dependencies, how work grows with inputs that hurt
    #[arg(long)]
    full: bool,
}

/// The crates that must build, pass and document alone.
const LIBRARIES: &[&str] = &[
    "lcp-types",
    "lcp-decoder",
    "lcp-encoder",
    "lcp-tokens",
    "lcp-driver",
    "lcp-dedup",
    "lcp-store",
    "lcp-continuity",
    "lcp-transcripts",
    "lcp-outline",
];

/// Features that must build without others: a crate, and one of its choices.
const CHOICES: &[(&str, &str)] = &[
    ("lcp-tokens", "o200k"),
    ("lcp-tokens", "cl100k"),
    ("lcp-tokens", "r50k,cache"),
    ("lcp-tokens", "models-file,rayon"),
    ("lcp-decoder", "tokio"),
    ("lcp-decoder", "rayon,zstd"),
    ("lcp-decoder", "map"),
    ("lcp-decoder", "object-store"),
    ("lcp-driver", "rayon"),
    ("lcp-driver", "tracing"),
    ("lcp-driver", "metrics"),
    ("lcp-driver", "serde"),
    ("lcp-store", "sqlite"),
    ("lcp-store", "content-sqlite"),
    ("lcp-store", "object-store"),
    ("lcp-continuity", "sqlite,metrics"),
    ("lcp-outline", "rust"),
];

/// Those for which dozens of dependencies are checked once more, with features of their own.
const COSTLY_CHOICES: &[(&str, &str)] = &[
    ("lcp-tokens", "tokenizer-files"),
    ("lcp-continuity", "postgres,tracing"),
    ("lcp-cli", "mcp"),
];

/// Other tasks that are steps, with whether they decide.
const TASKS: &[(&str, bool)] = &[
    ("tidy", true),
    ("deny", true),
    ("formats", true),
    ("samples", true),
    // Told, and no failure: they depend on more than the code.
    ("instructions", false),
];

/// What counts for minutes, with the whole of a task's arguments.
const LONG_TASKS: &[&str] = &["instructions --growth"];

/// The step that builds the program of the tasks, too.
const TEST: &str = "test";

struct Step {
    name: String,
    arguments: Vec<String>,
    /// An environment variable that the step needs.
    env: Option<(&'static str, &'static str)>,
    /// Whether everything fails with it.
    decides: bool,
}

fn step(name: &str, arguments: &str) -> Step {
    Step {
        name: name.into(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        env: None,
        decides: true,
    }
}

fn steps(full: bool) -> Vec<Step> {
    let mut steps = vec![
        step("fmt", "fmt --all --check"),
        step("clippy", "clippy --workspace --all-targets --all-features -- -D warnings"),
        step(TEST, "test --workspace --all-features"),
        // The bytes of plans are golden: they are those of the dev profile too.
        step("determinism", "test -p lcp-driver --release --test determinism"),
    ];
    for library in LIBRARIES {
        // The tests run above, with every feature; alone, what matters is that
        // nothing is missing, with the default features and without any.
        steps.push(step(&format!("alone {library}"), &format!("check -p {library}")));
        let bare = format!("clippy -p {library} --all-targets --no-default-features");
        let name = format!("alone {library} without features");
        steps.push(step(&name, &format!("{bare} -- -D warnings")));
    }
    let costly = if full { COSTLY_CHOICES } else { &[] };
    for (library, features) in CHOICES.iter().chain(costly) {
        let name = format!("alone {library} with {features}");
        // The tests would bring what they depend on, with features of its own, once more.
        let choice = "--lib --no-default-features --features";
        let arguments = format!("clippy -p {library} {choice} {features} -- -D warnings");
        steps.push(step(&name, &arguments));
    }
    let docs = [
        ("doc", "doc --workspace --all-features --no-deps".to_owned()),
        (
            "doc without features",
            format!("doc --no-deps --no-default-features -p {}", LIBRARIES.join(" -p ")),
        ),
    ];
    for (name, arguments) in docs {
        let mut doc = step(name, &arguments);
        doc.env = Some(("RUSTDOCFLAGS", "-D warnings"));
        steps.push(doc);
    }
    steps.push(step("bench fmt", "fmt --manifest-path bench/Cargo.toml --check"));
    // In the folder of this workspace: most of what they depend on is built there.
    let manifest = "--manifest-path bench/Cargo.toml --target-dir target --locked";
    let peers = "--features peers --all-targets -- -D warnings";
    if full {
        let fuzz = "check --manifest-path fuzz/Cargo.toml --target-dir target --locked";
        steps.push(step("fuzz targets", fuzz));
        steps.push(step("bench with peers", &format!("clippy {manifest} {peers}")));
    }
    steps.push(step("bench", &format!("test {manifest}")));
    for (name, decides) in TASKS {
        steps.push(Step { decides: *decides, ..step(name, &format!("xtask {name}")) });
    }
    for task in LONG_TASKS.iter().filter(|_| full) {
        steps.push(step(task, &format!("xtask {task}")));
    }
    steps
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let (mut failed, mut taken, mut tested) = (Vec::new(), 0, false);
    let begun = Instant::now();
    let steps = steps(args.full);
    for step in steps.iter().filter(|step| wanted(&step.name)) {
        eprintln!("== {}: cargo {}", step.name, step.arguments.join(" "));
        let start = Instant::now();
        let succeeded = succeeds(step, tested)?;
        tested |= succeeded && step.name == TEST;
        eprintln!("== {}: {} s", step.name, start.elapsed().as_secs());
        taken += 1;
        if !succeeded && step.decides {
            failed.push(step.name.as_str());
        } else if !succeeded {
            eprintln!("warning: {} did not succeed, which fails nothing", step.name);
        }
    }
    if taken == 0 {
        return Err(format!(
            "no step has {} in its name",
            args.only.as_deref().unwrap_or_default()
        ));
    }
    let seconds = begun.elapsed().as_secs();
    if failed.is_empty() {
        eprintln!("== all steps passed: {seconds} s");
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!("failed: {} ({seconds} s in all)", failed.join(", ")))
}

/// Takes a step. `tested`: the tests have been built, and with them the program of the tasks.
fn succeeds(step: &Step, tested: bool) -> Result<bool, String> {
    let mut command = match step.arguments.as_slice() {
        [xtask, task @ ..] if xtask == "xtask" && tested => {
            let program = std::env::current_exe().map_err(|error| error.to_string())?;
            let name = format!("xtask{}", std::env::consts::EXE_SUFFIX);
            let mut command = Command::new(program.with_file_name(name));
            command.args(task);
            command
        }
        arguments => {
            let mut command = Command::new(crate::cargo());
            command.args(arguments);
            command
        }
    };
    command.current_dir(crate::workspace()).envs(step.env);
    let status = command.status();
    status
        .map(|status| status.success())
        .map_err(|error| format!("cannot run {command:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_told_from_others_by_its_name() {
        let steps = steps(true);
        for (at, step) in steps.iter().enumerate() {
            assert!(steps[..at].iter().all(|other| other.name != step.name), "{}", step.name);
        }
    }

    #[test]
    fn a_step_that_fails_is_told() {
        assert_eq!(succeeds(&step("no such command", "no-such-command"), false), Ok(false));
        assert_eq!(succeeds(&step("version", "--version"), false), Ok(true));
        let error = run(&Args { only: Some("no such step".into()), full: false }).unwrap_err();
        assert_eq!(error, "no step has no such step in its name");
    }
}
