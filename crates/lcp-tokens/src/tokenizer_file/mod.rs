//! Exact counts with a tokenizer file, as other providers publish it.

mod charsmap;
mod detect;
mod huggingface;
mod merge;
mod sentencepiece;
mod split;
mod tekken;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use self::huggingface::HuggingFace;
use self::sentencepiece::SentencePiece;
use self::tekken::Tekken;
use crate::TokenEstimator;

/// The maximum size of a tokenizer file in bytes: 256 MiB, eight times the largest in use.
pub const FILE_BYTES_MAX: usize = 256 << 20;

/// The reason why a file cannot be used as a tokenizer.
///
/// [`TokenizerFileError::Read`] names the file. Other errors are about its content.
///
/// ```
/// use lcp_tokens::{TokenizerFileError, FileTokenizer};
///
/// let error = FileTokenizer::from_bytes("model.gguf", b"GGUF\x03\0\0\0").unwrap_err();
/// assert!(matches!(error, TokenizerFileError::NotATokenizer { .. }));
/// assert_eq!(error.to_string(), "not a tokenizer file: it looks like GGUF model weights");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The given path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has more than [`FILE_BYTES_MAX`] bytes.
    #[error("the tokenizer file exceeds {FILE_BYTES_MAX} bytes")]
    TooLarge,
    /// The file is not a tokenizer file.
    #[error("not a tokenizer file: it looks like {looks_like}")]
    NotATokenizer {
        /// The likely content of the file.
        looks_like: String,
    },
    /// The tokenizer is not supported.
    #[error("unsupported {part} {kind:?} in the {format} file")]
    Unsupported {
        /// The format of the file.
        format: TokenizerFileFormat,
        /// The part of the tokenizer, such as its model or normalizer.
        part: &'static str,
        /// The requested kind of the part.
        kind: String,
    },
    /// The tokenizer file is damaged or contradicts itself.
    #[error("invalid {format} file: {reason}")]
    Broken {
        /// The format of the file.
        format: TokenizerFileFormat,
        /// The cause, with its position if it is known.
        reason: String,
    },
}

/// The formats of tokenizer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenizerFileFormat {
    /// `tokenizer.json` of the libraries of Hugging Face.
    HuggingFace,
    /// `tekken.json` of Mistral.
    Tekken,
    /// A `SentencePiece` model.
    SentencePiece,
}

impl fmt::Display for TokenizerFileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HuggingFace => "tokenizer.json",
            Self::Tekken => "tekken",
            Self::SentencePiece => "SentencePiece",
        })
    }
}

impl TokenizerFileFormat {
    fn broken(self, reason: impl fmt::Display) -> TokenizerFileError {
        TokenizerFileError::Broken { format: self, reason: reason.to_string() }
    }

    fn unsupported(self, part: &'static str, kind: impl fmt::Display) -> TokenizerFileError {
        TokenizerFileError::Unsupported { format: self, part, kind: kind.to_string() }
    }
}

/// An estimator that counts with a tokenizer file: `tokenizer.json` of Hugging Face, tekken of
/// Mistral or a `SentencePiece` model.
///
/// All text is ordinary text: text that looks like a special token (`<s>`, `[INST]`,
/// `<|endoftext|>`) counts as its characters, and no tokens are added at the beginning or end.
/// Tokens that a file adds *without* marking them as special are part of the vocabulary and match
/// in the text.
///
/// The counts differ from those of the tokenizer itself in two cases:
///
/// - A text that becomes empty (some tokenizers remove white space) counts 1, not 0.
/// - If the pattern of a `tokenizer.json` has look-around other than the usual `\s+(?!\S)`, a match
///   that takes a million steps ends the split, and the rest of the text is one piece.
///
/// The time is O(n log n) within a piece and otherwise linear. The memory is proportional to the
/// longest piece for tekken and for `SentencePiece` models that never join words, else 20 to 100
/// bytes per byte of the text.
///
/// ```
/// use lcp_tokens::{FileTokenizer, TokenEstimator};
///
/// let file = r#"{"version": "1.0", "model": {"type": "BPE",
///     "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}"#;
/// let counter = FileTokenizer::from_bytes("small.json", file.as_bytes())?;
/// assert_eq!(counter.estimate("abba"), 3);
/// assert_eq!(counter.name(), "small.json#8af801a2");
/// # Ok::<(), lcp_tokens::TokenizerFileError>(())
/// ```
pub struct FileTokenizer {
    name: String,
    fingerprint: [u8; 32],
    format: TokenizerFileFormat,
    engine: Engine,
}

enum Engine {
    HuggingFace(Box<HuggingFace>),
    Tekken(Tekken),
    SentencePiece(SentencePiece),
}

impl FileTokenizer {
    /// Loads a tokenizer file.
    ///
    /// # Errors
    ///
    /// Returns [`TokenizerFileError::Read`] if the file cannot be read, or an error of
    /// [`Self::from_bytes`].
    pub fn open(path: &Path) -> Result<Self, TokenizerFileError> {
        let read = |source| TokenizerFileError::Read { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(read)?;
        // One byte more than the limit is enough to detect a larger file.
        file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(read)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::from_bytes(&name.to_string_lossy(), &bytes)
    }

    /// Loads a tokenizer from the bytes of a file. The part of `name` after the last slash is used
    /// in [`TokenEstimator::name`].
    ///
    /// # Errors
    ///
    /// Returns [`TokenizerFileError::TooLarge`], [`TokenizerFileError::NotATokenizer`],
    /// [`TokenizerFileError::Unsupported`] or [`TokenizerFileError::Broken`] if the file cannot be
    /// used.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, TokenizerFileError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(TokenizerFileError::TooLarge);
        }
        let format = detect::detect(bytes)?;
        // The library panics on files that violate its assumptions.
        let load = || {
            Ok(match format {
                TokenizerFileFormat::HuggingFace => {
                    Engine::HuggingFace(HuggingFace::new(bytes)?.into())
                }
                TokenizerFileFormat::Tekken => Engine::Tekken(Tekken::new(bytes)?),
                TokenizerFileFormat::SentencePiece => {
                    Engine::SentencePiece(SentencePiece::new(bytes)?)
                }
            })
        };
        let engine = catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            let message = message.unwrap_or_default();
            Err(format.broken(format!("inconsistent contents: {message}")))
        })?;
        let hash = blake3::hash(bytes);
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = format!("{name}#{}", &hash.to_hex()[..8]);
        Ok(Self { name, fingerprint: *hash.as_bytes(), format, engine })
    }

    /// Returns the BLAKE3 hash of the bytes of the file, for use as a cache key.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Returns the format of the file.
    #[must_use]
    pub fn format(&self) -> TokenizerFileFormat {
        self.format
    }
}

impl TokenEstimator for FileTokenizer {
    /// Returns the count. If the library fails on a text, returns the number of its bytes, because
    /// a count that is too high is safer than one that is too low.
    fn estimate(&self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let bytes = text.len() as u64;
        let count = match &self.engine {
            Engine::Tekken(tekken) => tekken.count(text),
            Engine::SentencePiece(model) => model.count(text),
            Engine::HuggingFace(model) => catch_unwind(AssertUnwindSafe(|| model.count(text)))
                .map_or(bytes, |count| count.unwrap_or(bytes)),
        };
        u32::try_from(count.max(1)).unwrap_or(u32::MAX)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        write(b"file/1");
        write(&self.fingerprint);
        true
    }
}

impl fmt::Debug for FileTokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, format, .. } = self;
        f.debug_struct("FileTokenizer")
            .field("name", name)
            .field("format", format)
            .finish_non_exhaustive()
    }
}
