//! Signals end the process, and leave no temporary files. While an agent of `run` runs, they are for it.

use lcp_app::interrupt;

/// Handles signals from now on, on a thread of its own.
#[cfg(unix)]
pub(crate) fn handle() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let signals = [SIGINT, SIGTERM].into_iter().chain(hangup);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            #[cfg(feature = "proxy")]
            if crate::agent_process::pass(signal) {
                continue;
            }
            end(128 + signal);
        }
    });
}

/// Returns whether this process ignores a signal, as `nohup` arranges for SIGHUP. Only Linux tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Handles Ctrl-C from now on.
#[cfg(not(unix))]
pub(crate) fn handle() {
    /// The exit code after Ctrl-C, as in shells.
    const INTERRUPTED: i32 = 130;
    // Without a handler, the system ends the process.
    let _ = ctrlc::set_handler(|| {
        #[cfg(feature = "proxy")]
        if crate::agent_process::is_running() {
            return;
        }
        end(INTERRUPTED);
    });
}

/// Removes the temporary files, and ends the process.
fn end(code: i32) {
    interrupt::clean_up(|| std::process::exit(code));
}
