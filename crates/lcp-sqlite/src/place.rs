//! Whether a file is still where it was.

use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};

/// A path, and the file that was there.
///
/// SQLite goes on with a file that was moved or deleted, and with a log that nobody
/// finds again. On Unix alone: elsewhere an open file can be neither.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    path: PathBuf,
    file: Option<Identity>,
}

impl Place {
    /// Where the file at this path is now; whatever comes there will do if there is none.
    pub(crate) fn of(path: PathBuf) -> Self {
        let file = fs::metadata(&path).ok().as_ref().and_then(identity);
        Self { path, file }
    }

    /// Whether the file is still there, and no other.
    pub(crate) fn check(&self) -> Result<()> {
        if self.file.is_none() {
            return Ok(());
        }
        let there = match fs::metadata(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::unreachable(&self.path, &error));
            }
            other => other.ok().as_ref().and_then(identity),
        };
        if there == self.file {
            return Ok(());
        }
        let reason = "it was moved or deleted while it was open: move it back, or open it again";
        Err(Error::Moved { path: self.path.clone(), reason })
    }
}

/// The device, and the number on it.
type Identity = (u64, u64);

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems tell nothing")]
fn identity(file: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_file: &fs::Metadata) -> Option<Identity> {
    None
}
