//! Cleanup of an interrupted process: removes temporary files and runs hooks that release leases. A
//! front end that catches Ctrl-C calls [`clean_up`] and ends the process there. This crate never
//! ends the process.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use tempfile::NamedTempFile;

/// The existing temporary files.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// `true` while the process is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The maximum time for hooks, because a store may not respond.
const HOOK_TIMEOUT: Duration = Duration::from_secs(2);

type Work = dyn Fn() + Send + Sync;

/// A lock that is held during an operation that an interrupt must not split.
static DEFER_LOCK: Mutex<()> = Mutex::new(());

/// The hooks that [`clean_up`] runs.
static HOOKS: Mutex<Vec<Weak<Work>>> = Mutex::new(Vec::new());

/// Removes the temporary files, runs the hooks and calls `end`. Waits for work of
/// [`defer_interrupt`]. Until `end` returns, no such work begins and no temporary file is created.
pub fn clean_up(end: impl FnOnce()) {
    IS_ENDING.store(true, Ordering::SeqCst);
    let _deferred = DEFER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // The lock is held until the end, so that no file is created or renamed in the meantime.
    let files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    for file in files.iter() {
        let _ = std::fs::remove_file(file);
    }
    run_hooks();
    end();
    IS_ENDING.store(false, Ordering::SeqCst);
}

/// Runs work that [`clean_up`] waits for. If a cleanup is running, the work waits.
pub fn defer_interrupt<T>(work: impl FnOnce() -> T) -> T {
    let _guard = DEFER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Returns whether [`clean_up`] was called and has not returned.
pub fn is_ending() -> bool {
    IS_ENDING.load(Ordering::SeqCst)
}

/// Registers a hook for [`clean_up`], for the lifetime of the returned value.
pub fn on_interrupt(work: impl Fn() + Send + Sync + 'static) -> Hook {
    let work: Arc<Work> = Arc::new(work);
    let mut hooks = HOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    hooks.retain(|hook| hook.strong_count() > 0);
    hooks.push(Arc::downgrade(&work));
    Hook(work)
}

/// A hook that runs if the process is interrupted.
#[must_use]
pub struct Hook(#[expect(dead_code, reason = "it keeps the work alive")] Arc<Work>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// Runs all hooks as if the process were interrupted. Waits at most two seconds for them.
pub fn run_hooks() {
    let hooks = std::mem::take(&mut *HOOKS.lock().unwrap_or_else(PoisonError::into_inner));
    let (done, over) = mpsc::channel();
    std::thread::spawn(move || {
        for work in hooks.iter().filter_map(Weak::upgrade) {
            work();
        }
        let _ = done.send(());
    });
    let _ = over.recv_timeout(HOOK_TIMEOUT);
}

/// Registers a temporary file that is removed if the process is interrupted, for the lifetime of
/// the returned guard.
///
/// # Errors
///
/// Returns the error of `make`.
pub(crate) fn register_temp_file(
    make: impl FnOnce() -> std::io::Result<NamedTempFile>,
) -> std::io::Result<(NamedTempFile, TempFileGuard)> {
    // The lock is held while the file is created, so that every file is registered.
    let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let file = make()?;
    let path = file.path().to_owned();
    files.push(path.clone());
    Ok((file, TempFileGuard(path)))
}

/// A registration of a temporary file that an interruption removes.
#[derive(Debug)]
#[must_use]
pub(crate) struct TempFileGuard(PathBuf);

impl Drop for TempFileGuard {
    fn drop(&mut self) {
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|path| *path != self.0);
    }
}
