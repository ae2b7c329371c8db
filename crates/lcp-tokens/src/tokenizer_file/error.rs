//! What can be wrong with a tokenizer file.

use std::io;
use std::path::PathBuf;

use super::FILE_BYTES_MAX;

/// Why a file gives no tokenizer.
///
/// [`TokenizerFileError::Read`] names the file; the others say what is wrong inside it.
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
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file has more than [`FILE_BYTES_MAX`] bytes.
    #[error("the tokenizer file has more than {FILE_BYTES_MAX} bytes")]
    TooLarge,
    /// The file is something else.
    #[error("not a tokenizer file: it looks like {looks_like}")]
    NotATokenizer {
        /// What it looks like.
        looks_like: String,
    },
    /// A tokenizer that cannot be counted with.
    #[error("unsupported {part} {kind:?} in the {format} file")]
    Unsupported {
        /// The file's format.
        format: TokenizerFileFormat,
        /// Which part of the tokenizer: its model, normalizer, …
        part: &'static str,
        /// The kind of it that the file asks for.
        kind: String,
    },
    /// A tokenizer file that is damaged or contradicts itself.
    #[error("broken {format} file: {reason}")]
    Broken {
        /// The file's format.
        format: TokenizerFileFormat,
        /// What is wrong, and where if that is known.
        reason: String,
    },
}

/// The formats of tokenizer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenizerFileFormat {
    /// `tokenizer.json` of Hugging Face's libraries.
    HuggingFace,
    /// Mistral's `tekken.json`.
    Tekken,
    /// A `SentencePiece` model.
    SentencePiece,
}

impl std::fmt::Display for TokenizerFileFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::HuggingFace => "tokenizer.json",
            Self::Tekken => "tekken",
            Self::SentencePiece => "SentencePiece",
        })
    }
}
