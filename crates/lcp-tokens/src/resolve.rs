//! Selects an estimator by name, file or model, or a fallback if the tokenizer is not available.

use std::path::Path;
use std::sync::Arc;

use crate::estimator::forward;
use crate::{CodeAwareEstimator, HeuristicEstimator, Model, TokenEstimator};
#[cfg(feature = "bpe")]
use crate::{Encoding, ScaledEstimator, Tiktoken};
#[cfg(feature = "tokenizer-files")]
use crate::{FileTokenizer, TokenizerFileError};

/// The names that [`tokenizer_by_name`] accepts, in the order of a help text.
pub const TOKENIZER_NAMES: &[&str] = &[
    #[cfg(feature = "bpe")]
    "o200k_base",
    #[cfg(feature = "bpe")]
    "cl100k_base",
    #[cfg(feature = "bpe")]
    "o200k_harmony",
    #[cfg(feature = "bpe")]
    "p50k_base",
    #[cfg(feature = "bpe")]
    "r50k_base",
    #[cfg(feature = "bpe")]
    "claude",
    #[cfg(feature = "bpe")]
    "claude-4.7",
    "heuristic",
    "code-aware",
];

/// The reason why a tokenizer is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The name is unknown, and it does not look like a file.
    #[error("unknown encoding {name:?}; expected one of: {}", TOKENIZER_NAMES.join(", "))]
    UnknownName {
        /// The name.
        name: String,
    },
    /// The tokenizer file cannot be used.
    #[cfg(feature = "tokenizer-files")]
    #[error("{name}: {}", without_path(error))]
    File {
        /// The name of the file, without its folder.
        name: String,
        /// The cause.
        #[source]
        error: TokenizerFileError,
    },
    /// The vocabulary is not built in, and was not loaded.
    #[error("the vocabulary {name} is not loaded")]
    NoVocabulary {
        /// The name of the vocabulary.
        name: &'static str,
    },
    /// This build does not read tokenizer files.
    #[error(
        "{name}: cannot read tokenizer files: lcp-tokens was built without the `tokenizer-files` feature"
    )]
    NoFiles {
        /// The name of the file, without its folder.
        name: String,
    },
    /// The tokenizer of the model is not built in, and no file was given.
    #[error("the tokenizer of {model} is not built in, and no tokenizer file is configured")]
    NoTokenizer {
        /// The name of the model.
        model: String,
    },
}

/// Returns the estimator with this name, one of [`TOKENIZER_NAMES`].
///
/// # Errors
///
/// Returns [`TokenizerError::UnknownName`], with the known names, if the name is unknown, and
/// [`TokenizerError::NoVocabulary`] if its vocabulary is neither built in nor loaded.
///
/// ```
/// assert_eq!(lcp_tokens::tokenizer_by_name("heuristic")?.name(), "heuristic");
/// let error = lcp_tokens::tokenizer_by_name("o200k").err().unwrap();
/// assert!(error.to_string().starts_with("unknown encoding \"o200k\"; expected one of: "));
/// # Ok::<(), lcp_tokens::TokenizerError>(())
/// ```
pub fn tokenizer_by_name(name: &str) -> Result<Arc<dyn TokenEstimator>, TokenizerError> {
    #[cfg(feature = "bpe")]
    if let Some(encoding) = encoding_of(name).filter(|encoding| !encoding.is_available()) {
        return Err(TokenizerError::NoVocabulary { name: encoding.vocabulary() });
    }
    match name {
        "heuristic" => return Ok(Arc::new(HeuristicEstimator)),
        "code-aware" => return Ok(Arc::new(CodeAwareEstimator)),
        #[cfg(feature = "bpe")]
        "claude" => return Ok(Arc::new(ScaledEstimator::claude())),
        #[cfg(feature = "bpe")]
        "claude-4.7" => return Ok(Arc::new(ScaledEstimator::claude_4_7())),
        _ => {}
    }
    #[cfg(feature = "bpe")]
    if let Some(encoding) = Encoding::from_name(name) {
        return Ok(Arc::new(Tiktoken::new(encoding)));
    }
    Err(TokenizerError::UnknownName { name: name.to_owned() })
}

/// Returns the encoding whose vocabulary the estimator with this name has: `o200k_base` for `claude`.
/// The result is `None` for an estimator without one, and for an unknown name.
///
/// ```
/// use lcp_tokens::{Encoding, encoding_of};
///
/// assert_eq!(encoding_of("claude"), Some(Encoding::O200kBase));
/// assert_eq!(encoding_of("heuristic"), None);
/// ```
#[cfg(feature = "bpe")]
#[must_use]
pub fn encoding_of(name: &str) -> Option<Encoding> {
    match name {
        "claude" | "claude-4.7" => Some(Encoding::O200kBase),
        name => Encoding::from_name(name),
    }
}

/// Returns the estimator for the value of a flag: one of [`TOKENIZER_NAMES`], or the path of a
/// tokenizer file (`tokenizer.json`, tekken, `SentencePiece`; feature `tokenizer-files`). A value
/// is a path if it is not a name and contains `.`, `/` or `\`.
///
/// # Errors
///
/// Returns a [`TokenizerError`] if the tokenizer is not available. Use [`or_fallback`] to count
/// anyway.
pub fn tokenizer_by_name_or_file(what: &str) -> Result<Arc<dyn TokenEstimator>, TokenizerError> {
    match tokenizer_by_name(what) {
        Err(_) if what.contains(['.', '/', '\\']) => file(Path::new(what)),
        known => known,
    }
}

/// Returns the estimator for a model of the table.
///
/// If the model is only a [family default](Model::is_family_default), the estimator is not exact
/// and its caveat gives the reason. `folder` is the folder of the `lcp.toml` that names the
/// tokenizer file of the model, if there is one.
///
/// # Errors
///
/// Returns a [`TokenizerError`] if the tokenizer is not available. Use [`or_fallback`] to count
/// anyway.
///
/// ```
/// use std::path::Path;
/// use lcp_tokens::{Models, tokenizer_for_model};
///
/// let models = Models::builtin();
/// let here = Path::new(".");
/// # #[cfg(feature = "bpe")]
/// assert_eq!(tokenizer_for_model(models.find("gpt-4o")?, here)?.name(), "o200k_base");
/// let error = tokenizer_for_model(models.find("llama-3.1-70b")?, here).err().unwrap();
/// assert!(error.to_string().ends_with("is not built in, and no tokenizer file is configured"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tokenizer_for_model(
    model: &Model,
    folder: &Path,
) -> Result<Arc<dyn TokenEstimator>, TokenizerError> {
    if let Some(path) = model.tokenizer_file(folder) {
        return file(&path);
    }
    match &model.encoding {
        Some(name) if model.is_family_default => {
            let caveat = format!(
                "the model is not in the model table; counted with {name}, the default of its family {}",
                model.name
            );
            Ok(Arc::new(FallbackEstimator { estimator: tokenizer_by_name(name)?, caveat }))
        }
        Some(name) => tokenizer_by_name(name),
        None => Err(TokenizerError::NoTokenizer { model: model.name.clone() }),
    }
}

#[cfg(feature = "tokenizer-files")]
fn file(path: &Path) -> Result<Arc<dyn TokenEstimator>, TokenizerError> {
    match FileTokenizer::open(path) {
        Ok(tokenizer) => Ok(Arc::new(tokenizer)),
        Err(error) => Err(TokenizerError::File { name: file_name(path), error }),
    }
}

#[cfg(not(feature = "tokenizer-files"))]
fn file(path: &Path) -> Result<Arc<dyn TokenEstimator>, TokenizerError> {
    Err(TokenizerError::NoFiles { name: file_name(path) })
}

/// Returns the message of an error without the folder of the file.
#[cfg(feature = "tokenizer-files")]
fn without_path(error: &TokenizerFileError) -> String {
    match error {
        TokenizerFileError::Read { source, .. } => format!("cannot read the file: {source}"),
        other => other.to_string(),
    }
}

/// Returns the name of a file without its folder, because reports must be the same on every
/// machine.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the tokenizer, or if there was an error the heuristic of SPEC_08 with a
/// [caveat](TokenEstimator::caveat), which the driver adds to every report (seed 004, T16-FM-01).
/// Callers that need the tokenizer itself handle the error instead.
///
/// ```
/// use lcp_tokens::{TokenEstimator, tokenizer_by_name_or_file, or_fallback};
///
/// let estimator = or_fallback(tokenizer_by_name_or_file("missing/tokenizer.json"));
/// assert_eq!(estimator.estimate("twelve bytes"), 3);
/// assert!(!estimator.is_exact());
/// assert!(estimator.caveat().unwrap().contains("tokenizer.json"));
/// ```
#[must_use]
pub fn or_fallback(
    tokenizer: Result<Arc<dyn TokenEstimator>, TokenizerError>,
) -> Arc<dyn TokenEstimator> {
    tokenizer.unwrap_or_else(|error| {
        let caveat = format!("{error}; counted as bytes ÷ 4 instead");
        Arc::new(FallbackEstimator { estimator: Arc::new(HeuristicEstimator), caveat })
    })
}

/// An estimator that replaces another one, with the reason. It is never exact.
struct FallbackEstimator {
    estimator: Arc<dyn TokenEstimator>,
    caveat: String,
}

impl TokenEstimator for FallbackEstimator {
    fn caveat(&self) -> Option<&str> {
        Some(&self.caveat)
    }

    forward!(self to self.estimator; estimate, is_additive, name, limits, recount, write_cache_key);
}
