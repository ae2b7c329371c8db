//! Runs a program and its child processes with an input and within limits.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::{CommandError, CommandOptions};

/// The number of bytes of standard error in errors, counted from the end.
const STDERR_BYTES: usize = 64 << 10;
/// The maximum delay until the end of the program is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The time to wait for output after the program has ended, if other processes keep its pipes open.
const DRAIN: Duration = Duration::from_millis(500);
/// The maximum number of output parts in the queue.
const PARTS: usize = 16;

/// A part of the output from one of the pipes.
enum Part {
    Output(Vec<u8>),
    Errors(Vec<u8>),
}

/// Runs `command` with `input`, and returns its standard output if it succeeds. Reports use `name`
/// as its name.
///
/// Each pipe has its own thread, so the program may read and write in any order, or not at all. The
/// threads are not joined, because another process may keep a pipe open.
pub(super) fn run(
    name: &str,
    mut command: Command,
    input: Vec<u8>,
    options: CommandOptions,
    running: Arc<RunningGroups>,
) -> Result<Vec<u8>, CommandError> {
    let program = || name.to_owned();
    let not_started = |error: io::Error| CommandError::NotStarted {
        program: program(),
        reason: error.to_string(),
    };
    let deadline = Instant::now().checked_add(options.timeout);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = ProcessGroup::start(&mut command, running).map_err(not_started)?;
    let parts = match attach(&mut group.child, input) {
        Ok(parts) => parts,
        Err(error) => {
            group.stop();
            return Err(not_started(error));
        }
    };
    let mut output = Output {
        bytes: Vec::new(),
        max: options.max_output_bytes,
        errors: Vec::new(),
        are_errors_cut: false,
    };
    let failed = |status, stderr| CommandError::Failed { program: program(), status, stderr };
    let error = match output.read_to_end(&mut group, &parts, deadline) {
        Ok(status) if status.success() => return Ok(output.bytes),
        Ok(status) => return Err(failed(status.to_string(), output.last_errors())),
        Err(Stop::TimedOut) => {
            // Round up, so that a limit of 300 ms is not reported as 0 s.
            let seconds = options.timeout.as_millis().div_ceil(1000);
            let seconds = seconds.try_into().unwrap_or(u64::MAX);
            CommandError::TimedOut { program: program(), seconds }
        }
        Err(Stop::OutputTooLong) => {
            CommandError::OutputTooLong { program: program(), max: options.max_output_bytes }
        }
        Err(Stop::NoStatus(error)) => failed(error.to_string(), String::new()),
    };
    group.stop();
    Err(error)
}

enum Stop {
    TimedOut,
    OutputTooLong,
    /// The operating system cannot report whether the program has ended.
    NoStatus(io::Error),
}

/// Starts threads that write `input` to a program and send its output until it closes both pipes.
fn attach(child: &mut Child, input: Vec<u8>) -> io::Result<Receiver<Part>> {
    let named = |name: &str| thread::Builder::new().name(format!("lcp-command-{name}"));
    let (send, parts) = mpsc::sync_channel(PARTS);
    if let Some(mut pipe) = child.stdin.take() {
        // The program need not read its input, so a closed pipe is not an error.
        named("in").spawn(move || drop(pipe.write_all(&input)))?;
    }
    if let Some(pipe) = child.stdout.take() {
        let send = send.clone();
        named("out").spawn(move || send_parts(pipe, &send, Part::Output))?;
    }
    if let Some(pipe) = child.stderr.take() {
        named("err").spawn(move || send_parts(pipe, &send, Part::Errors))?;
    }
    Ok(parts)
}

/// Sends the contents of a pipe until the pipe ends or the receiver is gone.
fn send_parts(mut pipe: impl Read, send: &SyncSender<Part>, part: fn(Vec<u8>) -> Part) {
    let mut buffer = [0; 8 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 && send.send(part(buffer[..count].to_vec())).is_ok() => {}
            _ => return,
        }
    }
}

struct Output {
    bytes: Vec<u8>,
    max: usize,
    /// The last bytes of standard error.
    errors: Vec<u8>,
    /// `true` if there were more bytes.
    are_errors_cut: bool,
}

impl Output {
    /// Collects output until the program has ended and its pipes are closed.
    fn read_to_end(
        &mut self,
        group: &mut ProcessGroup,
        parts: &Receiver<Part>,
        deadline: Option<Instant>,
    ) -> Result<ExitStatus, Stop> {
        let mut look_every = Duration::from_millis(1);
        // `None` means that the deadline is too distant to be represented.
        let left = |until: Option<Instant>| {
            until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
        };
        let status = loop {
            if let Some(status) = group.try_wait().map_err(Stop::NoStatus)? {
                break status;
            }
            let left = left(deadline);
            if left.is_zero() {
                return Err(Stop::TimedOut);
            }
            let wait = left.min(look_every);
            match parts.recv_timeout(wait) {
                Ok(part) => self.add(part)?,
                Err(RecvTimeoutError::Timeout) => {}
                // The program closed both pipes but is still running.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
            look_every = (look_every * 2).min(LOOK_EVERY);
        };
        let drained = Instant::now().checked_add(DRAIN);
        loop {
            let left = left(drained);
            match parts.recv_timeout(left) {
                Ok(part) if !left.is_zero() => self.add(part)?,
                _ => return Ok(status),
            }
        }
    }

    fn add(&mut self, part: Part) -> Result<(), Stop> {
        match part {
            Part::Output(part) if part.len() > self.max - self.bytes.len() => {
                return Err(Stop::OutputTooLong);
            }
            Part::Output(part) => self.bytes.extend(part),
            Part::Errors(part) => {
                self.errors.extend(part);
                let excess = self.errors.len().saturating_sub(STDERR_BYTES);
                self.errors.drain(..excess);
                self.are_errors_cut |= excess > 0;
            }
        }
        Ok(())
    }

    /// Returns the last words of standard error. A cut word is left out, because a part of a secret
    /// would not be recognized.
    fn last_errors(&self) -> String {
        let blank = self.errors.iter().position(u8::is_ascii_whitespace);
        let start = if self.are_errors_cut { blank.unwrap_or(self.errors.len()) } else { 0 };
        String::from_utf8_lossy(&self.errors[start..]).trim().to_owned()
    }
}

/// The process groups of a filter and its clones, so that all of them can be stopped at once.
///
/// The lock is held while a program is started or waited for. A process id is not reused before the
/// process has been waited for.
#[derive(Debug, Default)]
pub(super) struct RunningGroups(Mutex<Groups>);

#[derive(Debug, Default)]
struct Groups {
    is_stopped: bool,
    leaders: HashSet<u32>,
}

impl RunningGroups {
    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all process groups and prevents further starts.
    pub(super) fn stop(&self) {
        let mut groups = self.lock();
        groups.is_stopped = true;
        groups.leaders.drain().for_each(kill_group);
    }
}

struct ProcessGroup {
    child: Child,
    status: Option<ExitStatus>,
    running: Arc<RunningGroups>,
}

impl ProcessGroup {
    /// Starts a program unless `running` is stopped. On Unix, the program gets its own process
    /// group.
    fn start(command: &mut Command, running: Arc<RunningGroups>) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut groups = running.lock();
        if groups.is_stopped {
            return Err(io::Error::other("the filter was stopped"));
        }
        let child = command.spawn()?;
        groups.leaders.insert(child.id());
        drop(groups);
        Ok(Self { child, status: None, running })
    }

    /// Returns the exit status if the program has ended, and stops its child processes.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && kill_orphans(&self.child) {
            let mut groups = self.running.lock();
            self.status = self.child.try_wait()?;
            if self.status.is_some() {
                groups.leaders.remove(&self.child.id());
            }
        }
        Ok(self.status)
    }

    /// Stops the program and its child processes, without waiting for their end.
    fn stop(mut self) {
        if self.status.is_some() {
            return;
        }
        kill_group(self.child.id());
        self.running.lock().leaders.remove(&self.child.id());
        // On Unix, the program may have left its group, so kill it directly too.
        let _ = self.child.kill();
        // Wait in a thread, because the program may hang in the kernel.
        let waiter = thread::Builder::new().name("lcp-summary-end".to_owned());
        let _ = waiter.spawn(move || self.child.wait());
    }
}

/// Kills all processes in the group of a child that was not waited for yet.
#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    // The group may be empty.
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// Kills the rest of the group of a program that has ended. Returns whether the program has ended.
#[cfg(all(unix, not(any(target_os = "openbsd", target_os = "redox"))))]
fn kill_orphans(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(None) => false,
        Ok(Some(_)) => {
            kill_group(child.id());
            true
        }
        // `try_wait` reports the error.
        Err(_) => true,
    }
}

/// Kills nothing: without a way to detect the end of a program before waiting for it, its id may
/// already be in use again.
#[cfg(not(all(unix, not(any(target_os = "openbsd", target_os = "redox")))))]
fn kill_orphans(_: &Child) -> bool {
    true
}
