//! Why a transcript cannot be imported.

use crate::Format;

/// The result of an import.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a transcript cannot be imported, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", location(*.line, *.column))]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The line, counted from 1; 0 where it is all of the input.
    pub line: usize,
    /// The column in bytes, counted from 1; 0 where it is all of the line.
    pub column: usize,
}

/// What can be wrong with a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are no text.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is no JSON, or ends early.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// Arrays and objects nest deeper than parsers of JSON go.
    #[error("nested deeper than {max} levels, which is TRANSCRIPT_DEPTH_MAX")]
    TooDeep {
        /// The levels that may be.
        max: usize,
    },
    /// It is something else than the format says.
    #[error("no transcript of {format}: looked for {looked_for}")]
    NotATranscript {
        /// The format that was asked for.
        format: Format,
        /// What there should have been.
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

    /// A code that stays the same, for programs.
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
