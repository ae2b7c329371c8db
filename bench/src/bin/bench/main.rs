//! Runs a benchmark: `bench NAME [--json] [--quiet] [--write]`, or all of them: `bench --write`.
//! `cargo xtask bench` builds and runs it.

use std::io::Write;
use std::process::ExitCode;

use lcp_bench::table::Report;
use lcp_bench::{BENCHES, Bench, Result, WORKER, measure, results};

const FLAGS: &[&str] = &["--json", "--quiet", "--write"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    // Benchmarks measure the time of one thread.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    if let [name, worker, rest @ ..] = arguments
        && worker == WORKER
    {
        writeln!(std::io::stdout(), "{}", measure(name, rest)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    keep_freed_memory();
    let (flags, names): (Vec<_>, Vec<_>) =
        arguments.iter().cloned().partition(|argument| FLAGS.contains(&argument.as_str()));
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    let (benches, own): (Vec<_>, _) = match names.as_slice() {
        [] if has("--write") => (BENCHES.iter().collect(), &[][..]),
        [name, own @ ..] => {
            let takes = |bench: &Bench| own.is_empty() || matches!(bench, Bench::WithArguments(..));
            let wanted = |(known, bench): &&(&str, Bench)| known == name && takes(bench);
            (BENCHES.iter().filter(wanted).collect(), own)
        }
        [] => (Vec::new(), &[][..]),
    };
    if benches.is_empty() {
        usage();
        return Ok(ExitCode::from(2));
    }
    for (name, bench) in benches {
        let progress = &mut |step| {
            if !has("--quiet") {
                eprintln!("{name}: {step}");
            }
        };
        let rows = match bench {
            Bench::Plain(run) => run(progress)?,
            Bench::WithArguments(run, _) => run(own, progress)?,
        };
        let report = Report { bench: name, rows };
        if has("--write") {
            results::write(&report)?;
        }
        let json = || serde_json::to_string_pretty(&report);
        let text = if has("--json") { json()? + "\n" } else { report.to_string() };
        std::io::stdout().write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn usage() {
    let names: Vec<_> = BENCHES.iter().map(|(name, _)| *name).collect();
    eprintln!("usage: bench NAME [--json] [--quiet] [--write]");
    eprintln!("NAME is one of: {}", names.join(", "));
    for (name, bench) in BENCHES {
        if let Bench::WithArguments(_, arguments) = bench {
            eprintln!("Further arguments of {name}: {arguments}");
        }
    }
    eprintln!("Without NAME, --write runs all benchmarks");
}

/// Makes the allocator keep freed memory. By default, glibc's allocator decides by earlier
/// allocations whether it maps a large buffer again each time, which takes longer than filling it.
fn keep_freed_memory() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "glibc has no other way to set this at run time")]
    // SAFETY: sets two numbers of the allocator, before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
}
