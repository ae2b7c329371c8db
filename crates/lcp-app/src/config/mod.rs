//! `lcp.toml`: its checked values and the lines of their keys (RFC 0004 §2, §10).

mod budget;
mod context;
#[cfg(feature = "messages")]
mod continuity;
#[cfg(feature = "messages")]
mod gateway;
#[cfg(feature = "messages")]
mod hooks;
#[cfg(feature = "messages")]
mod import;
#[cfg(feature = "messages")]
mod pack;
mod reader;
mod source;
#[cfg(feature = "messages")]
mod user;

pub use budget::{Budget, NamedShares};
pub use context::{DedupSettings, Tokenizer, Usage, WatermarkSettings};
#[cfg(feature = "messages")]
pub use continuity::{Continuity, SUMMARIZER_SECONDS_MAX, WAIT_SECONDS_MAX};
#[cfg(feature = "messages")]
pub use gateway::GatewaySettings;
#[cfg(feature = "messages")]
pub use hooks::HookSettings;
#[cfg(feature = "messages")]
pub use import::ImportSettings;
#[cfg(feature = "messages")]
pub use pack::{PackSettings, parse_size};
pub use reader::ConfigError;
pub use source::ConfigSource;
#[cfg(feature = "messages")]
pub use user::UserSettings;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use lcp_driver::ValueModel;
use lcp_driver::segments::BudgetAllocationOptions;
use lcp_tokens::Models;
use reader::Section;

use crate::files;

/// Keys of settings that flags, rows and messages refer to.
pub(crate) mod keys {
    pub(crate) const WINDOW: &str = "context.budget.window";
    pub(crate) const TOTAL_TOKENS: &str = "context.budget.total_tokens";
    pub(crate) const SAFETY: &str = "context.budget.safety";
    pub(crate) const SYSTEM_PROMPT_RESERVE: &str = "context.budget.system_prompt_reserve";
    pub(crate) const RESPONSE_RESERVE: &str = "context.budget.response_reserve";
    pub(crate) const SHARES: &str = "context.budget.shares";
    pub(crate) const CATEGORIES: &str = "context.budget.categories";
    pub(crate) const FILL: &str = "context.budget.fill";
    pub(crate) const EXCERPTS: &str = "context.budget.excerpts";
    pub(crate) const OBJECTIVE: &str = "context.budget.objective";
    pub(crate) const OVERFLOW: &str = "context.budget.overflow";
    pub(crate) const TOKENIZER: &str = "context.tokenizer.type";
    pub(crate) const MODEL: &str = "context.tokenizer.model";
}

/// The tokenizer type that selects the encoding of the model, which must be from OpenAI.
pub(crate) const TIKTOKEN: &str = "tiktoken";

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The default.
    Default,
    /// A flag.
    Flag(&'static str),
    /// This line of the file.
    File(usize),
}

/// An effective value and its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Its origin.
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// Returns a setting with the same origin.
    pub fn map<'s, U>(&'s self, value: impl FnOnce(&'s T) -> U) -> Setting<U> {
        Setting { value: value(&self.value), origin: self.origin }
    }
}

/// The values of an `lcp.toml`, with defaults for missing keys. The default is that of a folder
/// without the file.
#[derive(Clone, Debug)]
pub struct Config {
    /// The path of the file, if there is one.
    pub path: Option<PathBuf>,
    /// `true` if the user named the file. A file in a folder may come from other people.
    pub is_named: bool,
    /// The lines of the keys in the file.
    lines: BTreeMap<String, usize>,
    /// The built-in models and those of the file.
    pub models: Models,
    /// `[continuity]`.
    #[cfg(feature = "messages")]
    pub continuity: Continuity,
    /// `[context.budget]`.
    pub budget: Budget,
    /// `[context.dedup]`.
    pub dedup: DedupSettings,
    /// `[gateway]`.
    #[cfg(feature = "messages")]
    pub gateway: GatewaySettings,
    /// `[hooks]`.
    #[cfg(feature = "messages")]
    pub hooks: HookSettings,
    /// `[import]`.
    #[cfg(feature = "messages")]
    pub import: ImportSettings,
    /// `[pack]`.
    #[cfg(feature = "messages")]
    pub pack: PackSettings,
    /// `[context.stable]`.
    pub stable: WatermarkSettings,
    /// `[context.tokenizer]`.
    pub tokenizer: Tokenizer,
    /// `[context.usage]`.
    pub usage: Usage,
    /// `[context.segments]`: the division of a conversation into segments.
    pub segments: BudgetAllocationOptions,
    /// `[context.values]`: the values of details under the objective `value` (RFC 0005 §2).
    pub values: ValueModel,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path: None,
            is_named: false,
            lines: BTreeMap::new(),
            models: Models::builtin(),
            #[cfg(feature = "messages")]
            continuity: Continuity::default(),
            budget: Budget::default(),
            dedup: DedupSettings::default(),
            #[cfg(feature = "messages")]
            gateway: GatewaySettings::default(),
            #[cfg(feature = "messages")]
            hooks: HookSettings::default(),
            #[cfg(feature = "messages")]
            import: ImportSettings::default(),
            #[cfg(feature = "messages")]
            pack: PackSettings::default(),
            stable: WatermarkSettings::default(),
            tokenizer: Tokenizer::default(),
            usage: Usage::default(),
            segments: BudgetAllocationOptions::default(),
            values: ValueModel::default(),
        }
    }
}

impl Config {
    /// Reads the text of an `lcp.toml`.
    ///
    /// # Errors
    ///
    /// Returns an error with line and column if the text is not TOML, has an unknown key, or has a
    /// value that is out of range.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let offsets = reader::Offsets::default();
        let mut root = Section::parse(text, &offsets)?;
        let mut config = Self { path: Some(path.to_owned()), ..Self::default() };
        if let Some(models) = root.take("model") {
            models.all_have("window")?;
            config.models.extend_from_toml(text)?;
        }
        #[cfg(feature = "messages")]
        {
            config.continuity = Continuity::read(&mut root)?;
            config.gateway = GatewaySettings::read(&mut root)?;
            config.hooks = HookSettings::read(&mut root)?;
            config.import = ImportSettings::read(&mut root)?;
            config.pack = PackSettings::read(&mut root)?;
        }
        #[cfg(not(feature = "messages"))]
        for unused in ["continuity", "gateway", "hooks", "import", "pack"] {
            root.take(unused);
        }
        if let Some(mut context) = root.section("context")? {
            config.budget = Budget::read(&mut context)?;
            config.dedup = DedupSettings::read(&mut context)?;
            config.stable = WatermarkSettings::read(&mut context)?;
            config.tokenizer = Tokenizer::read(&mut context)?;
            config.usage = Usage::read(&mut context)?;
            config.segments = context::read_segments(&mut context)?;
            config.values = context::read_values(&mut context)?;
            context.finish()?;
        }
        root.finish()?;
        config.lines = reader::to_lines(text, offsets);
        Ok(config)
    }

    /// Returns the folder for relative paths in the file.
    pub fn folder(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// Returns the line of a key, if the file has it.
    pub(crate) fn line(&self, key: &str) -> Option<usize> {
        self.lines.get(key).copied()
    }

    /// Returns the origin of the value of a key.
    pub fn origin(&self, key: &str) -> Origin {
        self.line(key).map_or(Origin::Default, Origin::File)
    }

    /// Returns the value of a key with its origin.
    pub fn setting<T>(&self, key: &str, value: T) -> Setting<T> {
        Setting { value, origin: self.origin(key) }
    }

    /// Returns the value of a flag if it is given, else that of a key.
    pub(crate) fn setting_or_flag<T>(
        &self,
        flag: Option<T>,
        name: &'static str,
        key: &str,
        value: T,
    ) -> Setting<T> {
        match flag {
            Some(value) => Setting { value, origin: Origin::Flag(name) },
            None => self.setting(key, value),
        }
    }

    /// Returns the values of details, by their keys.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Setting<u32>)> {
        context::VALUES.iter().map(|(key, _, field)| {
            let mut values = self.values;
            (*key, self.setting(key, *field(&mut values)))
        })
    }

    /// Returns file and line of a value, for messages; `None` for other origins.
    pub(crate) fn location(&self, from: Origin) -> Option<String> {
        match (from, &self.path) {
            (Origin::File(line), Some(path)) => {
                Some(format!("({}, line {line})", files::display_name(path)))
            }
            _ => None,
        }
    }

    /// Returns a message with the location in the file, if the origin is the file.
    pub(crate) fn with_location(&self, message: &impl Display, from: Origin) -> String {
        self.location(from)
            .map_or_else(|| message.to_string(), |location| format!("{message} {location}"))
    }
}
