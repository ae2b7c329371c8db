//! A program and all that it starts.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// A program that runs, with all that it starts.
pub(super) struct Group {
    child: Child,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts it, on Unix in a process group of its own.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { child: command.spawn()?, status: None })
    }

    /// The program, for its pipes.
    pub(super) const fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// How the program ended, if it did; what it started is stopped then.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && stop_orphans(&self.child) {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    /// Stops the program and what it started. Returns at once, whether or not the
    /// system lets go of them.
    pub(super) fn stop(mut self) {
        if self.status.is_some() {
            return;
        }
        stop_group(&self.child);
        // On Unix once more: it may have left the group.
        let _ = self.child.kill();
        // Nobody waits for one that hangs in the system.
        let waiter = std::thread::Builder::new().name("lcp-summary-end".to_owned());
        let _ = waiter.spawn(move || self.child.wait());
    }
}

/// Stops what is left of the group of a program that has ended, and returns whether it
/// may have. It is not yet waited for: until then its number, that of the group, is
/// given to nobody else.
#[cfg(all(unix, not(any(target_os = "openbsd", target_os = "redox"))))]
fn stop_orphans(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(None) => false,
        Ok(Some(_)) => {
            stop_group(child);
            true
        }
        // Whatever is wrong, `try_wait` says it.
        Err(_) => true,
    }
}

/// Nothing can be stopped safely here, as nothing tells of an end without waiting.
#[cfg(not(all(unix, not(any(target_os = "openbsd", target_os = "redox")))))]
fn stop_orphans(_: &Child) -> bool {
    true
}

/// Stops every process of the group of a child that was not yet waited for.
#[cfg(unix)]
fn stop_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // There may be none left.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// There are no groups.
#[cfg(not(unix))]
fn stop_group(_: &Child) {}
