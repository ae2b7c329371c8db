//! The error type of this crate.

use std::fmt::Display;
use std::io;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something could not be read or written.
    Io,
    /// The options contradict each other, or ask for something that does not exist.
    Usage,
    /// A pack or another input is malformed.
    Malformed,
    /// The text must exceed the budget, and the options deny that.
    OverBudget,
    /// A limit is exceeded.
    Limit,
    /// A session store failed or refused the operation.
    Session,
}

/// An error of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Its kind.
    pub kind: ErrorKind,
    /// One line with the failure and its location.
    pub message: String,
    /// A remedy for users of the command. It may name flags and settings.
    pub hint: Option<String>,
    /// The stable code of an error that has one, such as `LCP-BUD-001`. The message contains it
    /// in brackets.
    pub code: Option<&'static str>,
    /// The file of an error of the operating system, if the error is about one.
    pub file: Option<Box<FailedFile>>,
}

/// A file that could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedFile {
    /// Its path, or the name of a stream.
    pub path: String,
    /// The kind of the failure.
    pub kind: io::ErrorKind,
    /// The number that the operating system has for the failure, if it is known.
    pub os_code: Option<i32>,
}

/// The result type of this crate.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an error without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, code: None, file: None }
    }

    /// Adds a remedy for users of the command.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the hint for users of a library: none if it names a flag, `lcp.toml` or the command.
    pub fn library_hint(&self) -> Option<&str> {
        let is_for_command =
            |hint: &&str| ["--", "lcp.toml", "`lcp "].iter().any(|it| hint.contains(it));
        self.hint.as_deref().filter(|hint| !is_for_command(hint))
    }

    /// Adds the stable code.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Creates the error of a file that could not be read or written.
    pub fn io(action: &str, path: impl Display, error: &io::Error) -> Self {
        let path = path.to_string();
        let message = format!("cannot {action} {path}: {error}");
        let failed = FailedFile { path, kind: error.kind(), os_code: error.raw_os_error() };
        Self { file: Some(Box::new(failed)), ..Self::new(ErrorKind::Io, message) }
    }
}

#[cfg(feature = "messages")]
impl From<lcp_ingest::Error> for Error {
    fn from(error: lcp_ingest::Error) -> Self {
        let kind = match error.kind() {
            lcp_ingest::ErrorKind::InvalidOptions => ErrorKind::Usage,
            lcp_ingest::ErrorKind::MalformedDiff => ErrorKind::Malformed,
            lcp_ingest::ErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Io,
        };
        Self { hint: error.hint().map(str::to_owned), ..Self::new(kind, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_about_the_command_are_not_for_programs() {
        let hint = |hint: &str| {
            let error = Error::new(ErrorKind::Usage, "unknown model").with_hint(hint);
            error.library_hint().map(str::to_owned)
        };
        for of_command in ["pass --encoding", "add it to lcp.toml", "run `lcp recover`"] {
            assert_eq!(hint(of_command), None);
        }
        assert_eq!(hint("pass another file").as_deref(), Some("pass another file"));
    }
}
