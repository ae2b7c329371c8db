//! Runs a benchmark: `bench NAME [--json] [--quiet] [--write]`, or all of them: `bench --write`.
//! `cargo xtask bench` builds and calls it.

mod results;

use std::io::Write;
use std::process::ExitCode;

use lcp_bench::table::Report;
use lcp_bench::{cache, continuity, dedup, fill, format, plan, scale, tokens, tokens_speed};

type Error = Box<dyn std::error::Error>;

/// What measures, and tells its steps.
type Bench = fn(&mut dyn FnMut(String)) -> Result<Report, Error>;

/// The benchmarks there are.
const BENCHES: &[(&str, Bench)] = &[
    (cache::NAME, |progress| Ok(cache::run(progress)?)),
    (continuity::NAME, |progress| Ok(continuity::run(progress)?)),
    (dedup::NAME, |progress| Ok(dedup::run(progress)?)),
    (fill::NAME, |progress| Ok(fill::run(progress)?)),
    (format::NAME, |progress| Ok(format::run(progress)?)),
    (plan::NAME, |progress| Ok(plan::run(progress)?)),
    (scale::NAME, |progress| Ok(scale::run(progress)?)),
    (tokens::NAME, |progress| Ok(tokens::run(progress)?)),
    (tokens_speed::NAME, |progress| Ok(tokens_speed::run(progress)?)),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // What is measured is the time of one thread.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    if let Err(error) = one {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, Error> {
    let (flags, names): (Vec<_>, Vec<_>) =
        arguments.iter().map(String::as_str).partition(|argument| argument.starts_with("--"));
    let has = |flag: &str| flags.contains(&flag);
    if let [name, rest @ ..] = arguments
        && let Some(measured) = run_worker(name, rest)?
    {
        writeln!(std::io::stdout(), "{measured}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let benches: Vec<_> = match names.as_slice() {
        [] if has("--write") => BENCHES.iter().collect(),
        [name] => BENCHES.iter().filter(|(known, _)| known == name).collect(),
        _ => Vec::new(),
    };
    if benches.is_empty() || flags.iter().any(|flag| !FLAGS.contains(flag)) {
        let names: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: bench NAME [--json] [--quiet] [--write]");
        eprintln!("NAME is one of: {}. Without NAME, --write measures all.", names.join(", "));
        return Ok(ExitCode::from(2));
    }
    for (name, bench) in benches {
        let report = bench(&mut |step| {
            if !has("--quiet") {
                eprintln!("{name}: {step}");
            }
        })?;
        let json = serde_json::to_string_pretty(&report)?;
        if has("--write") {
            results::write_document(&json)?;
        }
        let text = if has("--json") { json + "\n" } else { report.to_string() };
        std::io::stdout().write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

const FLAGS: &[&str] = &["--json", "--quiet", "--write"];

/// Runs a process of a benchmark that measures itself. Returns its figures, or `None` where the
/// arguments ask for no such process.
fn run_worker(name: &str, arguments: &[String]) -> Result<Option<String>, Error> {
    let [worker, rest @ ..] = arguments else { return Ok(None) };
    if worker != tokens_speed::WORKER {
        return Ok(None);
    }
    Ok(match name {
        continuity::NAME => Some(continuity::measure(rest)?),
        scale::NAME => Some(scale::measure(rest)?),
        tokens_speed::NAME => Some(tokens_speed::measure(rest)?),
        _ => None,
    })
}
