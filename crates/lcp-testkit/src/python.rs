//! Python environments with packages from `PyPI`, for tests and benchmarks against software that is
//! not a crate.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Creates a virtual environment in this folder with exactly the packages of a requirements file,
/// and returns its Python. Uses pip. An environment that already has these packages is not changed.
pub fn create_venv(
    folder: &Path,
    requirements: &Path,
    progress: &mut dyn FnMut(String),
) -> Result<PathBuf, String> {
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = std::fs::read_to_string(requirements).map_err(|error| error.to_string())?;
    let has_all = |python: &Path| {
        let frozen = output(Command::new(python).args(["-m", "pip", "freeze"]));
        let frozen = String::from_utf8_lossy(&frozen.unwrap_or_default()).into_owned();
        wanted.lines().all(|line| frozen.lines().any(|frozen| frozen == line))
    };
    if !has_all(&python) {
        progress(format!("pip installs {} in {}", requirements.display(), folder.display()));
        let system = if cfg!(windows) { "python" } else { "python3" };
        output(Command::new(system).args(["-m", "venv", "--clear"]).arg(folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"];
        output(Command::new(&python).args(install).arg(requirements))?;
    }
    Ok(python)
}

/// Runs a command and returns its standard output. If the command fails, returns a message with the
/// last line of its standard error.
pub fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name}: {}", last_line(&output.stderr)))
}

/// Returns the last line of the standard error, which is the message of a Python traceback.
#[must_use]
pub fn last_line(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    said.trim().lines().last().unwrap_or("failed").to_owned()
}
