//! The programs that run now, so that all of them can be stopped at once.

use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The programs of a filter and its clones.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<State>);

/// Held while a program is started or waited for: until it is waited for, its number is
/// given to nobody else.
#[derive(Debug, Default)]
pub(super) struct State {
    stopped: bool,
    /// Their numbers.
    programs: Vec<u32>,
}

impl Running {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all of them, and lets no other be started.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        for program in std::mem::take(&mut state.programs) {
            stop_group(program);
        }
    }
}

impl State {
    /// Whether nothing may be started any more.
    pub(super) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// One more runs.
    pub(super) fn started(&mut self, child: &Child) {
        self.programs.push(child.id());
    }

    /// It is waited for, and its number no longer its own.
    pub(super) fn ended(&mut self, child: &Child) {
        self.programs.retain(|program| *program != child.id());
    }
}

/// Stops every process of the group of a child that was not yet waited for.
#[cfg(unix)]
pub(super) fn stop_group(child: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    // There may be none left.
    let _ = child.map(|child| kill_process_group(child, Signal::KILL));
}

/// There are no groups.
#[cfg(not(unix))]
pub(super) fn stop_group(_: u32) {}
