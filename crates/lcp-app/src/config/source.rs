//! The source of the settings.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::Config;
use super::reader::UNKNOWN_KEY;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Silent;

/// The maximum size in bytes of an `lcp.toml` that the user did not name.
const BYTES_MAX: u64 = 1 << 20;

/// The choice of an `lcp.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// No file; the settings are the defaults.
    #[default]
    None,
    /// The nearest file in the current folder or a folder above it, if there is one.
    Nearest,
    /// This file.
    File(PathBuf),
}

impl ConfigSource {
    /// Returns the source for a path; `None` means no file.
    pub fn from_path(path: Option<PathBuf>) -> Self {
        path.map_or(Self::None, Self::File)
    }

    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the file or one of its settings cannot be read.
    pub fn read(&self) -> Result<Config> {
        let is_named = matches!(self, Self::File(_));
        let here = || std::env::current_dir().ok().and_then(|folder| find_upwards(&folder));
        let path = match self {
            Self::File(path) => Some(path.clone()),
            Self::None => None,
            Self::Nearest => here(),
        };
        let Some(path) = path else { return Ok(Config::default()) };
        let text = read_text(&path, is_named)?;
        let config = Config::parse(&path, &text).map_err(|error| {
            let hint = hint(&error.message);
            let error = invalid(&path, error);
            if let Some(hint) = hint { error.with_hint(hint) } else { error }
        })?;
        Ok(Config { is_named, ..config })
    }
}

/// Reads a settings file.
pub(super) fn read_text(path: &Path, is_named: bool) -> Result<String> {
    if !is_named {
        check_regular(path).map_err(|error| invalid(path, error))?;
    }
    let read = files::read(path, &Silent).map_err(|error| {
        if path.is_dir() { error.with_hint("pass the lcp.toml, not its folder") } else { error }
    });
    String::from_utf8(read?).map_err(|error| invalid(path, error))
}

/// Returns the error of a settings file.
pub(super) fn invalid(path: &Path, what: impl Display) -> Error {
    Error::new(ErrorKind::Usage, format!("{what} ({})", files::display_name(path)))
}

/// Returns the hint for an error in an `lcp.toml`.
fn hint(message: &str) -> Option<&'static str> {
    #[cfg(feature = "messages")]
    if message.ends_with(super::pack::NO_COMMANDS) {
        return Some("pass --convert, or move the key to lcp/config.toml in your settings folder");
    }
    message.starts_with(UNKNOWN_KEY).then_some(KEYS_HINT)
}

/// Checks that a file that the user did not name is a regular file of a moderate size. A pipe would
/// block, and a device may have no end.
fn check_regular(path: &Path) -> Result<(), String> {
    // Other errors are reported when the file is read.
    let Ok(about) = path.metadata() else { return Ok(()) };
    if !about.is_file() && !about.is_dir() {
        return Err("the settings must be a regular file".to_owned());
    }
    if about.len() > BYTES_MAX {
        return Err(format!("the settings must not be larger than {BYTES_MAX} bytes"));
    }
    Ok(())
}

/// The hint for an unknown key.
const KEYS_HINT: &str =
    "correct or remove the key; run `lcp config --no-config` to list the settings of a render";

/// The name of the file.
const FILE_NAME: &str = "lcp.toml";

/// Returns the nearest `lcp.toml` in `folder` or a folder above it. The path is relative to
/// `folder`, so that messages do not depend on the location of a project.
fn find_upwards(folder: &Path) -> Option<PathBuf> {
    let mut up = PathBuf::new();
    for ancestor in folder.ancestors() {
        // A folder of that name counts as well. Reading it then fails with an error.
        if ancestor.join(FILE_NAME).exists() {
            return Some(up.join(FILE_NAME));
        }
        up.push("..");
    }
    None
}
