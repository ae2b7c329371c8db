//! `LangGraph`'s checkpoints, written by a Python script: `bench/peers/langgraph_put.py`.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::harness::{Contender, Result, Times, race};
use crate::programs;
use crate::table::{Better, Row};

/// The number of measured rounds, and of repetitions by each contender in a round.
const ROUNDS: usize = 30;
const EACH: usize = 20;

/// A process that writes checkpoints on request.
pub(super) struct Langgraph {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The name of the peer, with its versions and settings.
    pub(super) about: String,
}

impl Langgraph {
    /// Starts a process that writes payloads of `bytes` bytes. `arguments` select the database.
    pub(super) fn start(python: &Path, arguments: &[&str], bytes: usize) -> Result<Self> {
        let mut process = Command::new(python)
            .arg(programs::scripts().join("langgraph_put.py"))
            .arg(bytes.to_string())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("no output")?;
        let lines = BufReader::new(stdout).lines();
        let mut this = Self { process, lines, about: String::new() };
        this.about = this.line()?;
        Ok(this)
    }

    /// Writes `times` checkpoints, and returns the duration of each by Python's clock.
    pub(super) fn put(&mut self, times: usize) -> Result<Vec<Duration>> {
        let stdin = self.process.stdin.as_mut().ok_or("no input")?;
        writeln!(stdin, "{times}")?;
        let seconds: Vec<f64> = serde_json::from_str(&self.line()?)?;
        Ok(seconds.into_iter().map(Duration::from_secs_f64).collect())
    }

    fn line(&mut self) -> Result<String> {
        if let Some(Ok(line)) = self.lines.next() {
            return Ok(line);
        }
        let mut errors = Vec::new();
        if let Some(stderr) = &mut self.process.stderr {
            stderr.read_to_end(&mut errors)?;
        }
        Err(format!("LangGraph: {}", programs::last_line(&errors)).into())
    }
}

/// Closes the input of the process, which ends it, and waits for it.
impl Drop for Langgraph {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}

/// Races LCP (the first contender), the other contenders, and `LangGraph`. Returns all times, and a
/// row for each contender but LCP. Peers that did not start have rows that give the reason.
pub(super) fn compare<'c>(
    what: &str,
    mut contenders: Vec<Contender<'c>>,
    peers: &'c mut [Result<Langgraph>],
    peer_name: &str,
) -> Result<(Vec<Times>, Vec<Row>)> {
    let mut absent = Vec::new();
    for peer in peers {
        match peer {
            Ok(peer) => {
                let name = peer.about.clone();
                contenders.push(Contender { name, turn: Box::new(|times| peer.put(times)) });
            }
            Err(why) => absent.push(why.to_string()),
        }
    }
    let times = race(&mut contenders, ROUNDS, EACH)?;
    let others = times.iter().zip(&contenders).skip(1);
    let mut rows: Vec<_> =
        others.map(|(peer, contender)| times[0].row(what, &contender.name, peer)).collect();
    let own = times[0].median();
    rows.extend(absent.iter().map(|why| unmeasured(what, own, peer_name, why)));
    Ok((times, rows))
}

/// Returns the row of a peer that could not be started, with the reason.
pub(super) fn unmeasured(what: &str, own: f64, peer_name: &str, why: &str) -> Row {
    Row::new(what, Better::Lower, "ms", own, peer_name, f64::NAN)
        .notes(format!("not measured: {why}"))
}
