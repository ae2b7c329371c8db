//! The identity of an open file, to notice that it was moved or deleted.

use std::fs;
use std::path::PathBuf;

use super::error::{Error, Result};

/// A path, and the identity of the file that it named.
///
/// SQLite goes on with a file that was moved or deleted, and with a log that nobody
/// finds again. On Unix alone: elsewhere an open file can be neither.
#[derive(Clone, Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    id: Option<FileId>,
}

impl FileIdentity {
    /// Reads the identity of the file at `path`. Without a file, every later one is accepted.
    pub(super) fn of_path(path: PathBuf) -> Self {
        let id = fs::metadata(&path).ok().as_ref().and_then(file_id);
        Self { path, id }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.id.is_none() {
            return Ok(());
        }
        let current = match fs::metadata(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::unreachable(&self.path, &error));
            }
            other => other.ok().as_ref().and_then(file_id),
        };
        if current == self.id {
            return Ok(());
        }
        let reason = "it was moved or deleted while it was open: move it back, or open it again";
        Err(Error::Moved { path: self.path.clone(), reason })
    }
}

/// The device, and the inode on it.
type FileId = (u64, u64);

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn file_id(file: &fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;

    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn file_id(_file: &fs::Metadata) -> Option<FileId> {
    None
}
