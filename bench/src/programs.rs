//! Peers that are programs, installed next to this one.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use lcp_testkit::python::{last_line, output};

use crate::harness::{Progress, Result};
use crate::registry::cargo;

/// The versions of programs that several benchmarks run.
pub(crate) const REPOMIX: &str = "1.18.1";
pub(crate) const YEK: &str = "0.25.5";

/// Creates the folder of a peer next to this program, and returns its path.
fn folder(name: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(format!("peers-{name}"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// Returns the path of a program from an npm package of this version. Installs it if necessary.
///
/// # Errors
///
/// Returns the last line of npm's output if the package cannot be installed.
pub fn npm_program(name: &str, version: &str) -> Result<PathBuf, String> {
    let folder = folder(name)?;
    let package = folder.join("node_modules").join(name).join("package.json");
    let has_it = std::fs::read_to_string(&package)
        .is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")));
    if !has_it {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."]);
        output(npm.arg(format!("{name}@{version}")).current_dir(&folder))?;
    }
    Ok(folder.join("node_modules/.bin").join(name))
}

/// Returns the path of a program from a crate of this version. Builds it in release mode if
/// necessary.
pub(crate) fn cargo_program(name: &str, version: &str) -> Result<PathBuf, String> {
    let folder = folder(name)?;
    let program = folder.join("bin").join(name);
    let reported = output(Command::new(&program).arg("--version")).unwrap_or_default();
    if !String::from_utf8_lossy(&reported).contains(version) {
        let mut cargo = cargo();
        cargo.args(["install", "--quiet", "--locked", "--force", "--version", version, "--root"]);
        output(cargo.arg(&folder).arg(name).env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(program)
}

/// Builds `lcp` from this checkout in release mode, and returns its path.
pub(crate) fn lcp(progress: &mut Progress<'_>) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    progress("cargo builds lcp".to_owned());
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--release", "--locked", "-p", "lcp-cli"]);
    cargo.arg("--target-dir").arg(root.join("target")).current_dir(&root);
    output(&mut cargo)?;
    Ok(root.join("target/release").join(format!("lcp{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the path of a Python interpreter with exactly the packages of `bench/peers/NAME.txt`.
pub(crate) fn python_with(name: &str, progress: &mut Progress<'_>) -> Result<PathBuf, String> {
    let requirements = scripts().join(format!("{name}.txt"));
    lcp_testkit::python::create_venv(&folder(name)?, &requirements, progress)
}

/// Returns the folder of the scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
