//! Child processes, which run this program.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::backends::StoreLocation;
use super::child::Work;
use super::failed;
use super::protocol::{Acknowledged, Line};
use crate::Result;

/// A time that no operation exceeds, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A shell script that limits the size of files, in blocks of 512 bytes. Writing beyond it is an
/// error instead of a fatal signal.
const LIMITED: &str = r#"trap '' XFSZ; ulimit -f "$1"; shift; exec "$@""#;

/// The environment variable with the arguments of a child, separated by [`SEPARATOR`].
pub(super) const CHILD_ARGUMENTS: &str = "LCP_FAULT_CHILD";
pub(super) const SEPARATOR: char = '\u{1f}';

/// The order for a child.
pub(super) struct Order<'a> {
    pub(super) work: Work,
    pub(super) place: &'a StoreLocation,
    /// The name of the child and of its conversation.
    pub(super) name: String,
    /// The duration of its lease.
    pub(super) lease: Duration,
    /// The number of failures of the store after which the child ends.
    pub(super) failures: u64,
    /// The store's own limit in bytes.
    pub(super) max_bytes: Option<u64>,
    /// The system's limit for any file, in blocks of 512 bytes.
    pub(super) file_blocks: Option<u64>,
}

impl<'a> Order<'a> {
    pub(super) fn new(work: Work, place: &'a StoreLocation, name: impl Into<String>) -> Self {
        Self {
            work,
            place,
            name: name.into(),
            lease: Duration::from_secs(3600),
            failures: 1,
            max_bytes: None,
            file_blocks: None,
        }
    }

    /// Returns the arguments that pass the order to a child.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> =
            ["child", "--work", self.work.name()].map(OsString::from).into();
        words.extend(self.place.arguments());
        let mut add = |flag: &str, value: String| words.extend([flag.into(), value.into()]);
        add("--name", self.name.clone());
        add("--lease-ms", self.lease.as_millis().to_string());
        add("--failures", self.failures.to_string());
        if let Some(bytes) = self.max_bytes {
            add("--max-bytes", bytes.to_string());
        }
        words
    }

    pub(super) fn start(&self) -> Result<Process> {
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = match self.file_blocks {
            None => Command::new(program),
            Some(blocks) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", LIMITED, "sh", &blocks.to_string()]).arg(program);
                shell
            }
        };
        command.args(["--ignored", "--exact", "child_process", "--nocapture"]);
        // With one thread, the test harness would print the beginning of a line that the child
        // ends.
        command.arg("--test-threads=2");
        let arguments: Vec<_> =
            self.arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        command.env(CHILD_ARGUMENTS, arguments.join(&SEPARATOR.to_string()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| failed(format!("cannot start a child: {error}")))?;
        let stdin = child.stdin.take();
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut reader = BufReader::new(stdout);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok() && line.ends_with('\n') {
                    if is_from_harness(&line) {
                        line.clear();
                    } else if sender.send(std::mem::take(&mut line)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Process { child, stdin, lines, acknowledged: Acknowledged::default() })
    }
}

/// Returns whether the test harness printed this line around the child's own.
fn is_from_harness(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with("running ") || line.starts_with("test ")
}

/// A running child, which is killed when this is dropped.
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    acknowledged: Acknowledged,
}

impl Process {
    /// Returns the next line of the child, or `None` at the end of its output.
    pub(super) fn line(&mut self) -> Result<Option<Line>> {
        self.line_within(TIMEOUT)
    }

    fn line_within(&mut self, patience: Duration) -> Result<Option<Line>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                let said = Line::read(line.trim_end());
                let said = said.ok_or_else(|| failed(format!("a child said {line:?}")))?;
                self.acknowledged.add(said.clone());
                Ok(Some(said))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(failed("a child says nothing any more")),
        }
    }

    /// Returns the next line of the child. Fails at the end of its output.
    pub(super) fn must_say(&mut self) -> Result<Line> {
        self.line()?.ok_or_else(|| failed("a child ended too early"))
    }

    /// Waits until the child has stored more than `handoffs` hand-offs. Returns whether it did.
    pub(super) fn keeps_more_than(&mut self, handoffs: u64) -> Result<bool> {
        let end = Instant::now() + TIMEOUT;
        while self.acknowledged.handoffs <= handoffs {
            if Instant::now() > end || self.line()?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the writes that the child has reported so far.
    pub(super) fn so_far(&mut self) -> Result<&Acknowledged> {
        while let Ok(line) = self.lines.try_recv() {
            let said = Line::read(line.trim_end());
            self.acknowledged.add(said.ok_or_else(|| failed(format!("a child said {line:?}")))?);
        }
        Ok(&self.acknowledged)
    }

    /// Sends a line to the child.
    pub(super) fn tell(&mut self, line: &str) -> Result {
        let stdin = self.stdin.as_mut().ok_or_else(|| failed("nobody listens"))?;
        stdin.write_all(format!("{line}\n").as_bytes()).map_err(failed)
    }

    /// Sends a signal to the child: `STOP` suspends it, `CONT` continues it.
    pub(super) fn signal(&self, name: &str) -> Result {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        match sent.map_err(|error| failed(format!("cannot run kill: {error}")))? {
            status if status.success() => Ok(()),
            status => Err(failed(format!("kill -s {name}: {status}"))),
        }
    }

    /// Kills the child, and returns the writes that it had reported.
    pub(super) fn kill(mut self) -> Result<Acknowledged> {
        self.child.kill().map_err(failed)?;
        self.last_words()
    }

    /// Waits until the child ends by itself, and returns the writes that it had reported.
    pub(super) fn end(mut self) -> Result<Acknowledged> {
        drop(self.stdin.take());
        let acknowledged = self.last_words()?;
        let status = self.child.wait().map_err(failed)?;
        if status.success() { Ok(acknowledged) } else { Err(failed(format!("a child: {status}"))) }
    }

    fn last_words(&mut self) -> Result<Acknowledged> {
        while self.line()?.is_some() {}
        Ok(std::mem::take(&mut self.acknowledged))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Killing a child that has ended fails.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts children, and waits until each of them is ready.
pub(super) fn start_all<'a>(orders: impl Iterator<Item = Order<'a>>) -> Result<Vec<Process>> {
    let mut all: Vec<_> = orders.map(|order| order.start()).collect::<Result<_>>()?;
    for process in &mut all {
        match process.must_say()? {
            Line::Ready => {}
            other => return Err(failed(format!("a child is not ready: {other:?}"))),
        }
    }
    Ok(all)
}
