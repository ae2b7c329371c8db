//! Output of commands: files, or standard output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use lcp_driver::{escape_control_json, escape_control_lines};
use serde_json::Value;

use crate::Result;
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
    Cut,
}

/// Prints lines for people to standard output. What would not show in them, or steer a
/// terminal, is escaped; JSON of [`json`] has none of it.
pub fn print(lines: &str) -> Result {
    write_stdout(escape_control_lines(lines).as_bytes()).map(drop)
}

/// JSON as commands print it: a terminal shows all of it, and it is the same data.
pub fn json(json: &Value) -> String {
    escape_control_json(&format!("{json:#}\n")).into_owned()
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
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(StdoutResult::Cut),
        Err(error) => Err(Error::io("write", "standard output", &error)),
    }
}
