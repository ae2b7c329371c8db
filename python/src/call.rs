//! Calls of the library: without the lock of the interpreter, with exceptions for errors and panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lcp_app::{Error, ErrorKind};
use pyo3::prelude::*;

mod exceptions {
    pyo3::import_exception!(lcp._errors, LcpError);
    pyo3::import_exception!(lcp._errors, UsageError);
    pyo3::import_exception!(lcp._errors, MalformedError);
    pyo3::import_exception!(lcp._errors, OverBudgetError);
    pyo3::import_exception!(lcp._errors, LimitError);
    pyo3::import_exception!(lcp._errors, FileError);
}

/// Calls a function of the library while other Python threads run. An error becomes an exception,
/// and so does a panic, which would otherwise end the program.
pub(crate) fn call<T: Send>(
    py: Python<'_>,
    function: impl Send + FnOnce() -> Result<T, Error>,
) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(function))) {
        Ok(result) => result.map_err(|error| exception(&error)),
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            let message = format!("internal error: {}", message.unwrap_or_default());
            Err(exceptions::LcpError::new_err((message, None::<String>, None::<String>)))
        }
    }
}

/// Returns the exception for an error.
fn exception(error: &Error) -> PyErr {
    // Hints with flags are for users of the command.
    let is_for_command =
        |hint: &String| ["--", "lcp.toml", "`lcp "].iter().any(|it| hint.contains(it));
    let hint = error.hint.clone().filter(|hint| !is_for_command(hint));
    let values = (error.message.clone(), error.code, hint);
    match error.kind {
        ErrorKind::Usage => exceptions::UsageError::new_err(values),
        ErrorKind::Malformed => exceptions::MalformedError::new_err(values),
        ErrorKind::OverBudget => exceptions::OverBudgetError::new_err(values),
        ErrorKind::Limit => exceptions::LimitError::new_err(values),
        ErrorKind::Io => exceptions::FileError::new_err(values),
        _ => exceptions::LcpError::new_err(values),
    }
}

/// Returns the exception for an argument with an invalid value.
pub(crate) fn invalid_argument(name: &str, value: &str, expected: &[&str]) -> PyErr {
    let message = format!("{name}: expected one of {}, got {value:?}", expected.join(", "));
    usage_error(message)
}

/// Returns the exception for an invalid argument.
pub(crate) fn usage_error(message: String) -> PyErr {
    exceptions::UsageError::new_err((message, None::<String>, None::<String>))
}
