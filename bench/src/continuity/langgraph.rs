//! `LangGraph`'s checkpoints, put by Python: `bench/peers/langgraph_put.py`.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::failed;
use super::race::Contender;
use crate::programs;

/// A process that puts checkpoints when it is told to.
pub(super) struct Langgraph {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it is, with versions and settings.
    pub(super) about: String,
}

impl Langgraph {
    /// One that puts payloads of so many bytes; `arguments` say where.
    ///
    /// # Errors
    ///
    /// Why it does not, in words.
    pub(super) fn start(python: &Path, arguments: &[&str], bytes: usize) -> Result<Self, String> {
        let mut process = Command::new(python)
            .arg(programs::scripts().join("langgraph_put.py"))
            .arg(bytes.to_string())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdout = process.stdout.take().ok_or("no output")?;
        let mut this =
            Self { process, lines: BufReader::new(stdout).lines(), about: String::new() };
        this.about = this.line()?;
        Ok(this)
    }

    /// Puts so many, and says how long each took, by Python's clock.
    ///
    /// # Errors
    ///
    /// In words.
    pub(super) fn put(&mut self, times: usize) -> Result<Vec<Duration>, String> {
        let stdin = self.process.stdin.as_mut().ok_or("no input")?;
        writeln!(stdin, "{times}").map_err(|error| error.to_string())?;
        let seconds: Vec<f64> =
            serde_json::from_str(&self.line()?).map_err(|error| error.to_string())?;
        Ok(seconds.into_iter().map(Duration::from_secs_f64).collect())
    }

    /// This as one who takes part.
    pub(super) fn contender(&mut self) -> Contender<'_> {
        let name = self.about.clone();
        let turn = |times| self.put(times).map_err(|why| failed(&why));
        Contender { name, turn: Box::new(turn) }
    }

    fn line(&mut self) -> Result<String, String> {
        if let Some(Ok(line)) = self.lines.next() {
            return Ok(line);
        }
        let mut said = Vec::new();
        if let Some(stderr) = &mut self.process.stderr {
            stderr.read_to_end(&mut said).map_err(|error| error.to_string())?;
        }
        Err(format!("LangGraph: {}", programs::last_line(&said)))
    }
}

/// It ends when nobody tells it anything any more.
impl Drop for Langgraph {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
