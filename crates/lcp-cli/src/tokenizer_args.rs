//! Flags that choose the tokenizer and the settings.

use std::path::{Path, PathBuf};

use lcp_app::config::{Config, ConfigSource};
use lcp_app::tokenizer::{LoadedTokenizer, TokenizerOptions};
use lcp_tokens::TOKENIZER_NAMES;

use crate::Result;
use crate::output::Output;

/// Which `lcp.toml` is read.
#[derive(Debug, Default, clap::Args)]
pub struct ConfigArgs {
    /// The settings; without it the nearest lcp.toml from here upwards
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Look for no lcp.toml
    #[arg(long, conflicts_with = "config")]
    no_config: bool,
}

impl ConfigArgs {
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

/// Flags that choose the tokenizer.
#[derive(Debug, Default, clap::Args)]
pub struct TokenizerArgs {
    #[arg(
        long,
        value_name = "NAME|FILE",
        value_parser = encoding,
        help = "What counts the tokens: a name, or a tokenizer file (tokenizer.json, tekken, \
                SentencePiece); o200k_base unless a model says otherwise"
    )]
    encoding: Option<String>,
    /// The model that reads the text; picks the encoding
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The settings.
    #[command(flatten)]
    pub file: ConfigArgs,
    /// Keep counts there between runs
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

    /// Returns the file that counts are kept in.
    pub fn cache(&self) -> Option<&Path> {
        self.count_cache.as_deref()
    }

    /// Those of the flags that were given.
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

/// A name of an encoding, or a tokenizer file.
pub fn encoding(value: &str) -> Result<String, String> {
    if TOKENIZER_NAMES.contains(&value) || value.contains(['.', '/', '\\']) {
        return Ok(value.to_owned());
    }
    Err(format!("it may be {}, or a tokenizer file", TOKENIZER_NAMES.join(", ")))
}
