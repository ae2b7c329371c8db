//! Output of commands: files, or standard output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use lcp_driver::{escape_control_json, escape_control_lines};
use serde::Serialize;

use crate::Result;
use crate::output::Output;
use lcp_app::Error;
pub use lcp_app::files::{
    PACK, STANDARD, check_distinct_paths, decode, display_name, malformed, read,
};

/// Writes a file, or to standard output for `None` and `-`.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result {
    match path {
        Some(path) if path != OsStr::new(STANDARD) => lcp_app::files::write(path, bytes),
        _ => write_stdout(bytes).map(drop),
    }
}

/// A result of writing to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdoutResult {
    /// All are written.
    All,
    /// Whoever reads has had enough: that is no failure.
    Closed,
}

/// Prints lines for people to standard output. What would not show in them, or steer a
/// terminal, is escaped; JSON of [`json`] has none of it.
pub fn print(lines: &str) -> Result {
    write_stdout(escape_control_lines(lines).as_bytes()).map(drop)
}

/// Returns JSON as commands print it: keys are sorted, and control characters are escaped.
pub fn json(value: &impl Serialize) -> String {
    // Only keys that are no text would be an error.
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

/// Converts what writing to standard output returned: a reader that has had enough is no error.
pub fn to_stdout_result(result: std::io::Result<()>) -> Result<StdoutResult> {
    match result {
        Ok(()) => Ok(StdoutResult::All),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(StdoutResult::Closed),
        Err(error) => Err(Error::io("write", "standard output", &error)),
    }
}
