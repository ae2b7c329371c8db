//! The errors of an import.

use crate::Format;

/// The result of an import.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a transcript cannot be imported, and the position in the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", location(*.line, *.column))]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The line, counted from 1; 0 if the error is about the whole input.
    pub line: usize,
    /// The column in bytes, counted from 1; 0 if the error is about the whole line.
    pub column: usize,
}

/// The kinds of import errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is not JSON, or the JSON is incomplete.
    #[error("not valid JSON: {0}")]
    NotJson(String),
    /// Arrays and objects are nested deeper than the limit.
    #[error("nested deeper than {max} levels (TRANSCRIPT_DEPTH_MAX)")]
    TooDeep {
        /// The maximum number of levels.
        max: usize,
    },
    /// The input does not have the structure of the format.
    #[error("not a transcript in the format {format}: expected {looked_for}")]
    NotATranscript {
        /// The requested format.
        format: Format,
        /// A description of the expected structure.
        looked_for: &'static str,
    },
}

impl Error {
    pub(crate) const fn at(kind: ErrorKind, line: usize, column: usize) -> Self {
        Self { kind, line, column }
    }

    pub(crate) const fn looked_for(format: Format, looked_for: &'static str) -> Self {
        Self::at(ErrorKind::NotATranscript { format, looked_for }, 0, 0)
    }

    /// Returns a stable error code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ErrorKind::NotUtf8 => "LCP-CNV-001",
            ErrorKind::NotJson(_) => "LCP-CNV-002",
            ErrorKind::TooDeep { .. } => "LCP-CNV-003",
            ErrorKind::NotATranscript { .. } => "LCP-CNV-004",
        }
    }
}

fn location(line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => String::new(),
        (line, 0) => format!(" (line {line})"),
        (line, column) => format!(" (line {line}, column {column})"),
    }
}
