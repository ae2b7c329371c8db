//! Flags that select the tokenizer and the settings file.

use std::path::{Path, PathBuf};

use lcp_app::config::{Config, ConfigSource};
use lcp_app::tokenizer::{LoadedTokenizer, TokenizerOptions};
use lcp_tokens::TOKENIZER_NAMES;

use crate::Result;
use crate::output::Output;

/// The flags that select the settings file.
#[derive(Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// Settings file [default: nearest lcp.toml in this folder or above]
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Do not read settings files
    #[arg(long, conflicts_with = "config")]
    no_config: bool,
}

impl ConfigArgs {
    /// Returns whether no settings are read.
    #[cfg(feature = "full")]
    pub fn is_off(&self) -> bool {
        self.no_config
    }

    /// Reads the settings.
    pub fn read(&self) -> Result<Config> {
        let source = match &self.config {
            Some(path) => ConfigSource::File(path.clone()),
            None if self.no_config => ConfigSource::None,
            None => ConfigSource::Nearest,
        };
        source.read()
    }
}

/// The flags that select the tokenizer.
#[derive(Debug, Default, clap::Args)]
pub struct TokenizerArgs {
    /// Tokenizer: a name or a file [default: that of the model, else `o200k_base`]
    ///
    /// A file may be a `tokenizer.json`, a tekken or a `SentencePiece` file. `[context.tokenizer]` of
    /// lcp.toml changes the default.
    #[arg(long, value_name = "NAME|FILE", value_parser = encoding)]
    encoding: Option<String>,
    /// Model that the text is for; selects the tokenizer [default: that of lcp.toml]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The flags of the settings file.
    #[command(flatten)]
    pub file: ConfigArgs,
    /// Cache token counts in this file between runs
    #[arg(long, value_name = "PATH")]
    count_cache: Option<PathBuf>,
}

impl TokenizerArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> TokenizerOptions {
        TokenizerOptions {
            encoding: self.encoding.clone(),
            model: self.model.clone(),
            count_cache: self.count_cache.clone(),
        }
    }

    /// Reads the settings.
    pub fn read_config(&self) -> Result<Config> {
        self.file.read()
    }

    /// Loads the tokenizer of a command that has no budget.
    pub fn load_without_budget(&self, strict: bool, output: &Output) -> Result<LoadedTokenizer> {
        self.to_options().load_without_budget(&self.read_config()?, strict, output)
    }

    /// Returns the path of the cache of token counts.
    pub fn cache(&self) -> Option<&Path> {
        self.count_cache.as_deref()
    }

    /// Returns the names of these flags that the user passed.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--encoding", self.encoding.is_some()),
            ("--model", self.model.is_some()),
            ("--config", self.file.config.is_some()),
            ("--count-cache", self.count_cache.is_some()),
        ];
        given.into_iter().filter_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// Parses the name of an encoding, or the path of a tokenizer file.
pub fn encoding(value: &str) -> Result<String, String> {
    if TOKENIZER_NAMES.contains(&value) || value.contains(['.', '/', '\\']) {
        return Ok(value.to_owned());
    }
    Err(format!("expected {}, or a tokenizer file", TOKENIZER_NAMES.join(", ")))
}
