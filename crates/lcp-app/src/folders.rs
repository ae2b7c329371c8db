//! The folders of a user according to the conventions of the system.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the folder of the user for persistent data.
#[must_use]
pub fn user_data_dir() -> Option<PathBuf> {
    data_dir(|name| std::env::var_os(name))
}

/// Returns the folder for persistent data. `variable` reads the environment.
pub(crate) fn data_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    resolve(variable, "XDG_DATA_HOME", ".local/share", "Library/Application Support")
}

/// Creates a folder, and those above it, with access only for the user.
///
/// # Errors
///
/// Returns an error if a folder cannot be created.
pub fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the folder for caches.
pub(crate) fn cache_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    resolve(variable, "XDG_CACHE_HOME", ".cache", "Library/Caches")
}

/// Returns the folder for settings.
pub(crate) fn settings_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    resolve(variable, "XDG_CONFIG_HOME", ".config", "Library/Application Support")
}

fn resolve(
    variable: impl Fn(&str) -> Option<OsString>,
    xdg: &str,
    below_home: &str,
    on_macos: &str,
) -> Option<PathBuf> {
    // An empty value is ignored. A relative one would depend on the current folder.
    let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join(on_macos))
    } else {
        folder(xdg).or_else(|| folder("HOME").map(|home| home.join(below_home)))
    }
}
