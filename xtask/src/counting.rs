//! What counts: the flags that choose it, and the estimator that they mean.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lcp_tokens::{
    Cached, CountCache, Model, Models, NAMES, TokenEstimator, TokenizerError, by_name,
    by_name_or_file, for_model, or_heuristic,
};

use crate::Result;
use crate::failure::{Code, Failure, Output};
use crate::files;

/// What counts where nothing says otherwise.
const DEFAULT: &str = "o200k_base";

/// Bytes that counts kept between runs may take.
const CACHE_BYTES: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Counting {
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
    /// An lcp.toml, whose `[[model]]` entries are known besides those built in
    #[arg(long, value_name = "PATH", requires = "model")]
    config: Option<PathBuf>,
    /// Keep counts there between runs
    #[arg(long, value_name = "PATH")]
    count_cache: Option<PathBuf>,
}

/// An estimator, and what belongs to it.
pub(crate) struct Counter {
    pub(crate) estimator: Arc<dyn TokenEstimator>,
    /// The model, where one was named.
    pub(crate) model: Option<Model>,
    kept: Option<(PathBuf, Arc<CountCache>)>,
}

impl Counting {
    /// The estimator. Where its tokenizer cannot be loaded, that is the
    /// heuristic, or an error for who is strict.
    pub(crate) fn counter(&self, strict: bool, output: &Output) -> Result<Counter> {
        let model = self.model.as_deref().map(|name| self.find(name)).transpose()?;
        let folder = self.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let tokenizer = match (&self.encoding, &model) {
            (Some(encoding), _) => by_name_or_file(encoding),
            (None, Some(model)) => for_model(model, folder),
            (None, None) => by_name(DEFAULT).map_err(TokenizerError::from),
        };
        let estimator = match tokenizer {
            Err(error) if strict => {
                let message = format!("{error} [LCP-BUD-003]");
                return Err(Failure::new(Code::Io, message)
                    .hint("--encoding names an encoding or a tokenizer file to count with"));
            }
            tokenizer => or_heuristic(tokenizer),
        };
        let Some(path) = &self.count_cache else {
            return Ok(Counter { estimator, model, kept: None });
        };
        let cache = Arc::new(CountCache::load(path, CACHE_BYTES).unwrap_or_else(|error| {
            output.warn(format!("{}: {error}; it is made anew", path.display()));
            CountCache::new(CACHE_BYTES)
        }));
        let estimator = Arc::new(Cached::new(estimator, Arc::clone(&cache)));
        Ok(Counter { estimator, model, kept: Some((path.clone(), cache)) })
    }

    fn find(&self, name: &str) -> Result<Model> {
        let mut models = Models::builtin();
        if let Some(path) = &self.config {
            let bytes = files::read(path)?;
            let wrong =
                |what: String| Failure::new(Code::Usage, format!("{what} ({})", files::name(path)));
            let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
            models.extend_from_toml(&text).map_err(|error| wrong(error.to_string()))?;
        }
        models.find(name).cloned().map_err(|error| Failure::new(Code::Usage, error.to_string()))
    }
}

impl Counter {
    /// Writes the counts that are to be kept.
    pub(crate) fn keep(&self, output: &Output) {
        if let Some((path, cache)) = &self.kept {
            let (found, counted) = cache.hits_and_misses();
            output.note(format!("{found} counts were known, {counted} were not"));
            if let Err(error) = cache.save(path) {
                // The text is there; only the next run takes longer.
                output.warn(format!("cannot write {}: {error}", path.display()));
            }
        }
    }
}

fn encoding(value: &str) -> Result<String, String> {
    if NAMES.contains(&value) || value.contains(['.', '/', '\\']) {
        return Ok(value.to_owned());
    }
    Err(format!("it may be {}, or a tokenizer file", NAMES.join(", ")))
}
