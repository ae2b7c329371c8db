//! Ctrl-C, and other requests to end: no temporary file stays behind, and what is held
//! elsewhere is given back.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;

use tempfile::NamedTempFile;

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// Temporary files that there are now.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether the process is being interrupted.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The longest time that hooks may take: a store may not answer.
const HOOK_TIMEOUT: Duration = Duration::from_secs(2);

type Work = dyn Fn() + Send + Sync;

/// Held while an operation runs that an interrupt must not split.
static DEFER_LOCK: Mutex<()> = Mutex::new(());

/// What is to be done besides.
static HOOKS: Mutex<Vec<Weak<Work>>> = Mutex::new(Vec::new());

/// Ends this process with 130 on Ctrl-C, after its temporary files are removed.
pub fn install() {
    // Where no handler can be set, the system ends the process in its own way.
    let _ = ctrlc::set_handler(|| {
        IS_ENDING.store(true, Ordering::SeqCst);
        // Never given back: nothing of the kind is begun any more.
        let _guard = DEFER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // Kept until the end: no further file is made, and none is renamed unseen.
        let files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        for file in files.iter() {
            let _ = std::fs::remove_file(file);
        }
        run_hooks();
        std::process::exit(INTERRUPTED);
    });
}

/// Waits for the end of the process if it is being interrupted: what this thread would say of
/// work that was stopped under its hands is no news, and its exit code not the one of Ctrl-C.
pub fn wait_if_interrupted() {
    while IS_ENDING.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Runs work that an interruption waits for; where one came before, it is not begun.
pub fn defer_interrupt<T>(work: impl FnOnce() -> T) -> T {
    let _guard = DEFER_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Whether the process ends as soon as nothing holds it up.
pub fn is_ending() -> bool {
    IS_ENDING.load(Ordering::SeqCst)
}

/// Has this work done if the process is interrupted, as long as what is given back lives.
pub fn on_interrupt(work: impl Fn() + Send + Sync + 'static) -> Hook {
    let work: Arc<Work> = Arc::new(work);
    let mut hooks = HOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    hooks.retain(|hook| hook.strong_count() > 0);
    hooks.push(Arc::downgrade(&work));
    Hook(work)
}

/// Work that is done if the process is interrupted.
#[must_use]
pub struct Hook(#[expect(dead_code, reason = "it keeps the work alive")] Arc<Work>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// Does the work of all hooks, as if the process were interrupted. The work waits for nobody
/// for more than a moment.
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

/// Registers a temporary file that is removed if the process is interrupted, as long as the
/// returned guard lives.
///
/// # Errors
///
/// Those of `make`.
pub(crate) fn register_temp_file(
    make: impl FnOnce() -> std::io::Result<NamedTempFile>,
) -> std::io::Result<(NamedTempFile, TempFileGuard)> {
    // Held while it is made, so that there is no file that is not known.
    let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let file = make()?;
    let path = file.path().to_owned();
    files.push(path.clone());
    Ok((file, TempFileGuard(path)))
}

/// A temporary file that an interruption removes.
#[derive(Debug)]
#[must_use]
pub(crate) struct TempFileGuard(PathBuf);

impl Drop for TempFileGuard {
    fn drop(&mut self) {
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|path| *path != self.0);
    }
}
