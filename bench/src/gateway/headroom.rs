//! headroom from `PyPI`, which compresses the messages of a request (`bench/peers/headroom_compress.py`).

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::harness::{Progress, Result};
use crate::programs;

/// A process that compresses messages.
pub(super) struct Headroom {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The name and the version.
    pub(super) name: String,
}

impl Headroom {
    pub(super) fn start(progress: &mut Progress<'_>) -> Result<Self> {
        let python = programs::python_with("headroom", progress)?;
        let mut process = Command::new(python)
            .arg(programs::scripts().join("headroom_compress.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("no output")?;
        let lines = BufReader::new(stdout).lines();
        let mut this = Self { process, lines, name: String::new() };
        this.name = this.line()?;
        Ok(this)
    }

    /// Returns a request with the messages that headroom sends for it.
    pub(super) fn edit(&mut self, body: &[u8]) -> Result<Vec<u8>> {
        let mut body: Value = serde_json::from_slice(body)?;
        let stdin = self.process.stdin.as_mut().ok_or("no input")?;
        writeln!(stdin, "{}", body["messages"])?;
        body["messages"] = serde_json::from_str(&self.line()?)?;
        Ok(body.to_string().into_bytes())
    }

    fn line(&mut self) -> Result<String> {
        Ok(self.lines.next().ok_or("headroom ended; run bench/peers/headroom_compress.py")??)
    }
}

/// Closes the input of the process, which ends it, and waits for it.
impl Drop for Headroom {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
