//! The folders of a user, by the conventions of the system.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the folder of data that a program must not lose; `variable` reads the environment.
pub(crate) fn data_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    resolve(variable, "XDG_DATA_HOME", ".local/share", "Library/Application Support")
}

/// Returns the folder of what a program can make again.
pub(crate) fn cache_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    resolve(variable, "XDG_CACHE_HOME", ".cache", "Library/Caches")
}

fn resolve(
    variable: impl Fn(&str) -> Option<OsString>,
    xdg: &str,
    below_home: &str,
    on_macos: &str,
) -> Option<PathBuf> {
    // The empty value is none, and a relative one would be another folder each time.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join(on_macos))
    } else {
        folder(xdg).or_else(|| folder("HOME").map(|home| home.join(below_home)))
    }
}
