//! The process of the agent that `run` started.

#[cfg(unix)]
use std::io::IsTerminal as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The id of the process, while it runs.
static AGENT: Mutex<Option<u32>> = Mutex::new(None);

/// `true` if [`pass_signals`] handles signals, and not the handler of Ctrl-C.
static HANDLES_SIGNALS: AtomicBool = AtomicBool::new(false);

/// Starts an agent. Until [`wait`] returns, signals are for it.
pub(crate) fn start(command: &mut Command) -> std::io::Result<Child> {
    #[cfg(unix)]
    pass_signals()?;
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

/// Returns whether the handler of Ctrl-C must ignore signals, because [`pass_signals`] handles them. On
/// Windows, the agent receives Ctrl-C itself.
pub(crate) fn handles_signals() -> bool {
    if cfg!(unix) { HANDLES_SIGNALS.load(Ordering::SeqCst) } else { agent().is_some() }
}

/// Passes signals on to the agent, on a thread of its own. The handler of Ctrl-C does not know which
/// signal it receives.
///
/// On a terminal, the agent has received Ctrl-C itself, and may use it for something else than its end.
#[cfg(unix)]
fn pass_signals() -> std::io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let pass = move || {
        for signal in signals.forever() {
            let Some(id) = *agent() else {
                crate::end_interrupted();
                continue;
            };
            let is_known = signal == SIGINT && std::io::stdin().is_terminal();
            let agent = i32::try_from(id).ok().and_then(Pid::from_raw);
            if let Some(agent) = agent.filter(|_| !is_known) {
                // It may have ended.
                let _ = kill_process(agent, Signal::TERM);
            }
        }
    };
    std::thread::Builder::new().spawn(pass)?;
    HANDLES_SIGNALS.store(true, Ordering::SeqCst);
    Ok(())
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
