//! Runs a program with an input, within bounds.

use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::CommandOptions;
use super::group::Group;
use super::running::Running;

/// Bytes of the end of standard error that are kept.
const STDERR_BYTES: usize = 2 << 10;

/// How long it takes at most to see that the program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long a pipe is waited for whose program has ended: what was written is there,
/// but somebody who left the group may keep it open.
const DRAIN: Duration = Duration::from_millis(500);

/// Parts of output that may wait to be taken.
const PARTS: usize = 16;

/// Why there is no output.
pub(super) enum Failure {
    /// It could not be started.
    NotStarted(String),
    /// It took too long.
    TimedOut,
    /// It wrote too much.
    Flood,
    /// It failed.
    Failed {
        /// How it ended.
        status: String,
        /// The end of standard error, with what does not show escaped.
        stderr: String,
    },
}

/// What the threads at the pipes say.
enum Event {
    /// Standard output has this, too.
    Output(Vec<u8>),
    /// Standard output is closed.
    OutputEnds,
    /// Standard error is closed.
    ErrorsEnd,
}

/// Runs `command` with `input` and gives what it wrote to standard output, if it
/// ended well.
///
/// A thread at each of its pipes: it may read and write in any order, or not at all.
/// No thread is waited for, as somebody may keep the pipes open.
pub(super) fn run(
    mut command: Command,
    input: String,
    options: CommandOptions,
    running: Arc<Running>,
) -> Result<Vec<u8>, Failure> {
    let deadline = Instant::now().checked_add(options.timeout);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(&mut command, running)
        .map_err(|error| Failure::NotStarted(error.to_string()))?;
    let (send, events) = mpsc::sync_channel(PARTS);
    let stderr = Arc::new(Mutex::new(Vec::new()));
    if let Err(error) = attach(&mut group, input, &send, &stderr) {
        group.stop();
        return Err(Failure::NotStarted(error.to_string()));
    }
    drop(send);
    let mut output = Output { bytes: Vec::new(), max: options.max_output_bytes, open: [true; 2] };
    match output.until_the_end(&mut group, &events, deadline) {
        Ok(status) if status.success() => Ok(output.bytes),
        Ok(status) => {
            let stderr = stderr.lock().unwrap_or_else(PoisonError::into_inner);
            Err(Failure::Failed { status: status.to_string(), stderr: shown(&stderr) })
        }
        Err(failure) => {
            group.stop();
            Err(failure)
        }
    }
}

/// Starts the threads at the pipes.
fn attach(
    group: &mut Group,
    input: String,
    send: &SyncSender<Event>,
    stderr: &Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<()> {
    let child = group.child();
    let named = |name: &str| thread::Builder::new().name(format!("lcp-summary-{name}"));
    if let Some(mut pipe) = child.stdin.take() {
        // It need not read: a pipe that is closed is no error.
        named("in").spawn(move || drop(pipe.write_all(input.as_bytes())))?;
    }
    if let Some(pipe) = child.stdout.take() {
        let send = send.clone();
        named("out").spawn(move || {
            each_part(pipe, |part| send.send(Event::Output(part.to_vec())).is_ok());
            drop(send.send(Event::OutputEnds));
        })?;
    }
    if let Some(pipe) = child.stderr.take() {
        let (send, stderr) = (send.clone(), Arc::clone(stderr));
        named("err").spawn(move || {
            each_part(pipe, |part| {
                let mut kept = stderr.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(part);
                let more = kept.len().saturating_sub(STDERR_BYTES);
                kept.drain(..more);
                // Nobody listens any more.
                Arc::strong_count(&stderr) > 1
            });
            drop(send.send(Event::ErrorsEnd));
        })?;
    }
    Ok(())
}

/// Gives `each` what comes out of a pipe, until it ends, or `each` has enough.
fn each_part(mut pipe: impl Read, mut each: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 8 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 && each(&buffer[..count]) => {}
            _ => return,
        }
    }
}

/// What a program wrote so far.
struct Output {
    bytes: Vec<u8>,
    max: usize,
    /// Whether standard output and standard error are open.
    open: [bool; 2],
}

impl Output {
    /// Takes what comes until the program has ended and its pipes are empty.
    fn until_the_end(
        &mut self,
        group: &mut Group,
        events: &Receiver<Event>,
        deadline: Option<Instant>,
    ) -> Result<ExitStatus, Failure> {
        let mut look_every = Duration::from_millis(1);
        // No deadline: so far away that there is no such moment.
        let left = |until: Option<Instant>| {
            until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
        };
        let status = loop {
            let ended = group.ended().map_err(|error| Failure::Failed {
                status: error.to_string(),
                stderr: String::new(),
            })?;
            if let Some(status) = ended {
                break status;
            }
            let left = left(deadline);
            if left.is_zero() {
                return Err(Failure::TimedOut);
            }
            let wait = left.min(look_every);
            match events.recv_timeout(wait) {
                Ok(event) => self.take(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                // Both pipes are closed, but it lives on.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
            look_every = (look_every * 2).min(LOOK_EVERY);
        };
        let drained = Instant::now().checked_add(DRAIN);
        while self.open.contains(&true) {
            match events.recv_timeout(left(drained)) {
                Ok(event) => self.take(event)?,
                Err(_) => break,
            }
        }
        Ok(status)
    }

    /// Takes one event.
    fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Output(part) if part.len() > self.max - self.bytes.len() => {
                return Err(Failure::Flood);
            }
            Event::Output(part) => self.bytes.extend(part),
            Event::OutputEnds => self.open[0] = false,
            Event::ErrorsEnd => self.open[1] = false,
        }
        Ok(())
    }
}

/// The end of standard error, as a line of a report.
fn shown(stderr: &[u8]) -> String {
    // The end may begin within a character.
    let start = stderr.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    let text = String::from_utf8_lossy(stderr.get(start..).unwrap_or_default());
    let mut shown = String::new();
    for c in text.trim().chars() {
        match c {
            // These show.
            '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}
