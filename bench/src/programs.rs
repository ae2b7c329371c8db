//! Peers that are programs, installed beside this one, and how long programs take.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) use lcp_testkit::python::{last_line, output};

use crate::error::Error;

/// The folder of a peer beside this program.
fn folder(name: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(format!("peers-{name}"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// A program of an npm package of this version: made once.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn of_npm(
    name: &str,
    version: &str,
    progress: &mut dyn FnMut(String),
) -> Result<PathBuf, String> {
    let folder = folder(name)?;
    let package = folder.join("node_modules").join(name).join("package.json");
    let has_it = std::fs::read_to_string(&package)
        .is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")));
    if !has_it {
        progress(format!("npm installs {name} {version} in {}", folder.display()));
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."]);
        output(npm.arg(format!("{name}@{version}")).current_dir(&folder))?;
    }
    Ok(folder.join("node_modules/.bin").join(name))
}

/// A program of a crate of this version: built once, in release.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn of_cargo(
    name: &str,
    version: &str,
    progress: &mut dyn FnMut(String),
) -> Result<PathBuf, String> {
    let folder = folder(name)?;
    let program = folder.join("bin").join(name);
    let said = output(Command::new(&program).arg("--version")).unwrap_or_default();
    if !String::from_utf8_lossy(&said).contains(version) {
        progress(format!("cargo installs {name} {version} in {}", folder.display()));
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["install", "--quiet", "--locked", "--force", "--version", version, "--root"]);
        output(cargo.arg(&folder).arg(name).env_remove("CARGO_TARGET_DIR"))?;
    }
    Ok(program)
}

/// `lcp` itself, in release, from this checkout.
///
/// # Errors
///
/// Where it cannot be built.
pub(crate) fn lcp(progress: &mut dyn FnMut(String)) -> Result<PathBuf, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    progress("cargo builds lcp".to_owned());
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--locked", "-p", "lcp-cli"]);
    cargo.arg("--target-dir").arg(root.join("target")).current_dir(&root);
    let failed = |message| Error::Command { command: "cargo build -p lcp-cli".to_owned(), message };
    output(&mut cargo).map_err(failed)?;
    Ok(root.join("target/release").join(format!("lcp{}", std::env::consts::EXE_SUFFIX)))
}

/// How long runs took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Runs something once more.
    pub(crate) fn time<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        self.0.push(start.elapsed());
        result
    }

    /// Milliseconds of the best run.
    pub(crate) fn best(&self) -> f64 {
        self.0.iter().min().map_or(f64::NAN, |best| best.as_secs_f64() * 1e3)
    }

    /// Milliseconds of the worst.
    pub(crate) fn worst(&self) -> f64 {
        self.0.iter().max().map_or(f64::NAN, |worst| worst.as_secs_f64() * 1e3)
    }
}

/// A Python that has the versions of `bench/peers/NAME.txt` and nothing else: made
/// once beside this program, with pip.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn python_with(name: &str, progress: &mut dyn FnMut(String)) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(format!("peers-{name}"));
    lcp_testkit::python::create_venv(&folder, &scripts().join(format!("{name}.txt")), progress)
}

/// Where the scripts are.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
