//! Runs a benchmark: `bench NAME [--json] [--quiet]`. `cargo xtask bench`
//! builds and calls it.

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
    let usage = || {
        let names: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "usage: bench NAME [--json] [--quiet], where NAME is one of: {}",
            names.join(", ")
        );
        Ok(ExitCode::from(2))
    };
    let Some((name, rest)) = arguments.split_first() else { return usage() };
    let Some((_, bench)) = BENCHES.iter().find(|(known, _)| known == name) else { return usage() };
    let mut stdout = std::io::stdout().lock();
    if let [worker, rest @ ..] = rest
        && worker == tokens_speed::WORKER
        && let Some(measured) = match name.as_str() {
            continuity::NAME => Some(continuity::measure(rest)?),
            scale::NAME => Some(scale::measure(rest)?),
            tokens_speed::NAME => Some(tokens_speed::measure(rest)?),
            _ => None,
        }
    {
        writeln!(stdout, "{measured}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if rest.iter().any(|flag| flag != "--json" && flag != "--quiet") {
        return usage();
    }
    let has = |flag: &str| rest.iter().any(|given| given == flag);
    let quiet = has("--quiet");
    let report = bench(&mut |step| {
        if !quiet {
            eprintln!("{step}");
        }
    })?;
    if has("--json") {
        writeln!(stdout, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(stdout, "{report}")?;
    }
    Ok(ExitCode::SUCCESS)
}
