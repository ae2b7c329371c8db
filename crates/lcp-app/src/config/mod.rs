//! `lcp.toml`: what it says, checked, and what is in force beside flags
//! (RFC 0004 §2, §10).

#[cfg(feature = "full")]
mod continuity;
mod dedup;
#[cfg(feature = "full")]
mod pack;
mod reader;
mod sections;
mod settings;
mod source;
mod stable;
mod values;

#[cfg(feature = "full")]
pub use continuity::{Continuity, STYLES, SUMMARIZER_SECONDS_MAX};
pub use dedup::Dedup;
#[cfg(feature = "full")]
pub use pack::{PackSettings, parse_size};
pub use reader::{ConfigError, Located};
pub(crate) use sections::TIKTOKEN;
pub use sections::{Budget, MODES, NamedShares, Segments, Tokenizer, Usage};
pub(crate) use settings::EmptyBudgetError;
pub use settings::{BudgetOptions, IneffectiveSetting, Origin, ResolvedBudget, Setting, Settings};
pub use source::ConfigSource;
pub use stable::WatermarkSettings;
pub use values::ValueTable;

use std::path::{Path, PathBuf};

use lcp_tokens::Models;
use reader::Section;

/// What an `lcp.toml` says. The default is that of a folder without one.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it was read from, if anywhere.
    pub path: Option<PathBuf>,
    /// The models that are built in, and its own.
    pub models: Models,
    /// `[continuity]`.
    #[cfg(feature = "full")]
    pub continuity: Continuity,
    /// `[context.budget]`.
    pub budget: Budget,
    /// `[context.dedup]`.
    pub dedup: Dedup,
    /// `[pack]`.
    #[cfg(feature = "full")]
    pub pack: PackSettings,
    /// `[context.stable]`.
    pub stable: WatermarkSettings,
    /// `[context.tokenizer]`.
    pub tokenizer: Tokenizer,
    /// `[context.usage]`.
    pub usage: Usage,
    /// `[context.segments]`.
    pub segments: Segments,
    /// `[context.values]`.
    pub values: ValueTable,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path: None,
            models: Models::builtin(),
            #[cfg(feature = "full")]
            continuity: Continuity::default(),
            budget: Budget::default(),
            dedup: Dedup::default(),
            #[cfg(feature = "full")]
            pack: PackSettings::default(),
            stable: WatermarkSettings::default(),
            tokenizer: Tokenizer::default(),
            usage: Usage::default(),
            segments: Segments::default(),
            values: ValueTable::default(),
        }
    }
}

impl Config {
    /// Reads the text of an `lcp.toml`.
    ///
    /// # Errors
    ///
    /// Text that is not TOML, a key that is not known, a value that cannot be;
    /// with line and column.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let mut root = Section::parse(text)?;
        let mut config = Self { path: Some(path.to_owned()), ..Self::default() };
        if let Some(models) = root.take("model") {
            models.all_have("window")?;
            config.models.extend_from_toml(text)?;
        }
        #[cfg(feature = "full")]
        {
            config.continuity = Continuity::read(&mut root)?;
            config.pack = PackSettings::read(&mut root)?;
        }
        #[cfg(not(feature = "full"))]
        for unused in ["continuity", "pack"] {
            root.take(unused);
        }
        if let Some(mut context) = root.section("context")? {
            config.budget = Budget::read(&mut context)?;
            config.dedup = Dedup::read(&mut context)?;
            config.stable = WatermarkSettings::read(&mut context)?;
            config.tokenizer = Tokenizer::read(&mut context)?;
            config.usage = Usage::read(&mut context)?;
            config.segments = Segments::read(&mut context)?;
            config.values = ValueTable::read(&mut context)?;
            context.finish()?;
        }
        root.finish()?;
        Ok(config)
    }

    /// The folder that its paths are relative to.
    pub fn folder(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }
}
