//! The choice of the tokenizer, and the loaded estimator.

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
use crate::reporter::Reporter;

/// The default encoding.
const DEFAULT: &str = "o200k_base";

/// Bytes that the counts of a cache file may take.
const CACHE_BYTES: usize = 64 << 20;

/// The choice of a tokenizer.
#[derive(Clone, Debug, Default)]
pub struct TokenizerOptions {
    /// The name of an encoding, or a tokenizer file.
    pub encoding: Option<String>,
    /// The model that reads the text.
    pub model: Option<String>,
    /// A file that keeps counts between runs.
    pub count_cache: Option<PathBuf>,
}

/// An estimator, and what belongs to it.
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
    /// Starts to load the encoding in the background, if it is known already, while the pack is
    /// being read.
    pub fn begin_loading(&self, config: &Config) {
        let file = &config.tokenizer;
        let is_default = || file.kind.is_none() && file.model.is_none();
        let encoding = match (&self.encoding, &self.model) {
            (Some(name), _) => Encoding::from_name(name),
            (None, None) if is_default() => Encoding::from_name(DEFAULT),
            _ => None,
        };
        if let Some(encoding) = encoding {
            // Where there is no thread, it is loaded when it counts.
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
                let message = format!("{error}; nothing of it is needed");
                Ok((None, Some(Warning::new(WarningCode::NoEffect, None, message))))
            }
            Err(error) => Err(Error::new(
                ErrorKind::Usage,
                config.with_location(&error, named.origin),
            )
            .with_hint(
                "with --encoding, and --window or --budget unless files are counted, nothing of \
                 the model is needed; a [[model]] entry of lcp.toml describes one",
            )),
        }
    }

    /// Loads the estimator. If its tokenizer cannot be loaded, falls back to the heuristic, or
    /// fails if `strict`.
    pub fn load(
        &self,
        config: &Config,
        model: Option<&Setting<Model>>,
        strict: bool,
        reporter: &dyn Reporter,
    ) -> Result<LoadedTokenizer> {
        let Setting { value: tokenizer, origin: from } = self.choose(config, model)?;
        let estimator = match tokenizer {
            Err(error) if strict => return Err(unloaded(&error, from, config)),
            tokenizer => or_fallback(tokenizer),
        };
        let location = config.location(from);
        Ok(LoadedTokenizer { origin: from, location, ..self.cached(estimator, reporter)? })
    }

    /// Loads what counts the costs that an index keeps: by these names or, without any, by what
    /// the other flags and the file say. It must count exactly, and so that parts add up
    /// (RFC 0003 §4).
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
                let what =
                    format!("--index-costs cannot keep counts of {name}: they do not add up");
                return Err(Error::new(ErrorKind::Usage, config.with_location(&what, from)).with_hint(
                    "o200k_base, cl100k_base and o200k_harmony can be kept: --index-costs=o200k_base",
                ));
            }
            if found.iter().all(|other| other.name() != name) {
                found.push(estimator);
            }
        }
        Ok(found)
    }

    /// This estimator, with the counts that are kept between runs.
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
                // It is somebody's: nothing is written there.
                let message = format!("{error} (--count-cache {})", path.display());
                return Err(Error::new(ErrorKind::Usage, message)
                    .with_hint("name another file, or remove this one"));
            }
            Err(error) => {
                reporter.warn(&format!("{}: {error}; it is made anew", path.display()));
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

    /// Loads the estimator of a command that asks for no budget; warns where its counts are
    /// not exact.
    pub fn load_without_budget(
        &self,
        config: &Config,
        strict: bool,
        reporter: &dyn Reporter,
    ) -> Result<LoadedTokenizer> {
        // Nobody asks how large its window is.
        let (model, unknown) = self.find_model(config, true)?;
        if let Some(warning) = unknown {
            reporter.warn(&warning);
        }
        let counter = self.load(config, model.as_ref(), strict, reporter)?;
        if !counter.estimator.is_exact() {
            reporter.warn(&format!("token counts are estimates ({})", counter.estimator.name()));
        }
        Ok(counter)
    }

    /// Chooses the tokenizer: options first. A model that an option names uses its own encoding, if
    /// that is known.
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
                let what = format!("{} has no encoding of {TIKTOKEN}", model.value.name);
                return Err(Error::new(ErrorKind::Usage, config.with_location(&what, from))
                    .with_hint(
                        "leave `type` out for the tokenizer of the model, or name an encoding",
                    ));
            }
            (name, _) if ENCODINGS.contains(&name) => tokenizer_by_name(name),
            (file, _) => tokenizer_by_name_or_file(&config.folder().join(file).to_string_lossy()),
        };
        Ok(Setting { value, origin: from })
    }
}

/// There is no tokenizer to count with, and nothing else may stand in for it.
fn unloaded(error: &TokenizerError, from: Origin, config: &Config) -> Error {
    let code = "LCP-BUD-003";
    let message = config.with_location(&format!("{error} [{code}]"), from);
    Error::new(ErrorKind::Io, message)
        .with_code(code)
        .with_hint("--encoding names an encoding or a tokenizer file to count with")
}

fn is_openai(model: &Model) -> bool {
    model.encoding.as_deref().and_then(Encoding::from_name).is_some()
}

impl LoadedTokenizer {
    /// Reports a warning; for a fallback adds the line of `lcp.toml` that chose the tokenizer.
    /// Reports of renders leave it out: they are the same wherever settings come from.
    pub fn warn(&self, warning: &Warning, reporter: &dyn Reporter) {
        match &self.location {
            Some(location) if warning.code == WarningCode::TokenizerFallback => {
                reporter.warn(&format!("{warning} {location}"));
            }
            _ => reporter.warn(&warning),
        }
    }

    /// Writes the counts to the file of the options, if they name one. A failure is a warning.
    pub fn save_cache(&self, reporter: &dyn Reporter) {
        if let Some((path, cache)) = &self.cache {
            let (found, counted) = cache.hits_and_misses();
            reporter.note(&format!("{found} counts were known, {counted} were not"));
            // Something else may have been written there by now: the pack itself.
            let cache = CountCache::check_writable(path)
                .map_err(|error| format!("{}: {error}", path.display()))
                .and_then(|()| {
                    files::write(path, &cache.to_bytes()).map_err(|error| error.message)
                });
            if let Err(message) = cache {
                // The text is there; only the next run takes longer.
                reporter.warn(&message);
            }
        }
    }
}
