//! The configuration of Codex.

use std::ffi::OsString;

use lcp_app::{Error, ErrorKind, Result};
use toml::Table;

use super::{Environment, OPENAI_BASE_URL, read};

/// The provider that is built in.
const BUILT_IN: &str = "openai";

/// The provider of a launch.
#[derive(Debug)]
pub(super) struct Provider {
    name: String,
    /// The base URL that the user configured.
    pub(super) base_url: Option<String>,
}

impl Provider {
    /// Reads the provider from the arguments and the configuration. Takes the base URL out of the
    /// arguments, because Codex uses the last value of a setting.
    pub(super) fn read(
        arguments: &mut Vec<OsString>,
        environment: &Environment<'_>,
    ) -> Result<Self> {
        let path = environment.folder_of_user("CODEX_HOME", ".codex");
        let path = path.map(|folder| folder.join("config.toml"));
        let text = path.as_deref().map(read).transpose()?.flatten().unwrap_or_default();
        let config: Table = text.parse().map_err(|error: toml::de::Error| {
            let place = path.unwrap_or_default();
            let message = format!("{} ({})", error.message(), place.display());
            Error::new(ErrorKind::Usage, message)
        })?;
        let text = |table: Option<&Table>, key: &str| {
            table.and_then(|it| it.get(key)).and_then(|it| it.as_str()).map(str::to_owned)
        };
        let profile =
            value(arguments, &["-p", "--profile"]).or_else(|| text(Some(&config), "profile"));
        let profiles = config.get("profiles").and_then(|it| it.as_table());
        let profile = profile.and_then(|name| profiles?.get(&name)?.as_table());
        let name = setting(arguments, "model_provider")
            .or_else(|| text(profile, "model_provider"))
            .or_else(|| text(Some(&config), "model_provider"))
            .unwrap_or_else(|| BUILT_IN.to_owned());
        let base_url = if name == BUILT_IN {
            setting(arguments, "openai_base_url")
                .or_else(|| text(Some(&config), "openai_base_url"))
                .or_else(|| environment.text(OPENAI_BASE_URL))
        } else {
            let providers = config.get("model_providers").and_then(|it| it.as_table());
            let provider = providers.and_then(|it| it.get(&name)).and_then(|it| it.as_table());
            setting(arguments, &format!("model_providers.{name}.base_url"))
                .or_else(|| text(provider, "base_url"))
        };
        let provider = Self { name, base_url };
        remove_setting(arguments, &provider.key());
        Ok(provider)
    }

    /// Returns the key of the base URL.
    fn key(&self) -> String {
        match self.name.as_str() {
            BUILT_IN => "openai_base_url".to_owned(),
            name => format!("model_providers.{name}.base_url"),
        }
    }

    /// Returns the arguments that set the base URL.
    pub(super) fn overrides(&self, url: &str) -> [String; 2] {
        ["-c".to_owned(), format!("{}={url:?}", self.key())]
    }
}

/// Returns the setting at an index of the arguments, and the number of its words: `-c KEY=VALUE`,
/// `-cKEY=VALUE`, `--config KEY=VALUE` or `--config=KEY=VALUE`.
fn setting_at(arguments: &[OsString], at: usize) -> Option<(&str, &str, usize)> {
    let word = arguments[at].to_str()?;
    let (pair, words) = if matches!(word, "-c" | "--config") {
        (arguments.get(at + 1)?.to_str()?, 2)
    } else {
        (word.strip_prefix("--config=").or_else(|| word.strip_prefix("-c"))?, 1)
    };
    let (key, value) = pair.trim_start_matches('=').split_once('=')?;
    Some((key.trim(), value.trim().trim_matches(['"', '\'']), words))
}

/// Returns the index of the end of flags.
fn end_of_flags(arguments: &[OsString]) -> usize {
    arguments.iter().position(|word| word == "--").unwrap_or(arguments.len())
}

/// Removes a setting from the arguments.
fn remove_setting(arguments: &mut Vec<OsString>, key: &str) {
    let mut at = 0;
    while at < end_of_flags(arguments) {
        match setting_at(arguments, at) {
            Some((name, _, words)) if name == key => drop(arguments.drain(at..at + words)),
            _ => at += 1,
        }
    }
}

/// Returns the value of a setting that the arguments override. The last one counts.
fn setting(arguments: &[OsString], key: &str) -> Option<String> {
    let settings = (0..end_of_flags(arguments)).filter_map(|at| setting_at(arguments, at));
    let mut values =
        settings.filter(|(name, ..)| *name == key).map(|(_, value, _)| value.to_owned());
    values.next_back()
}

fn value(arguments: &[OsString], flags: &[&str]) -> Option<String> {
    values(arguments, flags).pop()
}

/// Returns the values of flags.
fn values(arguments: &[OsString], flags: &[&str]) -> Vec<String> {
    let mut values = Vec::new();
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next().filter(|word| *word != "--") {
        if flags.contains(&word) {
            values.extend(words.next().map(str::to_owned));
        } else if let Some((flag, value)) = word.split_once('=')
            && flags.contains(&flag)
        {
            values.push(value.to_owned());
        }
    }
    values
}
