//! The process of the agent that `run` started.

#[cfg(unix)]
use std::io::IsTerminal as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The id of the process, while it runs.
static AGENT: Mutex<Option<u32>> = Mutex::new(None);

/// Starts an agent. Until [`wait`] returns, signals are for it.
pub(crate) fn start(command: &mut Command) -> std::io::Result<Child> {
    // A signal that arrives during the start waits, so that it reaches the agent.
    let mut known = agent();
    let child = command.spawn()?;
    *known = Some(child.id());
    Ok(child)
}

/// Waits for the end of an agent.
pub(crate) fn wait(mut child: Child) -> std::io::Result<ExitStatus> {
    let status = child.wait();
    *agent() = None;
    status
}

fn agent() -> MutexGuard<'static, Option<u32>> {
    AGENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes a signal on to the agent. Returns `false` if no agent runs.
///
/// On a terminal, the agent has received Ctrl-C itself, and may use it for something else than its end.
#[cfg(unix)]
pub(crate) fn pass(signal: i32) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(id) = *agent() else { return false };
    let is_known = signal == signal_hook::consts::SIGINT && std::io::stdin().is_terminal();
    let agent = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(agent) = agent.filter(|_| !is_known) {
        // It may have ended.
        let _ = kill_process(agent, Signal::TERM);
    }
    true
}

/// Returns whether an agent runs. It receives Ctrl-C itself.
#[cfg(not(unix))]
pub(crate) fn is_running() -> bool {
    agent().is_some()
}

/// Returns the exit code for a status, as shells do.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    // A system with more codes must not report success instead.
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}
