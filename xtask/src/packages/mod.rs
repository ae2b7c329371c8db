//! `ci-packages`: builds the packages for other languages, installs them as users do, and tests them.

mod js;
mod python;
mod texts;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};

/// The parts by name.
const PARTS: [&str; 4] = ["release", "python", "js", ENGINES];

/// The part that runs only by name, because its dependencies exceed a gigabyte.
const ENGINES: &str = "engines";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this part
    ///
    /// `release` checks workflows and npm packages. `engines` tests the examples for Ray and Spark,
    /// which run only by name.
    #[arg(long, value_name = "NAME", value_parser = PARTS)]
    only: Option<String>,
}

/// Checks, builds and tests the packages.
///
/// # Errors
///
/// Returns an error if a program fails, or if a package is too large.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let is_wanted = |name: &str| args.only.as_ref().is_none_or(|only| only == name);
    if is_wanted("release") {
        timed("release", release)?;
    }
    if args.only.as_deref() == Some(ENGINES) {
        timed(ENGINES, python::run_engines)?;
    }
    // Most of the time, linking the module keeps one processor busy, so all else runs meanwhile.
    std::thread::scope(|scope| {
        let module = is_wanted("js").then(|| scope.spawn(js::compile));
        if is_wanted("python") || module.is_some() {
            let lcp = texts::build_command()?;
            let texts = timed("texts", || texts::write(&lcp))?;
            if is_wanted("python") {
                timed("python", || python::run(&texts))?;
            }
            if let Some(module) = module {
                let module = module.join().map_err(|_| anyhow!("the build panicked"))??;
                timed("js", || js::run(&module, &lcp, &texts))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Runs a part, and prints its time.
fn timed<T>(name: &str, part: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let result = part()?;
    eprintln!("{name}: {} s", start.elapsed().as_secs());
    Ok(result)
}

/// Checks the workflows and the npm packages of a release.
fn release() -> Result<()> {
    crate::workflows::check()?;
    crate::npm::check()
}
