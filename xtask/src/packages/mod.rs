//! `ci-packages`: builds the packages for other languages, installs them as users do, and tests them.

mod js;
mod python;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

/// The parts by name, in their order.
const PARTS: [&str; 3] = ["python", "js", "release"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this part: a folder, or the workflow and npm packages of a release
    #[arg(long, value_name = "NAME", value_parser = PARTS)]
    only: Option<String>,
}

/// Checks, builds and tests the packages.
///
/// # Errors
///
/// Returns an error if a program fails, or if a package is too large.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    for name in PARTS {
        if args.only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let start = Instant::now();
        match name {
            "js" => js::run()?,
            "python" => python::run()?,
            _ => release()?,
        }
        eprintln!("{name}: {} s", start.elapsed().as_secs());
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the workflows and the npm packages of a release.
fn release() -> Result<()> {
    crate::workflows::check()?;
    crate::npm::check()
}
