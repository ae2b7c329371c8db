//! The error of this crate.

use std::fmt::Display;

use lcp_types::limits;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The options ask for something that does not exist, or for nothing at all.
    InvalidOptions,
    /// A path or `git` could not be read.
    Io,
    /// `git` printed something that is no diff.
    MalformedDiff,
    /// A limit of packs is exceeded.
    Limit,
}

/// The reason why nothing was ingested.
///
/// A single file that cannot be read is no error: it is in the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The result of functions of this crate.
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

    /// Returns the error of more bytes than a pack can hold.
    pub(crate) fn too_many_bytes() -> Self {
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        Self::limit("bytes", "TOTAL_DECOMPRESSED_BYTES_MAX", max)
            .with_hint("--exclude and --max-file-size leave files out")
    }

    /// Returns the error of more files than a pack can hold.
    pub(crate) fn too_many_files() -> Self {
        Self::limit("files", "BLOCKS_MAX", limits::BLOCKS_MAX)
            .with_hint("--exclude leaves files out")
    }

    fn limit(unit: &str, name: &str, max: u64) -> Self {
        let message = format!("the pack would have more {unit} than {name} allows, which is {max}");
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

    /// Returns advice for users of the command, if there is any.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
