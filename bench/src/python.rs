//! A Python with a peer that is no crate: the scripts are in `bench/peers/`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Python that has the versions of `bench/peers/NAME.txt` and nothing else: made
/// once beside this program, with pip.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn with(name: &str, progress: &mut dyn FnMut(String)) -> Result<PathBuf, String> {
    let requirements = peers().join(format!("{name}.txt"));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(format!("peers-{name}"));
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let has_all = |python: &Path| {
        let frozen = output(Command::new(python).args(["-m", "pip", "freeze"]));
        let frozen = String::from_utf8_lossy(&frozen.unwrap_or_default()).into_owned();
        wanted.lines().all(|line| frozen.lines().any(|frozen| frozen == line))
    };
    if !has_all(&python) {
        progress(format!("pip installs {name} in {}", folder.display()));
        output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"];
        output(Command::new(&python).args(install).arg(&requirements))?;
    }
    Ok(python)
}

/// The standard output of a command.
///
/// # Errors
///
/// Why it failed, in words.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name}: {}", last_line(&output.stderr)))
}

/// What matters of a Python traceback.
pub(crate) fn last_line(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    said.trim().lines().last().unwrap_or("failed").to_owned()
}

/// Where the scripts are.
pub(crate) fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
