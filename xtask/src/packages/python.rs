//! The Python package: its wheel, its tests, and the examples for engines.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow};

use crate::tools::{self, cargo, output};

/// The program that builds wheels.
const MATURIN: &str = "maturin==1.16.0";

/// Checks and builds the Python package, and runs its tests against the installed wheel. The
/// tests compare its output with that of the command.
///
/// The wheel has the optimization of tests, and shares the build folder of the workspace, which has
/// built most of its dependencies.
///
/// # Errors
///
/// Returns an error if a program fails.
pub(super) fn run(texts: &Path) -> Result<()> {
    let manifest = ["--manifest-path", "python/Cargo.toml"];
    tools::run(&cargo(), &[&["fmt", "--check"], &manifest[..]].concat())?;
    let target = tools::target_folder()?;
    let folder = target.join("packages");
    let target = target.to_str().context("the path of the build folder is not UTF-8")?;
    let lints = ["--locked", "--target-dir", target, "--", "-D", "warnings"];
    let (wheel, python) = std::thread::scope(|scope| {
        // The programs of the tests are downloaded while the wheel is built.
        let programs = scope.spawn(|| {
            let python = create_venv(&folder.join("tests"))?;
            let requirements = ["--requirement", "python/tests/requirements.txt"].map(OsStr::new);
            install(&python, &requirements).map(|()| python)
        });
        tools::run(&cargo(), &[&["clippy"], &manifest[..], &lints].concat())?;
        let wheel = build_wheel(&folder, target)?;
        let python =
            programs.join().map_err(|_| anyhow!("the installation of the tests panicked"))??;
        anyhow::Ok((wheel, python))
    })?;
    install(&python, &["--force-reinstall".as_ref(), "--no-deps".as_ref(), wheel.as_os_str()])?;
    let program = python.as_os_str();
    tools::run(program, &["-m", "ruff", "check", "python", "examples"])?;
    tools::run(program, &["-m", "ruff", "format", "--check", "python", "examples"])?;
    let types = ["-m", "mypy", "--config-file", "python/pyproject.toml", "-p", "lcp"];
    tools::run(program, &types)?;
    let types = ["-m", "mypy", "--config-file", "python/pyproject.toml", "python/tests"];
    tools::run(program, &types)?;
    tools::run(program, &["-m", "mypy.stubtest", "lcp._lcp"])?;
    let python = python.to_str().context("the path of the build folder is not UTF-8")?;
    tools::run(program, &["-m", "pyright", "--pythonpath", python, "-p", "python"])?;
    let mut pytest = Command::new(program);
    pytest.args(["-m", "pytest", "--quiet", "python/tests"]).env("LCP_TEXTS", texts);
    tools::run_command(pytest.current_dir(crate::workspace()))
}

/// Installs the engines Ray and Spark with the wheel, and runs the tests of the examples.
///
/// # Errors
///
/// Returns an error if there is no Java, or if a program fails.
pub(super) fn run_engines() -> Result<()> {
    let hint = "hint: Spark needs Java 17 or later (`apt-get install default-jre-headless`)";
    output("java", &["-version"]).context(hint)?;
    let target = tools::target_folder()?;
    let folder = target.join("packages");
    let target = target.to_str().context("the path of the build folder is not UTF-8")?;
    let wheel = build_wheel(&folder, target)?;
    let python = create_venv(&folder.join("engines"))?;
    install(&python, &["--requirement", "examples/requirements.txt"].map(OsStr::new))?;
    install(&python, &["--no-deps".as_ref(), wheel.as_os_str()])?;
    tools::run(python.as_os_str(), &["-m", "pytest", "--quiet", "examples"])
}

/// Builds the wheel, and returns its path.
fn build_wheel(folder: &Path, target: &str) -> Result<PathBuf> {
    let python = create_venv(&folder.join("build"))?;
    install(&python, &[MATURIN.as_ref()])?;
    let output_folder = folder.join("wheels");
    if output_folder.exists() {
        fs::remove_dir_all(&output_folder)?;
    }
    let output_name =
        output_folder.to_str().context("the path of the build folder is not UTF-8")?;
    let build = ["-m", "maturin", "build", "--profile", "dev", "--locked"];
    let places = ["-m", "python/Cargo.toml", "--target-dir", target, "-o", output_name];
    tools::run(python.as_os_str(), &[&build[..], &places].concat())?;
    let mut wheels = fs::read_dir(&output_folder)?;
    Ok(wheels.next().context("maturin built no wheel")??.path())
}

/// Installs packages into an environment.
fn install(python: &Path, packages: &[&OsStr]) -> Result<()> {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let pip = pip.iter().map(OsStr::new);
    output(python, &pip.chain(packages.iter().copied()).collect::<Vec<_>>()).map(drop)
}

/// Creates an empty virtual environment, and returns its Python.
fn create_venv(folder: &Path) -> Result<PathBuf> {
    let system = if cfg!(windows) { "python" } else { "python3" };
    let venv = ["-m".as_ref(), "venv".as_ref(), "--clear".as_ref(), folder.as_os_str()];
    output(system, &venv)?;
    Ok(folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}
