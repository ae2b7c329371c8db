//! The bytes that files had before LCP changed them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::{files, folders};

/// The backups of a user, in a folder that only the user can read: configurations may contain keys.
#[derive(Debug)]
pub(super) struct Backups {
    folder: PathBuf,
}

/// The backup of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Backup {
    path: PathBuf,
    /// The text before the first change by LCP; `None` if there was no file.
    pub(super) before: Option<String>,
    /// The hash of the text that LCP wrote.
    hash: String,
}

impl Backup {
    /// Returns whether the file still has the text that LCP wrote.
    pub(super) fn is_current(&self, text: &str) -> bool {
        self.hash == hash(text)
    }
}

impl Backups {
    pub(super) fn new(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self> {
        let folder = folders::data_dir(variable).ok_or_else(|| {
            Error::new(ErrorKind::Io, "cannot find the user's data folder for backups")
                .with_hint("set HOME")
        })?;
        Ok(Self { folder: folder.join("lcp").join("setup") })
    }

    /// Reads the backup of a file. One that is damaged does not count.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Backup>> {
        let bytes = files::read_if_exists(&self.file(path))?;
        let backup = bytes.and_then(|bytes| serde_json::from_slice::<Backup>(&bytes).ok());
        Ok(backup.filter(|backup| backup.path == path))
    }

    pub(super) fn write(&self, path: &Path, before: Option<&str>, after: &str) -> Result {
        folders::create_private(&self.folder)
            .map_err(|error| Error::io("create", self.folder.display(), &error))?;
        let (path, before) = (path.to_owned(), before.map(str::to_owned));
        let file = self.file(&path);
        let backup = Backup { path, before, hash: hash(after) };
        let bytes = serde_json::to_vec(&backup).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot write {}: {error}", file.display()))
        })?;
        files::write(&file, &bytes)
    }

    pub(super) fn remove(&self, path: &Path) -> Result {
        let file = self.file(path);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("remove", file.display(), &error))
            }
            _ => Ok(()),
        }
    }

    fn file(&self, path: &Path) -> PathBuf {
        let name = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        self.folder.join(format!("{}.json", &name[..16]))
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
