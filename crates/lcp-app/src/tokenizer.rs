//! The choice and loading of the tokenizer.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lcp_driver::{Warning, WarningCode};
use lcp_tokens::{
    CacheFileError, CachedEstimator, CountCache, ENCODINGS, Encoding, Model, Tiktoken,
    TokenEstimator, TokenizerError, or_fallback, tokenizer_by_name, tokenizer_by_name_or_file,
    tokenizer_for_model,
};

use crate::config::keys::{MODEL, TOKENIZER};
use crate::config::{Config, Origin, Setting, TIKTOKEN};
use crate::error::{Error, ErrorKind, Result};
use crate::files;
use crate::reporter::{Reporter, Silent};

/// The default encoding.
const DEFAULT: &str = "o200k_base";

/// The maximum memory for the counts of a cache file in bytes.
const CACHE_BYTES: usize = 64 << 20;

/// The options for the tokenizer.
#[derive(Clone, Debug, Default)]
pub struct TokenizerOptions {
    /// The name of an encoding, or a tokenizer file.
    pub encoding: Option<String>,
    /// The model that reads the text.
    pub model: Option<String>,
    /// A file that keeps counts between runs.
    pub count_cache: Option<PathBuf>,
}

/// An estimator with its origin and its cache.
pub struct LoadedTokenizer {
    /// The estimator.
    pub estimator: Arc<dyn TokenEstimator>,
    /// The origin of the choice.
    pub origin: Origin,
    /// File and line of the choice, if `lcp.toml` made it.
    location: Option<String>,
    cache: Option<(PathBuf, Arc<CountCache>)>,
}

impl fmt::Debug for LoadedTokenizer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadedTokenizer")
            .field("name", &self.estimator.name())
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

type Tokenizer = Result<Arc<dyn TokenEstimator>, TokenizerError>;

impl TokenizerOptions {
    /// Starts loading the encoding in the background while the pack is read, if the encoding is
    /// already known.
    pub fn begin_loading(&self, config: &Config) {
        let file = &config.tokenizer;
        let is_default = || file.kind.is_none() && file.model.is_none();
        let encoding = match (&self.encoding, &self.model) {
            (Some(name), _) => Encoding::from_name(name),
            (None, None) if is_default() => Encoding::from_name(DEFAULT),
            _ => None,
        };
        if let Some(encoding) = encoding {
            // If the thread cannot be started, the encoding is loaded on first use.
            let load = move || Tiktoken::new(encoding).estimate("\n");
            let _ = std::thread::Builder::new().spawn(load);
        }
    }

    /// Finds the model that the options or the settings name. With `is_sized`, the budget doesn't
    /// come from its window; an unknown model is then a warning if an encoding is given.
    pub fn find_model(
        &self,
        config: &Config,
        is_sized: bool,
    ) -> Result<(Option<Setting<Model>>, Option<Warning>)> {
        let named = match (&self.model, &config.tokenizer.model) {
            (Some(name), _) => Setting { value: name, origin: Origin::Flag("--model") },
            (None, Some(name)) => config.setting(MODEL, name),
            (None, None) => return Ok((None, None)),
        };
        match config.models.find(named.value) {
            Ok(model) => Ok((Some(Setting { value: model.clone(), origin: named.origin }), None)),
            Err(error) if is_sized && self.encoding.is_some() => {
                let error = config.with_location(&error, named.origin);
                let message = format!("{error}; ignored it, because the encoding is given");
                Ok((None, Some(Warning::new(WarningCode::NoEffect, None, message))))
            }
            Err(error) => Err(Error::new(
                ErrorKind::Usage,
                config.with_location(&error, named.origin),
            )
            .with_hint(if is_sized {
                "add a [[model]] entry to lcp.toml, or pass --encoding"
            } else {
                "add a [[model]] entry to lcp.toml, or pass --encoding, and --budget or --window"
            })),
        }
    }

    /// Loads the estimator. If its tokenizer cannot be loaded, falls back to the heuristic, or
    /// fails if `strict` or if an option names a file that cannot be read.
    pub fn load(
        &self,
        config: &Config,
        model: Option<&Setting<Model>>,
        strict: bool,
        reporter: &dyn Reporter,
    ) -> Result<LoadedTokenizer> {
        let Setting { value: tokenizer, origin: from } = self.choose(config, model)?;
        let estimator = match tokenizer {
            Err(error) if strict || self.encoding.is_some() && unreadable(&error).is_some() => {
                return Err(unloaded(&error, from, config));
            }
            tokenizer => or_fallback(tokenizer),
        };
        let location = config.location(from);
        Ok(LoadedTokenizer { origin: from, location, ..self.cached(estimator, reporter)? })
    }

    /// Loads the estimator with the default settings, without the fallback to the heuristic.
    ///
    /// # Errors
    ///
    /// Returns an error if the encoding or the model is unknown, or if its tokenizer cannot be loaded.
    pub fn load_by_name(&self) -> Result<Arc<dyn TokenEstimator>> {
        let config = Config::default();
        let (model, _) = self.find_model(&config, true)?;
        Ok(self.load(&config, model.as_ref(), true, &Silent)?.estimator)
    }

    /// Returns the encoding that [`TokenizerOptions::load_by_name`] loads, if it has a vocabulary.
    ///
    /// # Errors
    ///
    /// Returns an error if the model is unknown.
    pub fn encoding_by_name(&self) -> Result<Option<Encoding>> {
        let (model, _) = self.find_model(&Config::default(), true)?;
        let model_encoding = model.as_ref().map(|model| model.value.encoding.as_deref());
        let name = self.encoding.as_deref().or(model_encoding.unwrap_or(Some(DEFAULT)));
        Ok(name.and_then(lcp_tokens::encoding_of))
    }

    /// Loads the estimators for the costs in an index. They have these names; without names, the
    /// other options and the settings choose one. Their counts must be exact and additive (RFC 0003
    /// §4).
    pub(crate) fn load_for_index_costs(
        &self,
        named: &[String],
        config: &Config,
    ) -> Result<Vec<Arc<dyn TokenEstimator>>> {
        let from = Origin::Flag("--index-costs");
        let tokenizer =
            |name: &String| Setting { value: tokenizer_by_name_or_file(name), origin: from };
        let mut tokenizers: Vec<_> = named.iter().map(tokenizer).collect();
        if tokenizers.is_empty() {
            let (model, _) = self.find_model(config, true)?;
            tokenizers.push(self.choose(config, model.as_ref())?);
        }
        let mut found: Vec<Arc<dyn TokenEstimator>> = Vec::new();
        for Setting { value, origin: from } in tokenizers {
            let estimator = value.map_err(|error| unloaded(&error, from, config))?;
            let name = estimator.name();
            if !estimator.is_exact() || !estimator.is_additive() {
                let what = format!(
                    "--index-costs does not support {name}: its counts of parts do not add up"
                );
                return Err(Error::new(ErrorKind::Usage, config.with_location(&what, from))
                    .with_hint("pass --index-costs=o200k_base, cl100k_base or o200k_harmony"));
            }
            if found.iter().all(|other| other.name() != name) {
                found.push(estimator);
            }
        }
        Ok(found)
    }

    /// Wraps an estimator with the cache of the options.
    pub(crate) fn cached(
        &self,
        estimator: Arc<dyn TokenEstimator>,
        reporter: &dyn Reporter,
    ) -> Result<LoadedTokenizer> {
        let (from, location) = (Origin::Default, None);
        let Some(path) = &self.count_cache else {
            return Ok(LoadedTokenizer { estimator, origin: from, location, cache: None });
        };
        let cache = match CountCache::load(path, CACHE_BYTES) {
            Err(error @ CacheFileError::Foreign) => {
                // The file is not a cache and must not be overwritten.
                let message = format!("{error} (--count-cache {})", path.display());
                return Err(Error::new(ErrorKind::Usage, message)
                    .with_hint("pass another file, or remove this one"));
            }
            Err(error) => {
                reporter.warn(&format!("{}: {error}; created a new cache", path.display()));
                CountCache::new(CACHE_BYTES)
            }
            Ok(cache) => cache,
        };
        let cache = Arc::new(cache);
        let estimator = Arc::new(CachedEstimator::new(estimator, Arc::clone(&cache)));
        Ok(LoadedTokenizer {
            estimator,
            origin: from,
            location,
            cache: Some((path.clone(), cache)),
        })
    }

    /// Loads the estimator of a command without a budget. Warns if its counts are not exact.
    pub fn load_without_budget(
        &self,
        config: &Config,
        strict: bool,
        reporter: &dyn Reporter,
    ) -> Result<LoadedTokenizer> {
        // The window of the model is not needed.
        let (model, unknown) = self.find_model(config, true)?;
        if let Some(warning) = unknown {
            reporter.warn(&warning);
        }
        let counter = self.load(config, model.as_ref(), strict, reporter)?;
        if !counter.estimator.is_exact() {
            let message = format!("token counts are estimates ({})", counter.estimator.name());
            reporter.warn(&Warning::new(WarningCode::EstimatedCounts, None, message));
        }
        Ok(counter)
    }

    /// Chooses the tokenizer. Options take precedence. A model that an option names uses its own
    /// encoding, if it is known.
    fn choose(
        &self,
        config: &Config,
        model: Option<&Setting<Model>>,
    ) -> Result<Setting<Tokenizer>> {
        if let Some(encoding) = &self.encoding {
            let from = Origin::Flag("--encoding");
            return Ok(Setting { value: tokenizer_by_name_or_file(encoding), origin: from });
        }
        let of_model = |model: &Setting<Model>| Setting {
            value: tokenizer_for_model(&model.value, config.folder()),
            origin: model.origin,
        };
        let default = || tokenizer_by_name(DEFAULT);
        let flagged = model.filter(|model| model.origin == Origin::Flag("--model"));
        if let Some(model) = flagged.filter(|model| model.value.encoding.is_some()) {
            return Ok(of_model(model));
        }
        let Some(kind) = &config.tokenizer.kind else {
            let default = || Setting { value: default(), origin: Origin::Default };
            return Ok(model.map_or_else(default, of_model));
        };
        let from = config.origin(TOKENIZER);
        let value = match (kind.as_str(), model) {
            (TIKTOKEN, None) => default(),
            (TIKTOKEN, Some(model)) if flagged.is_some() || is_openai(&model.value) => {
                of_model(model).value
            }
            (TIKTOKEN, Some(model)) => {
                let what = format!("model {} has no {TIKTOKEN} encoding", model.value.name);
                return Err(Error::new(ErrorKind::Usage, config.with_location(&what, from))
                    .with_hint(
                        "omit `type` to use the tokenizer of the model, or set it to an encoding",
                    ));
            }
            (name, _) if ENCODINGS.contains(&name) => tokenizer_by_name(name),
            (file, _) => tokenizer_by_name_or_file(&config.folder().join(file).to_string_lossy()),
        };
        Ok(Setting { value, origin: from })
    }
}

/// Returns the error for a tokenizer that cannot be loaded and must not be replaced.
fn unloaded(error: &TokenizerError, from: Origin, config: &Config) -> Error {
    let code = "LCP-BUD-003";
    let cause = unreadable(error).unwrap_or_else(|| error.to_string());
    let message = config.with_location(&format!("{cause} [{code}]"), from);
    Error::new(ErrorKind::Io, message)
        .with_code(code)
        .with_hint("pass --encoding with the name of an encoding or a tokenizer file")
}

/// Returns the cause if the tokenizer file is missing or cannot be read. It names the whole path.
#[cfg(feature = "full")]
fn unreadable(error: &TokenizerError) -> Option<String> {
    match error {
        TokenizerError::File {
            error: lcp_tokens::TokenizerFileError::Read { path, source },
            ..
        } => Some(Error::io("read", path.display(), source).message),
        _ => None,
    }
}

/// Returns `None`, because this build reads no tokenizer files.
#[cfg(not(feature = "full"))]
fn unreadable(_: &TokenizerError) -> Option<String> {
    None
}

fn is_openai(model: &Model) -> bool {
    model.encoding.as_deref().and_then(Encoding::from_name).is_some()
}

impl LoadedTokenizer {
    /// Reports a warning. For a fallback, adds the line of `lcp.toml` that chose the tokenizer.
    /// Reports of renders leave it out, so that they do not depend on the origin of settings.
    pub fn warn(&self, warning: &Warning, reporter: &dyn Reporter) {
        match &self.location {
            Some(location) if warning.code == WarningCode::TokenizerFallback => {
                reporter.warn(&format!("{warning} {location}"));
            }
            _ => reporter.warn(&warning),
        }
    }

    /// Writes the counts to the cache file of the options, if there is one. A failure is a warning.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        if let Some((path, cache)) = &self.cache {
            let (found, counted) = cache.hits_and_misses();
            reporter.note(&format!("count cache: {found} hits, {counted} misses"));
            // In the meantime, another file such as the pack may have been written there.
            let cache = CountCache::check_writable(path)
                .map_err(|error| format!("{}: {error}", path.display()))
                .and_then(|()| {
                    files::write(path, &cache.to_bytes()).map_err(|error| error.message)
                });
            if let Err(message) = cache {
                // The result is complete. Only the next run takes longer.
                reporter.warn(&message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_is_that_of_the_loaded_tokenizer() {
        let options = |encoding: Option<&str>, model: Option<&str>| TokenizerOptions {
            encoding: encoding.map(str::to_owned),
            model: model.map(str::to_owned),
            count_cache: None,
        };
        let choices = [(None, None), (None, Some("gpt-5")), (Some("cl100k_base"), Some("gpt-5"))];
        for (encoding, model) in choices {
            let options = options(encoding, model);
            let found = options.encoding_by_name().unwrap().unwrap();
            assert_eq!(options.load_by_name().unwrap().name(), found.name());
        }
        let claude = options(None, Some("claude-sonnet-4-5"));
        assert!(claude.encoding_by_name().unwrap().is_some());
        assert!(!claude.load_by_name().unwrap().is_exact());
        assert!(options(None, Some("no-such-model")).encoding_by_name().is_err());
        assert!(options(Some("no-such-encoding"), None).load_by_name().is_err());
    }
}
