//! The source of the settings.

use std::path::{Path, PathBuf};

use super::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::Silent;

/// Bytes of an `lcp.toml` that was not named.
const BYTES_MAX: u64 = 1 << 20;

/// The `lcp.toml` that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// None: the settings are the defaults.
    #[default]
    None,
    /// The nearest one from the current folder upwards, if there is one.
    Nearest,
    /// This file.
    File(PathBuf),
}

impl ConfigSource {
    /// Reads this file, or none.
    pub fn from_path(path: Option<PathBuf>) -> Self {
        path.map_or(Self::None, Self::File)
    }

    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has settings that cannot be.
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
        let text = String::from_utf8(files::read(&path, &Silent)?)
            .map_err(|error| wrong(error.to_string()))?;
        let config = Config::parse(&path, &text).map_err(|error| wrong(error.to_string()))?;
        Ok(Config { is_named, ..config })
    }
}

/// Checks that a file that was merely found is one: to read a pipe would wait, and a device may
/// have no end.
fn check_regular(path: &Path) -> Result<(), String> {
    // What is wrong else is said by who reads it.
    let Ok(about) = path.metadata() else { return Ok(()) };
    if !about.is_file() && !about.is_dir() {
        return Err("the settings are no file".to_owned());
    }
    if about.len() > BYTES_MAX {
        return Err(format!("the settings have more than {BYTES_MAX} bytes"));
    }
    Ok(())
}

/// The name of the file.
const FILE_NAME: &str = "lcp.toml";

/// Returns the nearest `lcp.toml` from `folder` upwards, as a path from there: messages name it
/// in the same way wherever a project lies.
fn find_upwards(folder: &Path) -> Option<PathBuf> {
    let mut up = PathBuf::new();
    for ancestor in folder.ancestors() {
        // A folder of that name too: nobody means that, and reading it says so.
        if ancestor.join(FILE_NAME).exists() {
            return Some(up.join(FILE_NAME));
        }
        up.push("..");
    }
    None
}
