//! Ctrl-C, and other requests to end: no temporary file stays behind.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// Temporary files that there are now.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Ends this process with 130 on Ctrl-C, after its temporary files are removed.
pub fn install() {
    // Where no handler can be set, the system ends the process in its own way.
    let _ = ctrlc::set_handler(|| {
        // Kept until the end: no further file is made, and none is renamed unseen.
        let files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        for file in files.iter() {
            let _ = std::fs::remove_file(file);
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Makes a temporary file that is removed if the process is interrupted, as long as what
/// is given back beside it lives.
///
/// # Errors
///
/// Those of `make`.
pub fn registered(
    make: impl FnOnce() -> std::io::Result<NamedTempFile>,
) -> std::io::Result<(NamedTempFile, Registered)> {
    // Held while it is made, so that there is no file that is not known.
    let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let file = make()?;
    let path = file.path().to_owned();
    files.push(path.clone());
    Ok((file, Registered(path)))
}

/// A temporary file that an interruption removes.
#[derive(Debug)]
#[must_use]
pub struct Registered(PathBuf);

impl Drop for Registered {
    fn drop(&mut self) {
        let mut files = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|path| *path != self.0);
    }
}
