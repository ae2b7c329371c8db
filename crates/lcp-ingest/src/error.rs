//! The error type of this crate.

use std::fmt::Display;

use lcp_types::limits;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The options are invalid: for example an unknown revision, or nothing to pack.
    InvalidOptions,
    /// A path could not be read, or `git` could not be run or failed.
    Io,
    /// `git` printed a malformed diff.
    MalformedDiff,
    /// The content exceeds a limit of packs.
    Limit,
}

/// An error that stops ingestion.
///
/// A single file that cannot be read is not an error. It is listed in the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidOptions, message)
    }

    pub(crate) fn io(action: &str, path: impl Display, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("cannot {action} {path}: {error}"))
    }

    /// Returns the error for standard input or output of git that is too long.
    pub(crate) fn too_many_bytes() -> Self {
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        Self::limit("bytes", "TOTAL_DECOMPRESSED_BYTES_MAX", max)
            .with_hint("leave out files with --exclude or --max-file-size")
    }

    /// Returns the error for files that are larger in total than the options allow.
    pub(crate) fn total_too_large(max: u64, largest: &str) -> Self {
        let message = format!(
            "the files have more than {max} bytes in total (max_total_size); largest folders: \
             {largest}"
        );
        Self::new(ErrorKind::Limit, message)
            .with_hint("leave out folders with --exclude, or raise --max-total-size")
    }

    /// Returns the error for more files than a pack can hold.
    pub(crate) fn too_many_files() -> Self {
        Self::limit("files", "BLOCKS_MAX", limits::BLOCKS_MAX)
            .with_hint("leave out files with --exclude")
    }

    fn limit(unit: &str, name: &str, max: u64) -> Self {
        let message = format!("the pack would exceed the limit of {max} {unit} ({name})");
        Self::new(ErrorKind::Limit, message)
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns a hint for users of the command, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
