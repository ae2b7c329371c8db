//! `fuzz`: looks for inputs for which a law does not hold (RFC 0008 §6).

mod figures;
mod libfuzzer;
mod record;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::ValueEnum;
use lcp_fuzz::{TARGETS, Target};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

use libfuzzer::{Fuzzer, Run};

/// Look for inputs for which a law does not hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A target begins with its corpus in fuzz/corpus, what earlier runs found (fuzz/work) and inputs \
of this repository. What breaks a law is written to fuzz/artifacts and told with the command \
that repeats it, and the exit code is then 1: make it a named test of the crate that is wrong.

cargo-fuzz is installed below the target folder where it is not there. Needs a C++ compiler. \
With --sanitizer address also a nightly compiler.")]
pub(crate) struct Args {
    /// Only this target; all, if it is not said
    #[arg(value_parser = target)]
    target: Option<&'static Target>,
    /// Minutes for each target
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    minutes: f64,
    /// Targets at the same time, a processor each; as many as there are processors, if it is
    /// not said
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// What watches memory: `address` finds what unsafe code of dependencies does wrong, and
    /// takes about twice as long
    #[arg(long, value_enum, default_value_t = Sanitizer::None)]
    sanitizer: Sanitizer,
    /// Make fuzz/corpus anew: the fewest of all inputs that reach all that any of them reaches
    #[arg(long)]
    minimise: bool,
    /// Add what was run to fuzz/record.json, and write docs/reliability.md
    #[arg(long)]
    write: bool,
    /// Also try what can be tried to the end: every bit of packs flipped, every end cut off,
    /// memory of inputs that ask for more than they bring
    #[arg(long)]
    exhaustive: bool,
    /// Give this input to the target, once
    #[arg(long, value_name = "PATH", requires = "target", conflicts_with_all = ["minimise", "write", "exhaustive"])]
    input: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sanitizer {
    None,
    Address,
}

fn target(name: &str) -> Result<&'static Target, String> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        format!("the targets are {}", names.join(", "))
    })
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| (0.0..=100_000.0).contains(minutes));
    minutes.ok_or_else(|| "a number of minutes, 0 to 100000".to_owned())
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    if let (Some(target), Some(path)) = (args.target, &args.input) {
        return once(target, path, output);
    }
    let targets = args.target.map_or(TARGETS, std::slice::from_ref);
    let fuzzer = Fuzzer::build(args.sanitizer == Sanitizer::Address, output)?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = args.jobs.map_or(processors, std::num::NonZero::get).min(targets.len());
    let queue = Mutex::new(targets.iter().collect::<VecDeque<_>>());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front();
    let runs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(target) = next() {
                    output.progress(format!("{}: {} minutes", target.name, args.minutes));
                    let run = fuzzer.run(target, args.minutes);
                    let mut runs = runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    // At once: what stops a later target takes nothing from the record.
                    let run = run.and_then(|run| {
                        output.progress(said(target, &run));
                        if args.write {
                            record::add(target, &run, args.sanitizer == Sanitizer::Address)?;
                        }
                        Ok(run)
                    });
                    runs.push((target, run));
                }
            });
        }
    });
    let mut runs = runs.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    runs.sort_by_key(|(target, _)| TARGETS.iter().position(|of| of.name == target.name));
    // One that could not run takes nothing from the others.
    let (mut finished, mut failed) = (Vec::new(), None);
    for (target, run) in runs {
        match run {
            Ok(run) => finished.push((target, run)),
            Err(failure) => failed = Some(failure),
        }
    }
    if args.minimise {
        for target in targets {
            let (inputs, bytes) = fuzzer.minimise(target)?;
            output.progress(format!("{}: {inputs} inputs, {bytes} bytes", target.name));
        }
    }
    let figures = if args.exhaustive { Some(figures::figures(output)?) } else { None };
    if args.write {
        record::write(figures.as_ref().map(|figures| figures.table.as_str()))?;
    } else if let Some(figures) = &figures {
        output.progress(&figures.table);
    }
    if figures.is_some_and(|figures| !figures.holds) {
        let message = "a flipped bit went unnoticed, or a whole block was lost";
        failed = failed.or_else(|| Some(Failure::new(Code::Malformed, message)));
    }
    let broken: Vec<_> = finished.iter().filter(|(_, run)| !run.crashes.is_empty()).collect();
    for (target, run) in &broken {
        for crash in &run.crashes {
            let path = shown(crash);
            output.progress(format!("{path}: cargo xtask fuzz {} --input {path}", target.name));
        }
    }
    if broken.is_empty() {
        return failed.map_or(Ok(()), Err);
    }
    Err(Failure::new(Code::Io, format!("{} targets do not hold", broken.len())))
}

fn said(target: &Target, run: &Run) -> String {
    let Run { executions, seconds, edges, .. } = run;
    let found = run.crashes.len();
    format!("{}: {executions} runs in {seconds} s, {edges} edges, {found} crashes", target.name)
}

/// Runs a target here, where a debugger and a test would.
fn once(target: &Target, path: &Path, output: &Output) -> Result {
    let input = std::fs::read(path).map_err(|error| Failure::io("read", path.display(), &error))?;
    match std::panic::catch_unwind(|| (target.run)(&input)) {
        Ok(()) => {
            output.progress(format!("{} holds for {}", target.name, path.display()));
            Ok(())
        }
        Err(_) => Err(Failure::new(Code::Io, format!("{} does not hold", target.name))),
    }
}

/// A path as it is told, from the root of the repository where it is below.
fn shown(path: &Path) -> String {
    path.strip_prefix(crate::workspace()).unwrap_or(path).display().to_string()
}
