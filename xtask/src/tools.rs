//! Programs of the system, and what package registries have.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure};

/// Runs a program in a folder.
pub(crate) fn tool(
    program: impl AsRef<OsStr>,
    arguments: &[impl AsRef<OsStr>],
    folder: &Path,
) -> Result {
    let name = program.as_ref().display();
    let status = command(program.as_ref(), arguments, folder).status();
    let status = status.map_err(|error| Failure::io("run", &name, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(Code::Io, format!("{name} failed: {status}")))
}

/// What a program prints that runs in a folder.
pub(crate) fn printed(
    program: impl AsRef<OsStr>,
    arguments: &[impl AsRef<OsStr>],
    folder: &Path,
) -> Result<String> {
    let name = program.as_ref().display();
    let output = command(program.as_ref(), arguments, folder).output();
    let output = output.map_err(|error| Failure::io("run", &name, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.trim().lines().last().unwrap_or("it says nothing").to_owned();
    Err(Failure::new(Code::Io, format!("{name} failed: {why}")))
}

fn command(program: &OsStr, arguments: &[impl AsRef<OsStr>], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("RUST_BACKTRACE", "0");
    command
}

/// Writes lines into a document of the repository, in place of what it has between two marks.
pub(crate) fn write_between(document: &str, marks: (&str, &str), lines: &str) -> Result {
    let path = crate::workspace().join(document);
    let text =
        std::fs::read_to_string(&path).map_err(|error| Failure::io("read", document, &error))?;
    let text = between(&text, marks, lines).ok_or_else(|| {
        Failure::new(Code::Malformed, format!("{document} has no place for what is written"))
    })?;
    std::fs::write(&path, text).map_err(|error| Failure::io("write", document, &error))
}

fn between(text: &str, (begin, end): (&str, &str), lines: &str) -> Option<String> {
    let (before, rest) = text.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{lines}{end}{after}"))
}

/// Whether a program is there at all.
pub(crate) fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// A Python in a folder below this one, with these packages of `PyPI`.
pub(crate) fn python(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let program =
        folder.join("venv").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !program.exists() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        tool(system, &["-m", "venv", "venv"], folder)?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let arguments = [&install[..], packages].concat();
    tool(program.as_os_str(), &arguments, folder)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_between_their_own_marks() {
        let of = |lines| format!("a\n<1>\nx\n<end>\nb\n<2>\n{lines}<end>\nc\n");
        let marks = ("<2>\n", "<end>\n");
        assert_eq!(between(&of("old\n"), marks, "new\n"), Some(of("new\n")));
        assert_eq!(between("no place", marks, ""), None);
    }
}
