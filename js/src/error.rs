//! Errors, as values that the package converts to its classes.

use lcp_app::ErrorKind;
use wasm_bindgen::prelude::wasm_bindgen;

/// An error of the library.
#[wasm_bindgen(getter_with_clone)]
pub struct Failure {
    /// The name of its class.
    pub name: String,
    /// The failure and its place.
    pub message: String,
    /// The stable code of an error that has one.
    pub code: Option<String>,
    /// A remedy.
    pub hint: Option<String>,
}

/// The result of a function that JavaScript calls.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Creates the error of an invalid argument.
    pub(crate) fn usage(message: String) -> Self {
        Self { name: "UsageError".to_owned(), message, code: None, hint: None }
    }

    /// Creates the error of an argument with an invalid value.
    pub(crate) fn invalid_argument(name: &str, value: &str, expected: &[&str]) -> Self {
        Self::usage(format!("{name}: expected one of {}, got {value:?}", expected.join(", ")))
    }
}

impl From<lcp_app::Error> for Failure {
    fn from(error: lcp_app::Error) -> Self {
        // Hints with flags are for users of the command.
        let is_for_command =
            |hint: &String| ["--", "lcp.toml", "`lcp "].iter().any(|it| hint.contains(it));
        let name = match error.kind {
            ErrorKind::Usage => "UsageError",
            ErrorKind::Malformed => "MalformedError",
            ErrorKind::OverBudget => "OverBudgetError",
            ErrorKind::Limit => "LimitError",
            ErrorKind::Io => "FileError",
            _ => "LcpError",
        };
        Self {
            name: name.to_owned(),
            message: error.message,
            code: error.code.map(str::to_owned),
            hint: error.hint.filter(|hint| !is_for_command(hint)),
        }
    }
}
