//! The source of the settings.

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
        let wrong = |what: String| {
            Error::new(ErrorKind::Usage, format!("{what} ({})", files::display_name(&path)))
        };
        if !is_named {
            check_regular(&path).map_err(wrong)?;
        }
        let read = files::read(&path, &Silent).map_err(|error| {
            if path.is_dir() { error.with_hint("pass the lcp.toml, not its folder") } else { error }
        });
        let text = String::from_utf8(read?).map_err(|error| wrong(error.to_string()))?;
        let config = Config::parse(&path, &text).map_err(|error| {
            let is_unknown_key = error.message.starts_with(UNKNOWN_KEY);
            let error = wrong(error.to_string());
            if is_unknown_key { error.with_hint(KEYS_HINT) } else { error }
        })?;
        Ok(Config { is_named, ..config })
    }
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
