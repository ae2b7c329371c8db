//! `ci`: everything that must hold before a change lands.

use std::process::Command;
use std::time::Instant;

use crate::{deny, formats, samples, tidy};
use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// Check everything: formatting, lints, tests, each crate alone, documentation,
/// architecture, dependencies, samples, interoperability
#[derive(Debug, clap::Args)]
#[command(after_help = "Every step can be run by itself; each prints its command.")]
pub(crate) struct Args {
    /// Only the steps whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Also what compiles peers, for minutes: after a change of bench/
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
    "lcp-sqlite",
    "lcp-dedup",
    "lcp-continuity",
    "lcp-convert",
    "lcp-outline",
];

/// Features that must build without others: a crate, and one of its choices.
const CHOICES: &[(&str, &str)] = &[
    ("lcp-tokens", "o200k"),
    ("lcp-tokens", "cl100k"),
    ("lcp-tokens", "r50k,cache"),
    ("lcp-tokens", "files"),
    ("lcp-tokens", "models-file,parallel"),
    ("lcp-decoder", "tokio"),
    ("lcp-decoder", "rayon,zstd"),
    ("lcp-decoder", "map"),
    ("lcp-decoder", "object-store"),
    ("lcp-driver", "rayon"),
    ("lcp-driver", "tracing"),
    ("lcp-driver", "metrics,rebalance"),
    ("lcp-driver", "plan-file"),
    ("lcp-dedup", "sqlite"),
    ("lcp-dedup", "object-store"),
    ("lcp-continuity", "sqlite,metrics"),
    ("lcp-continuity", "postgres,tracing"),
    ("lcp-outline", "rust"),
    ("lcp-cli", "mcp"),
];

/// A step that this program takes itself.
type Task = fn(&Output) -> Result;

struct Step {
    name: String,
    arguments: Vec<String>,
    /// An environment variable that the step needs.
    env: Option<(&'static str, &'static str)>,
}

fn step(name: &str, arguments: &str) -> Step {
    Step {
        name: name.into(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        env: None,
    }
}

fn steps(full: bool) -> Vec<Step> {
    let mut steps = vec![
        step("fmt", "fmt --all --check"),
        step("clippy", "clippy --workspace --all-targets --all-features -- -D warnings"),
        step("test", "test --workspace --all-features"),
        // The bytes of plans are golden: they are those of the dev profile too.
        step("determinism", "test -p lcp-driver --release --test it -- determinism"),
    ];
    for library in LIBRARIES {
        // The tests run above, with every feature; alone, what matters is that
        // nothing is missing, with the default features and without any.
        steps.push(step(&format!("alone {library}"), &format!("check -p {library}")));
        let bare = format!("clippy -p {library} --all-targets --no-default-features");
        let name = format!("alone {library} without features");
        steps.push(step(&name, &format!("{bare} -- -D warnings")));
    }
    for (library, features) in CHOICES {
        let name = format!("alone {library} with {features}");
        let choice = "--all-targets --no-default-features --features";
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
        steps.push(step("bench with peers", &format!("clippy {manifest} {peers}")));
    }
    steps.push(step("bench", &format!("test {manifest}")));
    steps
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut failed = Vec::new();
    for step in steps(args.full).iter().filter(|step| wanted(&step.name)) {
        output.progress(format!("== {}: cargo {}", step.name, step.arguments.join(" ")));
        let start = Instant::now();
        if !succeeds(step)? {
            failed.push(step.name.clone());
        }
        output.progress(format!("== {}: {} s", step.name, start.elapsed().as_secs()));
    }
    let tasks: [(&str, Task); 4] = [
        ("tidy", |output| tidy::run(&tidy::Args {}, output)),
        ("deny", |output| deny::run(&deny::Args { require_advisories: false }, output)),
        ("formats", |output| formats::run(&formats::Args {}, output)),
        ("samples", |output| samples::run(&samples::Args::check(), output)),
    ];
    for (name, task) in tasks.into_iter().filter(|(name, _)| wanted(name)) {
        output.progress(format!("== {name}: cargo xtask {name}"));
        if let Err(failure) = task(output) {
            output.fail(&failure);
            failed.push(name.to_owned());
        }
    }
    if wanted("instructions") {
        output.progress("== instructions: cargo xtask instructions");
        // By cargo: the tests have built this program anew. Told, and no failure: they depend
        // on more than the code.
        if !succeeds(&step("instructions", "xtask instructions"))? {
            output.warn("instructions were not compared, or there are more than were recorded");
        }
    }
    if failed.is_empty() {
        output.progress("== all steps passed");
        return Ok(());
    }
    Err(Failure::new(Code::Io, format!("failed: {}", failed.join(", "))))
}

fn succeeds(step: &Step) -> Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(&step.arguments).current_dir(crate::workspace()).envs(step.env);
    command
        .status()
        .map(|status| status.success())
        .map_err(|error| Failure::io("run", "cargo", &error))
}
