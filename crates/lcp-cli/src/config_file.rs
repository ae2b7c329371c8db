//! The flags that say which `lcp.toml` is read.

use std::path::PathBuf;

use crate::Result;
use crate::config::{self, Config};
use crate::failure::{Code, Failure};
use crate::files;

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
        let text =
            String::from_utf8(files::read(&path)?).map_err(|error| wrong(error.to_string()))?;
        Config::parse(&path, &text).map_err(|error| wrong(error.to_string()))
    }

    /// Whether it was named: one that is merely found may be of other people.
    pub const fn is_named(&self) -> bool {
        self.config.is_some()
    }
}
