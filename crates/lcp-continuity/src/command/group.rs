//! A program with all that it starts, in a process group of its own.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The process groups that a filter and its clones run, so that all of them can be stopped at once.
#[derive(Debug, Default)]
pub(super) struct RunningGroups(Mutex<Groups>);

/// Locked while a program is started or waited for: before that, its id is not used again.
#[derive(Debug, Default)]
struct Groups {
    is_stopped: bool,
    leaders: Vec<u32>,
}

impl RunningGroups {
    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all of them, and lets no other be started.
    pub(super) fn stop(&self) {
        let mut groups = self.lock();
        groups.is_stopped = true;
        for leader in std::mem::take(&mut groups.leaders) {
            kill_group(leader);
        }
    }
}

impl Groups {
    fn remove(&mut self, child: &Child) {
        self.leaders.retain(|leader| *leader != child.id());
    }
}

pub(super) struct ProcessGroup {
    child: Child,
    status: Option<ExitStatus>,
    running: Arc<RunningGroups>,
}

impl ProcessGroup {
    /// Starts a program, on Unix in a process group of its own, unless `running` is stopped.
    pub(super) fn start(command: &mut Command, running: Arc<RunningGroups>) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut groups = running.lock();
        if groups.is_stopped {
            return Err(io::Error::other("no program is started any more"));
        }
        let child = command.spawn()?;
        groups.leaders.push(child.id());
        drop(groups);
        Ok(Self { child, status: None, running })
    }

    pub(super) const fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns how the program ended, if it did, and stops what it has started.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && kill_orphans(&self.child) {
            let mut groups = self.running.lock();
            self.status = self.child.try_wait()?;
            if self.status.is_some() {
                groups.remove(&self.child);
            }
        }
        Ok(self.status)
    }

    /// Stops the program and what it started. Returns at once.
    pub(super) fn stop(mut self) {
        if self.status.is_some() {
            return;
        }
        kill_group(self.child.id());
        self.running.lock().remove(&self.child);
        // On Unix once more: it may have left the group.
        let _ = self.child.kill();
        // Nobody waits for one that hangs in the system.
        let waiter = std::thread::Builder::new().name("lcp-summary-end".to_owned());
        let _ = waiter.spawn(move || self.child.wait());
    }
}

/// Stops every process of the group of a child that was not yet waited for.
#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    // There may be none left.
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// Kills what is left of the group of a program that has ended; whether it has.
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
        // Whatever is wrong, `try_wait` says it.
        Err(_) => true,
    }
}

/// Nothing can be stopped safely here, as nothing tells of an end without waiting.
#[cfg(not(all(unix, not(any(target_os = "openbsd", target_os = "redox")))))]
fn kill_orphans(_: &Child) -> bool {
    true
}
