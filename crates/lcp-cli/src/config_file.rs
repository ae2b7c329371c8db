//! The flags that say which `lcp.toml` is read.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::config::{self, Config};
use crate::failure::{Code, Failure};
use crate::files;

/// Bytes of an `lcp.toml` that was not named.
const BYTES_MAX: u64 = 1 << 20;

/// Which `lcp.toml` is read.
#[derive(Debug, Default, clap::Args)]
pub struct ConfigFile {
    /// The settings; without it the nearest lcp.toml from here upwards
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Look for no lcp.toml
    #[arg(long, conflicts_with = "config")]
    no_config: bool,
}

impl ConfigFile {
    /// This file, or none: no other is looked for.
    pub fn only(config: Option<PathBuf>) -> Self {
        Self { no_config: config.is_none(), config }
    }

    /// What it says, if there is one.
    pub fn read(&self) -> Result<Config> {
        let here = || std::env::current_dir().ok().and_then(|folder| config::nearest(&folder));
        let path = match &self.config {
            Some(path) => Some(path.clone()),
            None if self.no_config => None,
            None => here(),
        };
        let Some(path) = path else { return Ok(Config::default()) };
        let wrong =
            |what: String| Failure::new(Code::Usage, format!("{what} ({})", files::name(&path)));
        if !self.is_named() {
            plain(&path).map_err(wrong)?;
        }
        let text =
            String::from_utf8(files::read(&path)?).map_err(|error| wrong(error.to_string()))?;
        Config::parse(&path, &text).map_err(|error| wrong(error.to_string()))
    }

    /// Whether it was named: one that is merely found may be of other people.
    pub const fn is_named(&self) -> bool {
        self.config.is_some()
    }
}

/// Whether a file that was merely found is one: to read a pipe would wait, and a device may
/// have no end.
fn plain(path: &Path) -> Result<(), String> {
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
