//! Output of commands to files and to standard output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use lcp_driver::{escape_control_json, escape_control_lines};
use serde::Serialize;

use crate::Result;
use crate::output::Output;
use lcp_app::Error;
pub use lcp_app::files::{
    PACK, STANDARD, check_distinct_paths, decode, display_name, malformed, open_pack, read,
};

/// Writes bytes to a file, or to standard output for `None` and `-`.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result {
    match path {
        Some(path) if path != OsStr::new(STANDARD) => lcp_app::files::write(path, bytes),
        _ => write_stdout(bytes).map(drop),
    }
}

/// The result of writing to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdoutResult {
    /// All bytes are written.
    All,
    /// The reader closed the pipe, which is not an error.
    Closed,
}

/// Prints lines for people to standard output. Invisible characters and terminal control
/// characters are escaped; the JSON of [`json`] contains none of them.
pub fn print(lines: &str) -> Result {
    write_stdout(escape_control_lines(lines).as_bytes()).map(drop)
}

/// Returns JSON as commands print it, with sorted keys and escaped control characters.
pub fn json(value: &impl Serialize) -> String {
    // Serialization fails only for maps whose keys are not strings, and no command has those.
    let value = serde_json::to_value(value).unwrap_or_default();
    escape_control_json(&format!("{value:#}\n")).into_owned()
}

/// Writes a JSON report to a file, or to standard error for `-`.
pub fn write_report(path: &Path, report: &impl Serialize, output: &Output) -> Result {
    let json = json(report);
    if path == OsStr::new(STANDARD) {
        output.print(json.trim_end());
        return Ok(());
    }
    write(Some(path), json.as_bytes())
}

/// Writes to standard output.
pub fn write_stdout(bytes: &[u8]) -> Result<StdoutResult> {
    let mut stdout = std::io::stdout().lock();
    to_stdout_result(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Writes all that `input` has to standard output.
#[cfg(feature = "full")]
pub fn copy_to_stdout(input: &mut impl io::Read) -> Result<StdoutResult> {
    let mut stdout = std::io::stdout().lock();
    to_stdout_result(io::copy(input, &mut stdout).and_then(|_| stdout.flush()))
}

/// Converts the result of writing to standard output. A closed pipe is not an error.
pub fn to_stdout_result(result: std::io::Result<()>) -> Result<StdoutResult> {
    match result {
        Ok(()) => Ok(StdoutResult::All),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(StdoutResult::Closed),
        Err(error) => Err(Error::io("write", "standard output", &error)),
    }
}
