//! A program and all that it starts.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;

use super::running::{Running, stop_group};

/// A program that runs, with all that it starts.
pub(super) struct Group {
    child: Child,
    status: Option<ExitStatus>,
    running: Arc<Running>,
}

impl Group {
    /// Starts it, on Unix in a process group of its own, unless `running` is stopped.
    pub(super) fn start(command: &mut Command, running: Arc<Running>) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut state = running.lock();
        if state.is_stopped() {
            return Err(io::Error::other("no program is started any more"));
        }
        let child = command.spawn()?;
        state.started(&child);
        drop(state);
        Ok(Self { child, status: None, running })
    }

    /// The program, for its pipes.
    pub(super) const fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// How the program ended, if it did; what it started is stopped then.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && stop_orphans(&self.child) {
            let mut state = self.running.lock();
            self.status = self.child.try_wait()?;
            if self.status.is_some() {
                state.ended(&self.child);
            }
        }
        Ok(self.status)
    }

    /// Stops the program and what it started. Returns at once, whether or not the
    /// system lets go of them.
    pub(super) fn stop(mut self) {
        if self.status.is_some() {
            return;
        }
        stop_group(self.child.id());
        self.running.lock().ended(&self.child);
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
            stop_group(child.id());
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
