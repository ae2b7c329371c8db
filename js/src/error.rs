//! Errors, as values that the package converts to its classes.

use lcp_app::ErrorKind;
use lcp_app::names::{self, Names};
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
}

/// Returns the value with this name, or an error that lists the names.
pub(crate) fn value_of<T: Copy + PartialEq>(
    argument: &str,
    names: &Names<T>,
    name: &str,
) -> Result<T> {
    names::value_of(names, name).ok_or_else(|| {
        let expected = names::current(names).join(", ");
        Failure::usage(format!("{argument}: expected one of {expected}, got {name:?}"))
    })
}

impl From<lcp_app::Error> for Failure {
    fn from(error: lcp_app::Error) -> Self {
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
            hint: error.library_hint().map(str::to_owned),
            message: error.message,
            code: error.code.map(str::to_owned),
        }
    }
}
