//! Lists of paths to pack.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Reporter;

/// Reads a list of paths from a file or, for `-`, from standard input. The paths are separated by
/// newlines, or by NUL if `is_nul_separated`. Empty lines are skipped.
///
/// Paths that do not exist and links to folders are left out with a warning: `git ls-files` lists
/// deleted files and links too.
///
/// # Errors
///
/// Returns an error if the list cannot be read, if it has no path that exists, or if it looks like
/// a list with the other separator.
pub fn read_file_list(
    path: &Path,
    is_nul_separated: bool,
    reporter: &dyn Reporter,
) -> Result<Vec<PathBuf>> {
    let bytes = files::read(path, reporter)?;
    let name = files::display_name(path);
    if !is_nul_separated && bytes.contains(&0) {
        let message = format!("the list of files has a NUL byte ({name})");
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("pass -0 for a list that is separated by NUL"));
    }
    let separator = if is_nul_separated { 0 } else { b'\n' };
    let lines = bytes.split(|byte| *byte == separator);
    let lines = lines.map(|line| match line {
        [line @ .., b'\r'] if !is_nul_separated => line,
        line => line,
    });
    let paths = lines.filter(|line| !line.is_empty()).map(to_path).collect::<Result<Vec<_>>>()?;
    let (existing, missing): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| {
        path.metadata().is_ok_and(|target| !(target.is_dir() && path.is_symlink()))
    });
    if let Some(first) = missing.first() {
        let count = lcp_driver::plural(missing.len(), "path");
        let first = first.to_string_lossy();
        reporter.warn(&format!(
            "left out {count} of the list that do not exist or are links to folders: {}{}",
            first.escape_debug(),
            if missing.len() > 1 { ", …" } else { "" }
        ));
    }
    if existing.is_empty() {
        let message = format!("the list of files has no path that exists ({name})");
        let hint = "paths in the list start from the current folder";
        return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
    }
    Ok(existing)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "on other systems, a path must be UTF-8")]
fn to_path(bytes: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> Result<PathBuf> {
    let path = str::from_utf8(bytes).map_err(|_| {
        let path = String::from_utf8_lossy(bytes);
        let message = format!("a path of the list is not UTF-8: {}", path.escape_debug());
        Error::new(ErrorKind::Usage, message)
    })?;
    Ok(path.into())
}
