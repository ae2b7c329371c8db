//! The folder of the texts that replacements name.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use crate::decisions::Hash;

/// The folder of the originals. The name of a file is the hash in the key of its
/// result.
#[derive(Clone, Debug)]
pub(crate) struct Originals {
    folder: PathBuf,
}

impl Originals {
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the file that has a text.
    pub(crate) fn path(&self, hash: &Hash) -> PathBuf {
        self.folder.join(format!("{}.txt", blake3::Hash::from_bytes(*hash)))
    }

    /// Writes a text, unless its file exists. The file appears when it is complete, and only the user
    /// can read it.
    pub(super) fn write(&self, hash: &Hash, text: &str) -> io::Result<()> {
        let path = self.path(hash);
        if path.exists() {
            return set_used(&path);
        }
        // The user may have deleted it.
        lcp_app::create_private(&self.folder)?;
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path)?;
        Ok(())
    }

    /// Keeps the file of a replacement that is repeated. Writes it if it is missing, and notes its use
    /// if the last one was before `before`.
    pub(super) fn keep(
        &self,
        hash: &Hash,
        text: impl FnOnce() -> String,
        before: i64,
    ) -> io::Result<()> {
        let path = self.path(hash);
        match fs::metadata(&path).and_then(|file| file.modified()) {
            Ok(used) if used >= time(before) => Ok(()),
            Ok(_) => set_used(&path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.write(hash, &text()),
            Err(error) => Err(error),
        }
    }

    /// Deletes the files that were last used before this time. A file that cannot be deleted stays.
    pub(super) fn delete_before(&self, oldest: i64) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let used = entry.metadata().and_then(|file| file.modified());
            if used.is_ok_and(|used| used < time(oldest)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn set_used(path: &Path) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(SystemTime::now())
}

fn time(seconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}
