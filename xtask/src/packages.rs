//! `ci-packages`: builds the Python package, installs it as users do, and tests it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::tools::{self, cargo, output};

/// The program that builds wheels.
const MATURIN: &str = "maturin==1.16.0";

/// The largest size of a wheel in bytes.
const WHEEL_BYTES_MAX: u64 = 15_000_000;

/// Checks and builds the Python package, and runs its tests against the installed wheel.
///
/// # Errors
///
/// Returns an error if a program fails, or if the wheel is larger than [`WHEEL_BYTES_MAX`].
pub(crate) fn run() -> Result<ExitCode> {
    let manifest = ["--manifest-path", "python/Cargo.toml"];
    tools::run(&cargo(), &[&["fmt", "--check"], &manifest[..]].concat())?;
    let lints = ["--locked", "--", "-D", "warnings"];
    tools::run(&cargo(), &[&["clippy"], &manifest[..], &lints].concat())?;

    let folder = tools::target_folder()?.join("packages");
    let wheel = build_wheel(&folder)?;
    let bytes = fs::metadata(&wheel)?.len();
    eprintln!("{}: {bytes} bytes", wheel.display());
    if bytes > WHEEL_BYTES_MAX {
        bail!("the wheel has {bytes} bytes, more than {WHEEL_BYTES_MAX}");
    }

    let python = create_venv(&folder.join("tests"))?;
    let install = |what: &[&OsStr]| {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        let pip = pip.iter().map(OsStr::new);
        output(&python, &pip.chain(what.iter().copied()).collect::<Vec<_>>())
    };
    install(&["--requirement".as_ref(), "python/tests/requirements.txt".as_ref()])?;
    install(&["--force-reinstall".as_ref(), wheel.as_os_str()])?;
    let python = python.as_os_str();
    tools::run(python, &["-m", "ruff", "check", "python"])?;
    tools::run(python, &["-m", "ruff", "format", "--check", "python"])?;
    let types = ["-m", "mypy", "--config-file", "python/pyproject.toml", "-p", "lcp"];
    tools::run(python, &types)?;
    let types = ["-m", "mypy", "--config-file", "python/pyproject.toml", "python/tests"];
    tools::run(python, &types)?;
    tools::run(python, &["-m", "mypy.stubtest", "lcp._lcp"])?;
    tools::run(python, &["-m", "pytest", "--quiet", "python/tests"])?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the wheel, and returns its path.
fn build_wheel(folder: &Path) -> Result<PathBuf> {
    let python = create_venv(&folder.join("build"))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MATURIN];
    output(&python, &pip)?;
    let output_folder = folder.join("wheels");
    if output_folder.exists() {
        fs::remove_dir_all(&output_folder)?;
    }
    let build = ["-m", "maturin", "build", "--release", "--locked", "-m", "python/Cargo.toml"];
    let output_name =
        output_folder.to_str().context("the path of the build folder is not UTF-8")?;
    tools::run(python.as_os_str(), &[&build[..], &["-o", output_name]].concat())?;
    let mut wheels = fs::read_dir(&output_folder)?;
    Ok(wheels.next().context("maturin built no wheel")??.path())
}

/// Creates an empty virtual environment, and returns its Python.
fn create_venv(folder: &Path) -> Result<PathBuf> {
    let system = if cfg!(windows) { "python" } else { "python3" };
    let venv = ["-m".as_ref(), "venv".as_ref(), "--clear".as_ref(), folder.as_os_str()];
    output(system, &venv)?;
    Ok(folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}
