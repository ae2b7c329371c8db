//! Where a file is, and what is there.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::error::{Error, Result};

/// Where the file itself is, or is to be made: a path without links, which SQLite
/// cannot take for a URI, and that stays the same.
///
/// The log is beside the file and has its name, not that of a link to it. SQLite
/// knows that on some systems; on the others, two names would be two logs.
pub(super) fn resolve(path: &Path) -> Result<PathBuf> {
    let failed = |error| Error::unreachable(path, &error);
    let path = std::path::absolute(path).map_err(failed)?;
    let missing = match fs::canonicalize(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        other => return other.map_err(failed),
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(missing));
    };
    match fs::read_link(&path) {
        Ok(target) => resolve(&folder.join(target)),
        Err(_) => Ok(fs::canonicalize(folder).map_err(failed)?.join(name)),
    }
}

/// Whether there is nothing yet at this path.
pub(super) fn is_new(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            Err(Error::ForeignFile { path: path.into(), reason: "it is not a file" })
        }
        Ok(file) => Ok(file.len() == 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::unreachable(path, &error)),
    }
}

/// Makes an empty file that is its owner's alone, unless there is one.
pub(super) fn create_private(path: &Path) -> Result<()> {
    // To close a file drops the locks that SQLite has on it in this process: nobody
    // opens it before it is closed here.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Error::unwritable(path, &error))
        }
        _ => Ok(()),
    }
}

/// What hinders a file at this path from being made; SQLite only says that it could not.
pub(super) fn creation_error(path: &Path) -> Option<Error> {
    match fs::File::create_new(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Some(Error::unwritable(path, &error))
        }
        _ => None,
    }
}

/// The file beside this one with this ending after its whole name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Whether the log beside the file holds anything.
pub(super) fn has_log(path: &Path) -> bool {
    fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// The URI of a file that nobody changes while it is read.
pub(super) fn immutable_uri(path: &Path) -> String {
    let escaped: String = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                char::from(*byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("file:{escaped}?immutable=1")
}
